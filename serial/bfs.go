// Package serial is the engine that faster ones are measured against: plain compressed sparse rows, and one thread
// unless told otherwise.
//
// It has the textbook searches. One keeps a queue and looks at each vertex once, so its work is linear in vertices
// and edges (Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", section 22.2). The other looks for the
// frontier among all vertices in every level, as the first searches on GPUs did (Harish and Narayanan, "Accelerating
// Large Graph Algorithms on the GPU Using CUDA", 2007), so its work grows with vertices times levels. A third one takes
// top-down and bottom-up steps (Kolganov, "The Fastest and Energy-Efficient Breadth-First Search Algorithm on a Single
// Node", 2018, figure 2), also over rows that are transformed as his section 2 says, on several threads and over packed
// lists (section 3.1).
package serial

import (
	"context"

	"github.com/tepsbench/teps/graph"
)

// stride is the number of vertices after which a loop looks whether the caller has given up.
const stride = 4096

// linear searches from root with the queue of all vertices reached, in the order in which they were reached.
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

// quadratic searches from root. level has the level of each vertex reached, plus 1, and 0 for the others.
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
