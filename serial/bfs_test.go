// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"errors"
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

func TestMemoryOfKernel3IsAnUpperBound(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:14")
	weights := make([]float32, len(tuples))
	must.Do(graph.Weights(t.Context(), source, 2, 3, weights, 0, 1))
	parent, distance := make([]graph.Vertex, source.Vertices()), make([]float32, source.Vertices())
	for _, set := range []map[string]string{nil, {"paths": "delta"}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := New()
		_, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, ShortestPaths: true, Weights: weights, Options: set})
		if err == nil {
			_, err = e.Search(t.Context(), 0, plugins.Output{Parent: parent, Distance: distance})
		}
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		d, _ := e.Describe(t.Context())
		got := int64(after.TotalAlloc - before.TotalAlloc) // as if the collector freed nothing
		bound := d.Memory.Fixed + int64((d.Memory.PerVertex+d.PathMemory.PerVertex)*float64(source.Vertices())+
			(d.Memory.PerTuple+d.PathMemory.PerTuple)*float64(len(tuples)))
		if got > bound || 2*got < bound {
			t.Errorf("%v: got %d bytes, want at most the estimate of %d and more than half of it", set, got, bound)
		}
	}
}

func TestMemoryNeededIsAnUpperBound(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:16")
	parent := make([]graph.Vertex, source.Vertices())
	for _, set := range []map[string]string{
		nil,
		{"work": "quadratic"},
		{"work": "hybrid", "local": "on"},
		{"work": "hybrid", "threads": "4"},
		{"work": "hybrid", "global": "on"},
		{"work": "hybrid", "renumber": "on"},
		{"work": "hybrid", "adjacency": "perlist"},
		{"work": "hybrid", "local": "on", "global": "on", "renumber": "on", "adjacency": "perlist", "threads": "4"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := New()
		must.Get(e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: set}))
		must.Get(e.Search(t.Context(), 0, plugins.Output{Parent: parent}))
		runtime.ReadMemStats(&after)
		d := must.Get(e.Describe(t.Context()))
		settings := must.Get(plugins.Resolve(d.Options, set))
		m := memoryBound(settings)
		if set == nil && m != d.Memory {
			t.Errorf("got %+v in the description, want %+v", d.Memory, m)
		}
		got := int64(after.TotalAlloc - before.TotalAlloc) // as if the collector freed nothing
		bound := m.Fixed + int64(m.PerVertex*float64(source.Vertices())+m.PerTuple*float64(len(tuples)))
		if got > bound || 2*got < bound {
			t.Errorf("%v: got %d bytes, want at most the estimate of %d and more than half of it", set, got, bound)
		}
		if err := fits(t.Context(), m, 1<<44, 1<<48); !errors.Is(err, plugins.ErrMemory) {
			t.Errorf("%v: got %v for a graph that no machine has memory for", set, err)
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
