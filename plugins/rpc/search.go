// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Search implements plugins.Engine. The arrays must lie in memory from Host.Parents and Host.Distances; the engine
// keeps them mapped for the next search.
func (c *Client) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
	if err = c.checkGraph(); err != nil {
		return t, err
	}
	request := &enginepb.SearchRequest{Root: int64(root)}
	if request.Parent, request.Distance, err = c.output(out); err != nil {
		return t, err
	}
	return exchange(ctx, c, c.engine.Search, request, func(t *enginepb.Traversal) (plugins.Traversal, error) {
		traversal := traversals.value(t)
		return traversal, checkTraversal(traversal, out, c.part)
	})
}

// Repeat implements plugins.Repeater. The error of an engine that does not repeat wraps errors.ErrUnsupported.
func (c *Client) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	searches int64, err error) {
	if err = c.checkGraph(); err != nil {
		return 0, err
	}
	request := &enginepb.RepeatRequest{
		DurationNs: int64(duration), Roots: each(roots, func(root graph.Vertex) int64 { return int64(root) }),
	}
	if request.Parent, request.Distance, err = c.output(out); err != nil {
		return 0, err
	}
	return exchange(ctx, c, c.engine.Repeat, request, searchesFromWire)
}

// output names the arrays of a search to another process. Distances without elements are present, too.
func (c *Client) output(out plugins.Output) (parent, distance *enginepb.Segment, err error) {
	if parent, err = segmentOf(c.host, parentSegment, out.Parent, present); err != nil {
		return nil, nil, err
	}
	if distance, err = segmentOf(c.host, distanceSegment, out.Distance, present); out.Distance != nil && distance == nil {
		distance = &enginepb.Segment{}
	}
	return parent, distance, err
}

// checkTraversal checks the report of a search. The parents of a part of a graph, and those of kernel 3, do not tell
// how many levels there may be.
func checkTraversal(t plugins.Traversal, out plugins.Output, part bool) error {
	if part || out.Distance != nil {
		out.Parent = nil
	}
	return impossible(t.Check(out.Parent))
}
