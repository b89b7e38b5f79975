// SPDX-License-Identifier: Apache-2.0

// Command teps-engine-mine is an engine of teps: one queue on one thread over compressed sparse rows, and a heap for
// shortest paths.
package main

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
)

func main() { rpc.Serve(plugins.New(describe, build)) }

func describe() (plugins.Description, error) {
	return plugins.Description{
		Name: "mine", Version: "1", Summary: "one queue on one thread",
		Memory: plugins.Memory{PerVertex: 16, PerTuple: 16}, // bytes, so that teps can refuse what does not fit
		// Kernel 3 is optional: without the next line there is none.
		ShortestPaths: true, PathMemory: plugins.Memory{PerVertex: 28, PerTuple: 24 + 64},
	}, nil
}

// build is kernel 1. It finds the number of vertices in the tuples.
func build(_ context.Context, in plugins.Input, _ plugins.Settings) (plugins.Built, error) {
	vertices, err := plugins.VerticesOf(in.Tuples, 32)
	if err != nil {
		return plugins.Built{}, err
	}
	rows, err := graph.NewCSR(in.Tuples, vertices)
	queue := make([]graph.Vertex, vertices)
	built := plugins.Built{
		Vertices: vertices, Bytes: 16 * (vertices + int64(len(in.Tuples))), VertexBits: 64,
		Search: func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
			if out.Distance != nil { // kernel 3
				parents, distances, err := rows.ShortestPaths(root) // Dijkstra's search. Replace it, too.
				copy(out.Parent, parents)
				copy(out.Distance, distances)
				return plugins.Traversal{}, err
			}
			return plugins.Traversal{}, search(ctx, rows, root, queue, out.Parent)
		},
	}
	if err == nil && in.ShortestPaths {
		rows, err = graph.NewWeightedCSR(in.Tuples, in.Weights, vertices)
		built.Bytes += 24 * int64(len(in.Tuples))
	}
	return built, err
}

// search is kernel 2. Replace it.
func search(ctx context.Context, rows *graph.CSR, root graph.Vertex, queue, parent []graph.Vertex) error {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
	queue[0] = root
	for head, tail := 0, 1; head < tail; head++ {
		if head%4096 == 0 && ctx.Err() != nil {
			return ctx.Err() // teps no longer wants the result
		}
		u := queue[head]
		for _, v := range rows.Neighbors(u) {
			if parent[v] == graph.Unreached {
				parent[v], queue[tail] = u, v
				tail++
			}
		}
	}
	return nil
}
