// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
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
