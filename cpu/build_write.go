package cpu

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// listWriter puts sorted buckets into the layout. The place of a bucket depends on how many duplicates the earlier ones
// had, so workers reserve their places in the order of the buckets, and then write at the same time.
type listWriter struct {
	g     *layout
	width int // bits of a neighbour in a key
	turn  ticket
	ends  place // reserved so far; belongs to whoever has the turn
}

// place is a position in the arrays of the lists. In the plain layout every entry counts as near.
type place struct{ near, far uint64 }

// write stores the lists of the vertices of bucket k, number i of all. Keys are (vertex-k.from)<<width | neighbour, in
// ascending order, each once.
func (w *listWriter) write(i int, k bucket, keys []uint64) {
	// The bases of offsets that begin in this bucket need to know how much of it lies before them.
	first := (k.from + offsetBlock - 1) >> offsetBits
	var before [8]place
	blocks := before[:0]
	var size place
	done := 0
	for b := first; b<<offsetBits < k.to; b++ {
		end, _ := slices.BinarySearch(keys, uint64(b<<offsetBits-k.from)<<w.width)
		size = size.plus(w.count(keys[done:end]))
		done = end
		blocks = append(blocks, size)
	}
	size = size.plus(w.count(keys[done:]))

	w.turn.await(i)
	at := w.ends
	w.ends = at.plus(size)
	l := &w.g.lists
	for b, p := range blocks {
		p = at.plus(p)
		if l.packed {
			l.nearAt.base[first+b], l.farAt.base[first+b] = p.near, p.far
		} else {
			l.at.base[first+b] = p.near
		}
	}
	w.turn.pass()

	if l.packed {
		w.writePacked(k, keys, at)
	} else {
		w.writePlain(k, keys, at)
	}
	w.writeColumns(k, keys)
}

// writeColumns stores the entries that stand in columns. A word of more may hold vertices of two buckets.
func (w *listWriter) writeColumns(k bucket, keys []uint64) {
	l := &w.g.lists
	mask := uint64(1)<<w.width - 1
	for j := 0; j < len(keys); {
		v := keys[j] >> w.width
		end := j + 1
		for end < len(keys) && end < j+columns+2 && keys[end]>>w.width == v {
			end++
		}
		vertex := uint32(k.from) + uint32(v)
		for i := range columns {
			if j+i+1 < end {
				l.columns[i].entry[vertex] = uint32(keys[j+i+1] & mask)
			}
			if j+i+2 < end {
				atomic.OrUint64(&l.columns[i].more[vertex>>6], 1<<(vertex&63))
			}
		}
		for j = end; j < len(keys) && keys[j]>>w.width == v; j++ {
		}
	}
}

func (p place) plus(q place) place { return place{p.near + q.near, p.far + q.far} }

// count returns how many near and far entries the keys are.
func (w *listWriter) count(keys []uint64) place {
	if !w.g.lists.packed {
		return place{near: uint64(len(keys))}
	}
	mask := uint64(1)<<w.width - 1
	near := uint64(0)
	for _, key := range keys {
		near += (key&mask - nearLimit) >> 63
	}
	return place{near, uint64(len(keys)) - near}
}

func (w *listWriter) writePlain(k bucket, keys []uint64, at place) {
	l := &w.g.lists
	mask := uint64(1)<<w.width - 1
	targets := l.targets[at.near:][:len(keys)]
	next := k.from // first vertex whose list has not begun
	for j, key := range keys {
		neighbour := uint32(key & mask)
		targets[j] = neighbour
		if v := k.from + int(key>>w.width); v >= next {
			for ; next <= v; next++ {
				l.at.set(uint32(next), at.near+uint64(j))
			}
			w.g.setFirst(v, neighbour)
		}
	}
	for ; next < k.to; next++ {
		l.at.set(uint32(next), at.near+uint64(len(keys)))
	}
}

func (w *listWriter) writePacked(k bucket, keys []uint64, at place) {
	l := &w.g.lists
	mask := uint64(1)<<w.width - 1
	near, far := at.near, at.far
	pack := l.far.pack(far, func(word *uint64, bits uint64) { atomic.OrUint64(word, bits) })
	next := k.from
	for _, key := range keys {
		neighbour := uint32(key & mask)
		if v := k.from + int(key>>w.width); v >= next {
			for ; next <= v; next++ {
				l.nearAt.set(uint32(next), near)
				l.farAt.set(uint32(next), far)
			}
			w.g.setFirst(v, neighbour)
		}
		if neighbour < nearLimit {
			l.near[near] = uint16(neighbour)
			near++
		} else {
			pack.put(neighbour)
			far++
		}
	}
	pack.close()
	for ; next < k.to; next++ {
		l.nearAt.set(uint32(next), near)
		l.farAt.set(uint32(next), far)
	}
}

// finish closes the last list, notes the links of hubs, and gives back what duplicates would have taken.
func (w *listWriter) finish(b *builder) {
	l, end := &w.g.lists, uint32(w.g.searched)
	if l.packed {
		w.closeOffsets(&l.nearAt, end, w.ends.near)
		w.closeOffsets(&l.farAt, end, w.ends.far)
		trim(b.memory, &l.near, int(w.ends.near))
		l.far.length = int(w.ends.far)
		trim(b.memory, &l.far.words, l.far.wordsFor(l.far.length))
	} else {
		w.closeOffsets(&l.at, end, w.ends.near)
		trim(b.memory, &l.targets, int(w.ends.near))
	}
	for hub := range w.g.linked {
		w.g.linked[hub] = uint32(l.degree(uint32(hub))) - (w.g.groups[hub+1] - w.g.groups[hub])
	}
}

func (w *listWriter) closeOffsets(o *offsets, end uint32, at uint64) {
	if end&(offsetBlock-1) == 0 {
		o.base[end>>offsetBits] = at
	}
	o.set(end, at)
}

// setFirst notes the first neighbour of a searched vertex.
func (g *layout) setFirst(v int, neighbour uint32) {
	g.setTemplate(v, neighbour)
	if v < g.hubs {
		g.first[v] = neighbour
	} else if v >= g.strays {
		g.first[v-g.strays+g.hubs] = neighbour
	}
}

// setTemplate notes the first neighbour of v for the output.
func (g *layout) setTemplate(v int, neighbour uint32) {
	g.template[g.original[v]] = g.original[neighbour]
}

// ticket makes workers that finish buckets in any order go on in the order of the buckets.
type ticket struct{ next atomic.Int64 }

func (t *ticket) await(turn int) {
	for look := 0; t.next.Load() != int64(turn); look++ {
		if look > 100 {
			runtime.Gosched()
		}
	}
}

func (t *ticket) pass() { t.next.Add(1) }
