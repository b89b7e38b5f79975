package graph_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The benchmarks of docs/results/host.md, over threads:
//
//	go test -c -o graph.test ./graph
//	./graph.test -test.run '^$' -test.bench 'Generate|Validate' -test.benchtime 3x -graph.scales 20,22
var flagScales = flag.String("graph.scales", "18", "scales of the benchmarks, separated by commas")

// overThreads runs a benchmark of each scale with 1, 2, 4, ... threads and with all processors. Each takes what prepare
// makes for its scale, and reports the time of the operations for each tuple.
func overThreads[T any](
	b *testing.B, prepare func(b *testing.B, k graph.Kronecker) T, run func(b *testing.B, prepared T, threads int),
) {
	for text := range strings.SplitSeq(*flagScales, ",") {
		scale, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		k := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		b.Run(fmt.Sprintf("scale=%d", scale), func(b *testing.B) {
			prepared, all := prepare(b, k), runtime.GOMAXPROCS(0)
			for threads := 1; threads <= all; threads = min(2*threads, max(threads+1, all)) {
				b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
					run(b, prepared, threads)
					perTuple := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(k.Tuples())
					b.ReportMetric(perTuple, "ns/tuple")
				})
			}
		})
	}
}

// BenchmarkGenerate makes the tuples of the reference generator, in memory that has been touched.
func BenchmarkGenerate(b *testing.B) {
	type list struct {
		graph.Kronecker
		tuples []graph.Edge
	}
	prepare := func(b *testing.B, k graph.Kronecker) list { return list{k, generated(b, k)} }
	overThreads(b, prepare, func(b *testing.B, l list, threads int) {
		for b.Loop() {
			if err := l.Generate(context.Background(), l.tuples, 0, threads); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// searches are correct searches of a list of tuples.
type searches struct {
	vertices int64
	tuples   []graph.Edge
	roots    []graph.Vertex
	parents  [][]graph.Vertex
}

// BenchmarkValidate validates correct searches from four roots of the reference's graphs in turn. An operation is one
// root.
func BenchmarkValidate(b *testing.B) {
	overThreads(b, searched, func(b *testing.B, s searches, threads int) {
		v, err := graph.NewValidator(s.tuples, s.vertices, threads)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i = (i + 1) % len(s.roots) {
			if _, err := v.Validate(context.Background(), s.roots[i], s.parents[i]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func generated(b *testing.B, k graph.Kronecker) []graph.Edge {
	tuples := make([]graph.Edge, k.Tuples())
	if err := k.Generate(context.Background(), tuples, 0, 0); err != nil {
		b.Fatal(err)
	}
	return tuples
}

// searched searches with the engine cpu, whose kernel 1 is much faster than that of graph.CSR.
func searched(b *testing.B, k graph.Kronecker) searches {
	s := searches{vertices: k.Vertices(), tuples: generated(b, k)}
	e := cpu.New()
	defer e.Close()
	if _, err := e.Construct(context.Background(), plugins.Input{Tuples: s.tuples}); err != nil {
		b.Fatal(err)
	}
	for i := range 4 {
		root, _ := s.tuples[i].Ends()
		parent := make([]graph.Vertex, s.vertices)
		if _, err := e.Search(context.Background(), root, parent); err != nil {
			b.Fatal(err)
		}
		s.roots, s.parents = append(s.roots, root), append(s.parents, parent)
	}
	return s
}
