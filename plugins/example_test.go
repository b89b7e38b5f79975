package plugins_test

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// An engine is a description and a function that builds a graph and returns its search. The main function of an
// engine's program would be: rpc.Serve(plugins.New(describe, build)).
func ExampleNew() {
	describe := func() (plugins.Description, error) {
		return plugins.Description{
			Name: "example", Version: "1", Summary: "one queue on one thread",
			Memory: plugins.Memory{PerVertex: 16, PerTuple: 16},
		}, nil
	}
	build := func(_ context.Context, in plugins.Input, _ plugins.Settings) (plugins.Built, error) {
		vertices, err := plugins.VerticesOf(in.Tuples, 32)
		if err != nil {
			return plugins.Built{}, err
		}
		rows, err := graph.NewCSR(in.Tuples, vertices)
		search := func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			for v := range parent {
				parent[v] = graph.Unreached
			}
			parent[root] = root
			for queue := []graph.Vertex{root}; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
				for _, v := range rows.Neighbors(queue[0]) {
					if parent[v] == graph.Unreached {
						parent[v] = queue[0]
						queue = append(queue, v)
					}
				}
			}
			return plugins.Traversal{}, ctx.Err()
		}
		return plugins.Built{Vertices: vertices, VertexBits: 64, Search: search}, err
	}

	engine := plugins.New(describe, build)
	defer engine.Close()
	ctx := context.Background()
	tuples := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(3, 4)}
	if _, err := engine.Construct(ctx, plugins.Input{Tuples: tuples}); err != nil {
		fmt.Println(err)
		return
	}
	parent := make([]graph.Vertex, 5)
	if _, err := engine.Search(ctx, 0, parent); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parent)
	_, err := engine.Search(ctx, 7, parent)
	fmt.Println(err)
	// Output:
	// [0 0 1 -1 -1]
	// example: search: root 7 of 5: root is not a vertex
}
