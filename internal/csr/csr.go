// SPDX-License-Identifier: Apache-2.0

// Package csr makes adjacency lists, the compressed sparse rows of a matrix, from entries in any order.
//
// Every list is sorted and has no duplicates. Step 1, partition: an entry goes to the bucket of its row. Buckets are
// ranges of rows with about equally many entries, small enough to be sorted in a cache; a worker writes a cache line of
// entries at a time. Step 2, sort: a worker takes a bucket, sorts it by row and column, drops duplicates, and writes
// the lists.
//
// The lists are made in place. The columns of all entries are in the array that becomes the lists, and the low halves
// of their rows in another one. A bucket begins where its lists would if no entry were a duplicate, so its lists never
// end behind its entries; and a worker writes them when all buckets before have been read.
package csr

import (
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

const (
	minBucket   = 1 << 16 // entries
	maxBucket   = 1 << 20
	wantBuckets = 1 << 11 // in all
	maxRows     = 1 << 16 // of a bucket: an entry has 16 bits of its row
	slotSize    = 16      // entries
	singleRows  = 1 << 16 // rows that may begin a bucket: hubs come first
	blockRows   = 64      // rows behind them that are in the same bucket
)

// Column is a column in 32 bits, or with a payload in 64 (PutWide, Group).
type Column interface{ ~uint32 | ~uint64 }

// Matrix is a sparse matrix in the making.
type Matrix[C Column] struct {
	memory        *memory.Arena
	team          *team.Team
	writers       []*Writer[C]
	rows, columns int
	buckets       []*bucket
	grain         int      // buckets begin at multiples of it
	of            []uint16 // bucket of each Block: it fits a cache
	column        []C      // of each entry, bucket by bucket
	row           []uint16 // low halves
	at            []uint32
}

// bucket is a range of rows whose lists are made together.
type bucket struct {
	from, to int          // rows
	begin    int          // of its entries
	end      atomic.Int64 // of the entries so far
}

// Block returns the block of a row, without a branch: the first rows are single, and then blocks have blockRows rows.
func Block(row uint32) uint32 { return min(row, singleRows-singleRows/blockRows+row/blockRows) }

// New returns a matrix for a team. count returns the entries of rows [from, to), duplicates counted; it is called with
// all rows and with those of every block. The arrays belong to m, which has the error if there is not enough memory.
func New[C Column](m *memory.Arena, t *team.Team, rows, columns int, count func(from, to int) int) *Matrix[C] {
	a := &Matrix[C]{memory: m, team: t, writers: make([]*Writer[C], t.Size()), rows: rows, columns: columns,
		grain: slotSize} // a full slot is a cache line of columns
	if uint64(^C(0)) > 1<<32-1 {
		a.grain = 1 // lists that are grouped have no gaps
	}
	a.of = memory.Allocate[uint16](m, "bucket of each row", int(Block(uint32(rows)))+1)
	a.at = memory.Allocate[uint32](m, "offsets", rows+1)
	if m.Err() != nil {
		return a
	}
	room := a.plan(count)
	a.column = memory.Allocate[C](m, "lists", room)
	a.row = memory.Allocate[uint16](m, "rows of entries", room)
	return a
}

// plan cuts the rows into buckets and returns the number of entries that they need room for.
func (a *Matrix[C]) plan(count func(from, to int) int) (room int) {
	if a.rows == 0 {
		return 0
	}
	total := count(0, a.rows)
	limit := min(max(total/wantBuckets, minBucket), maxBucket)
	limit = max(limit, total/(1<<14)) // numbers of buckets fit 16 bits
	var current *bucket
	for row := 0; row < a.rows; row = current.to {
		next := row + 1
		if row >= singleRows {
			next = min(row+blockRows, a.rows)
		}
		n := count(row, next)
		if current == nil || room-current.begin+n > limit || next-current.from > maxRows {
			room = (room + a.grain - 1) &^ (a.grain - 1)
			current = &bucket{from: row, begin: room}
			current.end.Store(int64(room))
			a.buckets = append(a.buckets, current)
		}
		room += n
		current.to = next
		a.of[Block(uint32(row))] = uint16(len(a.buckets) - 1)
	}
	return room
}

// Writer puts the entries of one worker into a matrix.
type Writer[C Column] struct {
	matrix *Matrix[C]
	slots  []slot[C]
	used   []uint8 // entries of each slot
}

// slot holds entries of a bucket until it is full.
type slot[C Column] struct {
	columns [slotSize]C
	rows    [slotSize]uint16
}

// Writer returns the writer of a worker. The worker itself calls it.
func (a *Matrix[C]) Writer(worker int) *Writer[C] {
	if a.writers[worker] == nil {
		a.writers[worker] = &Writer[C]{a, make([]slot[C], len(a.buckets)), make([]uint8, len(a.buckets))}
	}
	return a.writers[worker]
}

// Put adds entries row<<32 | column.
func (w *Writer[C]) Put(entries []uint64) {
	of, slots, used := w.matrix.of, w.slots, w.used
	for _, entry := range entries {
		row := uint32(entry >> 32)
		k := of[Block(row)]
		s, n := &slots[k], used[k]&(slotSize-1)
		s.columns[n], s.rows[n] = C(entry), uint16(row)
		if used[k] = n + 1; n == slotSize-1 {
			w.matrix.flush(int(k), s, slotSize)
		}
	}
}

func (a *Matrix[C]) flush(k int, s *slot[C], n int) {
	at := int(a.buckets[k].end.Add(int64(n))) - n
	copy(a.column[at:], s.columns[:n])
	copy(a.row[at:], s.rows[:n])
}

// flushAll adds the remaining entries in the slots of all writers.
func (a *Matrix[C]) flushAll() {
	for _, w := range a.writers {
		if w != nil {
			for k := range w.slots {
				a.flush(k, &w.slots[k], int(w.used[k]&(slotSize-1)))
			}
		}
	}
}

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
