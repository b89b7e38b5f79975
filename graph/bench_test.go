// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"flag"
	"fmt"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

var flagScale = flag.Int("graph.scale", 18, "scale of the benchmarks")

// BenchmarkGenerate makes the tuples of the reference generator, in memory that has been touched, on one thread and on
// all processors:
//
//	go test ./graph -run '^$' -bench Generate -benchtime 3x -graph.scale 22
func BenchmarkGenerate(b *testing.B) {
	k := Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := generate(b, k, 0, k.Tuples())
	for _, threads := range []int{1, 0} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				must.Do(k.Generate(b.Context(), tuples, 0, threads))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.Tuples()), "ns/tuple")
		})
	}
}
