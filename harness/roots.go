package harness

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// Search keys (Graph500 specification 2.0, section "Sampling 64 search keys") are distinct vertices, drawn at random,
// that have a neighbour other than themselves. The draws are those of the reference, so its roots are ours; if the
// reference runs out of draws and keeps a bad root, drawing continues here.

// drawsPerVertex bounds the draws, as a multiple of the number of vertices. Finding all of n vertices takes about n ln
// n draws, so the bound is reached only if nearly all have been found.
const drawsPerVertex = 64

// DrawRoots draws wanted roots of the graph of recipe from the vertices with a neighbour (graph.Joined), and removes
// them there. It returns fewer if there are fewer. rejected counts the draws of a vertex without a neighbour, or of one
// drawn before. After drawsPerVertex draws per vertex it takes the vertices that are left in ascending order, so it
// always ends.
func DrawRoots(recipe graph.Kronecker, joined []uint64, wanted int) (roots []graph.Vertex, rejected int) {
	return vertexSet(joined).draw(recipe, wanted, drawsPerVertex*recipe.Vertices())
}

// vertexSet has a bit for each vertex.
type vertexSet []uint64

func (s vertexSet) has(v graph.Vertex) bool { return s[v/64]>>(v%64)&1 != 0 }
func (s vertexSet) remove(v graph.Vertex)   { s[v/64] &^= 1 << (v % 64) }

func (s vertexSet) size() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}

// draw takes up to wanted vertices out of s, at random for limit draws and then in ascending order.
func (s vertexSet) draw(recipe graph.Kronecker, wanted int, limit int64) (roots []graph.Vertex, rejected int) {
	n := int(min(int64(wanted), s.size()))
	roots = make([]graph.Vertex, 0, n)
	vertices := recipe.Vertices()

	stream := graph.NewStream(recipe.Seed1, recipe.Seed2)
	stream.Skip(2, 0, 0)
	for draws := int64(0); len(roots) < n && draws < limit; draws++ {
		first, second := stream.Float64(), stream.Float64()
		root := graph.Vertex(int64((first+second)*float64(vertices)) % vertices)
		if !s.has(root) {
			rejected++
			continue
		}
		s.remove(root)
		roots = append(roots, root)
	}
	for v := graph.Vertex(0); len(roots) < n; v++ {
		if s.has(v) {
			roots = append(roots, v)
		}
	}
	return roots, rejected
}
