package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Lists: from tuples to sorted neighbour lists without duplicates, in two steps that both stay in caches.
//
// Step 1, partition: every tuple becomes two entries (vertex, neighbour) in the engine's numbers, and an entry goes to
// the bucket that its vertex belongs to. Buckets are ranges of vertices with about equally many entries, small enough
// to be sorted in a cache. A bucket is a chain of blocks from one store, so nothing has to be counted beforehand.
// Step 2, sort: a worker takes a bucket, sorts it by (vertex, neighbour), drops duplicates, and writes the lists.
//
// Both steps run over one part of the buckets after the other, so that the store has room for one part only. More parts would need
// less memory, but translating the tuples once more for each costs more than touching that memory. Plain lists, which are
// longer than packed ones, leave less room for the store.

const (
	packedParts = 2
	plainParts  = 3
	blockBits   = 9 // entries in a block, as a power of two: 4 KiB
	blockSize   = 1 << blockBits
	digitBits   = 11
	minEntries  = 1 << 16 // of a bucket
	maxEntries  = 1 << 20
	wantBucket  = 1 << 11 // buckets in all
	batchSize   = 256     // tuples translated at a time
)

// bucket is a range of vertices whose lists are built together.
type bucket struct {
	from, to int // vertices
	entries  int // with duplicates
}

