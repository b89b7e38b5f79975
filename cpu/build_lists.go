package cpu

import (
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
)

// Lists: from tuples to sorted neighbour lists without duplicates, in two steps that both stay in caches.
//
// Step 1, partition: every tuple becomes two entries (vertex, neighbour) in the engine's numbers, and an entry goes to
// the bucket that its vertex belongs to. Buckets are ranges of vertices with about equally many entries, small enough
// to be sorted in a cache. A bucket is a chain of blocks from one store, so nothing has to be counted beforehand.
// Step 2, sort: a worker takes a bucket, sorts it by (vertex, neighbour), drops duplicates, and writes the lists.
//
// The two steps run over one half of the buckets and then over the other, which halves the store: reading the tuples
// twice costs less than touching that much fresh memory.

const (
	rounds     = 2
	blockBits  = 9 // entries in a block, as a power of two: 4 KiB
	blockSize  = 1 << blockBits
	digitBits  = 11
	minEntries = 1 << 16 // of a bucket
	maxEntries = 1 << 20
	wantBucket = 1 << 11 // buckets in all
)

// bucket is a range of vertices whose lists are built together.
type bucket struct {
	from, to int // vertices
	entries  int // with duplicates
}

// plan cuts the vertices into buckets and says which bucket each vertex belongs to.
func (b *builder) plan() (buckets []bucket, of []uint16, err error) {
	if of, err = allocate[uint16](b.memory, "bucket of each vertex", b.vertices); err != nil {
		return nil, nil, err
	}
	var total int
	for _, label := range b.original {
		total += int(b.degrees[label])
	}
	limit := min(max(total/wantBucket, minEntries), maxEntries)
	limit = max(limit, total/(1<<15)) // numbers of buckets fit 16 bits
	current := bucket{}
	for v := range b.vertices {
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

// makeLists is both steps over both halves. write gets every bucket's sorted entries without duplicates, in the order
// of the buckets.
func (b *builder) makeLists(write *listWriter) error {
	buckets, of, err := b.plan()
	if err != nil {
		return err
	}
	halves := split(buckets, rounds)
	size := 0
	for _, half := range halves {
		need := (len(half) + 1) * b.team.size // a block begun for each worker and bucket
		for _, k := range half {
			need += k.entries / blockSize
		}
		size = max(size, need<<blockBits)
	}
	s := &store{}
	if s.entries, err = allocate[uint64](b.memory, "entries to sort", size); err != nil {
		return err
	}
	for first := 0; len(halves) > 0; halves = halves[1:] {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		s.reset(first, len(halves[0]), b.team.size)
		b.partition(s, of)
		if err := b.ctx.Err(); err != nil {
			return err
		}
		b.sortBuckets(s, halves[0], write)
		first += len(halves[0])
	}
	release(b.memory, &s.entries)
	release(b.memory, &of)
	return nil
}

// split cuts buckets into n runs with about equally many entries.
func split(buckets []bucket, n int) [][]bucket {
	total := 0
	for _, k := range buckets {
		total += k.entries
	}
	var runs [][]bucket
	for part := 1; part <= n && len(buckets) > 0; part++ {
		entries, end := 0, 0
		for end < len(buckets) && (part == n || entries < total/n) {
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
		s.filling[w] = make([]int, count+1)
		s.chains[w] = make([][]uint32, count)
	}
}

// partition puts the entries of this round's buckets where they belong.
func (b *builder) partition(s *store, of []uint16) {
	b.team.run(func(worker int) {
		// A block of scratch takes what belongs to the other round: one more bucket instead of a branch that no
		// processor could predict. Its position never moves.
		scratch := int(s.blocks.Add(1)-1) << blockBits
		at, chains := s.filling[worker], s.chains[worker]
		other := uint32(s.count)
		at[other] = scratch + 1
		from, to := b.team.share(worker, len(b.tuples), 1)
		entries, vertex, first := s.entries, b.vertex, uint32(s.first)
		for _, e := range b.tuples[from:to] {
			lu, lv, _ := e.Narrow()
			if lu == lv {
				continue
			}
			u, v := vertex[lu], vertex[lv]
			ku, kv := min(uint32(of[u])-first, other), min(uint32(of[v])-first, other)
			i := at[ku]
			if i&(blockSize-1) == 0 {
				i = s.begin(chains, ku)
			}
			entries[i] = uint64(u)<<32 | uint64(v)
			at[ku] = i + int((ku-other)>>31)
			i = at[kv]
			if i&(blockSize-1) == 0 {
				i = s.begin(chains, kv)
			}
			entries[i] = uint64(v)<<32 | uint64(u)
			at[kv] = i + int((kv-other)>>31)
		}
	})
}

// begin adds a block to the chain of bucket k.
func (s *store) begin(chains [][]uint32, k uint32) int {
	block := s.blocks.Add(1) - 1
	chains[k] = append(chains[k], uint32(block))
	return int(block) << blockBits
}

// collect appends the entries of bucket k to list as (vertex-from)<<width | neighbour.
func (s *store) collect(list []uint64, k, from, width int) []uint64 {
	base := uint64(from)
	for worker := range s.chains {
		chain := s.chains[worker][k]
		for i, block := range chain {
			n := blockSize
			if i == len(chain)-1 {
				if n = s.filling[worker][k] & (blockSize - 1); n == 0 {
					n = blockSize
				}
			}
			for _, e := range s.entries[int(block)<<blockBits:][:n] {
				list = append(list, (e>>32-base)<<width|e&(1<<32-1))
			}
		}
	}
	return list
}

// sortBuckets sorts this round's buckets and hands them to write.
func (b *builder) sortBuckets(s *store, buckets []bucket, write *listWriter) {
	largest := 0
	for _, k := range buckets {
		largest = max(largest, k.entries)
	}
	width := bits.Len(uint(b.vertices - 1))
	var taken chunks
	b.team.run(func(worker int) {
		a, spare := make([]uint64, 0, largest), make([]uint64, largest)
		for {
			i, _, ok := taken.take(len(buckets), 1)
			if !ok {
				return
			}
			k := buckets[i]
			a = s.collect(a[:0], i, k.from, width)
			sorted, other := sortKeys(a, spare, width+bits.Len(uint(k.to-k.from-1)))
			write.write(s.first+i, k, slices.Compact(sorted), width)
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
