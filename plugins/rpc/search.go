// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// Search implements plugins.Engine. The parents must lie in memory from Host.Parents; the engine keeps them mapped for
// the next search.
func (c *Client) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	return c.search(ctx, c.engine.Search, root, parent, nil)
}

// Repeat implements plugins.Repeater. The error of an engine that does not repeat wraps errors.ErrUnsupported.
func (c *Client) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, parent []graph.Vertex) (
	searches int64, err error) {
	return c.repeat(ctx, c.engine.Repeat, roots, duration, parent, nil)
}

// ShortestPaths implements plugins.PathFinder, with arrays as in Search; the distances must lie in memory from
// Host.Distances. The error of an engine without kernel 3 wraps errors.ErrUnsupported.
func (c *Client) ShortestPaths(ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (
	plugins.Traversal, error) {
	return c.search(ctx, c.engine.ShortestPaths, root, parent, distance)
}

// RepeatShortestPaths implements plugins.PathFinder.
func (c *Client) RepeatShortestPaths(ctx context.Context, roots []graph.Vertex, duration time.Duration,
	parent []graph.Vertex, distance []float32) (searches int64, err error) {
	return c.repeat(ctx, c.engine.RepeatShortestPaths, roots, duration, parent, distance)
}

// search makes a call of kernel 3, or of kernel 2 without distances.
func (c *Client) search(ctx context.Context,
	call func(context.Context, *enginepb.SearchRequest, ...grpc.CallOption) (*enginepb.Traversal, error),
	root graph.Vertex, parent []graph.Vertex, distance []float32,
) (t plugins.Traversal, err error) {
	parents, distances, err := c.results(parent, distance)
	if err != nil {
		return t, err
	}
	request := &enginepb.SearchRequest{Root: int64(root), Parent: parents, Distance: distances}
	return exchange(ctx, c, call, request, func(t *enginepb.Traversal) (plugins.Traversal, error) {
		if c.part || distance != nil {
			return traversalFromWire(t, nil)
		}
		return traversalFromWire(t, parent)
	})
}

// repeat makes a loop of calls of kernel 3, or of kernel 2 without distances.
func (c *Client) repeat(ctx context.Context,
	call func(context.Context, *enginepb.RepeatRequest, ...grpc.CallOption) (*enginepb.RepeatReply, error),
	roots []graph.Vertex, duration time.Duration, parent []graph.Vertex, distance []float32,
) (searches int64, err error) {
	parents, distances, err := c.results(parent, distance)
	if err != nil {
		return 0, err
	}
	return exchange(ctx, c, call, &enginepb.RepeatRequest{
		DurationNs: int64(duration), Parent: parents, Distance: distances,
		Roots: each(roots, func(root graph.Vertex) int64 { return int64(root) }),
	}, searchesFromWire)
}

// results names the arrays of a search to the engine.
func (c *Client) results(parent []graph.Vertex, distance []float32) (parents, distances *enginepb.Segment, err error) {
	if err = c.checkGraph(); err == nil {
		parents, err = segmentOf(c.host, parentSegment, parent, present)
	}
	if err == nil {
		distances, err = segmentOf(c.host, distanceSegment, distance, present)
	}
	return parents, distances, err
}
