// SPDX-License-Identifier: Apache-2.0

package layout

// Lists are the neighbor lists of the searched vertices, each in ascending order, so hubs first. They come in two
// layouts with the same order of entries:
//
//	csr     every neighbor in 32 bits
//	packed  neighbors below NearLimit in 16 bits (near), the others in as many bits as the graph needs (far)
//
// The second to fourth neighbor of every vertex are in columns as well, because bottom-up steps read them most often.
// The fields are exported for the innermost loops of a search, which need no call for an entry.
type Lists struct {
	Packed  bool
	At      Offsets  // of Targets or Near
	Targets []uint32 // csr
	Near    []uint16 // packed: the first entries of every list
	Far     Fields   // packed: the last entries
	FarAt   Offsets
	Columns [NumColumns]Column
}

// NumColumns is the number of entries of every list, from the second on, that are in columns.
const NumColumns = 3

// Column k holds entry k+1 of every list.
type Column struct {
	Entry []uint32 // the vertex itself where the list is shorter
	More  []uint64 // bitmap of the vertices whose lists go on after this entry
}

// Degree returns the length of the list of v.
func (l *Lists) Degree(v uint32) int {
	n := l.At.Get(v+1) - l.At.Get(v)
	if l.Packed {
		n += l.FarAt.Get(v+1) - l.FarAt.Get(v)
	}
	return int(n)
}

// entry returns entry i of the list of v.
func (l *Lists) entry(v uint32, i int) uint32 {
	begin, end := l.At.Get(v), l.At.Get(v+1)
	if !l.Packed {
		return l.Targets[begin+uint64(i)]
	}
	if near := int(end - begin); i >= near {
		return l.Far.Get(l.FarAt.Get(v) + uint64(i-near))
	}
	return uint32(l.Near[begin+uint64(i)])
}

// Plain returns entries [from, to) of the list of v in the csr layout.
func (l *Lists) Plain(v uint32, from, to int) []uint32 {
	at := l.At.Get(v)
	return l.Targets[at+uint64(from) : at+uint64(to)]
}

// Split returns entries [from, to) of the list of v in the packed layout: the near ones, and where the others begin in
// Far.
func (l *Lists) Split(v uint32, from, to int) (near []uint16, far uint64) {
	begin, end := l.At.Get(v), l.At.Get(v+1)
	length := int(end - begin)
	low, high := min(from, length), min(to, length)
	return l.Near[begin+uint64(low) : begin+uint64(high)], l.FarAt.Get(v) + uint64(max(from-length, 0))
}

// Touch reads a word of each cache line of entries [from, to) of the list of v, so that they are in the cache soon. The
// caller must use the result, which depends on all of them.
func (l *Lists) Touch(v uint32, from, to int) (sum uint32) {
	const line = 64
	if from >= to {
		return 0
	}
	if !l.Packed {
		list := l.Plain(v, from, to)
		for i := 0; i < len(list); i += line / 4 {
			sum += list[i]
		}
		return sum
	}
	near, far := l.Split(v, from, to)
	for i := 0; i < len(near); i += line / 2 {
		sum += uint32(near[i])
	}
	first := far * l.Far.Width >> 6
	last := (far + uint64(to-from-len(near))) * l.Far.Width >> 6
	for ; first < last; first += line / 8 {
		sum += uint32(l.Far.Words[first])
	}
	return sum
}

// Entries returns the length of all lists together.
func (l *Lists) Entries() int { return len(l.Targets) + len(l.Near) + l.Far.Length }

// Offsets are the beginnings of lists: list v is at Get(v) ... Get(v+1)-1. They take 32 bits each, also where there are
// more than 2^32 entries, because a single list is shorter than that.
type Offsets struct {
	low   []uint32 // [lists+1] low halves
	wraps []uint32 // lists whose low half is less than the one before
}

// Get returns the index of the first entry of list v.
func (o *Offsets) Get(v uint32) uint64 {
	at := uint64(o.low[v])
	for _, first := range o.wraps {
		if v >= first {
			at += 1 << 32
		}
	}
	return at
}

// Narrow returns all offsets as they are stored, if there are fewer than 2^32 entries.
func (o *Offsets) Narrow() (at []uint32, ok bool) { return o.low, len(o.wraps) == 0 }

// sum replaces the lengths of lists by their beginnings. It returns the end of the last one.
func (o *Offsets) sum() (end uint64) {
	for v, n := range o.low {
		o.low[v] = uint32(end)
		end += uint64(n)
	}
	o.findWraps()
	return end
}

// findWraps fills wraps when low is complete.
func (o *Offsets) findWraps() {
	for v := 1; v < len(o.low); v++ {
		if o.low[v] < o.low[v-1] {
			o.wraps = append(o.wraps, uint32(v))
		}
	}
}
