// Package serial is the engine that faster ones are measured against: one thread over plain compressed sparse rows.
//
// It has the textbook searches. One keeps a queue and looks at each vertex once, so its work is linear in vertices
// and edges (Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", section 22.2). The other looks for the
// frontier among all vertices in every level, as the first searches on GPUs did (Harish and Narayanan, "Accelerating
// Large Graph Algorithms on the GPU Using CUDA", 2007), so its work grows with vertices times levels. A third one takes
// top-down and bottom-up steps (Kolganov, "The Fastest and Energy-Efficient Breadth-First Search Algorithm on a Single
// Node", 2018, figure 2), also over rows that are transformed as his section 2 says. None packs lists.
package serial

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
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
		for _, v := range g.neighbours(u) {
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
			for _, v := range g.neighbours(u) {
				if level[v] == 0 {
					level[v], parent[v] = depth+1, graph.Vertex(u)
					found = true
				}
			}
		}
	}
	return nil
}

// hybrid searches from root and appends its levels to levels, as long as there is room. queue is that of linear; its
// last level is the frontier. level is that of quadratic.
func (g *csr) hybrid(ctx context.Context, root graph.Vertex, rule graph.Switch, queue, level []uint32,
	levels []plugins.Level, parent []graph.Vertex) ([]plugins.Level, error) {
	start(parent, root)
	clear(level)
	level[root], queue[0] = 1, uint32(root)
	state := graph.SwitchState{Direction: rule.First(), Frontier: 1, Vertices: int64(len(level))}
	for head, tail, depth := 0, 1, uint32(2); head < tail; depth++ {
		began, inLvl, next := time.Now(), int64(0), tail
		add := func(v, from uint32) {
			level[v], parent[v], queue[next] = depth, graph.Vertex(from), v
			next++
		}
		if state.Direction == graph.TopDown {
			for _, u := range queue[head:tail] {
				for _, v := range g.neighbours(u) {
					if level[v] == 0 {
						add(v, u)
					}
				}
				inLvl += int64(len(g.neighbours(u)))
			}
		} else {
			for v := range uint32(len(level)) {
				if level[v] != 0 {
					continue
				}
				for _, u := range g.neighbours(v) {
					inLvl++
					if level[u] == depth-1 {
						add(v, u)
						break
					}
				}
			}
		}
		if len(levels) < cap(levels) {
			levels = append(levels, plugins.Level{Direction: state.Direction, Frontier: int64(tail - head),
				Edges: plugins.Counted(inLvl), Elapsed: time.Since(began)})
		}
		state.Previous, state.Frontier = int64(tail-head), int64(next-tail)
		state.Direction = rule.NextKolganov(state, inLvl, int64(len(g.targets)))
		if head, tail = tail, next; ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return levels, nil
}

// start makes root its own parent and all other vertices unreached.
func start(parent []graph.Vertex, root graph.Vertex) {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
}
