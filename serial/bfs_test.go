// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func open(context.Context) (plugins.Engine, error) { return New(), nil }

// The whole suite for the defaults and for every other choice. Other sets search its smaller graphs: quadratic work and
// bottom-up steps take minutes on long paths.
func TestConformance(t *testing.T) {
	enginetest.Test(t, open, nil, map[string]string{"work": "hybrid", "adjacency": "perlist", "threads": "3",
		"local": "on", "global": "on", "renumber": "on", "paths": "delta", "delta": "0.003"})
	enginetest.TestQuick(t, open, []string{"graph/*"}, map[string]string{"work": "quadratic"},
		map[string]string{"work": "hybrid", "direction": "topdown"},
		map[string]string{"work": "hybrid", "direction": "bottomup"},
		map[string]string{"work": "hybrid", "direction": "bottomup", "adjacency": "perlist"},
		map[string]string{"work": "hybrid", "local": "on", "global": "on", "renumber": "on"},
		map[string]string{"work": "hybrid", "renumber": "on"},
		map[string]string{"work": "hybrid", "threads": "3", "schedule": "static", "chunk": "0"},
		map[string]string{"work": "hybrid", "threads": "3", "schedule": "static", "chunk": "7"},
		map[string]string{"work": "hybrid", "threads": "2", "schedule": "dynamic", "chunk": "0"},
		map[string]string{"work": "hybrid", "threads": "5", "schedule": "guided", "global": "on"},
		map[string]string{"work": "hybrid", "adjacency": "perlist"})
	enginetest.TestQuick(t, open, []string{"paths/*"}, map[string]string{"paths": "delta", "delta": "0.1"})
}

func TestMemoryNeededIsAnUpperBound(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:15")
	weights := make([]float32, len(tuples))
	must.Do(graph.Weights(t.Context(), source, 2, 3, weights, 0, 1))
	parent, distance := make([]graph.Vertex, source.Vertices()), make([]float32, source.Vertices())
	kernel2, kernel3 := plugins.Input{Tuples: tuples}, plugins.Input{Tuples: tuples, ShortestPaths: true, Weights: weights}
	for _, c := range []struct {
		in  plugins.Input
		set map[string]string
	}{
		{kernel2, nil},
		{kernel2, map[string]string{"work": "quadratic"}},
		{kernel3, nil},
		{kernel3, map[string]string{"paths": "delta"}},
	} {
		out := plugins.Output{Parent: parent}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := New()
		if c.in.Options = c.set; c.in.ShortestPaths {
			out.Distance = distance
		}
		must.Get(e.Construct(t.Context(), c.in))
		must.Get(e.Search(t.Context(), 0, out))
		runtime.ReadMemStats(&after)
		d := must.Get(e.Describe(t.Context()))
		bound := d.Memory.Bytes(source.Vertices(), source.Tuples())
		if c.in.ShortestPaths {
			bound += d.PathMemory.Bytes(source.Vertices(), source.Tuples())
		}
		got := float64(after.TotalAlloc - before.TotalAlloc) // as if the collector freed nothing
		if got > bound || 2*got < bound {
			t.Errorf("%v: got %.0f bytes, want at most the estimate of %.0f and more than half of it", c.set, got, bound)
		}
	}
}

// TestShare counts how often each item is shared out.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hybrid{
			workers: rapid.IntRange(1, 9).Draw(t, "workers"), chunk: rapid.IntRange(0, 50).Draw(t, "chunk"),
			schedule: rapid.SampledFrom([]string{"static", "dynamic", "guided"}).Draw(t, "schedule"),
		}
		n := rapid.IntRange(0, 1000).Draw(t, "items")
		given := make([]int32, n)
		h.share(n, func(_, first, last int) {
			for i := first; i < last; i++ {
				atomic.AddInt32(&given[i], 1)
			}
		})
		for i, times := range given {
			if times != 1 {
				t.Fatalf("item %d of %d was given out %d times", i, n, times)
			}
		}
	})
}
