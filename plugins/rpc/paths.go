// SPDX-License-Identifier: Apache-2.0

package rpc

// Kernel 3, on both sides of the connection.

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// ShortestPaths implements plugins.PathFinder, with arrays as in Search; the distances must lie in memory from
// Host.Distances. The error of an engine without kernel 3 wraps errors.ErrUnsupported.
func (c *Client) ShortestPaths(
	ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32,
) (t plugins.Traversal, err error) {
	parents, distances, err := c.results(parent, distance)
	if err != nil {
		return t, err
	}
	request := &enginepb.SearchRequest{Root: int64(root), Parent: parents, Distance: distances}
	return exchange(ctx, c, c.engine.ShortestPaths, request, func(t *enginepb.Traversal) (plugins.Traversal, error) {
		return traversalFromWire(t, nil)
	})
}

// RepeatShortestPaths implements plugins.PathFinder.
func (c *Client) RepeatShortestPaths(
	ctx context.Context, roots []graph.Vertex, duration time.Duration, parent []graph.Vertex, distance []float32,
) (searches int64, err error) {
	parents, distances, err := c.results(parent, distance)
	if err != nil {
		return 0, err
	}
	return exchange(ctx, c, c.engine.RepeatShortestPaths, &enginepb.RepeatRequest{
		DurationNs: int64(duration), Parent: parents, Distance: distances,
		Roots: each(roots, func(root graph.Vertex) int64 { return int64(root) }),
	}, searchesFromWire)
}

// results names the arrays of kernel 3 to the engine.
func (c *Client) results(parent []graph.Vertex, distance []float32) (parents, distances *enginepb.Segment, err error) {
	if err = c.checkGraph(); err == nil {
		parents, err = segmentOf(c.host, parentSegment, parent, present)
	}
	if err == nil {
		distances, err = segmentOf(c.host, distanceSegment, distance, present)
	}
	return parents, distances, err
}

// ShortestPaths answers UNIMPLEMENTED for an engine without kernel 3.
func (s *server) ShortestPaths(ctx context.Context, request *enginepb.SearchRequest) (*enginepb.Traversal, error) {
	finder, ok := s.engine.(plugins.PathFinder)
	if !ok {
		return s.UnimplementedEngineServer.ShortestPaths(ctx, request)
	}
	return answer(ctx, s, request.GetCallId(), func(ctx context.Context) (t plugins.Traversal, err error) {
		parent, distance, err := s.results(request.GetParent(), request.GetDistance())
		if err != nil {
			return t, err
		}
		return finder.ShortestPaths(ctx, graph.Vertex(request.GetRoot()), parent, distance)
	}, traversalToWire, func(t *enginepb.Traversal) (plugins.Traversal, error) { return traversalFromWire(t, nil) })
}

// results maps the arrays of a kernel 3.
func (s *server) results(parents, distances *enginepb.Segment) (
	parent []graph.Vertex, distance []float32, err error) {
	if err = s.dropOthers(parentSegment, distanceSegment); err == nil {
		parent, err = keep[graph.Vertex](s, parents, parentSegment)
	}
	if err == nil {
		distance, err = keep[float32](s, distances, distanceSegment)
	}
	return parent, distance, err
}

// RepeatShortestPaths answers UNIMPLEMENTED for an engine without kernel 3.
func (s *server) RepeatShortestPaths(
	ctx context.Context, request *enginepb.RepeatRequest,
) (*enginepb.RepeatReply, error) {
	finder, ok := s.engine.(plugins.PathFinder)
	if !ok {
		return s.UnimplementedEngineServer.RepeatShortestPaths(ctx, request)
	}
	return s.repeat(ctx, request, func(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
		parent, distance, err := s.results(request.GetParent(), request.GetDistance())
		if err != nil {
			return 0, err
		}
		return finder.RepeatShortestPaths(ctx, roots, duration, parent, distance)
	})
}
