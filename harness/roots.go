package harness

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

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

// withNeighbours returns the vertices that a tuple joins to another vertex.
func withNeighbours(edges []graph.Edge, vertices int64, threads int) (vertexSet, error) {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	set := make(vertexSet, (vertices+63)/64)
	var outside atomic.Int64 // one more than the position of a tuple that does not belong; 0: none
	add := func(v graph.Vertex) {
		word, bit := &set[v/64], uint64(1)<<(v%64)
		if atomic.LoadUint64(word)&bit == 0 { // nearly always set already, and then nothing is written
			atomic.OrUint64(word, bit)
		}
	}
	var workers sync.WaitGroup
	for t := range threads {
		begin, end := len(edges)/threads*t, len(edges)/threads*(t+1)
		if t == threads-1 {
			end = len(edges)
		}
		workers.Go(func() {
			for i, e := range edges[begin:end] {
				u, v := e.Ends()
				if int64(max(u, v)) >= vertices {
					outside.Store(int64(begin+i) + 1)
					return
				}
				if u != v {
					add(u)
					add(v)
				}
			}
		})
	}
	workers.Wait()
	if at := outside.Load(); at != 0 {
		return nil, fmt.Errorf("harness: drawing roots: tuple %d is %v, but the recipe's labels end at %d: the tuples are of another recipe",
			at-1, edges[at-1], vertices-1)
	}
	return set, nil
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
