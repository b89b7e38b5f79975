// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/hubs"
	"github.com/tepsbench/teps/internal/lookup"
)

// The bottom-up step. 64 vertices at a time belong to one worker, so nothing is shared and nothing is atomic.
//
// Nearly every vertex that finds a parent finds it at its first neighbor. A group has one first neighbor, so each hub
// in the frontier discovers its whole group, in words of 64 vertices. Only the remaining vertices look at their lists,
// from the second neighbor on.

// bottomUpWords is the number of words of 64 vertices that a worker takes at a time.
const bottomUpWords = 64

// bottomUp discovers the unvisited vertices of words from..to-1 that have a neighbor in the frontier.
func (s *search) bottomUp(worker, from, to int) {
	mine := &s.workers[worker]
	var room [bottomUpWords]uint64
	now := bitmap(room[:to-from]) // discovered
	hubs.Add(s.g.Groups, now, from, s.frontier.bits)
	for i := range now {
		now[i] &= s.unvisited[from+i]
	}
	s.tryFirst(now, from)
	for i := 0; i < len(now); i += batchWords {
		s.tryOthers(mine, now[i:min(i+batchWords, len(now))], from+i)
	}
	for i, word := range now {
		s.frontier.next[from+i] = word
		if word != 0 {
			s.unvisited[from+i] &^= word
			s.count(mine, from+i, word)
		}
	}
}

// tryFirst adds to now, the words from word from on, the unvisited vertices without a group (hubs and ungrouped
// vertices) whose first neighbor is in the frontier.
func (s *search) tryFirst(now bitmap, from int) {
	g := s.g
	for i, found := range now {
		w := from + i
		left := s.unvisited[w] &^ found
		if ofHubs := left & wordBelow(w, g.Hubs); ofHubs != 0 {
			now[i] |= lookup.In64(s.frontier.bits, g.First[w<<6:g.Hubs], ofHubs)
		}
		if ungrouped := left &^ wordBelow(w, g.Ungrouped); ungrouped != 0 {
			skip := max(g.Ungrouped-w<<6, 0) // the first ungrouped vertex may be inside the word
			now[i] |= lookup.In64(s.frontier.bits, g.First[g.Hubs+w<<6+skip-g.Ungrouped:], ungrouped>>skip) << skip
		}
	}
}

// tryOthers adds to now, the words from word from on, the other unvisited vertices that have a neighbor in the
// frontier. It looks at the columns, then at the rest of the lists.
func (s *search) tryOthers(mine *worker, now bitmap, from int) {
	l, c, h := &s.g.Lists, &mine.candidates, &mine.hits
	direct := s.g.Order == layout.Given
	c.n, h.found, h.spent = 0, 0, 0
	for i, found := range now {
		w := from + i
		left := s.unvisited[w] &^ found
		if direct {
			h.add(found, w<<6, s.g.First)
		}
		for k := 0; k < layout.NumColumns && left != 0; k++ {
			column := &l.Columns[k]
			hit := lookup.In64(s.frontier.bits, column.Entry[w<<6:], left)
			now[i] |= hit
			left &^= hit
			left &= column.More[w]
			h.add(hit, w<<6, column.Entry)
		}
		if left != 0 {
			c.begin(l, left, w<<6, h)
		}
	}
	inColumns := h.found
	switch {
	case c.n+h.spent == 0:
	case l.Packed:
		mine.touched += fetch(l.Near, c)
		look(l.Near, s.frontier.bits, c, h)
		c.beginFar(l, h)
		lookFar(&l.Far, s.frontier.bits, c, h)
	default:
		mine.touched += fetch(l.Targets, c)
		look(l.Targets, s.frontier.bits, c, h)
	}
	for _, v := range h.vertex[inColumns:h.found] {
		now[int(v>>6)-from] |= 1 << (v & 63)
	}
	if direct {
		for i, v := range h.vertex[:h.found] {
			s.parent[v] = graph.Vertex(h.parent[i])
		}
		return
	}
	h.translate(s.g.Label)
	for i, label := range h.vertex[:h.found] {
		mine.corrections.Add(label, graph.Vertex(h.parent[i]))
	}
}

// Each list is somewhere else in memory, and the loop over a list ends with a branch that the processor cannot predict.
// So the lists of a batch of candidates are fetched together, before the first one is scanned.

const (
	batchWords = 16 // words of 64 vertices
	batch      = batchWords * 64
	batchMask  = batch - 1
)

// candidates are vertices that look for a parent, each with the entries that it has not looked at yet, at least one.
type candidates struct {
	n      int
	vertex [batch]uint32
	at     [batch]uint64
	end    [batch]uint64
}

