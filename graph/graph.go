// Package graph holds the words every other package speaks (vertex, tuple, parent, level, direction) and the truth
// they are held to: the Graph500 reference generator, a plain CSR, a serial breadth-first search and the validator.
//
// It imports the standard library only, and it knows nothing of engines, processes, clocks or files.
//
// # Parent arrays
//
// The result of a search is a parent array: one Vertex for each vertex of the graph, in the original labels of the
// tuple list (Graph500 specification 2.0, section "Kernel 2"). parent[root] == root; parent[v] is the predecessor of
// a reached vertex v; Unreached marks every other vertex. Several arrays can be right for one root, so nothing here
// ever compares two parent arrays: levels are compared, parents are validated.
package graph

import "fmt"

// Vertex is a vertex label. Everything that crosses an interface carries labels this wide (the specification asks
// for at least 48 bits); an engine may use narrower ones inside.
type Vertex int64

const (
	// Unreached stands in a parent array for a vertex that the search did not reach.
	Unreached Vertex = -1
	// Unwritten is what the host fills a parent array with before a search, so that an entry that the engine forgot
	// is seen as such. It is never a valid result.
	Unwritten Vertex = -1 << 63

	// VertexBits is the width of a label in an Edge, and so the limit of everything that is stored.
	VertexBits = 48
	// MaxVertex is the largest label that an Edge can hold.
	MaxVertex Vertex = 1<<VertexBits - 1
)

// EdgeBytes is the size of an Edge in memory, in files and in shared memory.
const EdgeBytes = 12

// Edge is one tuple {u, v} of the input list: an undirected edge, which may be a self-loop or a duplicate. Its memory
// image is the packed form of the Graph500 reference, 12 bytes, little endian: the low 32 bits of u, the low 32 bits
// of v, and a word with the upper 16 bits of u in its low half and the upper 16 bits of v in its high half.
type Edge struct{ lowU, lowV, high uint32 }

// MakeEdge packs a tuple. Labels must lie in 0..MaxVertex; bits beyond that are lost.
func MakeEdge(u, v Vertex) Edge {
	return Edge{uint32(u), uint32(v), uint32(u>>32)&0xffff | uint32(v>>32)<<16}
}

// Ends unpacks a tuple.
func (e Edge) Ends() (u, v Vertex) {
	return Vertex(e.lowU) | Vertex(e.high&0xffff)<<32, Vertex(e.lowV) | Vertex(e.high>>16)<<32
}

// Narrow returns the tuple's labels as 32-bit numbers and whether both fit.
func (e Edge) Narrow() (u, v uint32, ok bool) { return e.lowU, e.lowV, e.high == 0 }

func (e Edge) String() string {
	u, v := e.Ends()
	return fmt.Sprintf("(%d,%d)", u, v)
}

// Direction is the way a level of a search was expanded.
type Direction uint8

const (
	TopDown  Direction = iota // from the frontier to unvisited neighbours
	BottomUp                  // from unvisited vertices to a parent in the frontier (Beamer, Asanović, Patterson 2012)
)

func (d Direction) String() string {
	switch d {
	case TopDown:
		return "top-down"
	case BottomUp:
		return "bottom-up"
	}
	return fmt.Sprintf("Direction(%d)", uint8(d))
}

// MarshalText writes the direction as the word that String gives.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Direction) UnmarshalText(text []byte) error {
	for _, known := range []Direction{TopDown, BottomUp} {
		if string(text) == known.String() {
			*d = known
			return nil
		}
	}
	return fmt.Errorf("graph: %q is not a direction; want %q or %q", text, TopDown, BottomUp)
}
