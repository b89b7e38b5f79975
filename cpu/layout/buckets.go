package layout

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// From tuples to sorted neighbour lists without duplicates, in two steps.
//
// Step 1, partition: every tuple becomes two entries (vertex, neighbour) in the engine's numbers, and an entry goes to
// the bucket of its vertex. Buckets are ranges of vertices with about equally many entries, small enough to be sorted
// in a cache. A worker collects a cache line of entries of a bucket before it writes them to memory.
// Step 2, sort: a worker takes a bucket, sorts it by (vertex, neighbour), drops duplicates, and writes the lists.
//
// The lists are made in place. The neighbours of all entries are in the array that becomes the lists, and the low
// halves of their vertices in another one. A bucket begins where its lists would if no tuple were a duplicate, so its
// lists never end behind its entries; and a worker writes them when all buckets before have been read.
const (
	minBucket   = 1 << 16 // entries
	maxBucket   = 1 << 20
	wantBuckets = 1 << 11 // in all
	maxVertices = 1 << 16 // of a bucket: an entry has 16 bits of its vertex
	blockSize   = 64      // vertices that are in the same bucket, from NearLimit on
	slotSize    = 16      // entries
)

// bucket is a range of vertices whose lists are built together.
type bucket struct {
	from, to int          // vertices
	begin    int          // of its entries
	end      atomic.Int64 // of the entries so far
}

// slot holds entries of a bucket until it is full.
type slot struct {
	neighbours [slotSize]uint32
	vertices   [slotSize]uint16
}

// entries are pairs of a vertex and a neighbour, bucket by bucket.
type entries struct {
	buckets    []*bucket
	of         []uint16 // bucket of each vertex below NearLimit, then of each block of vertices: it fits a cache
	neighbours []uint32
	vertices   []uint16 // low halves
}

// plan cuts the vertices into buckets and returns room for how many entries they need.
func (b *builder) plan() (room int) {
	e, searched := &b.entries, b.g.Searched
	total := b.degreesOf(0, searched)
	limit := min(max(total/wantBuckets, minBucket), maxBucket)
	limit = max(limit, total/(1<<14)) // numbers of buckets fit 16 bits
	var current *bucket
	for v := 0; v < searched; v = current.to {
		next := v + 1
		if v >= NearLimit {
			next = min(v+blockSize, searched)
		}
		n := b.degreesOf(v, next)
		if current == nil || room-current.begin+n > limit || next-current.from > maxVertices {
			room = (room + slotSize - 1) &^ (slotSize - 1) // a full slot is a cache line of neighbours
			current = &bucket{from: v, begin: room}
			current.end.Store(int64(room))
			e.buckets = append(e.buckets, current)
		}
		room += n
		current.to = next
		e.of[bucketIndex(uint32(v))] = uint16(len(e.buckets) - 1)
	}
	return room
}

// degreesOf returns the sum of the degrees of the vertices [from, to).
func (b *builder) degreesOf(from, to int) (sum int) {
	if b.g.Order == Given {
		for _, d := range b.degrees[from:to] {
			sum += int(d)
		}
		return sum
	}
	for _, label := range b.g.Label[from:to] {
		sum += int(b.degrees[label])
	}
	return sum
}

// bucketIndex returns the index of v in entries.of: a branch would be mispredicted too often.
func bucketIndex(v uint32) uint32 { return min(v, NearLimit-NearLimit/blockSize+v/blockSize) }

