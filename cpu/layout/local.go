// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
)

// The orders of graphs whose degrees are nearly equal: no vertex is a hub, and an order by degree gains nothing.
//
// Local order is for roads, grids and meshes, whose searches have many levels with small frontiers and are fast if the
// neighbors of a frontier lie close together in memory. Vertices are numbered in the order of a breadth-first search
// (Cuthill, McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969), from a vertex as far away as possible:
// the last one of another search (after George, Liu, "An implementation of a pseudoperipheral node finder", 1979). So
// every list leads to consecutive numbers in the levels next to it.
//
// Other searches have frontiers that cross those levels. So vertices with few neighbors are then numbered by cluster:
// clusters are grown breadth-first from the first vertex that is left, and a frontier crosses few of them in any
// direction. With more neighbors on average this gains less than it loses: in breadth-first order the visited neighbors
// of a vertex come first in its list, which a processor can predict.
//
// The given order is for the others, such as uniform random graphs: few levels have most vertices in any order. A
// vertex is its label, and a search writes parents without a map, a template or corrections.
//
// Degrees and the levels of the search in kernel 1 decide, never timed searches.
const (
	largeDegree   = 4  // degrees above 4 times the mean are large
	largeShare    = 16 // at most 1/16 of all tuples are at vertices of large degree
	minFlatGraph  = 256
	isolatedShare = 8  // at most 1/8 of the labels are isolated in a graph in the given order
	maxLocalMean  = 32 // mean number of tuples at a vertex of a graph in local order
	shallowShare  = 8  // a level with more than 1/8 of all vertices makes a graph shallow
	maxClustered  = 4  // mean number of neighbors in a graph that is numbered by cluster
	clusterSize   = 1 << 10
)

// orderFlat orders the vertices of a graph without hubs. It returns false, and orders nothing, if degrees are not
// nearly equal or too many labels are isolated.
func (b *builder) orderFlat() (bool, error) {
	g := b.g
	if b.options.Hubs != 0 || b.options.ByLabel || b.options.NoLeaves || g.Vertices < minFlatGraph {
		return false, nil
	}
	total := b.sumOverDegree(0)
	mean := total / int64(g.Vertices)
	if b.sumOverDegree(uint32(min(largeDegree*(mean+1), int64(None)))) > total/largeShare {
		return false, nil
	}
	if mean <= maxLocalMean && total < int64(None) {
		if local, err := b.localOrder(); local || err != nil {
			return local, err
		}
	}
	if g.Labels-g.Vertices > g.Labels/isolatedShare {
		return false, nil
	}
	g.Order, g.Searched = Given, g.Labels
	return true, nil
}

// sumOverDegree returns the number of tuples at vertices of degree above limit.
func (b *builder) sumOverDegree(limit uint32) int64 {
	var total atomic.Int64
	b.team.Split(b.g.Labels, 1, func(_, from, to int) {
		part := int64(0)
		for _, d := range b.degrees[from:to] {
			if d > limit {
				part += int64(d)
			}
		}
		total.Add(part)
	})
	return total.Load()
}

// localOrder numbers the vertices in local order. It returns false, and numbers nothing, if the graph is shallow.
func (b *builder) localOrder() (bool, error) {
	g, m := b.g, b.memory
	g.Vertex = memory.Allocate[uint32](m, "vertex of each label", g.Labels)
	g.Label = memory.Allocate[uint32](m, "label of each vertex", g.Vertices)
	w := &walk{
		begin:  memory.Allocate[uint32](m, "offsets of labels", g.Labels+1),
		seen:   memory.Allocate[uint64](m, "labels seen", (g.Labels+63)>>6),
		order:  g.Label,
		widest: g.Vertices / shallowShare,
	}
	if err := m.Err(); err != nil {
		return false, err
	}
	total := uint32(0)
	for label, d := range b.degrees {
		total += d
		w.begin[label] = total // the end; filling a list from the back turns it into the beginning
	}
	w.begin[g.Labels] = total
	w.neighbors = memory.Allocate[uint32](m, "neighbors of labels", int(total))
	if err := m.Err(); err != nil {
		return false, err
	}
	b.team.Run(func(worker int) {
		for tuples := range b.batches(worker) {
			for _, e := range tuples {
				if u, v, _ := e.Ends32(); u != v {
					w.neighbors[atomic.AddUint32(&w.begin[u], ^uint32(0))] = v
					w.neighbors[atomic.AddUint32(&w.begin[v], ^uint32(0))] = u
				}
			}
		}
	})
	if err := b.ctx.Err(); err != nil { // not all lists are complete
		return false, err
	}
	deep := true
	for label, n, end := 0, 0, 0; deep && label < g.Labels && !b.stopped.Load(); label++ {
		if b.degrees[label] == 0 || w.seen[label>>6]>>(label&63)&1 != 0 {
			continue
		}
		if end, deep = w.from(uint32(label), n); deep {
			for _, v := range w.order[n:end] {
				w.seen[v>>6] &^= 1 << (v & 63)
			}
			n, deep = w.from(w.order[end-1], n)
		}
	}
	if deep && w.mean() <= maxClustered {
		w.cluster(g.Vertex[:g.Vertices])
	}
	memory.Release(m, &w.neighbors)
	memory.Release(m, &w.seen)
	memory.Release(m, &w.begin)
	if !deep {
		memory.Release(m, &g.Vertex)
		memory.Release(m, &g.Label)
		return false, nil
	}
	g.Order, g.Searched = Local, g.Vertices
	b.team.Split(g.Labels, 1, func(_, from, to int) { fill(g.Vertex[from:to], None) })
	b.team.Split(g.Vertices, 1, func(_, from, to int) {
		for v := from; v < to; v++ {
			g.Vertex[g.Label[v]] = uint32(v)
		}
	})
	return true, nil
}

