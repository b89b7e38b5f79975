// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"math/bits"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/plugins"
)

// The part of kernel 1 that finds the vertices, which may be far fewer than the labels. Every rank marks the slots of
// its entries, and their owners tell the ranks of their grid column and grid row which slots have an entry. From there
// on a vertex is its place among the vertices of its owner, so that arrays have room for vertices and not for labels.

// ranked is a set of numbers: in turn a word of a bitmap, and how many members come before it.
type ranked []uint32

func newRanked(b bitmap) ranked {
	r, n := make(ranked, 0, 2*len(b)), uint32(0)
	for _, word := range b {
		r = append(r, word, n)
		n += uint32(bits.OnesCount32(word))
	}
	return r
}

// place returns how many members are below k, which has room in the bitmap.
func (r ranked) place(k uint32) uint32 {
	at := k >> 5 << 1
	return r[at+1] + uint32(bits.OnesCount32(r[at]&(1<<(k&31)-1)))
}

func (r ranked) has(k uint32) bool { return r[k>>5<<1]>>(k&31)&1 != 0 }

// members returns the members in ascending order.
func (r ranked) members() (all []uint32) {
	for w := 0; w < len(r); w += 2 {
		for word := r[w]; word != 0; word &= word - 1 {
			all = append(all, uint32(w<<4+bits.TrailingZeros32(word)))
		}
	}
	return all
}

// local returns the own vertex with a slot, unless it is isolated.
func (p *Part) local(slot uint32) (v uint32, ok bool) {
	if !p.present.has(slot) {
		return 0, false
	}
	return p.number[p.present.place(slot)], true
}

// findPlaces sets the width of blocks, present, and the entries of each row. The two words of an entry become its row
// and its column, each as block*width + place.
func (b *builder) findPlaces() error {
	words := int(b.Partition.Share+31) / 32
	marked := make(bitmap, b.grid.C*words)
	// The block of a bucket and its first slot, to which an entry adds its lowest bits.
	perBlock, inBucket := b.buckets/b.grid.C, uint32(1)<<b.shift-1
	rowsOf := func(bucket int) (block int, first uint32) {
		return bucket / perBlock, uint32(bucket%perBlock) << b.shift
	}
	b.eachBucket(func(_, bucket int, entries []uint32) { // slots of a bucket have words of their own
		block, first := rowsOf(bucket)
		rows := marked[block*words:][:words]
		for k := 0; k < len(entries); k += b.entryWords {
			rows.add(first | entries[k]&inBucket)
		}
	})
	own := bitmap(b.combine(marked, func(a, b uint32) uint32 { return a | b }))
	b.present = newRanked(own)
	widest := (b.largest(int64(own.count())) + 31) &^ 31
	if vertices := widest * int64(max(b.grid.R, b.grid.C)); vertices >= maxUint32 {
		return fmt.Errorf("%d rows or columns on a rank, want fewer than %d; use partition=2d and more ranks: %w", vertices,
			int64(maxUint32), plugins.ErrTuples)
	}
	b.width = int(widest)
	b.rows, b.columns = b.grid.C*b.width, b.grid.R*b.width
	if b.in.ShortestPaths && widest*int64(b.world.Size()) >= maxUint32 {
		return fmt.Errorf("kernel 3 takes fewer than %d vertices with edges, and there are up to %d; use a smaller graph: %w",
			int64(maxUint32), widest*int64(b.world.Size()), plugins.ErrTuples)
	}
	// In separate groups, because both are needed after the second exchange.
	rowPlaces := comm.Allgather(b.row.Split(0, b.j), b.present)
	columnPlaces := b.fromColumnOwners(b.column.Split(0, b.i), b.present)
	b.count = make([]uint32, b.rows)
	b.eachBucket(func(_, bucket int, entries []uint32) {
		block, first := rowsOf(bucket)
		places, begin := ranked(rowPlaces[block]), uint32(block*b.width)
		for k := 0; k < len(entries); k += b.entryWords {
			slot := (uint64(entries[k]) | uint64(entries[k+1])<<32) >> b.shift
			row, block := begin+places.place(first|entries[k]&inBucket), uint32(slot>>b.slotBits)
			entries[k], entries[k+1] = row,
				block*uint32(b.width)+ranked(columnPlaces[block]).place(uint32(slot&(1<<b.slotBits-1)))
			b.count[row]++
		}
	})
	return nil
}