// hits are the candidates that have finished: they have found a parent or run out of entries.
type hits struct {
	found  int
	spent  int
	vertex [batch]uint32 // [found]
	parent [batch]uint32 // [found]
	rest   [batch]uint32 // [spent] vertices that ran out of entries
}

// add adds the vertices of a word, whose bit 0 is vertex base, with their entries as parents.
func (h *hits) add(word uint64, base int, entry []uint32) {
	n := h.found
	for ; word != 0; word &= word - 1 {
		v := base + bits.TrailingZeros64(word)
		h.vertex[n&batchMask], h.parent[n&batchMask] = uint32(v), entry[v]
		n++
	}
	h.found = n
}

// translate replaces vertices by their labels. It does only that, so that as many cache misses as possible overlap.
func (h *hits) translate(label []uint32) {
	for i, v := range h.vertex[:h.found] {
		h.vertex[i], h.parent[i] = label[v], label[h.parent[i]]
	}
}

// less returns 1 if a < b and 0 otherwise, for numbers below 2^63.
func less(a, b uint64) uint64 { return (a - b) >> 63 }

// begin adds the vertices of a word, whose bit 0 is vertex base, with the entries that are not in columns. In packed
// lists these are the near ones; vertices without any are spent.
func (c *candidates) begin(l *layout.Lists, word uint64, base int, h *hits) {
	n, spent := c.n, h.spent
	for ; word != 0; word &= word - 1 {
		v := uint32(base + bits.TrailingZeros64(word))
		begin, end := l.At.Get(v)+layout.NumColumns+1, l.At.Get(v+1)
		c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, begin, end
		h.rest[spent&batchMask] = v
		more := less(begin, end)
		n += int(more)
		spent += int(more ^ 1)
	}
	c.n, h.spent = n, spent
}

// beginFar makes the spent vertices candidates again, with their far entries that are not in columns.
func (c *candidates) beginFar(l *layout.Lists, h *hits) {
	n := 0
	for _, v := range h.rest[:h.spent] {
		begin, end := l.FarAt.Get(v), l.FarAt.Get(v+1)
		if near := l.At.Get(v+1) - l.At.Get(v); near < layout.NumColumns+1 {
			begin += layout.NumColumns + 1 - near
		}
		c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, begin, end
		n += int(less(begin, end))
	}
	c.n, h.spent = n, 0
}

// fetched is the number of entries of a list that are fetched before it is scanned. Most scans end earlier.
const fetched = 12

// fetch reads entries of all candidates, so that they are in the cache soon. The caller must use the result, which
// depends on all of them.
func fetch[E uint16 | uint32](entries []E, c *candidates) (sum uint32) {
	for i, at := range c.at[:c.n] {
		sum += uint32(entries[at]) + uint32(entries[min(at+fetched, c.end[i&batchMask]-1)])
	}
	return sum
}

// look lets every candidate look through its entries until it has found a parent or is spent.
func look[E uint16 | uint32](entries []E, frontier bitmap, c *candidates, h *hits) {
	found, spent := h.found, h.spent
	for i, v := range c.vertex[:c.n] {
		hit := 0
		for _, e := range entries[c.at[i&batchMask]:c.end[i&batchMask]] {
			if u := uint32(e); frontier.has(u) {
				h.vertex[found&batchMask], h.parent[found&batchMask] = v, u
				hit = 1
				break
			}
		}
		h.rest[spent&batchMask] = v
		found += hit
		spent += hit ^ 1
	}
	c.n, h.found, h.spent = 0, found, spent
}

// lookFar is look for far entries, which are the last ones, so it drops spent vertices. All candidates look at one
// entry, the remaining ones look at their next entry, and so on: the result for a candidate decides where it is
// written, not which branch is taken.
func lookFar(entries *layout.Fields, frontier bitmap, c *candidates, h *hits) {
	found := h.found
	words, width, mask := entries.Words, entries.Width, entries.Mask
	for c.n > 0 {
		n := 0
		for i := range c.n {
			v, at, end := c.vertex[i&batchMask], c.at[i&batchMask], c.end[i&batchMask]
			bit := at * width
			w, shift := bit>>6, bit&63
			u := uint32((words[w]>>shift | words[w+1]<<1<<(63-shift)) & mask)
			hit := frontier[u>>6] >> (u & 63) & 1
			h.vertex[found&batchMask], h.parent[found&batchMask] = v, u
			at++
			c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, at, end
			found += int(hit)
			n += int(less(at, end) &^ hit)
		}
		c.n = n
	}
	h.found = found
}
