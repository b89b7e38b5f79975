package validate_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// A search by hand: generate an input of Graph500, search it, and validate the parents against the tuples.
func Example() {
	ctx := context.Background()
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := recipe.Generate(ctx, tuples, 0, 0); err != nil {
		fmt.Println(err)
		return
	}
	csr, err := graph.NewCSR(tuples, recipe.Vertices())
	if err != nil {
		fmt.Println(err)
		return
	}
	root, _ := tuples[0].Ends()
	parent, _, err := csr.Search(root)
	if err != nil {
		fmt.Println(err)
		return
	}
	validator, err := validate.New(tuples, recipe.Vertices(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := validator.Validate(ctx, root, parent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("reached %d of %d vertices in %d levels, along %d edges\n",
		tree.Reached, recipe.Vertices(), tree.Depth+1, tree.NEdge())
	// Output: reached 897 of 1024 vertices in 4 levels, along 16239 edges
}

// A wrong parent array is a Violation, which names the broken rule and the vertices.
func ExampleValidator_Validate() {
	path := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 3)}
	validator, err := validate.New(path, 4, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = validator.Validate(context.Background(), 0, []graph.Vertex{0, 0, 1, 1})
	var violation *validate.Violation
	if errors.As(err, &violation) {
		fmt.Println(violation.Rule)
		fmt.Println(violation.Text)
	}
	// Output:
	// rule 5 (each tree edge is a tuple)
	// vertex 3 on level 2 has parent 1, but neither (3,1) nor (1,3) is a tuple
}
