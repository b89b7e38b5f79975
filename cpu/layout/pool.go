package layout

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/team"
)

// pool holds the entries that are to be sorted, bucket by bucket, before the lists exist. An entry is
// vertex<<32 | neighbour. A bucket is a chain of blocks for each worker, so nothing has to be counted beforehand.
type pool struct {
	entries []uint64
	blocks  atomic.Int64 // in use
	first   int          // the first bucket of this part
	filling [][]int      // [worker][bucket]: position of the next entry; a multiple of blockSize: no block or a full one
	chains  [][][]uint32 // [worker][bucket]: blocks, oldest first
}

const (
	blockBits = 9 // entries in a block, as a power of two: 4 KiB
	blockSize = 1 << blockBits
)

// reset empties the pool for n buckets from first on.
func (p *pool) reset(first, n, workers int) {
	p.first = first
	p.blocks.Store(0)
	p.filling = make([][]int, workers)
	p.chains = make([][][]uint32, workers)
	for w := range workers {
		p.filling[w] = make([]int, n)
		p.chains[w] = make([][]uint32, n)
	}
}

// scatter appends entries to the chains of their buckets; of has the bucket of each vertex.
func (p *pool) scatter(entries []uint64, of []uint16, worker int) {
	at, chains, all := p.filling[worker], p.chains[worker], p.entries
	for _, e := range entries {
		k := uint32(of[e>>32]) - uint32(p.first)
		i := at[k]
		if i&(blockSize-1) == 0 {
			i = p.begin(chains, k)
		}
		all[i] = e
		at[k] = i + 1
	}
}

// begin adds a block to the chain of bucket k and returns where it begins.
func (p *pool) begin(chains [][]uint32, k uint32) int {
	block := p.blocks.Add(1) - 1
	chains[k] = append(chains[k], uint32(block))
	return int(block) << blockBits
}

// room returns how many entries the blocks of bucket k have room for. It may be far less than the tuples at its
// vertices: edges to leaves are not entries.
func (p *pool) room(k int) (entries int) {
	for worker := range p.chains {
		entries += len(p.chains[worker][k]) << blockBits
	}
	return entries
}

// eachBlock calls do with the entries of every block of bucket k.
func (p *pool) eachBlock(k int, do func(entries []uint64)) {
	for worker := range p.chains {
		chain := p.chains[worker][k]
		for i, block := range chain {
			n := blockSize
			if i == len(chain)-1 {
				n = (p.filling[worker][k]-1)&(blockSize-1) + 1
			}
			do(p.entries[int(block)<<blockBits:][:n])
		}
	}
}

// collect appends the entries of bucket k to keys as (vertex-from)<<width | neighbour.
func (p *pool) collect(keys []uint64, k, from, width int) []uint64 {
	base := uint64(from)
	p.eachBlock(k, func(entries []uint64) {
		for _, e := range entries {
			keys = append(keys, (e>>32-base)<<width|e&(1<<32-1))
		}
	})
	return keys
}

// collectSet returns the neighbours in bucket k, which belong to one vertex, in ascending order without duplicates. It
// uses keys if that has room. A vertex may have any share of all entries; sorting them in a bitmap of all vertices
// needs no memory for duplicates.
func (p *pool) collectSet(keys []uint64, k int, bitmap []uint64) []uint64 {
	clear(bitmap)
	p.eachBlock(k, func(entries []uint64) {
		for _, e := range entries {
			v := uint32(e)
			bitmap[v>>6] |= 1 << (v & 63)
		}
	})
	n := 0
	for _, word := range bitmap {
		n += bits.OnesCount64(word)
	}
	keys = slices.Grow(keys[:0], n)
	for w, word := range bitmap {
		for ; word != 0; word &= word - 1 {
			keys = append(keys, uint64(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return keys
}

const (
	digitBits = 11
	digits    = 1 << digitBits
)

// sortKeys sorts keys by `width` bits from bit `low` on, and keeps the order of equal ones. It is a radix sort from the
// least significant digit, every pass over all workers. It returns the sorted array and the other one.
func sortKeys(t *team.Team, keys, scratch []uint64, low, width int) (sorted, other []uint64) {
	passes := max((width+digitBits-1)/digitBits, 1)
	digit := (width + passes - 1) / passes
	mask := uint64(1)<<digit - 1
	counts := make([][digits]uint32, t.Size())
	for shift := low; shift < low+width; shift += digit {
		from, into := keys, scratch[:len(keys)]
		t.Split(len(from), 1, func(worker, begin, end int) {
			mine := &counts[worker]
			clear(mine[:])
			for _, key := range from[begin:end] {
				mine[key>>(shift&63)&mask&(digits-1)]++
			}
		})
		at := uint32(0)
		for d := range digits {
			for worker := range counts {
				n := counts[worker][d]
				counts[worker][d] = at
				at += n
			}
		}
		t.Split(len(from), 1, func(worker, begin, end int) {
			mine := &counts[worker]
			for _, key := range from[begin:end] {
				d := key >> (shift & 63) & mask & (digits - 1)
				into[mine[d]] = key
				mine[d]++
			}
		})
		keys, scratch = into, from
	}
	return keys, scratch
}
