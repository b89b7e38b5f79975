package rpc

// The cost of the connection: a call that does nothing, with and without it; the start of an engine; making and mapping
// shared memory. docs/results/host.md has measured figures.

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// lonely returns a graph of one vertex, whose search takes almost no time.
func (s *stage) lonely() plugins.Input {
	tuples, _, err := s.Tuples(1)
	if err != nil {
		s.t.Fatal(err)
	}
	tuples[0] = graph.MakeEdge(0, 0)
	return plugins.Input{Tuples: tuples}
}

func benchmarkSearch(b *testing.B, engine plugins.Engine, input plugins.Input, parent []graph.Vertex) {
	ctx := context.Background()
	if _, err := engine.Construct(ctx, input); err != nil {
		b.Fatal(err)
	}
	if _, err := engine.Search(ctx, 0, parent); err != nil { // maps the parents
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Search(ctx, 0, parent); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmptySearch(b *testing.B) {
	b.Run("in-process", func(b *testing.B) {
		benchmarkSearch(b, serial.New(), newStage(b).lonely(), make([]graph.Vertex, 1))
	})
	b.Run("rpc", func(b *testing.B) {
		s := newStage(b)
		benchmarkSearch(b, s.open("serial"), s.lonely(), s.parents(1))
	})
}

func BenchmarkStartToFirstCall(b *testing.B) {
	s := newStage(b)
	for b.Loop() {
		client := s.open("serial")
		if _, err := client.Describe(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := client.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// benchBytes is the size of a segment in the benchmarks of memory.
const benchBytes = 256 << 20

func reportPerGiB(b *testing.B) {
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*(1<<30)/benchBytes, "s/GiB")
}

// kinds are the kinds of segments, by the names of benchmarks.
var kinds = map[string]segmentKind{"tuples": tupleSegment, "parents": parentSegment}

func BenchmarkMakeSegment(b *testing.B) {
	for name, kind := range kinds {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := newSegment(1, kind, benchBytes/kind.elementBytes(), present)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.release(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			reportPerGiB(b)
		})
	}
}

func BenchmarkAttach(b *testing.B) {
	for name, kind := range kinds {
		b.Run(name, func(b *testing.B) {
			n := benchBytes / kind.elementBytes()
			s := makeTestSegment(b, kind, n)
			for b.Loop() {
				m, err := attachFile(s.path, n*kind.elementBytes(), kind == parentSegment, false)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := m.unmap(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			reportPerGiB(b)
		})
	}
}