// partition makes the buckets and puts the entries of all tuples into them.
func (b *builder) partition() error {
	m, e := b.memory, &b.entries
	e.of = memory.Allocate[uint16](m, "bucket of each vertex", int(bucketIndex(uint32(b.g.Searched)))+1)
	if err := m.Err(); err != nil {
		return err
	}
	room := b.plan()
	memory.Release(m, &b.degrees)
	e.neighbours = memory.Allocate[uint32](m, "targets", room)
	e.vertices = memory.Allocate[uint16](m, "vertices of entries", room)
	if err := m.Err(); err != nil {
		return err
	}
	searched := uint32(b.g.Searched)
	b.team.Run(func(worker int) {
		var pairs [batchSize]uint64
		slots, used := make([]slot, len(e.buckets)), make([]uint8, len(e.buckets))
		for tuples := range b.batches(worker) {
			translate(tuples, b.g.Vertex, &pairs)
			for _, pair := range pairs[:len(tuples)] {
				u, v := uint32(pair>>32), uint32(pair)
				if u == v || u >= searched || v >= searched {
					continue
				}
				for range 2 { // u and its neighbour v, then v and its neighbour u
					k := e.of[bucketIndex(u)]
					s, n := &slots[k], used[k]&(slotSize-1)
					s.neighbours[n], s.vertices[n] = v, uint16(u)
					if used[k] = n + 1; n == slotSize-1 {
						e.flush(int(k), s, slotSize)
					}
					u, v = v, u
				}
			}
		}
		for k := range slots {
			e.flush(k, &slots[k], int(used[k]&(slotSize-1)))
		}
	})
	return nil
}

// flush moves n entries from a slot to bucket k.
func (e *entries) flush(k int, s *slot, n int) {
	at := int(e.buckets[k].end.Add(int64(n))) - n
	copy(e.neighbours[at:], s.neighbours[:n])
	copy(e.vertices[at:], s.vertices[:n])
}

// sortBuckets sorts all buckets and hands them to write.
func (b *builder) sortBuckets(write *listWriter) {
	e := &b.entries
	var taken atomic.Int64
	b.team.Run(func(worker int) {
		s := sorter{width: write.width, alone: team.New(1)}
		for !b.stopped.Load() { // a bucket that was taken is written, because other workers wait for it
			i := int(taken.Add(1)) - 1 // in order, because writers wait for the buckets before theirs
			if i >= len(e.buckets) {
				return
			}
			k := e.buckets[i]
			neighbours, vertices := e.neighbours[k.begin:k.end.Load()], e.vertices[k.begin:k.end.Load()]
			switch {
			case k.to-k.from == 1 && len(neighbours) > b.g.Searched>>6: // enough entries to go through all words
				add(write, i, k, s.set(neighbours, b.g.Searched))
			case s.bits(k) <= 32:
				add(write, i, k, sortEntries(&s, &s.short, k, neighbours, vertices))
			default:
				add(write, i, k, sortEntries(&s, &s.long, k, neighbours, vertices))
			}
		}
	})
}

// sorter sorts the entries of one bucket after the other. Keys are (vertex-from)<<width | neighbour.
type sorter struct {
	width  int // bits of a neighbour
	alone  *team.Team
	short  [2][]uint32
	long   [2][]uint64
	sorted []uint32 // neighbours of one vertex
	bitmap []uint64 // of all vertices
}

// bits returns the width of the keys of bucket k.
func (s *sorter) bits(k *bucket) int { return s.width + bits.Len(uint(k.to-k.from-1)) }

// sortEntries returns the keys of the entries of bucket k in ascending order without duplicates.
func sortEntries[K uint32 | uint64](s *sorter, keys *[2][]K, k *bucket, neighbours []uint32, vertices []uint16) []K {
	if len(keys[0]) < len(neighbours) {
		keys[0], keys[1] = make([]K, len(neighbours)), make([]K, len(neighbours))
	}
	all := keys[0][:len(neighbours)]
	for i, vertex := range vertices {
		all[i] = K(vertex-uint16(k.from))<<s.width | K(neighbours[i])
	}
	sorted, _ := sortKeys(s.alone, all, keys[1], 0, s.bits(k))
	return slices.Compact(sorted)
}

// set returns different neighbours of one vertex in ascending order. A vertex may have any share of all entries;
// sorting them in a bitmap of all vertices needs no memory for duplicates.
func (s *sorter) set(neighbours []uint32, searched int) []uint32 {
	if s.bitmap == nil {
		s.bitmap = make([]uint64, (searched+63)>>6)
	}
	clear(s.bitmap)
	for _, v := range neighbours {
		s.bitmap[v>>6] |= 1 << (v & 63)
	}
	n := 0
	for _, word := range s.bitmap {
		n += bits.OnesCount64(word)
	}
	s.sorted = slices.Grow(s.sorted[:0], n)
	for w, word := range s.bitmap {
		for ; word != 0; word &= word - 1 {
			s.sorted = append(s.sorted, uint32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return s.sorted
}
