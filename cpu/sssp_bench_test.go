// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// BenchmarkShortestPaths is BenchmarkSearch for kernel 3. Dijkstra's algorithm with a binary heap takes turns with the
// sets of options, so that a noisy machine is noisy for all:
//
//	./cpu.test -test.run '^$' -test.bench ShortestPaths -test.benchtime 1x -cpu.scale 20 -cpu.roots 16
//	./cpu.test -test.run '^$' -test.bench ShortestPaths -test.benchtime 1x -cpu.graph grid2d:1000 -cpu.roots 4
func BenchmarkShortestPaths(b *testing.B) {
	ctx := context.Background()
	tuples, vertices := benchmarkGraph(b)
	weights := make([]float32, len(tuples))
	if err := graph.Weights(ctx, benchmarkSource(b), 2, 3, weights, 0, 0); err != nil {
		b.Fatal(err)
	}
	roots := chooseRoots(b, tuples, vertices)
	host, err := validate.New(tuples, int64(vertices), 0)
	if err == nil {
		err = host.SetWeights(weights)
	}
	if err != nil {
		b.Fatal(err)
	}
	parent, distance := make([]graph.Vertex, vertices), make([]float32, vertices)
	heap := newHeapSearch(tuples, weights, vertices)
	byHeap := func(root graph.Vertex) (plugins.Traversal, error) {
		start := time.Now()
		heap.search(root, parent, distance)
		return plugins.Traversal{Elapsed: time.Since(start)}, nil
	}
	series := []*pathSeries{{name: "Dijkstra with a binary heap", search: byHeap}}
	for _, set := range benchmarkOptions() {
		e := New()
		defer e.Close()
		built, err := e.Construct(ctx, plugins.Input{Tuples: tuples, Weights: weights, ShortestPaths: true, Options: set})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%v kernel 1: %v, holds %d MB", set, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
		}
		fmt.Println()
		search := func(root graph.Vertex) (plugins.Traversal, error) {
			return e.(plugins.PathFinder).ShortestPaths(ctx, root, parent, distance)
		}
		series = append(series, &pathSeries{name: fmt.Sprint(set), search: search})
	}
	var counts []int64
	for _, root := range roots {
		for _, s := range series {
			host.OverwritePaths(parent, distance)
			if _, err := s.search(root); err != nil {
				b.Fatal(err)
			}
			tree, err := host.ShortestPaths(ctx, root, parent, distance)
			if err != nil {
				b.Fatalf("%s, root %d: %v", s.name, root, err)
			}
			if s == series[0] {
				counts = append(counts, tree.NEdge())
			}
		}
	}
	for range b.N * *flagPasses {
		for _, s := range series {
			s.pass(b, roots, counts)
		}
	}
	for _, s := range series {
		fmt.Printf("%v\n\tto the first: %.2f\n", s, medianRatio(s.rates, series[0].rates))
	}
	b.ReportMetric(units.Median(series[1].rates), "GTEPS")
}

// pathSeries is a way to find shortest paths, with its rates.
type pathSeries struct {
	name            string
	search          func(root graph.Vertex) (plugins.Traversal, error)
	rates           []float64 // GTEPS, harmonic means of passes
	parts           breakdown
	entries, levels int64
}

func (s *pathSeries) pass(b *testing.B, roots []graph.Vertex, counts []int64) {
	time.Sleep(20 * time.Millisecond)
	seconds := 0.0
	for i, root := range append(roots[:1:1], roots...) {
		t, err := s.search(root)
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			continue // wakes the workers
		}
		seconds += t.Elapsed.Seconds() / float64(counts[i-1])
		s.parts.add(t)
		s.levels += int64(len(t.Levels))
		for _, l := range t.Levels {
			n, _ := l.Edges.Get()
			s.entries += n
		}
	}
	s.rates = append(s.rates, float64(len(roots))/seconds/1e9)
}

func (s *pathSeries) String() string {
	searches := int64(max(s.parts.searches, 1))
	return fmt.Sprintf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS, %d levels, %d entries\n"+
		"\tmean of a search: %v", s.name, slices.Min(s.rates), units.Median(s.rates), slices.Max(s.rates),
		s.levels/searches, s.entries/searches, &s.parts)
}

// heapSearch is Dijkstra's algorithm with a binary heap, in which a vertex is once for each distance it has had.
type heapSearch struct {
	at, entries []uint64 // entry: weight<<32 | neighbor
	heap        []uint64 // distance<<32 | vertex
}

func newHeapSearch(tuples []graph.Edge, weights []float32, vertices int) *heapSearch {
	s := &heapSearch{at: make([]uint64, vertices+1), entries: make([]uint64, 2*len(tuples))}
	for _, e := range tuples {
		u, v := e.Ends()
		s.at[u]++
		s.at[v]++
	}
	total := uint64(0)
	for v, n := range s.at {
		total += n
		s.at[v] = total
	}
	for i, e := range tuples {
		u, v := e.Ends()
		weight := uint64(math.Float32bits(weights[i])) << 32
		s.at[u]--
		s.entries[s.at[u]] = weight | uint64(v)
		s.at[v]--
		s.entries[s.at[v]] = weight | uint64(u)
	}
	return s
}

func (s *heapSearch) search(root graph.Vertex, parent []graph.Vertex, distance []float32) {
	for v := range parent {
		parent[v], distance[v] = graph.Unreached, graph.Infinity()
	}
	parent[root], distance[root] = root, 0
	for s.heap = append(s.heap[:0], uint64(root)); len(s.heap) > 0; {
		key := s.pop()
		v, d := uint32(key), math.Float32frombits(uint32(key>>32))
		if d > distance[v] {
			continue
		}
		for _, e := range s.entries[s.at[v]:s.at[v+1]] {
			u := uint32(e)
			if to := d + math.Float32frombits(uint32(e>>32)); to < distance[u] {
				distance[u], parent[u] = to, graph.Vertex(v)
				s.push(uint64(math.Float32bits(to))<<32 | uint64(u))
			}
		}
	}
}

func (s *heapSearch) push(key uint64) {
	s.heap = append(s.heap, key)
	i := len(s.heap) - 1
	for ; i > 0 && s.heap[(i-1)/2] > key; i = (i - 1) / 2 {
		s.heap[i] = s.heap[(i-1)/2]
	}
	s.heap[i] = key
}

func (s *heapSearch) pop() uint64 {
	top, last := s.heap[0], s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	for i := 0; len(s.heap) > 0; {
		child := 2*i + 1
		if child+1 < len(s.heap) && s.heap[child+1] < s.heap[child] {
			child++
		}
		if child >= len(s.heap) || s.heap[child] >= last {
			s.heap[i] = last
			break
		}
		s.heap[i] = s.heap[child]
		i = child
	}
	return top
}
