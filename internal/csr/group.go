// SPDX-License-Identifier: Apache-2.0

package csr

import "github.com/tepsbench/teps/internal/memory"

// Entries of 64 bits have a payload with the column, such as a weight. They are grouped by row and not sorted, and
// duplicates stay.

// PutWide adds the entries columns[i] of rows[i].
func (w *Writer[C]) PutWide(rows []uint32, columns []C) {
	of, slots, used := w.matrix.of, w.slots, w.used
	for i, row := range rows {
		k := of[Block(row)]
		s, n := &slots[k], used[k]&(slotSize-1)
		s.columns[n], s.rows[n] = columns[i], uint16(row)
		if used[k] = n + 1; n == slotSize-1 {
			w.matrix.flush(int(k), s, slotSize)
		}
	}
}

// Group makes the lists: that of row v is columns[at[v]:at[v+1]]. They are incomplete if stopped has returned true. The
// arrays belong to the arena of New.
func (a *Matrix[C]) Group(stopped func() bool) (at []uint64, columns []C) {
	a.flushAll()
	at = memory.Allocate[uint64](a.memory, "offsets of lists", a.rows+1)
	if a.memory.Err() != nil {
		return nil, nil
	}
	scratch := make([][]C, a.team.Size())
	a.team.Pieces(len(a.buckets), 1, func(worker, i, _ int) {
		if stopped() {
			return
		}
		k := a.buckets[i]
		columns, rows := a.column[k.begin:k.end.Load()], a.row[k.begin:k.end.Load()]
		if k.to-k.from == 1 { // perhaps most entries of all
			at[k.to] = uint64(k.begin) + uint64(len(columns))
			return
		}
		scratch[worker] = append(scratch[worker][:0], columns...)
		ends := at[k.from+1 : k.to+1] // at[k.from] is written with the bucket before
		counts := make([]uint32, k.to-k.from)
		for _, row := range rows {
			counts[row-uint16(k.from)]++
		}
		next := uint32(0)
		for row, n := range counts {
			counts[row] = next
			next += n
			ends[row] = uint64(k.begin) + uint64(next)
		}
		for j, entry := range scratch[worker] {
			row := rows[j] - uint16(k.from)
			columns[counts[row]] = entry
			counts[row]++
		}
	})
	memory.Release(a.memory, &a.at)
	memory.Release(a.memory, &a.row)
	memory.Release(a.memory, &a.of)
	return at, a.column
}

// Buckets returns the number of ranges of rows with about equally many entries.
func (a *Matrix[C]) Buckets() int { return len(a.buckets) }

// Bucket returns the rows from..to-1 of a bucket.
func (a *Matrix[C]) Bucket(i int) (from, to int) { return a.buckets[i].from, a.buckets[i].to }
