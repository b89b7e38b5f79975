// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/csr"
	"github.com/tepsbench/teps/plugins"
)

// makeLists makes the lists of a part from its entries, which come in any order: those of rows, and their transpose.
// Columns are list indexes until both are made, so that lists of rows come out sorted, hubs first.
func (b *builder) makeLists() error {
	counts := make([]uint32, b.rows) // entries of each row
	b.rowOf = make([]uint32, b.rows)
	for m, numbers := range comm.Allgather(b.row, b.number) {
		b.each(b.width, func(place int) { b.rowOf[m*b.width+place] = uint32(m*b.width) + numbers[place] })
	}
	b.indexOf = b.listIndexes(b.number)
	b.each(len(b.rowOf), func(place int) { // places behind the last vertex have no entries and no row
		if n := b.count[place]; n != 0 {
			counts[b.rowOf[place]] = n
		}
	})
	if err := b.listRows(counts); err != nil {
		return err
	}
	if b.down = b.up; !b.OneD {
		if err := b.listColumns(); err != nil {
			return err
		}
	}
	b.team.Pieces(len(b.up.targets), entriesPiece, func(_, from, to int) {
		for k, index := range b.up.targets[from:to] {
			b.up.targets[from+k] = b.listedColumn(index)
		}
	})
	b.ranges = rangesPerWorker * b.team.Size()
	if hubs := b.hubsPerRank(); b.team.Size() > 1 && !b.OneD {
		b.cutLists(hubs*b.grid.R, rangesOfWords(counts, b.ranges))
	} else if b.team.Size() > 1 {
		// In one dimension, a range has rows of every rank: of hubs as many entries as the others.
		b.cutLists(hubs, slices.Repeat(rangesOfWords(b.degree, b.ranges), b.grid.R))
	}
	if err := b.memory.Err(); err != nil {
		return err
	}
	return b.makeColumns()
}

const (
	entriesPiece = 1 << 16 // entries that a worker takes at a time
	entriesBatch = 1 << 8  // entries that it translates at a time
)

// listRows makes up. counts[v] is the number of entries of row v, duplicates counted.
func (b *builder) listRows(counts []uint32) error {
	matrix := csr.New[uint32](b.memory, b.team, b.rows, b.columns, func(from, to int) (entries int) {
		for _, n := range counts[from:to] {
			entries += int(n)
		}
		return entries
	})
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.eachBucket(func(worker, _ int, entries []uint32) {
		var translated [entriesBatch]uint64
		for entries := range slices.Chunk(entries, b.entryWords*entriesBatch) {
			n := len(entries) / b.entryWords
			for k := range n {
				row, column := entries[b.entryWords*k], entries[b.entryWords*k+1]
				translated[k&(entriesBatch-1)] = uint64(b.rowOf[row])<<32 | uint64(b.indexOf[column])
			}
			matrix.Writer(worker).Put(translated[:n])
		}
	})
	b.count, b.rowOf, b.indexOf = nil, nil, nil
	if !b.in.ShortestPaths {
		b.entries = nil
	}
	b.up.at, b.up.targets = matrix.Lists(b.stopped)
	return b.ctx.Err()
}

func (b *builder) listColumns() error {
	counts := make([][]uint32, b.team.Size())
	for worker := range counts {
		counts[worker] = make([]uint32, csr.Block(uint32(b.columns))+1)
	}
	b.team.Pieces(len(b.up.targets), entriesPiece, func(worker, from, to int) {
		own := counts[worker]
		for _, index := range b.up.targets[from:to] {
			own[csr.Block(index)]++
		}
	})
	matrix := csr.New[uint32](b.memory, b.team, b.columns, b.rows, func(from, to int) (entries int) {
		for _, own := range counts {
			for _, n := range own[csr.Block(uint32(from)) : csr.Block(uint32(to-1))+1] {
				entries += int(n)
			}
		}
		return entries
	})
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.team.Pieces(b.rows, 32, func(worker, from, to int) {
		var transposed [entriesBatch]uint64
		for v := from; v < to; v++ {
			for part := range slices.Chunk(b.up.of(v), entriesBatch) {
				for k, index := range part {
					transposed[k&(entriesBatch-1)] = uint64(index)<<32 | uint64(v)
				}
				matrix.Writer(worker).Put(transposed[:len(part)])
			}
		}
	})
	b.down.at, b.down.targets = matrix.Lists(b.stopped)
	return b.ctx.Err()
}

func (b *builder) stopped() bool { return b.ctx.Err() != nil }

func tooManyEntries(n int) error {
	return fmt.Errorf("%d adjacency entries on one rank, want fewer than %d; use more ranks: %w",
		n, uint32(maxUint32), plugins.ErrMemory)
}

// rangesOfWords cuts rows into n ranges with about as many entries each and returns the range of each word of 32 rows.
func rangesOfWords(counts []uint32, n int) []uint16 {
	total := 0
	for _, c := range counts {
		total += int(c)
	}
	of, sum := make([]uint16, 0, len(counts)/32), 0
	for rows := range slices.Chunk(counts, 32) {
		of = append(of, uint16(min(sum*n/max(total, 1), n-1)))
		for _, c := range rows {
			sum += int(c)
		}
	}
	return of
}

// cutLists cuts the long ones of the first n lists of down. of is the range of each word of rows.
func (b *builder) cutLists(n int, of []uint16) {
	for n > 0 && len(b.down.of(n-1)) < minSegment*b.ranges {
		n--
	}
	b.segmented = uint32(n)
	b.segments = b.allocate("segments", n*(b.ranges+1))
	if b.memory.Err() != nil {
		return
	}
	b.team.Pieces(n, 1<<8, func(_, from, to int) {
		for u := from; u < to; u++ {
			list, before := b.down.of(u), b.segments[u*(b.ranges+1):]
			for k := range b.ranges {
				before[k+1] = before[k] + uint32(sort.Search(len(list)-int(before[k]), func(i int) bool {
					return int(of[list[int(before[k])+i]>>5]) > k
				}))
			}
		}
	})
}

// byDescendingDegree returns the places with nonzero degree by descending degree and then ascending place.
func (b *builder) byDescendingDegree(degree []uint32) []uint32 {
	largest, places := uint32(0), make([]uint32, 0, len(degree))
	for place, d := range degree {
		if largest = max(largest, d); d != 0 {
			places = append(places, uint32(place))
		}
	}
	return b.sortByKey(places, largest, func(place uint32) uint32 { return largest - degree[place] })
}

// sortByKey sorts numbers by ascending key. It is stable.
func (b *builder) sortByKey(numbers []uint32, largest uint32, key func(uint32) uint32) []uint32 {
	records, scratch := make([]uint64, len(numbers)), make([]uint64, len(numbers))
	b.each(len(numbers), func(k int) { records[k] = uint64(key(numbers[k]))<<32 | uint64(numbers[k]) })
	sorted, _ := csr.SortKeys(b.team, records, scratch, 32, bits.Len32(largest))
	b.each(len(numbers), func(k int) { numbers[k] = uint32(sorted[k]) })
	return numbers
}
