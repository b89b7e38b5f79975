// SPDX-License-Identifier: Apache-2.0

package graph

import "fmt"

// CSR is a plain compressed sparse row adjacency: the neighbors of v are Targets[Offsets[v]:Offsets[v+1]], not sorted.
// Each tuple {u, v} is an entry in the lists of u and v; duplicates are repeated, a self-loop is in its list twice.
type CSR struct {
	Offsets []int64 // [vertices+1]
	Targets []Vertex
}

// NewCSR builds the adjacency of the vertices 0..vertices-1, an error if vertices is negative or a label larger.
func NewCSR(edges []Edge, vertices int64) (*CSR, error) {
	if vertices < 0 {
		return nil, fmt.Errorf("graph: building a CSR of %d vertices: the number of vertices cannot be negative", vertices)
	}
	offsets := make([]int64, vertices+1)
	for i, e := range edges {
		u, v := e.Ends()
		if int64(max(u, v)) >= vertices {
			return nil, fmt.Errorf("graph: building a CSR of %d vertices: tuple %d is %v: "+
				"pass a number of vertices larger than every label", vertices, i, e)
		}
		offsets[u]++
		offsets[v]++
	}
	var end int64
	for v, degree := range offsets {
		end += degree
		offsets[v] = end
	}
	targets := make([]Vertex, end)
	for _, e := range edges { // from the back, so the end of each list becomes its beginning
		u, v := e.Ends()
		offsets[u]--
		targets[offsets[u]] = v
		offsets[v]--
		targets[offsets[v]] = u
	}
	return &CSR{offsets, targets}, nil
}

// NumVertices returns the number of vertices, isolated ones included.
func (g *CSR) NumVertices() int64 { return int64(len(g.Offsets)) - 1 }

// Neighbors returns the list of v, which must be a vertex. The caller must not change it.
func (g *CSR) Neighbors(v Vertex) []Vertex { return g.Targets[g.Offsets[v]:g.Offsets[v+1]] }

// Search is the textbook breadth-first search with one queue, the reference for every faster search. It returns the
// parent and the level of each vertex (-1 for unreached ones), or an error if root is not a vertex.
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
		for _, v := range g.Neighbors(u) {
			if parent[v] == Unreached {
				parent[v], level[v] = u, level[u]+1
				queue = append(queue, v)
			}
		}
	}
	return parent, level, nil
}
