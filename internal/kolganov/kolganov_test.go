// SPDX-License-Identifier: Apache-2.0

package kolganov

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

func TestOrder(t *testing.T) {
	// 0 - 3, 3 - 1, 3 - 4, and 2 alone: the queue is 0 3 1 4, then 2.
	offsets, targets := []int64{0, 1, 2, 2, 5, 6}, []uint32{3, 3, 0, 1, 4, 3}
	got, err := Order(t.Context(), offsets, targets, 2)
	if diff := cmp.Diff([]uint32{0, 2, 4, 1, 3}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	if got, err := Order(t.Context(), []int64{0}, nil, 2); len(got) != 0 || err != nil {
		t.Errorf("without vertices: got %v and %v", got, err)
	}
}

// Threads do not change the numbers of a graph with large levels, some with duplicates in lists.
func TestOrderOnThreads(t *testing.T) {
	source := graph.Kronecker{Scale: 15, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, source.Tuples())
	must.Do(source.Generate(t.Context(), tuples, 0, 0))
	g := must.Get(graph.NewCSR(tuples, source.Vertices()))
	targets := make([]uint32, len(g.Targets))
	for i, v := range g.Targets {
		targets[i] = uint32(v)
	}
	want := must.Get(Order(t.Context(), g.Offsets, targets, 1))
	for _, threads := range []int{2, 5} {
		got, err := Order(t.Context(), g.Offsets, targets, threads)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d threads: the order differs from that of one thread: %v", threads, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, must.Err(Order(ctx, g.Offsets, targets, 2)), context.Canceled)
}

// The cases are the branches of figure 3, with 100 vertices, a factor of 5, alpha 10 and beta 20: 600 is the sum of the
// vertices and the edges of those that are not visited, if none is.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		old                    graph.Direction
		previous, found, inLvl int64
		want                   graph.Direction
	}{
		{graph.TopDown, 1, 20, 49, graph.TopDown}, // growing; 500/10 = 50
		{graph.TopDown, 1, 20, 50, graph.BottomUp},
		{graph.BottomUp, 1, 20, 0, graph.BottomUp},
		{graph.BottomUp, 20, 5, 0, graph.TopDown},  // shrinking; 575/100 = 5.75
		{graph.BottomUp, 20, 6, 0, graph.BottomUp}, // 570/100
		{graph.TopDown, 6, 6, 0, graph.BottomUp},
	} {
		rule := graph.Switch{Alpha: 10, Beta: 20}
		state := graph.SwitchState{Direction: c.old, Frontier: c.found, Previous: c.previous, Vertices: 100}
		if got := Next(rule, state, c.inLvl, 1000); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
		rule.Steps = graph.OnlyTopDown
		if got := Next(rule, state, c.inLvl, 1000); got != graph.TopDown {
			t.Errorf("%+v with only top-down steps: got %v", c, got)
		}
	}
}
