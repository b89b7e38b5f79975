package graph

import "fmt"

// Search is the oracle: a breadth-first search with one queue, one vertex after the other, as in any textbook. It is
// what everything faster is compared with, so it stays simple and is never optimised.
//
// Both results have one entry for each vertex of g: the parent (see the package comment for its rules) and the level,
// which is 0 for root, one more than the parent's level for other reached vertices, and -1 for unreached ones. It
// fails when root is not a vertex.
func (g *CSR) Search(root Vertex) (parent []Vertex, level []int64, err error) {
	if root < 0 || int64(root) >= g.NumVertices() {
		return nil, nil, fmt.Errorf("graph: searching from root %d: want a vertex below %d", root, g.NumVertices())
	}
	parent, level = make([]Vertex, g.NumVertices()), make([]int64, g.NumVertices())
	for v := range parent {
		parent[v], level[v] = Unreached, -1
	}
	parent[root], level[root] = root, 0
	queue := []Vertex{root}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, v := range g.Neighbours(u) {
			if parent[v] == Unreached {
				parent[v], level[v] = u, level[u]+1
				queue = append(queue, v)
			}
		}
	}
	return parent, level, nil
}
