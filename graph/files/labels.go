// SPDX-License-Identifier: Apache-2.0

package files

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"

	"github.com/tepsbench/teps/graph"
)

// firstLarge is the first label that does not become a vertex as it is while a file is read. Larger ones are vertices
// from here on, in the order of their arrival.
const firstLarge = 1 << (graph.VertexBits - 1)

// collected holds the labels of a file that does not state its number of vertices.
type collected struct {
	mu       sync.Mutex
	limit    uint64                  // larger than all labels below firstLarge
	vertices map[uint64]graph.Vertex // of large labels
	large    []uint64                // labels of the vertices from firstLarge on
	room     int                     // of vertices, for which memory has been reserved
}

// grow reserves memory before a map of n labels, with reserved room for some more, doubles.
func (in *input) grow(room *int, n int) error {
	const labelBytes = 80 // in a map that has just doubled, with its predecessor
	if n <= *room {
		return nil
	}
	*room = 2 * n
	return in.reserve(2 * labelBytes * int64(n))
}

type seen struct {
	*collected
	limit uint64 // larger than all labels below firstLarge
}

// edge makes a tuple of two labels.
func (s *seen) edge(u, v uint64) graph.Edge {
	if high := max(u, v); high < firstLarge {
		s.limit = max(s.limit, high+1)
		return graph.MakeEdge(graph.Vertex(u), graph.Vertex(v))
	}
	return graph.MakeEdge(s.vertex(u), s.vertex(v))
}

// labeled is parallel for a format that does not state its number of vertices, and then numbers the labels.
func (in *input) labeled(
	b blocks, parse func(b *block, edges []graph.Edge, seen *seen) ([]graph.Edge, error)) error {
	var c collected
	b.parse = func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		s := seen{collected: &c}
		edges, err := parse(b, edges, &s)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.limit = max(c.limit, s.limit)
		return edges, cmp.Or(err, in.grow(&c.room, len(c.large)))
	}
	if err := in.parallel(b); err != nil {
		return err
	}
	return in.number(&c)
}

func (c *collected) vertex(label uint64) graph.Vertex {
	if label < firstLarge {
		return graph.Vertex(label)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.vertices[label]
	if !ok {
		if c.vertices == nil {
			c.vertices = map[uint64]graph.Vertex{}
		}
		v = firstLarge + graph.Vertex(len(c.large))
		c.vertices[label] = v
		c.large = append(c.large, label)
	}
	return v
}

// label is the inverse of vertex.
func (c *collected) label(v graph.Vertex) uint64 {
	if v < firstLarge {
		return uint64(v)
	}
	return c.large[v-firstLarge]
}

// Labels are dense if they are below a small number or a small multiple of the tuples, so that the memory of all
// vertices, about 20 bytes each, is not much larger than that of the tuples.
const (
	fewLabels     = 1 << 16
	labelsByTuple = 8
)

// number numbers the vertices, and renumbers the tuples if the labels are not dense.
func (in *input) number(c *collected) error {
	if c.limit <= max(fewLabels, labelsByTuple*uint64(in.info.Tuples)) && len(c.large) == 0 {
		in.info.Vertices = int64(c.limit)
		return nil
	}
	numbers, err := c.numbering(in)
	if err != nil {
		return err
	}
	in.info.Labels, in.info.Vertices = numbers.labels, int64(len(numbers.labels))
	_, err = graph.Parallel(in.ctx, in.threads, int64(len(in.blocks)), 1, func(_ int, b, _ int64) bool {
		for i, e := range in.blocks[b] {
			u, v := e.Ends()
			u, _ = numbers.vertex(c.label(u))
			v, _ = numbers.vertex(c.label(v))
			in.blocks[b][i] = graph.MakeEdge(u, v)
		}
		return true
	})
	return err
}

func (c *collected) numbering(in *input) (*numbering, error) {
	sets := make([]map[uint64]uint64, in.threads)
	for t := range sets {
		sets[t] = map[uint64]uint64{}
	}
	full, room := make([]error, in.threads), make([]int, in.threads)
	_, err := graph.Parallel(in.ctx, in.threads, int64(len(in.blocks)), 1, func(thread int, b, _ int64) bool {
		set := sets[thread]
		for _, e := range in.blocks[b] {
			u, v := e.Ends()
			addLabel(set, c.label(u))
			addLabel(set, c.label(v))
		}
		full[thread] = in.grow(&room[thread], len(set))
		return full[thread] == nil
	})
	if err := cmp.Or(err, cmp.Or(full...)); err != nil {
		return nil, err
	}
	for _, s := range sets[1:] {
		if err := in.grow(&room[0], len(sets[0])+len(s)); err != nil {
			return nil, err
		}
		for word, bits := range s {
			sets[0][word] |= bits
		}
	}
	return in.newNumbering(sets[0])
}

// addLabel adds a label to a set: bit label%64 of word label/64.
func addLabel(set map[uint64]uint64, label uint64) {
	word, bit := label>>6, uint64(1)<<(label&63)
	if old := set[word]; old&bit == 0 {
		set[word] = old | bit
	}
}

// numbering numbers labels in ascending order.
type numbering struct {
	words  map[uint64]labelWord
	labels []uint64 // of each vertex
}

// labelWord is a set of labels that differ only in their last six bits.
type labelWord struct {
	bits  uint64
	first graph.Vertex // of the lowest bit
}

func (in *input) newNumbering(set map[uint64]uint64) (*numbering, error) {
	labels := 0
	for _, word := range set {
		labels += bits.OnesCount64(word)
	}
	if err := in.reserve(96*int64(len(set)) + 8*int64(labels)); err != nil { // 96: a map and its sorted keys
		return nil, err
	}
	n := &numbering{words: make(map[uint64]labelWord, len(set)), labels: make([]uint64, 0, labels)}
	for _, word := range slices.Sorted(maps.Keys(set)) {
		n.words[word] = labelWord{set[word], graph.Vertex(len(n.labels))}
		for left := set[word]; left != 0; left &= left - 1 {
			n.labels = append(n.labels, word<<6|uint64(bits.TrailingZeros64(left)))
		}
	}
	return n, nil
}

// vertex returns the number of a label, and whether the label exists.
func (n *numbering) vertex(label uint64) (graph.Vertex, bool) {
	w, bit := n.words[label>>6], uint64(1)<<(label&63)
	return w.first + graph.Vertex(bits.OnesCount64(w.bits&(bit-1))), w.bits&bit != 0
}
