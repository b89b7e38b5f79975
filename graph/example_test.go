// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/graph"
)

// Sources are generated in any order and in parts.
func ExampleParseSource() {
	source, err := graph.ParseSource("grid2d:3", 2, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	last := make([]graph.Edge, 3)
	if err := source.Generate(context.Background(), last, source.Tuples()-3, 0); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(source.Vertices(), "vertices,", source.Tuples(), "tuples, the last are", last)
	// Output: 9 vertices, 12 tuples, the last are [(3,6) (4,7) (5,8)]
}
