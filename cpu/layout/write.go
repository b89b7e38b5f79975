package layout

import (
	"runtime"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
)

// listWriter writes sorted buckets into the lists of a graph. The place of a bucket depends on how many duplicates the
// earlier ones had, so workers reserve their places in the order of the buckets, and then write at the same time.
type listWriter struct {
	g     *Graph
	width int          // bits of a neighbour in a key
	turn  atomic.Int64 // the bucket whose worker may reserve
	end   place        // reserved so far; belongs to that worker
}

// place is a position in the arrays of the lists. In the csr layout every entry counts as near.
type place struct{ near, far uint64 }

// add writes the lists of the vertices of bucket k, number i of all. Keys are (vertex-k.from)<<width | neighbour, in
// ascending order without duplicates.
func (w *listWriter) add(i int, k bucket, keys []uint64) {
	near, far := w.count(keys)
	for look := 0; w.turn.Load() != int64(i); look++ {
		if look > 100 {
			runtime.Gosched()
		}
	}
	at := w.end
	w.end = place{at.near + near, at.far + far}
	w.turn.Add(1)
	w.write(k, keys, at)
}

// count returns how many near and far entries the keys are.
func (w *listWriter) count(keys []uint64) (near, far uint64) {
	if !w.g.Lists.Packed {
		return uint64(len(keys)), 0
	}
	mask := uint64(1)<<w.width - 1
	for _, key := range keys {
		near += (key&mask - NearLimit) >> 63
	}
	return near, uint64(len(keys)) - near
}

// write writes the lists of bucket k from at on, their columns and first neighbours.
func (w *listWriter) write(k bucket, keys []uint64, at place) {
	l, mask := &w.g.Lists, uint64(1)<<w.width-1
	pack := l.Far.pack(at.far)
	next := k.from // the first vertex whose list has not begun
	for len(keys) > 0 {
		v, n := k.from+int(keys[0]>>w.width), 1
		for n < len(keys) && keys[n]>>w.width == keys[0]>>w.width {
			n++
		}
		list := keys[:n]
		keys = keys[n:]
		w.begin(next, v, at)
		next = v + 1
		w.g.setFirst(v, uint32(list[0]&mask))
		for i, key := range list[1:min(n, NumColumns+1)] {
			l.Columns[i].Entry[v] = uint32(key & mask)
			if i+2 < n { // another bucket may have vertices in this word of More
				atomic.OrUint64(&l.Columns[i].More[v>>6], 1<<(v&63))
			}
		}
		if !l.Packed {
			targets := l.Targets[at.near:][:n]
			for i, key := range list {
				targets[i] = uint32(key & mask)
			}
			at.near += uint64(n)
			continue
		}
		for _, key := range list {
			if neighbour := uint32(key & mask); neighbour < NearLimit {
				l.Near[at.near] = uint16(neighbour)
				at.near++
			} else {
				pack.put(neighbour)
				at.far++
			}
		}
	}
	pack.close()
	w.begin(next, k.to-1, at)
}

// begin makes the lists of the vertices first..last begin at a place.
func (w *listWriter) begin(first, last int, at place) {
	l := &w.g.Lists
	for v := first; v <= last; v++ {
		l.At.low[v] = uint32(at.near)
		if l.Packed {
			l.FarAt.low[v] = uint32(at.far)
		}
	}
}

// finish ends the last list and frees the memory that was reserved for duplicates.
func (w *listWriter) finish(m *memory.Arena) {
	l := &w.g.Lists
	w.begin(w.g.Searched, w.g.Searched, w.end)
	l.At.findWraps()
	l.FarAt.findWraps()
	if !l.Packed {
		memory.Trim(m, &l.Targets, int(w.end.near))
		return
	}
	memory.Trim(m, &l.Near, int(w.end.near))
	l.Far.Length = int(w.end.far)
	memory.Trim(m, &l.Far.Words, l.Far.wordsFor(l.Far.Length))
}
