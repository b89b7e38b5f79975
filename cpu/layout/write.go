package layout

import (
	"runtime"
	"sync/atomic"
)

// listWriter writes sorted buckets into the lists of a graph. The place of a bucket depends on how many duplicates the
// earlier ones had, so workers reserve their places in the order of the buckets, and then write at the same time.
type listWriter struct {
	g     *Graph
	width int          // bits of a neighbour in a key
	turn  atomic.Int64 // the bucket whose worker may reserve
	end   int          // reserved so far; belongs to that worker
}

// add writes the lists of the vertices of bucket k, number i of all. Keys are (vertex-k.from)<<width | neighbour, in
// ascending order without duplicates.
func add[K uint32 | uint64](w *listWriter, i int, k *bucket, keys []K) {
	for look := 0; w.turn.Load() != int64(i); look++ {
		if look > 100 {
			runtime.Gosched()
		}
	}
	at := w.end
	w.end += len(keys)
	w.turn.Add(1)
	write(w, k, keys, at)
}

// write writes the lists of bucket k from at on, their columns and first neighbours.
func write[K uint32 | uint64](w *listWriter, k *bucket, keys []K, at int) {
	l, mask := &w.g.Lists, K(1)<<w.width-1
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
		targets := l.Targets[at:][:n]
		for i, key := range list {
			targets[i] = uint32(key & mask)
		}
		at += n
	}
	w.begin(next, k.to-1, at)
}

// begin makes the lists of the vertices first..last begin at a place.
func (w *listWriter) begin(first, last, at int) {
	for v := first; v <= last; v++ {
		w.g.Lists.At.low[v] = uint32(at)
	}
}
