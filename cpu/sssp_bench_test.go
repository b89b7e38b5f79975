// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// BenchmarkShortestPaths is BenchmarkSearch for kernel 3. The plain search of package serial takes turns with the sets
// of options, so that a noisy machine is noisy for all:
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
	var series []*pathSeries
	for i, set := range append([]map[string]string{nil}, benchmarkOptions()...) {
		e, name := New(), fmt.Sprint(set)
		if i == 0 {
			e, name = serial.New(), "serial"
		}
		defer e.Close()
		built, err := e.Construct(ctx, plugins.Input{Tuples: tuples, Weights: weights, ShortestPaths: true, Options: set})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%s kernel 1: %v, holds %d MB", name, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
		}
		fmt.Println()
		search := func(root graph.Vertex) (plugins.Traversal, error) {
			return e.Search(ctx, root, plugins.Output{Parent: parent, Distance: distance})
		}
		series = append(series, &pathSeries{name: name, search: search})
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
