// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"container/heap"
	"fmt"
)

// CSR is a plain compressed sparse row adjacency: the neighbors of v are Targets[Offsets[v]:Offsets[v+1]], not sorted.
// Each tuple {u, v} is an entry in the lists of u and v; duplicates are repeated, a self-loop is in its list twice.
type CSR struct {
	Offsets []int64 // [vertices+1]
	Targets []Vertex
	Weights []float32 // of the entries; nil without weights
}

// NewCSR builds the adjacency of the vertices 0..vertices-1. It returns an error if vertices is negative or a label is
// not below it.
func NewCSR(edges []Edge, vertices int64) (*CSR, error) { return newCSR(edges, nil, vertices) }

// NewWeightedCSR is NewCSR with a weight for each tuple. It returns an error if the numbers differ.
func NewWeightedCSR(edges []Edge, weights []float32, vertices int64) (*CSR, error) {
	if len(weights) != len(edges) {
		return nil, fmt.Errorf("graph: building a CSR of %d tuples with %d weights: want as many", len(edges), len(weights))
	}
	return newCSR(edges, weights, vertices)
}

func newCSR(edges []Edge, weights []float32, vertices int64) (*CSR, error) {
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
	g := &CSR{offsets, make([]Vertex, end), nil}
	if weights != nil {
		g.Weights = make([]float32, end)
	}
	for i, e := range edges { // from the back, so the end of each list becomes its beginning
		u, v := e.Ends()
		for _, end := range [2][2]Vertex{{u, v}, {v, u}} {
			offsets[end[0]]--
			at := offsets[end[0]]
			if g.Targets[at] = end[1]; weights != nil {
				g.Weights[at] = weights[i]
			}
		}
	}
	return g, nil
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

// ShortestPaths is the search of Dijkstra (A note on two problems in connexion with graphs, 1959) with a heap, the
// reference for every faster one. It returns the parent and the distance of each vertex, or an error if root is not a
// vertex or the CSR has no weights.
func (g *CSR) ShortestPaths(root Vertex) (parent []Vertex, distance []float32, err error) {
	if root < 0 || int64(root) >= g.NumVertices() || len(g.Weights) != len(g.Targets) {
		return nil, nil, fmt.Errorf("graph: shortest paths from root %d: want a vertex below %d, and weights", root,
			g.NumVertices())
	}
	parent, distance = make([]Vertex, g.NumVertices()), make([]float32, g.NumVertices())
	for v := range parent {
		parent[v], distance[v] = Unreached, Infinity()
	}
	parent[root], distance[root] = root, 0
	for queue := (waiting{{0, root}}); len(queue) > 0; {
		near := heap.Pop(&queue).(candidate)
		if near.distance > distance[near.vertex] {
			continue // it was reached with a shorter distance before
		}
		for i := g.Offsets[near.vertex]; i < g.Offsets[near.vertex+1]; i++ {
			if v, d := g.Targets[i], near.distance+g.Weights[i]; d < distance[v] {
				parent[v], distance[v] = near.vertex, d
				heap.Push(&queue, candidate{d, v})
			}
		}
	}
	return parent, distance, nil
}

type candidate struct {
	distance float32
	vertex   Vertex
}

// waiting is a heap of candidates, the nearest first.
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
