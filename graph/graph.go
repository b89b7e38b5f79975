// SPDX-License-Identifier: Apache-2.0

// Package graph defines the terms that all packages share (vertex, tuple, parent, level, direction), the Graph500
// reference generator, a plain CSR and a serial breadth-first search. It imports only the standard library.
//
// # Parent arrays
//
// The result of a search is a parent array: one Vertex for each vertex of the graph, in the original labels of the
// tuple list (Graph500 specification 2.0, section "Kernel 2"). parent[root] == root; parent[v] is the predecessor of a
// reached vertex v; every other entry is Unreached. Several arrays can be correct for one root, so tests compare levels
// and validate parents.
package graph

import "fmt"

// Vertex is a vertex label. The specification asks for at least 48 bits; an engine may use fewer internally.
type Vertex int64

const (
	// Unreached is the parent of a vertex that the search did not reach.
	Unreached Vertex = -1
	// Unwritten fills a parent array before a search, to detect entries that the engine did not write.
	Unwritten Vertex = -1 << 63

	// VertexBits is the width of a label in an Edge.
	VertexBits = 48
	// MaxVertex is the largest label of an Edge.
	MaxVertex Vertex = 1<<VertexBits - 1
)

// EdgeBytes is the size of an Edge in memory, in files and in shared memory.
const EdgeBytes = 12

// Edge is one tuple {u, v} of the input list: an undirected edge, which may be a self-loop or a duplicate. In memory it
// has the packed form of the Graph500 reference, 12 bytes, little endian: the low 32 bits of u, the low 32 bits of v,
// and a word with the upper 16 bits of u in its low half and the upper 16 bits of v in its high half.
type Edge struct{ lowU, lowV, high uint32 }

// MakeEdge packs a tuple. Labels must be in 0..MaxVertex; higher bits are lost.
func MakeEdge(u, v Vertex) Edge {
	return Edge{uint32(u), uint32(v), uint32(u>>32)&0xffff | uint32(v>>32)<<16}
}

// Ends unpacks a tuple.
func (e Edge) Ends() (u, v Vertex) {
	return Vertex(e.lowU) | Vertex(e.high&0xffff)<<32, Vertex(e.lowV) | Vertex(e.high>>16)<<32
}

// Ends32 returns the labels as 32-bit numbers, and whether both fit.
func (e Edge) Ends32() (u, v uint32, ok bool) { return e.lowU, e.lowV, e.high == 0 }

func (e Edge) String() string {
	u, v := e.Ends()
	return fmt.Sprintf("(%d,%d)", u, v)
}
