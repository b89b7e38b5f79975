package harness

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"

	"github.com/tepsbench/teps/graph"
)

// Search keys (Graph500 specification 2.0, section "Sampling 64 search keys"): distinct vertices, drawn at random,
// that have at least one neighbour other than themselves. Draws are the reference's, so its roots are ours; where the
// reference runs out of draws and keeps a bad root, drawing goes on here.

// drawsPerVertex bounds the draws, as a multiple of the number of vertices. Finding every one of n vertices takes
// about n ln n draws, so the bound is met only where nearly everything has been found.
const drawsPerVertex = 64

// DrawRoots draws wanted roots of the graph that recipe describes and edges, its tuples, span, on the given number of
// threads (0: all that Go may use). It returns fewer where fewer vertices have a neighbour, and none where none has;
// rejected counts the draws that hit a vertex without a neighbour or one drawn before.
//
// It always ends: after 64 draws a vertex of the graph it takes the vertices that are left in ascending order.
// It fails when the recipe cannot be, wanted or threads is negative, or a tuple's label is not below the recipe's
// number of vertices.
func DrawRoots(recipe graph.Kronecker, edges []graph.Edge, wanted int, threads int) (roots []graph.Vertex, rejected int, err error) {
	if err := recipe.Check(); err != nil {
		return nil, 0, fmt.Errorf("harness: drawing roots: %w", err)
	}
	if wanted < 0 || threads < 0 {
		return nil, 0, fmt.Errorf("harness: drawing %d roots on %d threads: want 0 or more of both", wanted, threads)
	}
	left, err := withNeighbours(edges, recipe.Vertices(), threads)
	if err != nil {
		return nil, 0, err
	}
	roots, rejected = left.draw(recipe, wanted, drawsPerVertex*recipe.Vertices())
	return roots, rejected, nil
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

// add adds the ends of every edge that joins two vertices. It stops at the first edge with a label that is not in the
// set's range and returns its position, or -1.
func (s vertexSet) add(edges []graph.Edge, vertices int64) int {
	for i, e := range edges {
		u, v := e.Ends()
		if int64(max(u, v)) >= vertices {
			return i
		}
		if u != v {
			s[u/64] |= 1 << (u % 64)
			s[v/64] |= 1 << (v % 64)
		}
	}
	return -1
}

// withNeighbours returns the vertices that a tuple joins to another vertex. Each thread fills a set of its own: in a
// shared one the threads would take each other's cache lines, at an eighth of a byte a vertex saved.
func withNeighbours(edges []graph.Edge, vertices int64, threads int) (vertexSet, error) {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	sets, strangers := make([]vertexSet, threads), make([]int, threads)
	part := (len(edges) + threads - 1) / threads
	var workers sync.WaitGroup
	for t := range threads {
		begin := min(t*part, len(edges))
		end := min(begin+part, len(edges))
		workers.Go(func() {
			sets[t] = make(vertexSet, (vertices+63)/64)
			strangers[t] = sets[t].add(edges[begin:end], vertices)
		})
	}
	workers.Wait()
	for t, i := range strangers {
		if i >= 0 {
			at := t*part + i
			return nil, fmt.Errorf("harness: drawing roots: tuple %d is %v, but the recipe's labels end at %d: the tuples are of another recipe",
				at, edges[at], vertices-1)
		}
	}
	for _, set := range sets[1:] {
		for i, word := range set {
			sets[0][i] |= word
		}
	}
	return sets[0], nil
}

// draw takes up to wanted vertices out of left, at random for limit draws and then in ascending order.
func (left vertexSet) draw(recipe graph.Kronecker, wanted int, limit int64) (roots []graph.Vertex, rejected int) {
	found := int(min(int64(wanted), left.size()))
	roots = make([]graph.Vertex, 0, found)
	vertices := recipe.Vertices()

	stream := graph.NewStream(recipe.Seed1, recipe.Seed2)
	stream.Skip(2, 0, 0)
	for draws := int64(0); len(roots) < found && draws < limit; draws++ {
		first, second := stream.Float64(), stream.Float64()
		root := graph.Vertex(int64((first+second)*float64(vertices)) % vertices)
		if !left.has(root) {
			rejected++
			continue
		}
		left.remove(root)
		roots = append(roots, root)
	}
	for v := graph.Vertex(0); len(roots) < found; v++ {
		if left.has(v) {
			roots = append(roots, v)
		}
	}
	return roots, rejected
}
