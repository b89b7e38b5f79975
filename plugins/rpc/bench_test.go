// SPDX-License-Identifier: Apache-2.0

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
	tuples := first(s.Tuples(1))
	tuples[0] = graph.MakeEdge(0, 0)
	return plugins.Input{Tuples: tuples}
}

func benchmarkSearch(b *testing.B, engine plugins.Engine, input plugins.Input, parent []graph.Vertex) {
	ctx := context.Background()
	must(engine.Construct(ctx, input))
	if _, err := engine.Search(ctx, 0, parent); err != nil { // maps the parents
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		must(engine.Search(ctx, 0, parent))
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
		must(client.Describe(context.Background()))
		b.StopTimer()
		check(b, client.Close())
		b.StartTimer()
	}
}

// benchBytes is the size of a segment in the benchmarks of memory.
const benchBytes = 256 << 20

func reportPerGiB(b *testing.B) {
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*(1<<30)/benchBytes, "s/GiB")
}

func BenchmarkSegment(b *testing.B) {
	for name, kind := range map[string]segmentKind{"tuples": tupleSegment, "parents": parentSegment} {
		n := benchBytes / kind.elementBytes()
		b.Run("make-"+name, func(b *testing.B) {
			for b.Loop() {
				s := must(newSegment(1, kind, n, present))
				b.StopTimer()
				check(b, s.release())
				b.StartTimer()
			}
			reportPerGiB(b)
		})
		b.Run("attach-"+name, func(b *testing.B) {
			s := makeTestSegment(b, kind, n)
			for b.Loop() {
				m := must(attachFile(s.path, n*kind.elementBytes(), kind == parentSegment, false))
				b.StopTimer()
				check(b, m.unmap())
				b.StartTimer()
			}
			reportPerGiB(b)
		})
	}
}
