// SPDX-License-Identifier: Apache-2.0

// Command teps-engine-mine is an engine of teps: one queue, and one heap for shortest paths, on one thread over
// compressed sparse rows.
package main

import (
	"container/heap"
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
		ShortestPaths: true, PathMemory: plugins.Memory{PerVertex: 16, PerTuple: 48 + 64},
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
		Search: func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, search(ctx, rows, root, queue, parent)
		},
	}
	if err == nil && in.ShortestPaths {
		rows, err = graph.NewWeightedCSR(in.Tuples, in.Weights, vertices)
		built.Bytes += 24 * int64(len(in.Tuples))
		built.ShortestPaths = func(ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (
			plugins.Traversal, error) {
			return plugins.Traversal{}, shortestPaths(ctx, rows, root, parent, distance)
		}
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

// shortestPaths is kernel 3. Replace it, too.
func shortestPaths(
	ctx context.Context, rows *graph.CSR, root graph.Vertex, parent []graph.Vertex, distance []float32) error {
	for v := range parent {
		parent[v], distance[v] = graph.Unreached, graph.Infinity()
	}
	parent[root], distance[root] = root, 0
	for near := (waiting{{0, root}}); len(near) > 0; {
		if len(near)%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := heap.Pop(&near).(candidate)
		if at.distance > distance[at.vertex] {
			continue // it came with a shorter distance before
		}
		for i := rows.Offsets[at.vertex]; i < rows.Offsets[at.vertex+1]; i++ {
			if v, d := rows.Targets[i], at.distance+rows.Weights[i]; d < distance[v] {
				parent[v], distance[v] = at.vertex, d
				heap.Push(&near, candidate{d, v})
			}
		}
	}
	return nil
}

type candidate struct {
	distance float32
	vertex   graph.Vertex
}

// waiting is a heap with the nearest candidate first.
type waiting []candidate

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].distance < w[j].distance }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(c any)        { *w = append(*w, c.(candidate)) }
func (w *waiting) Pop() any {
	last := len(*w) - 1
	c := (*w)[last]
	*w = (*w)[:last]
	return c
}
