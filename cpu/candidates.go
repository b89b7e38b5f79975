package cpu

import "math/bits"

// Looking through lists bottom-up, many vertices at a time.
//
// How long a list is and which of its entries is the first frontier vertex are as good as random. A loop over the list
// of one vertex therefore ends with a mispredicted branch, which costs more than the three or four entries that it
// looked at. So a batch of candidates goes through its lists in step: all look at one entry, those that are left look
// at their next one, and so on. What becomes of a candidate decides where it is written, not where the program goes.

const (
	batch     = batchWords * 64
	batchMask = batch - 1
)

// candidates are vertices that look for a parent, each with the range of entries that it has not looked at. The range
// is not empty.
type candidates struct {
	n      int
	vertex [batch]uint32
	at     [batch]uint64
	end    [batch]uint64
}

// hits are the candidates that are through: found ones with their parents, and spent ones, whose entries gave out.
type hits struct {
	found  int
	spent  int
	vertex [batch]uint32
	parent [batch]uint32
	rest   [batch]uint32 // spent
}

// add adds the vertices of a word, which stands for vertices from base on, with their entries as parents.
func (h *hits) add(word uint64, base int, entry []uint32) {
	n := h.found
	for ; word != 0; word &= word - 1 {
		v := base + bits.TrailingZeros64(word)
		h.vertex[n&batchMask], h.parent[n&batchMask] = uint32(v), entry[v]
		n++
	}
	h.found = n
}

// translate replaces vertices by their labels. It does nothing else, so that as many look-ups as possible are on their
// way at the same time.
func (h *hits) translate(original []uint32) {
	for i, v := range h.vertex[:h.found] {
		h.vertex[i], h.parent[i] = original[v], original[h.parent[i]]
	}
}

// less returns 1 if a < b and 0 otherwise, for numbers below 2^63.
func less(a, b uint64) uint64 { return (a - b) >> 63 }

// begin adds the vertices of a word, which stands for vertices from base on, with the entries that do not stand in
// columns. Packed vertices without near ones among them are spent.
func (c *candidates) begin(l *lists, word uint64, base int, h *hits) {
	at := &l.at
	if l.packed {
		at = &l.nearAt
	}
	n, spent := c.n, h.spent
	for ; word != 0; word &= word - 1 {
		v := uint32(base + bits.TrailingZeros64(word))
		begin, end := at.get(v)+columns+1, at.get(v+1)
		c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, begin, end
		h.rest[spent&batchMask] = v
		more := less(begin, end)
		n += int(more)
		spent += int(more ^ 1)
	}
	c.n, h.spent = n, spent
}

// beginFar makes the spent vertices candidates again, with their far entries that do not stand in columns.
func (c *candidates) beginFar(l *lists, h *hits) {
	n := 0
	for _, v := range h.rest[:h.spent] {
		begin, end := l.farAt.get(v), l.farAt.get(v+1)
		if near := l.nearAt.get(v+1) - l.nearAt.get(v); near < columns+1 {
			begin += columns + 1 - near
		}
		c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, begin, end
		n += int(less(begin, end))
	}
	c.n, h.spent = n, 0
}

// look lets all candidates look through their entries.
func look[E uint16 | uint32](entries []E, frontier bitmap, c *candidates, h *hits) {
	found, spent := h.found, h.spent
	for c.n > 0 {
		n := 0
		for i := range c.n {
			v, at, end := c.vertex[i&batchMask], c.at[i&batchMask], c.end[i&batchMask]
			u := uint32(entries[at])
			hit := frontier[u>>6] >> (u & 63) & 1
			h.vertex[found&batchMask], h.parent[found&batchMask] = v, u
			h.rest[spent&batchMask] = v
			at++
			c.vertex[n&batchMask], c.at[n&batchMask], c.end[n&batchMask] = v, at, end
			more := less(at, end)
			found += int(hit)
			spent += int((hit | more) ^ 1)
			n += int(more &^ hit)
		}
		c.n = n
	}
	h.found, h.spent = found, spent
}

// lookFar is look over packed entries; what is spent then is through.
func lookFar(entries *fields, frontier bitmap, c *candidates, h *hits) {
	found := h.found
	words, width, mask := entries.words, entries.width, entries.mask
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
