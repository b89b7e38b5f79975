// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// byCPU is an accelerator that asks package graph.
type byCPU struct{ validator *validate.Validator }

func (*byCPU) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{Name: "slow"}, nil
}

func (*byCPU) Generate(ctx context.Context, k graph.Kronecker, dst []graph.Edge, first int64) error {
	return k.Generate(ctx, dst, first, 0)
}

func (a *byCPU) Load(_ context.Context, tuples []graph.Edge, vertices int64) (err error) {
	a.validator, err = validate.New(slices.Clone(tuples), vertices, 0)
	return err
}

func (*byCPU) Lend(_ context.Context, tuples []graph.Edge) (*plugins.DeviceTuples, error) {
	if len(tuples) == 0 {
		return nil, nil
	}
	return &plugins.DeviceTuples{Handle: []byte(tuples[0].String()), Count: int64(len(tuples))}, nil
}

func (a *byCPU) LoadRecipe(ctx context.Context, k graph.Kronecker) (err error) {
	a.validator, err = validate.NewFromSource(ctx, k, make([]graph.Edge, 1000), 0)
	return err
}

func (a *byCPU) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error) {
	if a.validator == nil {
		return validate.Tree{}, plugins.ErrNotConstructed
	}
	return a.validator.Validate(ctx, root, parent)
}

func (*byCPU) Close() error { return nil }

func TestAcceleratorBehindAProcess(t *testing.T) {
	s := newStage(t)
	a := s.open("accelerates")
	wantError(t, second(a.Validate(t.Context(), 0, s.parents(4))), plugins.ErrNotConstructed)
	wantError(t, second(a.Search(t.Context(), 0, s.parents(4))), plugins.ErrUnavailable)
	wantError(t, second(a.Construct(t.Context(), plugins.Input{})), plugins.ErrUnavailable)
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := first(s.Reserve(recipe.Tuples()))
	want := make([]graph.Edge, len(tuples))
	err := errors.Join(a.Generate(t.Context(), recipe, tuples, 0), recipe.Generate(t.Context(), want, 0, 0),
		s.Trim(tuples))
	if err != nil || !slices.Equal(tuples, want) {
		t.Fatalf("other tuples than those of package graph, or %v", err)
	}
	parents := s.parents(recipe.Vertices())
	validator := must(validate.New(tuples, recipe.Vertices(), 0))
	csr := must(graph.NewCSR(tuples, recipe.Vertices()))
	root, other := tuples[0].Ends()
	good := first(csr.Search(root))
	load := func() error { return a.Load(t.Context(), tuples, recipe.Vertices()) }
	again := func() error { return a.LoadRecipe(t.Context(), recipe) }
	for i, load := range []func() error{load, again} {
		check(t, load())
		for _, change := range [][2]graph.Vertex{{root, root}, {root, other}, {other, other},
			{other, -2}, {other, graph.Unreached}} {
			copy(parents, good)
			parents[change[0]] = change[1]
			gotTree, gotErr := a.Validate(t.Context(), root, parents)
			wantTree, wantErr := validator.Validate(t.Context(), root, parents)
			var got, want *validate.Violation
			if errors.As(gotErr, &got) != errors.As(wantErr, &want) || gotTree != wantTree ||
				got != nil && (got.Rule != want.Rule || !slices.Equal(got.Vertices, want.Vertices)) {
				t.Errorf("load %d, %v: %+v, %v, want %+v, %v", i, change, gotTree, gotErr, wantTree, wantErr)
			}
		}
	}
}

// The name of a list in device memory travels from an accelerator to an engine. One that cannot be a name is refused.
func TestDeviceTuples(t *testing.T) {
	s := newStage(t)
	a := s.open("accelerates")
	tuples := first(s.Tuples(3))
	tuples[0] = graph.MakeEdge(7, 9)
	recipe := graph.Kronecker{Scale: 4, EdgeFactor: 1}
	wantError(t, a.Generate(t.Context(), recipe, tuples, 0), ErrSegment) // a segment that is not a reservation
	lent := must(a.Lend(t.Context(), tuples))
	if none, err := a.Lend(t.Context(), nil); none != nil || err != nil {
		t.Errorf("a list of no tuples: %+v, %v", none, err)
	}
	_, err := s.open("shows its input").Construct(t.Context(), plugins.Input{DeviceTuples: lent})
	wantError(t, err, err, fmt.Sprintf("[] %q 3", tuples[0].String()))
}

func TestAnEngineIsNoAccelerator(t *testing.T) {
	s := newStage(t)
	e := s.open("serial")
	wantError(t, second(e.Validate(t.Context(), 0, s.parents(4))), errors.ErrUnsupported)
	wantError(t, second(e.Lend(t.Context(), nil)), errors.ErrUnsupported)
	wantError(t, e.Load(t.Context(), nil, 4), errors.ErrUnsupported)
	wantError(t, e.Generate(t.Context(), graph.Kronecker{}, nil, 0), errors.ErrUnsupported)
}

// An accelerator that stays open cannot write to tuples that engines read, whether it has made all or has stopped.
func TestNoTuplesStayWritable(t *testing.T) {
	stage := newStage(t)
	recipe := graph.Kronecker{Scale: 4, EdgeFactor: 1, Seed1: 2, Seed2: 3}
	tuples := first(stage.Reserve(recipe.Tuples()))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx         context.Context
		first, last int64
		kept        bool
	}{
		"more to come":   {t.Context(), 0, 8, true},
		"the last piece": {t.Context(), 8, 16, false},
		"canceled":       {canceled, 0, 8, false},
	} {
		s := acceleratorServer{&server{}, &byCPU{}}
		segment := must(segmentOf(stage.Host, tupleSegment, tuples[c.first:c.last], reserved))
		_, err := s.Generate(c.ctx, &enginepb.GenerateRequest{
			CallId: 1, Recipe: recipeToWire(&recipe), Tuples: segment, First: c.first,
		})
		if failed := c.ctx.Err() != nil; (err != nil) != failed || (s.keptID != 0) != c.kept {
			t.Errorf("%s: error %v, mapped for writing: %v", name, err, s.keptID != 0)
		}
		check(t, s.drop())
	}
}
