// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// ServeAccelerator is Serve for an accelerator.
func ServeAccelerator(a plugins.Accelerator) {
	s := &server{engine: accelerator{a}}
	serveUntilClosed(s.engine, acceleratorServer{s, a})
}

type accelerator struct{ plugins.Accelerator }

var errNotAnEngine = fmt.Errorf("this program makes tuples and validates for the host; name it as the host's device, "+
	"not as an engine: %w", plugins.ErrUnavailable)

func (accelerator) Construct(context.Context, plugins.Input) (plugins.Construction, error) {
	return plugins.Construction{}, errNotAnEngine
}

func (accelerator) Search(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error) {
	return plugins.Traversal{}, errNotAnEngine
}

// nothing reads the answer of a call that returns only an error.
func nothing[W any](W) (struct{}, error) { return struct{}{}, nil }

// Generate implements plugins.Accelerator. The tuples must lie in memory from Host.Reserve that is not trimmed yet, the
// weights in memory from Host.Weights that no engine has had yet; the lists of the other calls in memory from
// Host.Tuples, Host.Weights, Host.Parents and Host.Distances.
func (c *Client) Generate(ctx context.Context, in plugins.Input) error {
	tuples, weights, err := c.lists(in, reserved)
	if err == nil {
		_, err = exchange(ctx, c, c.engine.Generate, &enginepb.GenerateRequest{
			Recipe: recipes.message(in.Recipe), Tuples: tuples, Weights: weights, First: in.First,
		}, nothing)
	}
	return err
}

func (c *Client) Lend(ctx context.Context, tuples []graph.Edge) (*plugins.DeviceTuples, error) {
	segment, err := segmentOf(c.host, tupleSegment, tuples, present)
	if err != nil {
		return nil, err
	}
	return exchange(ctx, c, c.engine.Lend, &enginepb.LendRequest{Tuples: segment}, lentFromWire)
}

// maxHandle is far above the 64 bytes of CUDA's handles.
const maxHandle = 1 << 10

func lentFromWire(w *enginepb.LendReply) (*plugins.DeviceTuples, error) {
	t := deviceTuples.value(w.GetTuples())
	if t != nil && (t.Count < 0 || len(t.Handle) == 0 || len(t.Handle) > maxHandle) {
		return nil, fmt.Errorf("a list of %d tuples with a handle of %d bytes: %w", t.Count, len(t.Handle), ErrAnswer)
	}
	return t, nil
}

func (c *Client) Load(ctx context.Context, in plugins.Input, vertices int64) error {
	tuples, weights, err := c.lists(in, present)
	if err == nil {
		_, err = exchange(ctx, c, c.engine.Load, &enginepb.LoadRequest{
			Tuples: tuples, Weights: weights, Recipe: recipes.message(in.Recipe), Vertices: vertices,
		}, nothing)
	}
	return err
}

func (c *Client) Validate(ctx context.Context, root graph.Vertex, out plugins.Output) (t validate.Tree, err error) {
	request := &enginepb.ValidateRequest{Root: int64(root)}
	if request.Parent, request.Distance, err = c.output(out); err != nil {
		return t, err
	}
	t, err = exchange(ctx, c, c.engine.Validate, request, treeFromWire)
	if err == nil {
		t.Root = root
	}
	return t, err
}

func treeFromWire(w *enginepb.Verdict) (t validate.Tree, err error) {
	if t = trees.value(w); min(t.Reached, int64(t.Depth), t.Tuples, t.SelfLoops) < 0 || !(t.Farthest >= 0) {
		err = fmt.Errorf("a verdict of %+v: %w", t, ErrAnswer)
	}
	return t, err
}

// acceleratorServer answers the calls of accelerators as well; a server answers UNIMPLEMENTED.
type acceleratorServer struct {
	*server
	device plugins.Accelerator
}

// Generate keeps the segment of tuples or weights mapped until their list is complete or given up.
func (s acceleratorServer) Generate(ctx context.Context, r *enginepb.GenerateRequest) (*enginepb.GenerateReply, error) {
	return answer(ctx, s.server, r.GetCallId(), func(ctx context.Context) (none struct{}, err error) {
		in := plugins.Input{Recipe: recipes.value(r.GetRecipe()), First: r.GetFirst()}
		switch {
		case in.Recipe == nil:
			return none, errors.New("rpc: tuples of no recipe")
		case r.GetWeights() != nil:
			if err = s.dropOthers(weightSegment); err == nil {
				in.Weights, err = keep[float32](s.server, r.GetWeights(), weightSegment)
			}
		default:
			if err = s.dropOthers(tupleSegment); err == nil {
				in.Tuples, err = keep[graph.Edge](s.server, r.GetTuples(), tupleSegment)
			}
		}
		if err == nil {
			err = s.device.Generate(ctx, in)
		}
		if err != nil || in.First+int64(len(in.Tuples)+len(in.Weights)) == in.Recipe.Tuples() {
			err = errors.Join(err, s.dropOthers())
		}
		return none, err
	}, func(struct{}) *enginepb.GenerateReply { return &enginepb.GenerateReply{} }, nothing)
}

func (s acceleratorServer) Lend(ctx context.Context, r *enginepb.LendRequest) (*enginepb.LendReply, error) {
	return answer(ctx, s.server, r.GetCallId(), func(ctx context.Context) (t *plugins.DeviceTuples, err error) {
		err = mapped(r.GetTuples(), tupleSegment, func(tuples []graph.Edge) (err error) {
			t, err = s.device.Lend(ctx, tuples)
			return err
		})
		return t, err
	}, func(t *plugins.DeviceTuples) *enginepb.LendReply {
		return &enginepb.LendReply{Tuples: deviceTuples.message(t)}
	}, lentFromWire)
}

func (s acceleratorServer) Load(ctx context.Context, r *enginepb.LoadRequest) (*enginepb.LoadReply, error) {
	return answer(ctx, s.server, r.GetCallId(), func(ctx context.Context) (none struct{}, err error) {
		return none, withLists(r, func(in plugins.Input) error { return s.device.Load(ctx, in, r.GetVertices()) })
	}, func(struct{}) *enginepb.LoadReply { return &enginepb.LoadReply{} }, nothing)
}

func (s acceleratorServer) Validate(ctx context.Context, r *enginepb.ValidateRequest) (*enginepb.Verdict, error) {
	return answer(ctx, s.server, r.GetCallId(), func(ctx context.Context) (t validate.Tree, err error) {
		out, err := s.output(r.GetParent(), r.GetDistance())
		if err != nil {
			return t, err
		}
		return s.device.Validate(ctx, graph.Vertex(r.GetRoot()), out)
	}, trees.message, treeFromWire)
}
