package graph

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkValidate validates correct searches from four roots of the reference's graphs in turn.
// docs/results/host.md compares it with the reference's own validation.
func BenchmarkValidate(b *testing.B) {
	for _, scale := range []int{18, 20, 22} {
		b.Run(fmt.Sprintf("scale=%d", scale), func(b *testing.B) {
			edges, vertices := kroneckerTuples(b, scale, 2)
			csr, err := NewCSR(edges, vertices)
			if err != nil {
				b.Fatal(err)
			}
			var roots []Vertex
			var parents [][]Vertex
			for i := range 4 {
				root, _ := edges[i].Ends()
				parent, _, err := csr.Search(root)
				if err != nil {
					b.Fatal(err)
				}
				roots, parents = append(roots, root), append(parents, parent)
			}
			csr = nil
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
					v, err := NewValidator(edges, vertices, threads)
					if err != nil {
						b.Fatal(err)
					}
					searches := 0
					for b.Loop() {
						if _, err := v.Validate(context.Background(), roots[searches%4], parents[searches%4]); err != nil {
							b.Fatal(err)
						}
						searches++
					}
					perRoot := b.Elapsed().Seconds() / float64(searches)
					b.ReportMetric(perRoot, "s/root")
					b.ReportMetric(perRoot*1e9/float64(len(edges)), "ns/tuple")
				})
			}
		})
	}
}
