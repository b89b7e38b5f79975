// SPDX-License-Identifier: Apache-2.0

package compare_test

import (
	"fmt"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

// run returns a record of the engine cpu at scale 20. record.Load reads one from the directory of a run.
func run(id string, seconds ...float64) record.Result {
	tuples := int64(16 << 20)
	r := record.Run{
		Engine: record.EngineSpec{Name: "cpu"}, GraphID: record.GraphID{Scale: 20}, State: record.Complete,
		Graph: &record.GraphRecord{Recipe: graph.Kronecker{Scale: 20, EdgeFactor: 16}},
	}
	for i, s := range seconds {
		r.Roots = append(r.Roots, record.RootRecord{Index: i, Root: graph.Vertex(i), Time: s, NEdge: &tuples})
	}
	result := record.Result{Runs: []record.Run{r}}
	result.ID = id
	return result
}

// The times of the eight roots differ by a factor of three, but each is about 5 % longer in the second run.
func ExampleOf() {
	before := run("before", 0.010, 0.012, 0.015, 0.018, 0.020, 0.022, 0.025, 0.030)
	after := run("after", 0.0105, 0.0127, 0.0157, 0.0189, 0.0209, 0.0232, 0.0263, 0.0314)

	c := compare.Of(compare.Side{Name: "A", Results: []record.Result{before}},
		compare.Side{Name: "B", Results: []record.Result{after}})
	for _, cell := range c.Cells {
		fmt.Printf("%s, scale %d, %d roots: %s\n", cell.Engine, cell.Graph.Scale, cell.Common, cell.Verdict)
		fmt.Printf("B/A = %.3f [%.3f %.3f], p = %.3f\n", cell.Typical.Estimate, cell.Typical.Low, cell.Typical.High, cell.P)
		fmt.Println("more than 2 % slower:", cell.SlowerThan(0.02))
	}
	// Output:
	// cpu, scale 20, 8 roots: slower
	// B/A = 0.952 [0.948 0.955], p = 0.008
	// more than 2 % slower: true
}
