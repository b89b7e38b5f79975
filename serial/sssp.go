// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 3, single-source shortest paths, on one thread. Every fast engine compares its distances with these.
//
//   - dijkstra takes the nearest vertex of a heap (Dijkstra, "A note on two problems in connexion with graphs", 1959);
//     a vertex is in the heap once for each time that its distance fell.
//   - delta takes buckets of vertices whose distances are less than delta apart, and looks at edges shorter than delta
//     before the others (Meyer and Sanders, "Delta-stepping: a parallelizable shortest path algorithm", 2003), as the
//     reference does with its fixed delta of 0.1.
//
// Both change the parent of a vertex only when its distance falls. So the parents form a tree, also where weights are 0
// or too small to change a sum.

// edge is an entry of a row of weighted.
type edge struct {
	weight float32
	target uint32
}

// weighted is a graph in compressed sparse rows: the edges of v, edges[offsets[v]:offsets[v+1]], ascend by weight.
// Parallel ones are merged; self-loops are left out.
type weighted struct {
	offsets []int64
	edges   []edge
}

// pathMemory returns an upper bound on the memory of kernel 3: of a vertex its offset, its bucket and its places in
// growing buckets; of a tuple two entries of a graph.CSR (24 bytes), two edges, and their places in a growing heap.
func pathMemory() plugins.Memory {
	return plugins.Memory{PerVertex: 8 + 8 + 16, PerTuple: 24 + 16 + 32}
}

// newWeighted builds the rows of the vertices 0..vertices-1, which are at most 2^32.
func newWeighted(ctx context.Context, in plugins.Input, vertices int64) (*weighted, error) {
	csr, err := graph.NewWeightedCSR(in.Tuples, in.Weights, vertices)
	if err != nil {
		return nil, err
	}
	g := &weighted{offsets: csr.Offsets, edges: make([]edge, 0, len(csr.Targets))}
	var row []edge
	for v := range vertices {
		if v%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row = row[:0]
		for i := csr.Offsets[v]; i < csr.Offsets[v+1]; i++ {
			if csr.Targets[i] != graph.Vertex(v) {
				row = append(row, edge{csr.Weights[i], uint32(csr.Targets[i])})
			}
		}
		slices.SortFunc(row, func(a, b edge) int {
			return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.weight, b.weight))
		})
		row = slices.CompactFunc(row, func(a, b edge) bool { return a.target == b.target })
		slices.SortFunc(row, func(a, b edge) int { return cmp.Compare(a.weight, b.weight) })
		g.offsets[v] = int64(len(g.edges))
		g.edges = append(g.edges, row...)
	}
	g.offsets[vertices] = int64(len(g.edges))
	return g, nil
}

func (g *weighted) row(v uint32) []edge { return g.edges[g.offsets[v]:g.offsets[v+1]] }

func (g *weighted) bytes() int64 { return 8 * int64(len(g.offsets)+cap(g.edges)) }

// pathSearch is a kernel 3 with its result.
type pathSearch struct {
	*weighted
	parent   []graph.Vertex
	distance []float32
}

// start marks all vertices but root as unreached.
func (s *pathSearch) start(root graph.Vertex) {
	start(s.parent, root)
	for v := range s.distance {
		s.distance[v] = graph.Infinity()
	}
	s.distance[root] = 0
}

// relax gives v the distance d through u if that is shorter, and reports whether it is.
func (s *pathSearch) relax(u, v uint32, d float32) bool {
	if !(d < s.distance[v]) {
		return false
	}
	s.parent[v], s.distance[v] = graph.Vertex(u), d
	return true
}

// dijkstra is the search with a heap, which it keeps for the next search.
type dijkstra struct {
	pathSearch
	heap []edge // the distances and labels of candidates, the parent of i at (i-1)/2
}

func (s *dijkstra) search(ctx context.Context, root graph.Vertex) error {
	s.start(root)
	s.heap = append(s.heap[:0], edge{0, uint32(root)})
	for n := 0; len(s.heap) > 0; n++ {
		if n%stride == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		near := s.pop()
		if near.weight > s.distance[near.target] {
			continue // its distance has fallen since
		}
		for _, e := range s.row(near.target) {
			if d := near.weight + e.weight; s.relax(near.target, e.target, d) {
				s.push(edge{d, e.target})
			}
		}
	}
	return nil
}

