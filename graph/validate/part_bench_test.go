// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"flag"
	"fmt"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

var partScale = flag.Int("parts.scale", 16, "scale of the benchmark of parts")

// BenchmarkParts validates the same search with a Validator and with parts, on one thread each:
//
//	go test ./graph/validate -run '^$' -bench Parts -parts.scale 20
func BenchmarkParts(b *testing.B) {
	k := graph.Kronecker{Scale: *partScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, k.Tuples())
	must.Do(k.Generate(b.Context(), tuples, 0, 0))
	root, _ := tuples[0].Ends()
	parent, _ := must.Get2(must.Get(graph.NewCSR(tuples, k.Vertices())).Search(root))
	b.Run("validator", func(b *testing.B) {
		v := must.Get(New(tuples, k.Vertices(), 1))
		for b.Loop() {
			must.Get(v.Validate(b.Context(), root, parent, nil))
		}
		b.ReportMetric(float64(Bytes(k.Vertices()))/float64(k.Tuples()), "B/tuple")
	})
	for _, size := range []int{1, 2, 4, 16} {
		b.Run(fmt.Sprintf("parts=%d", size), func(b *testing.B) {
			m, all, divided := newMeeting(size), make([]*Part, size), divide(parent, size)
			each := func(call func(rank int) error) {
				for _, err := range together(size, call) {
					must.Do(err)
				}
			}
			each(func(rank int) (err error) {
				slice, first := sliceOf(tuples, rank, size)
				all[rank], err = NewPart(b.Context(), seat{m, rank}, slice, first, k.Vertices(), 1)
				return err
			})
			for b.Loop() {
				each(func(rank int) error {
					_, err := all[rank].Validate(b.Context(), root, divided[rank], nil)
					return err
				})
			}
			bytes := int64(0)
			for _, p := range all {
				bytes += p.Bytes()
			}
			b.ReportMetric(float64(bytes)/float64(k.Tuples()), "B/tuple")
		})
	}
}
