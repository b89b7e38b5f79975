package layout

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// From tuples to sorted neighbour lists without duplicates, in two steps that both stay in caches.
//
// Step 1, partition: every tuple becomes two entries (vertex, neighbour) in the engine's numbers, and an entry goes to
// the bucket of its vertex. Buckets are ranges of vertices with about equally many entries, small enough to be sorted
// in a cache. Step 2, sort: a worker takes a bucket, sorts it by (vertex, neighbour), drops duplicates, and writes the
// lists.
//
// Both steps run over one part of the buckets after the other, so that the pool has room for one part only. More parts
// would need less memory, but translating the tuples once more for each costs more than touching that memory. Plain
// lists, which are longer than packed ones, leave less room for the pool.
const (
	packedParts = 2
	plainParts  = 3
	minBucket   = 1 << 16 // entries
	maxBucket   = 1 << 20
	wantBuckets = 1 << 11 // in all
)

// bucket is a range of vertices whose lists are built together.
type bucket struct {
	from, to int // vertices
	entries  int // with duplicates
}

// plan cuts the vertices into buckets and fills of with the bucket of each vertex.
func (b *builder) plan(of []uint16) (buckets []bucket) {
	var total int
	for _, label := range b.g.Label[:b.g.Searched] {
		total += int(b.degrees[label])
	}
	limit := min(max(total/wantBuckets, minBucket), maxBucket)
	limit = max(limit, total/(1<<15)) // numbers of buckets fit 16 bits
	current := bucket{}
	for v := range b.g.Searched {
		d := int(b.degrees[b.g.Label[v]])
		if current.entries > 0 && current.entries+d > limit {
			buckets = append(buckets, current)
			current = bucket{from: v}
		}
		current.to, current.entries = v+1, current.entries+d
		of[v] = uint16(len(buckets))
	}
	if current.entries > 0 {
		buckets = append(buckets, current)
	}
	return buckets
}

// split cuts buckets into runs, n or a few more, of at most 1/n of all entries plus one bucket of usual size, or of a
// single bucket that has more than that.
func split(buckets []bucket, n int) (runs [][]bucket) {
	total, usual := 0, 0
	for _, k := range buckets {
		total += k.entries
		if k.to-k.from > 1 {
			usual = max(usual, k.entries)
		}
	}
	for len(buckets) > 0 {
		entries, end := buckets[0].entries, 1
		for end < len(buckets) && entries+buckets[end].entries <= total/n+usual {
			entries += buckets[end].entries
			end++
		}
		runs = append(runs, buckets[:end])
		buckets = buckets[end:]
	}
	return runs
}

// fillLists runs both steps over all parts; write gets the buckets.
func (b *builder) fillLists(write *listWriter) error {
	of := memory.Allocate[uint16](b.memory, "bucket of each vertex", b.g.Searched)
	if err := b.memory.Err(); err != nil {
		return err
	}
	buckets := b.plan(of)
	n := plainParts
	if b.options.Packed {
		n = packedParts
	}
	parts := split(buckets, n)
	size := 0
	for _, part := range parts {
		blocks := len(part) * b.team.Size() // a block begun for each worker and bucket
		for _, k := range part {
			blocks += k.entries / blockSize
		}
		size = max(size, blocks<<blockBits)
	}
	p := &pool{entries: memory.Allocate[uint64](b.memory, "entries to sort", size)}
	if err := b.memory.Err(); err != nil {
		return err
	}
	first := 0
	for _, part := range parts {
		p.reset(first, len(part), b.team.Size())
		b.partition(p, part, of)
		b.sortBuckets(p, part, write)
		if err := b.ctx.Err(); err != nil {
			return err
		}
		first += len(part)
	}
	memory.Release(b.memory, &p.entries)
	memory.Release(b.memory, &of)
	return nil
}

// partition puts the entries of these buckets into the pool.
func (b *builder) partition(p *pool, buckets []bucket, of []uint16) {
	wanted := selection{uint32(buckets[0].from), uint32(buckets[len(buckets)-1].to), uint32(b.g.Searched)}
	b.team.Run(func(worker int) {
		var pairs [batchSize]uint64
		var entries [2 * batchSize]uint64
		for tuples := range b.batches(worker) {
			translate(tuples, b.g.Vertex, &pairs)
			p.scatter(entries[:wanted.choose(pairs[:len(tuples)], &entries)], of, worker)
		}
	})
}

// selection is the vertices from..to-1, whose entries are wanted.
type selection struct{ from, to, searched uint32 }

// choose writes the wanted entries of pairs, at most batchSize, and returns their number. A pair of two searched
// vertices that is not a self-loop is an entry of both. Most entries belong to another part, so they are dropped
// without a branch.
func (t *selection) choose(pairs []uint64, entries *[2 * batchSize]uint64) int {
	const mask = 2*batchSize - 1
	n := 0
	from, extent := t.from, uint64(t.to-t.from)
	for _, pair := range pairs {
		u, v := uint32(pair>>32), uint32(pair)
		if u == v || u >= t.searched || v >= t.searched {
			continue
		}
		entries[n&mask] = pair
		n += int((uint64(u-from) - extent) >> 63)
		entries[n&mask] = uint64(v)<<32 | uint64(u)
		n += int((uint64(v-from) - extent) >> 63)
	}
	return n
}

// sortBuckets sorts these buckets, which are in the pool, and hands them to write.
func (b *builder) sortBuckets(p *pool, buckets []bucket, write *listWriter) {
	var taken atomic.Int64
	b.team.Run(func(worker int) {
		var keys, scratch, set, bitmap []uint64
		alone := team.New(1)
		for !b.stopped.Load() { // a bucket that was taken is written, because other workers wait for it
			i := int(taken.Add(1)) - 1 // in order, because writers wait for the buckets before theirs
			if i >= len(buckets) {
				return
			}
			k := buckets[i]
			n := p.room(i)
			if k.to-k.from == 1 && n > b.g.Searched>>6 { // enough entries to go through all words
				if bitmap == nil {
					bitmap = make([]uint64, (b.g.Searched+63)>>6)
				}
				set = p.collectSet(set, i, bitmap)
				write.add(p.first+i, k, set)
				continue
			}
			if cap(keys) < n || cap(scratch) < n {
				keys, scratch = make([]uint64, 0, n), make([]uint64, n)
			}
			keys = p.collect(keys[:0], i, k.from, write.width)
			sorted, other := sortKeys(alone, keys, scratch, 0, write.width+bits.Len(uint(k.to-k.from-1)))
			write.add(p.first+i, k, slices.Compact(sorted))
			keys, scratch = sorted[:0], other[:cap(other)]
		}
	})
}