func (s *dijkstra) push(e edge) {
	s.heap = append(s.heap, e)
	i := len(s.heap) - 1
	for ; i > 0 && s.heap[(i-1)/2].weight > e.weight; i = (i - 1) / 2 {
		s.heap[i] = s.heap[(i-1)/2]
	}
	s.heap[i] = e
}

func (s *dijkstra) pop() edge {
	top, last := s.heap[0], len(s.heap)-1
	e := s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; i < last; {
		child := 2*i + 1
		if child+1 < last && s.heap[child+1].weight < s.heap[child].weight {
			child++
		}
		if child >= last || e.weight <= s.heap[child].weight {
			s.heap[i] = e
			break
		}
		s.heap[i] = s.heap[child]
		i = child
	}
	return top
}

// stepping is the search with buckets. Bucket i has the vertices with a distance from i*delta to (i+1)*delta. Only some
// buckets have vertices; weights and so the numbers of buckets may be large.
type stepping struct {
	pathSearch
	delta   float64
	buckets map[float64][]uint32
	numbers []float64 // of the buckets, a heap
	bucket  []float64 // that a vertex waits in, or -1
	removed []uint32  // from the current bucket
}

func (s *stepping) search(ctx context.Context, root graph.Vertex) error {
	s.start(root)
	for v := range s.bucket {
		s.bucket[v] = -1
	}
	clear(s.buckets)
	s.numbers = s.numbers[:0]
	s.put(uint32(root))
	for len(s.numbers) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// There are few numbers, at most the largest weight divided by delta. The smallest is the next bucket.
		i := slices.Min(s.numbers)
		s.removed = s.removed[:0]
		for len(s.buckets[i]) > 0 { // light edges may lead to vertices of the same bucket
			now := s.buckets[i]
			s.buckets[i] = nil
			for _, u := range now {
				if s.bucket[u] == i { // otherwise its distance has fallen since, or it is here twice
					s.bucket[u] = -1
					s.removed = append(s.removed, u)
					s.relaxAll(u, func(w float32) bool { return float64(w) < s.delta })
				}
			}
		}
		delete(s.buckets, i)
		s.numbers = slices.DeleteFunc(s.numbers, func(n float64) bool { return n == i })
		for _, u := range s.removed {
			s.relaxAll(u, func(w float32) bool { return float64(w) >= s.delta })
		}
	}
	return nil
}

func (s *stepping) relaxAll(u uint32, suits func(weight float32) bool) {
	for _, e := range s.row(u) {
		if suits(e.weight) && s.relax(u, e.target, s.distance[u]+e.weight) {
			s.put(e.target)
		}
	}
}

func (s *stepping) put(v uint32) {
	i := math.Floor(float64(s.distance[v]) / s.delta)
	if s.bucket[v] == i {
		return
	}
	s.bucket[v] = i
	if _, known := s.buckets[i]; !known {
		s.numbers = append(s.numbers, i)
	}
	s.buckets[i] = append(s.buckets[i], v)
}

// addPaths adds kernel 3 to a graph that has been built for kernel 2.
func addPaths(ctx context.Context, in plugins.Input, options plugins.Settings, built *plugins.Built) error {
	g, err := newWeighted(ctx, in, built.Vertices)
	if err != nil {
		return err
	}
	set := func(s *pathSearch, search func(context.Context, graph.Vertex) error) {
		s.weighted = g
		kernel2 := built.Search
		built.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
			if out.Distance == nil {
				return kernel2(ctx, root, out)
			}
			s.parent, s.distance = out.Parent, out.Distance
			return plugins.Traversal{}, search(ctx, root)
		}
	}
	if options.Text("paths") == "dijkstra" {
		s := &dijkstra{}
		set(&s.pathSearch, s.search)
	} else {
		s := &stepping{delta: options.Float("delta"), buckets: map[float64][]uint32{}}
		s.bucket = make([]float64, built.Vertices)
		set(&s.pathSearch, s.search)
	}
	built.Bytes += g.bytes() + 8*built.Vertices
	return nil
}