// plan cuts the vertices into buckets and says which bucket each vertex belongs to.
func (b *builder) plan() (buckets []bucket, of []uint16, err error) {
	if of, err = allocate[uint16](b.memory, "bucket of each vertex", b.searched); err != nil {
		return nil, nil, err
	}
	var total int
	for _, label := range b.original[:b.searched] {
		total += int(b.degrees[label])
	}
	limit := min(max(total/wantBucket, minEntries), maxEntries)
	limit = max(limit, total/(1<<15)) // numbers of buckets fit 16 bits
	current := bucket{}
	for v := range b.searched {
		d := int(b.degrees[b.original[v]])
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
	return buckets, of, nil
}

// store holds the entries of one round's buckets as chains of blocks. An entry is vertex<<32 | neighbour.
type store struct {
	entries []uint64
	blocks  atomic.Int64 // handed out
	first   int          // bucket of this round
	count   int
	filling [][]int      // [worker][bucket]: position of the next entry; a multiple of blockSize: no block or a full one
	chains  [][][]uint32 // [worker][bucket]: blocks, oldest first
}

// makeLists is both steps over all parts. write gets every bucket's sorted entries without duplicates, in the order
// of the buckets.
func (b *builder) makeLists(write *listWriter) error {
	buckets, of, err := b.plan()
	if err != nil {
		return err
	}
	parts := split(buckets, b.parts())
	size := 0
	for _, part := range parts {
		need := len(part) * b.team.size // a block begun for each worker and bucket
		for _, k := range part {
			need += k.entries / blockSize
		}
		size = max(size, need<<blockBits)
	}
	s := &store{}
	if s.entries, err = allocate[uint64](b.memory, "entries to sort", size); err != nil {
		return err
	}
	for first := 0; len(parts) > 0; parts = parts[1:] {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		s.reset(first, len(parts[0]), b.team.size)
		b.partition(s, parts[0], of)
		if err := b.ctx.Err(); err != nil {
			return err
		}
		b.sortBuckets(s, parts[0], write)
		if err := b.ctx.Err(); err != nil {
			return err
		}
		first += len(parts[0])
	}
	release(b.memory, &s.entries)
	release(b.memory, &of)
	return nil
}

// parts says in how many parts the lists are made.
func (b *builder) parts() int {
	if b.packed {
		return packedParts
	}
	return plainParts
}

// split cuts buckets into runs, n or a few more, of at most 1/n of all entries (and what a bucket of usual size has more), or
// of a single bucket that has more than that.
func split(buckets []bucket, n int) [][]bucket {
	total, usual := 0, 0
	for _, k := range buckets {
		total += k.entries
		if k.to-k.from > 1 {
			usual = max(usual, k.entries)
		}
	}
	var runs [][]bucket
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

func (s *store) reset(first, count, workers int) {
	s.first, s.count = first, count
	s.blocks.Store(0)
	s.filling = make([][]int, workers)
	s.chains = make([][][]uint32, workers)
	for w := range workers {
		s.filling[w] = make([]int, count)
		s.chains[w] = make([][]uint32, count)
	}
}

// partition puts the entries of these buckets where they belong.
func (b *builder) partition(s *store, buckets []bucket, of []uint16) {
	t := selection{uint32(buckets[0].from), uint32(buckets[len(buckets)-1].to), uint32(b.searched)}
	b.team.run(func(worker int) {
		var pairs [batchSize]uint64
		var entries [2 * batchSize]uint64
		rest := b.share(worker)
		for tuples := b.batch(&rest); len(tuples) > 0; tuples = b.batch(&rest) {
			translate(tuples, b.vertex, &pairs)
			s.scatter(entries[:t.choose(pairs[:len(tuples)], &entries)], of, worker)
		}
	})
}

// translate writes the vertices of at most batchSize tuples as u<<32 | v. It does nothing else, so that as many look-ups
// as possible are on their way at the same time.
func translate(tuples []graph.Edge, vertex []uint32, pairs *[batchSize]uint64) {
	for i, e := range tuples {
		u, v, _ := e.Narrow()
		pairs[i&(batchSize-1)] = uint64(vertex[u])<<32 | uint64(vertex[v])
	}
}

// selection is the vertices from..to-1, whose entries are wanted.
type selection struct{ from, to, searched uint32 }

// choose writes the entries of pairs, of which there are at most batchSize, and returns their number. What is between
// searched vertices and no self-loop is an entry of both; most entries belong to another round, so they are dropped
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

// scatter appends entries to the chains of their buckets.
func (s *store) scatter(entries []uint64, of []uint16, worker int) {
	at, chains, store := s.filling[worker], s.chains[worker], s.entries
	for _, e := range entries {
		k := uint32(of[e>>32]) - uint32(s.first)
		i := at[k]
		if i&(blockSize-1) == 0 {
			i = s.begin(chains, k)
		}
		store[i] = e
		at[k] = i + 1
	}
}

// begin adds a block to the chain of bucket k.
func (s *store) begin(chains [][]uint32, k uint32) int {
	block := s.blocks.Add(1) - 1
	chains[k] = append(chains[k], uint32(block))
	return int(block) << blockBits
}

// most returns how many entries bucket k has at most. It may be far less than the tuples at its vertices: edges to leaves are
// no entries.
func (s *store) most(k int) (entries int) {
	for worker := range s.chains {
		entries += len(s.chains[worker][k]) << blockBits
	}
	return entries
}

// pieces calls do for every block of bucket k with what is in it.
func (s *store) pieces(k int, do func(entries []uint64)) {
	for worker := range s.chains {
		chain := s.chains[worker][k]
		for i, block := range chain {
			n := blockSize
			if i == len(chain)-1 {
				if n = s.filling[worker][k] & (blockSize - 1); n == 0 {
					n = blockSize
				}
			}
			do(s.entries[int(block)<<blockBits:][:n])
		}
	}
}

// collect appends the entries of bucket k to list as (vertex-from)<<width | neighbour.
func (s *store) collect(list []uint64, k, from, width int) []uint64 {
	base := uint64(from)
	s.pieces(k, func(entries []uint64) {
		for _, e := range entries {
			list = append(list, (e>>32-base)<<width|e&(1<<32-1))
		}
	})
	return list
}

// collectOne returns the neighbours in bucket k, which belong to one vertex, in ascending order and each once, in list if it has
// room for them. A vertex may have any share of all entries; sorting them by way of a set needs no memory for duplicates.
func (s *store) collectOne(list []uint64, k int, seen bitmap) []uint64 {
	clear(seen)
	s.pieces(k, func(entries []uint64) {
		for _, e := range entries {
			v := uint32(e)
			seen[v>>6] |= 1 << (v & 63)
		}
	})
	n := 0
	for _, word := range seen {
		n += bits.OnesCount64(word)
	}
	list = slices.Grow(list[:0], n)
	for w, word := range seen {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint64(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return list
}

// sortBuckets sorts this round's buckets and hands them to write.
func (b *builder) sortBuckets(s *store, buckets []bucket, write *listWriter) {
	width := bits.Len(uint(b.searched - 1))
	var taken atomic.Int64
	b.team.run(func(worker int) {
		var a, spare, one []uint64
		var seen bitmap
		for !b.stopped.Load() { // what was taken is written, or others would wait for it
			i := int(taken.Add(1)) - 1 // in order: writers wait for the buckets before theirs
			if i >= len(buckets) {
				return
			}
			k := buckets[i]
			n := s.most(i)
			if k.to-k.from == 1 && n > b.searched>>6 { // so looking through all words is worth it
				if seen == nil {
					seen = make(bitmap, bitmapWords(b.searched))
				}
				one = s.collectOne(one, i, seen)
				write.write(s.first+i, k, one)
				continue
			}
			if cap(a) < n || cap(spare) < n {
				a, spare = make([]uint64, 0, n), make([]uint64, n)
			}
			a = s.collect(a[:0], i, k.from, width)
			sorted, other := sortKeys(a, spare, width+bits.Len(uint(k.to-k.from-1)))
			write.write(s.first+i, k, slices.Compact(sorted))
			a, spare = sorted[:0], other[:cap(other)]
		}
	})
}

// sortKeys sorts keys of `width` bits by a radix sort from the least significant digit that skips digits in which all
// keys agree. It returns the sorted array and the other one.
func sortKeys(keys, spare []uint64, width int) (sorted, other []uint64) {
	spare = spare[:len(keys)]
	passes := max((width+digitBits-1)/digitBits, 1)
	digit := (width + passes - 1) / passes
	mask := uint64(1)<<digit - 1
	var at [1 << digitBits]uint32
	for shift := 0; shift < width; shift += digit {
		clear(at[:])
		for _, key := range keys {
			at[key>>shift&mask]++
		}
		if len(keys) > 0 && int(at[keys[0]>>shift&mask]) == len(keys) {
			continue
		}
		sum := uint32(0)
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, key := range keys {
			d := key >> shift & mask
			spare[at[d]] = key
			at[d]++
		}
		keys, spare = spare, keys
	}
	return keys, spare
}
