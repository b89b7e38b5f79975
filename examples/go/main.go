// Command teps-engine-mine is an engine of teps: one queue on one thread over compressed sparse rows.
package main

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/kernels"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.Serve(engine()) }

func engine() plugins.Engine {
	return kernels.New(plugins.Description{
		Name: "mine", Version: "1", Summary: "one queue on one thread",
		Memory: plugins.Memory{PerVertex: 16, PerTuple: 16}, // bytes, so that teps can refuse what does not fit
	}, build)
}

// build is kernel 1. How many vertices there are it must find out.
func build(_ context.Context, tuples []graph.Edge, _ plugins.Settings) (kernels.Graph, error) {
	vertices, err := kernels.VerticesOf(tuples, 32)
	if err != nil {
		return kernels.Graph{}, err
	}
	rows, err := graph.NewCSR(tuples, vertices)
	queue := make([]graph.Vertex, vertices)
	return kernels.Graph{
		Vertices: vertices, Bytes: 16 * (vertices + int64(len(tuples))), VertexBits: 64,
		Search: func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, search(ctx, rows, queue, root, parent)
		},
	}, err
}

// search is kernel 2, and what to replace.
func search(ctx context.Context, rows *graph.CSR, queue []graph.Vertex, root graph.Vertex, parent []graph.Vertex) error {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
	queue[0] = root
	for head, tail := 0, 1; head < tail; head++ {
		if head%4096 == 0 && ctx.Err() != nil {
			return ctx.Err() // teps has given up
		}
		u := queue[head]
		for _, v := range rows.Neighbours(u) {
			if parent[v] == graph.Unreached {
				parent[v], queue[tail] = u, v
				tail++
			}
		}
	}
	return nil
}