// rowVertexBits is the width of a vertex in the first entry of a row. The bits above are the number of neighbors, or 0
// if the row has no room for all.
const rowVertexBits = 29

// RowBegin returns the first neighbor in a row and the number of neighbors, 0 if it has too many for a row.
func RowBegin(entry uint32) (first uint32, n int) {
	return entry & (1<<rowVertexBits - 1), int(entry >> rowVertexBits)
}

// makeRows copies the neighbors of every vertex into rows, if there are at most seven on average and lists are plain.
func (b *builder) makeRows() {
	g := b.g
	n := g.Lists.Entries()
	if b.options.Packed || n > 7*g.Searched || g.Searched > 1<<rowVertexBits {
		return
	}
	g.RowBits = 2
	if n > 4*g.Searched {
		g.RowBits = 3
	}
	g.Rows = memory.Allocate[uint32](b.memory, "rows", g.Searched<<g.RowBits)
	b.team.Split(len(g.Rows)>>g.RowBits, 1, func(_, from, to int) {
		for v := from; v < to; v++ {
			row := g.Rows[v<<g.RowBits:][:1<<g.RowBits]
			list := g.Lists.Plain(uint32(v), 0, g.Lists.Degree(uint32(v)))
			n := copy(row, list)
			fill(row[n:], uint32(v))
			if n == len(list) && n < 1<<(32-rowVertexBits) {
				row[0] |= uint32(n) << rowVertexBits
			}
		}
	})
}

// walk searches the graph in labels, with duplicates.
type walk struct {
	begin     []uint32 // [Labels+1]
	neighbors []uint32
	seen      []uint64 // bitmap
	order     []uint32 // labels in the order in which they are found
	widest    int      // maximum number of vertices in a level
}

// from searches from root and writes the labels of its component to order[first:end]. It stops, and returns false, at
// a level that is too wide.
func (w *walk) from(root uint32, first int) (end int, deep bool) {
	end = w.begins(root, first)
	for head := first; head < end; {
		if head, end = end, w.expand(head, end, len(w.order)); end-head > w.widest {
			return end, false
		}
	}
	return end, true
}

// begins makes root the label at order[first].
func (w *walk) begins(root uint32, first int) (end int) {
	w.order[first] = root
	w.seen[root>>6] |= 1 << (root & 63)
	return first + 1
}

// expand appends the unseen neighbors of order[head:end] to order, which gets at most limit labels.
func (w *walk) expand(head, end, limit int) (tail int) {
	begin, order, seen, tail := w.begin, w.order, w.seen, end
	for _, u := range order[head:end] {
		for _, v := range w.neighbors[begin[u]:begin[u+1]] {
			if word, bit := seen[v>>6], uint64(1)<<(v&63); word&bit == 0 && tail < limit {
				seen[v>>6] = word | bit
				order[tail] = v
				tail++
			}
		}
	}
	return tail
}

func (w *walk) mean() float64 {
	const samples = 1 << 10
	step := max(len(w.order)/samples, 1)
	vertices, neighbors := 0, 0
	for i := 0; i < len(w.order); i += step {
		v := w.order[i]
		list := slices.Clone(w.neighbors[w.begin[v]:w.begin[v+1]])
		slices.Sort(list)
		vertices, neighbors = vertices+1, neighbors+len(slices.Compact(list))
	}
	return float64(neighbors) / float64(vertices)
}

// cluster orders the vertices by cluster. It needs room for as many.
func (w *walk) cluster(room []uint32) {
	copy(room, w.order)
	clear(w.seen)
	end := 0
	for _, root := range room {
		if w.seen[root>>6]>>(root&63)&1 != 0 {
			continue
		}
		head, limit := end, min(end+clusterSize, len(w.order))
		for end = w.begins(root, end); head < end; {
			head, end = end, w.expand(head, end, limit)
		}
	}
}
