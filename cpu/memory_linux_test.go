// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package cpu

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// Not with arrays on the Go heap, which this would count twice.
func TestMemoryNeededIsAnUpperBound(t *testing.T) {
	for _, scale := range []int{10, 16} {
		tuples := kronecker(t, scale)
		for _, threads := range []int{1, 2, 5} {
			used, bound := needed(t, tuples, 1<<scale, threads, "csr")
			if used*16 < bound && scale >= 16 {
				t.Errorf("s%d, %d threads: used %d bytes, so a bound of %d is useless", scale, threads, used, bound)
			}
		}
	}
}

// needed builds and searches a graph, fails if that takes more memory than the engine's bound, and returns both.
func needed(t *testing.T, tuples []graph.Edge, vertices, threads int, adjacency string) (used, bound int64) {
	t.Helper()
	options := map[string]string{"threads": fmt.Sprint(threads), "adjacency": adjacency}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := construction(t, tuples, options)
	must.Get(e.traverse(context.Background(), 0, plugins.Output{Parent: make([]graph.Vertex, e.graph.Labels)}))
	runtime.ReadMemStats(&after)
	// As if the collector freed nothing, and every page of every array were touched.
	used = e.memory.Peak() + int64(after.TotalAlloc-before.TotalAlloc) - int64(8*e.graph.Labels)
	m := memoryBound(threads)
	bound = m.Fixed + int64(m.PerVertex*float64(vertices)+m.PerTuple*float64(len(tuples)))
	if used > bound {
		t.Errorf("%v: used %d bytes, bound is %d", options, used, bound)
	}
	if err := e.free(); err != nil || e.memory.Held() != 0 {
		t.Errorf("%v: free left %d bytes: %v", options, e.memory.Held(), err)
	}
	return used, bound
}

func TestMemoryNeededByShortestPathsIsAnUpperBound(t *testing.T) {
	for name, tuples := range map[string][]graph.Edge{
		"kron:16": kronecker(t, 16), "star": starsOnPaths(1, 1<<18, 1), "path": starsOnPaths(2, 1, 1<<17),
		"caterpillar": caterpillar(1<<15, 3), "hubs on paths": starsOnPaths(300, 300, 300),
	} {
		for _, threads := range []int{1, 3} {
			settings := must.Get(plugins.Resolve(options(), map[string]string{"threads": fmt.Sprint(threads)}))
			e := must.Get(construct(t.Context(), tuples, settings, layout.Options{Weighted: true}))
			runtime.GC()
			before, held := heapAllocated(), e.memory.Held()
			must.Do(e.constructPaths(t.Context(), tuples, make([]float32, len(tuples))))
			labels := e.graph.Labels
			for range 2 {
				out := plugins.Output{Parent: make([]graph.Vertex, labels), Distance: make([]float32, labels)}
				must.Get(e.traverse(t.Context(), 0, out))
			}
			// The peak may be that of kernel 2, whose bound is added to this one.
			used := e.memory.Peak() - held + heapAllocated() - before - int64(2*12*labels)
			m := pathMemory(threads)
			bound := m.Fixed + int64(m.PerVertex*float64(labels)+m.PerTuple*float64(len(tuples)))
			if used > bound {
				t.Errorf("%s, %d threads: used %d bytes, bound is %d", name, threads, used, bound)
			}
			if err := e.free(); err != nil || e.memory.Held() != 0 {
				t.Errorf("%s: free left %d bytes: %v", name, e.memory.Held(), err)
			}
		}
	}
}

// heapAllocated returns the bytes that have been allocated on the Go heap so far.
func heapAllocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// Graphs unlike the benchmark's: single vertices have up to half of all entries, or there are hardly any entries.
func TestMemoryNeededIsAnUpperBoundForOtherGraphs(t *testing.T) {
	const size = 200_000
	if testing.Short() {
		t.Skip("millions of tuples; left out with -short")
	}
	for _, c := range []struct {
		name     string
		vertices int
		tuples   int
		tuple    func(i int) (u, v int)
	}{
		{"star", 4 * size, 4*size - 1, func(i int) (int, int) { return 0, i + 1 }},
		{"star of duplicates", 1000, 4 * size, func(i int) (int, int) { return 0, 1 + i%999 }},
		{"star with a ring", 2*size + 1, 4 * size, func(i int) (int, int) {
			if v := i / 2; i%2 == 1 {
				return 1 + v, 1 + (v+1)%(2*size)
			}
			return 0, 1 + i/2
		}},
		{"two stars with the same leaves", 2*size + 2, 4 * size, func(i int) (int, int) { return i % 2, 2 + i/2 }},
		{"three stars with the same leaves", size + 3, 3 * size, func(i int) (int, int) { return i % 3, 3 + i/3 }},
		{"sixteen stars with the same leaves", size/4 + 16, 4 * size, func(i int) (int, int) {
			return i % 16, 16 + i/16
		}},
		{"path", size, size - 1, func(i int) (int, int) { return i, i + 1 }},
		{"clique", 1024, 1024 * 1024, func(i int) (int, int) { return i / 1024, i % 1024 }},
		{"the same tuple", 2, 4 * size, func(int) (int, int) { return 0, 1 }},
		{"loops", size, 4 * size, func(i int) (int, int) { return i % size, i % size }},
	} {
		t.Run(c.name, func(t *testing.T) {
			tuples := make([]graph.Edge, c.tuples)
			for i := range tuples {
				u, v := c.tuple(i)
				tuples[i] = graph.MakeEdge(graph.Vertex(u), graph.Vertex(v))
			}
			for adjacency, threads := range map[string]int{"csr": 1, "packed": 3} {
				used, bound := needed(t, tuples, c.vertices, threads, adjacency)
				t.Logf("%s, %d threads: %d MB of %d", adjacency, threads, used>>20, bound>>20)
			}
		})
	}
}
