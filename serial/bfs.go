// SPDX-License-Identifier: Apache-2.0

// Package serial has the plain searches. Every fast engine refers to this file as its plain twin: the same search
// without directions, threads, vertex orders or packed lists.
//
// The graph is in compressed sparse rows. There are three searches:
//
//   - linear keeps the reached vertices in a queue and looks at each once (Cormen, Leiserson, Rivest and Stein,
//     "Introduction to Algorithms", section 22.2).
//   - quadratic has no queue: in every level it searches all vertices for the frontier, as the first searches on GPUs
//     did (Harish and Narayanan, "Accelerating Large Graph Algorithms on the GPU Using CUDA", 2007).
//   - hybrid (hybrid.go) takes top-down and bottom-up steps on several threads, over rows that are sorted, renumbered
//     or packed on demand (Kolganov, "The Fastest and Energy-Efficient Breadth-First Search Algorithm on a Single
//     Node", 2018, figure 2 and sections 2 and 3.1).
package serial

import (
	"context"
	"slices"

	"github.com/tepsbench/teps/graph"
)

const stride = 4096 // vertices between two checks of the context

// linear searches from root. queue has room for every vertex and holds the visited ones in the order of their levels.
func (g *csr) linear(ctx context.Context, root graph.Vertex, queue []uint32, parent []graph.Vertex) error {
	start(parent, root)
	queue[0] = uint32(root)
	for head, tail := 0, 1; head < tail; head++ {
		if head%stride == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		u := queue[head]
		for _, v := range g.neighbors(u) {
			if parent[v] == graph.Unreached {
				parent[v] = graph.Vertex(u)
				queue[tail] = v
				tail++
			}
		}
	}
	return nil
}

// quadratic searches from root. level is scratch for every vertex: the level of a visited one plus 1, or 0.
func (g *csr) quadratic(ctx context.Context, root graph.Vertex, level []uint32, parent []graph.Vertex) error {
	start(parent, root)
	clear(level)
	level[root] = 1
	for depth, found := uint32(1), true; found; depth++ {
		found = false
		for u := range uint32(len(level)) {
			if u%stride == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if level[u] != depth {
				continue
			}
			for _, v := range g.neighbors(u) {
				if level[v] == 0 {
					level[v], parent[v] = depth+1, graph.Vertex(u)
					found = true
				}
			}
		}
	}
	return nil
}

func start(parent []graph.Vertex, root graph.Vertex) {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
}

// csr is a graph in compressed sparse rows: the neighbors of v, targets[offsets[v]:offsets[v+1]], ascend without v
// itself.
type csr struct {
	offsets []int64
	targets []uint32
}

// newCSR builds the rows of the vertices 0..vertices-1, which are at most 2^32.
func newCSR(ctx context.Context, tuples []graph.Edge, vertices int64) (*csr, error) {
	g := &csr{offsets: make([]int64, vertices+1)}
	for _, t := range tuples {
		u, v := t.Ends()
		g.offsets[u]++
		g.offsets[v]++
	}
	var end int64
	for v, degree := range g.offsets {
		end += degree
		g.offsets[v] = end
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.targets = make([]uint32, end)
	for _, t := range tuples { // from the back, so the end of each row becomes its beginning
		u, v := t.Ends()
		g.offsets[u]--
		g.targets[g.offsets[u]] = uint32(v)
		g.offsets[v]--
		g.targets[g.offsets[v]] = uint32(u)
	}
	var kept int64
	for v := range vertices {
		if v%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := g.targets[g.offsets[v]:g.offsets[v+1]]
		slices.Sort(row)
		row = slices.Compact(row)
		g.offsets[v] = kept
		for _, u := range row {
			if int64(u) != v {
				g.targets[kept] = u
				kept++
			}
		}
	}
	g.offsets[vertices] = kept
	g.targets = g.targets[:kept]
	return g, nil
}

func (g *csr) neighbors(v uint32) []uint32 { return g.targets[g.offsets[v]:g.offsets[v+1]] }

func (g *csr) bytes() int64 { return 8*int64(len(g.offsets)) + 4*int64(cap(g.targets)) }
