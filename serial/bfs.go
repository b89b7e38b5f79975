// SPDX-License-Identifier: Apache-2.0

// Package serial has the plain searches. Every fast engine names this file as its plain twin: the same search without
// directions, threads, vertex orders or packed lists.
//
// The graph is in compressed sparse rows (csr.go). A search fills the parent array: the root is its own parent, every
// other reached vertex has a neighbor one level closer to the root, and all others are graph.Unreached.
//
//   - linear keeps the reached vertices in a queue and looks at each once, so its work is linear in vertices and edges
//     (Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", section 22.2).
//   - quadratic has no queue: in every level it searches all vertices for the frontier, as the first searches on GPUs
//     did (Harish and Narayanan, "Accelerating Large Graph Algorithms on the GPU Using CUDA", 2007), so its work grows
//     with vertices times levels.
//   - hybrid (hybrid.go) takes top-down and bottom-up steps on several threads, over rows that are sorted, renumbered
//     or packed on demand (Kolganov, "The Fastest and Energy-Efficient Breadth-First Search Algorithm on a Single
//     Node", 2018, figure 2 and sections 2 and 3.1).
package serial

import (
	"context"

	"github.com/tepsbench/teps/graph"
)

// stride is the number of vertices between two checks of the context.
const stride = 4096

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

// start makes root its own parent and all other vertices unreached.
func start(parent []graph.Vertex, root graph.Vertex) {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
}
