package graph

import "fmt"

// CSR is a plain compressed sparse row adjacency: the neighbours of v are Targets[Offsets[v]:Offsets[v+1]].
//
// It keeps everything that the tuples say. Each tuple {u, v} stands in both lists, v in that of u and u in that of v;
// a duplicate stands there again, and a self-loop stands twice in the list of its vertex. So a list's length is the
// vertex's degree with duplicates counted, and len(Targets) is twice the number of tuples. The neighbours of a vertex
// are in no promised order.
//
// The oracle and tests search it; engines build layouts of their own.
type CSR struct {
	Offsets []int64  // NumVertices()+1 positions in Targets, ascending, from 0 to len(Targets)
	Targets []Vertex // neighbours, list after list
}

// NewCSR builds the adjacency of the vertices 0..vertices-1. It fails on a negative number of vertices and on a tuple
// with a label beyond them.
func NewCSR(edges []Edge, vertices int64) (*CSR, error) {
	if vertices < 0 {
		return nil, fmt.Errorf("graph: building a CSR of %d vertices: the number of vertices cannot be negative", vertices)
	}
	offsets := make([]int64, vertices+1)
	for i, e := range edges {
		u, v := e.Ends()
		if int64(max(u, v)) >= vertices {
			return nil, fmt.Errorf("graph: building a CSR: tuple %d is %v, but labels end at %d: pass a number of vertices above every label",
				i, e, vertices-1)
		}
		offsets[u]++
		offsets[v]++
	}

	// Counts become the ends of the lists; filling them from the back turns each end into its list's beginning.
	var end int64
	for v, degree := range offsets {
		end += degree
		offsets[v] = end
	}
	targets := make([]Vertex, end)
	for _, e := range edges {
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

// Neighbours returns the list of v, which must be a vertex. The list belongs to g.
func (g *CSR) Neighbours(v Vertex) []Vertex { return g.Targets[g.Offsets[v]:g.Offsets[v+1]] }
