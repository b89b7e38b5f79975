// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// A wrong parent array is a Violation, which names the broken rule and the vertices.
func ExampleValidator_Validate() {
	path := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 3)}
	validator, err := validate.New(path, 4, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = validator.Validate(context.Background(), 0, []graph.Vertex{0, 0, 1, 1}, nil)
	var violation *validate.Violation
	if errors.As(err, &violation) {
		fmt.Println(violation.Rule)
		fmt.Println(violation.Text)
	}
	// Output:
	// rule 5 (each tree edge is a tuple)
	// vertex 3 on level 2 has parent 1, but neither (3,1) nor (1,3) is a tuple
}

var flagScale = flag.Int("validate.scale", 18, "scale of the benchmark")

// BenchmarkValidate validates correct searches from four roots of a Graph500 graph in turn, on one thread and on
// all processors. An operation is one root:
//
//	go test ./graph/validate -run '^$' -bench Validate -benchtime 20x -validate.scale 22
func BenchmarkValidate(b *testing.B) {
	k := graph.Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, k.Tuples())
	must.Do(k.Generate(b.Context(), tuples, 0, 0))
	var roots []graph.Vertex
	var parents [][]graph.Vertex
	e := cpu.New() // whose kernel 1 is much faster than that of graph.CSR
	defer e.Close()
	must.Get(e.Construct(b.Context(), plugins.Input{Tuples: tuples}))
	for i := range 4 {
		root, _ := tuples[i].Ends()
		parent := make([]graph.Vertex, k.Vertices())
		must.Get(e.Search(b.Context(), root, plugins.Output{Parent: parent}))
		roots, parents = append(roots, root), append(parents, parent)
	}
	for _, threads := range []int{1, 0} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			v := must.Get(validate.New(tuples, k.Vertices(), threads))
			for i := 0; b.Loop(); i = (i + 1) % len(roots) {
				must.Get(v.Validate(b.Context(), roots[i], parents[i], nil))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.Tuples()), "ns/tuple")
		})
	}
}
