// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// Lists sorts the entries: the list of row v is columns[at[v]:at[v+1]], modulo 2^32. The lists are incomplete if
// stopped has returned true. They belong to the arena of New, and the rest of the matrix is freed.
func (a *Matrix[C]) Lists(stopped func() bool) (at []uint32, columns []C) {
	a.flushAll()
	var taken, turn atomic.Int64
	end := 0 // of the places that are reserved; belongs to the worker whose turn it is
	// reserve returns the place of the n entries of bucket i. Workers reserve their places in the order of the buckets,
	// because duplicates move them, and then write at the same time.
	reserve := func(i, n int) (place int) {
		for look := 0; turn.Load() != int64(i); look++ {
			if look > 100 {
				runtime.Gosched()
			}
		}
		place = end
		end += n
		turn.Add(1)
		return place
	}
	a.team.Run(func(int) {
		s := sorter[C]{Matrix: a, width: bits.Len(uint(max(a.columns, 1) - 1)), alone: team.New(1)}
		for !stopped() { // a bucket that was taken is written, because other workers wait for it
			i := int(taken.Add(1)) - 1
			if i >= len(a.buckets) {
				return
			}
			k := a.buckets[i]
			columns, rows := a.column[k.begin:k.end.Load()], a.row[k.begin:k.end.Load()]
			switch {
			case k.to-k.from == 1 && len(columns) > a.columns>>6: // enough entries to go through all words
				keys := s.set(columns)
				writeKeys(&s, k, keys, reserve(i, len(keys)))
			case s.bits(k) <= 32:
				keys := sortEntries(&s, &s.short, k, columns, rows)
				writeKeys(&s, k, keys, reserve(i, len(keys)))
			default:
				keys := sortEntries(&s, &s.long, k, columns, rows)
				writeKeys(&s, k, keys, reserve(i, len(keys)))
			}
		}
	})
	a.at[a.rows] = uint32(end)
	memory.Release(a.memory, &a.row)
	memory.Release(a.memory, &a.of)
	memory.Trim(a.memory, &a.column, end)
	return a.at, a.column
}

// sorter sorts one bucket after the other. Keys are (row-from)<<width | column.
type sorter[C Column] struct {
	*Matrix[C]
	width  int // bits of a column
	alone  *team.Team
	short  [2][]uint32
	long   [2][]uint64
	bitmap []uint64 // of all columns
}

func (s *sorter[C]) bits(k *bucket) int { return s.width + bits.Len(uint(k.to-k.from-1)) }

// sortEntries returns the keys of the entries of bucket k in ascending order without duplicates.
func sortEntries[C Column, K uint32 | uint64](s *sorter[C], keys *[2][]K, k *bucket, columns []C, rows []uint16) []K {
	if len(keys[0]) < len(columns) {
		keys[0], keys[1] = make([]K, len(columns)), make([]K, len(columns))
	}
	all := keys[0][:len(columns)]
	for i, row := range rows {
		all[i] = K(row-uint16(k.from))<<s.width | K(columns[i])
	}
	sorted, _ := SortKeys(s.alone, all, keys[1], 0, s.bits(k))
	return slices.Compact(sorted)
}

// set is sortEntries for a single row with many entries: a bitmap of all columns needs no memory for duplicates.
func (s *sorter[C]) set(columns []C) (keys []uint32) {
	if s.bitmap == nil {
		s.bitmap = make([]uint64, (s.columns+63)>>6)
	}
	clear(s.bitmap)
	for _, column := range columns {
		s.bitmap[column>>6] |= 1 << (column & 63)
	}
	n := 0
	for _, word := range s.bitmap {
		n += bits.OnesCount64(word)
	}
	s.short[0] = slices.Grow(s.short[0][:0], n)
	keys = s.short[0]
	for w, word := range s.bitmap {
		for ; word != 0; word &= word - 1 {
			keys = append(keys, uint32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return keys
}

func writeKeys[C Column, K uint32 | uint64](s *sorter[C], k *bucket, keys []K, place int) {
	next, mask := k.from, K(1)<<s.width-1 // next is the first row whose list has not begun
	for i, key := range keys {
		for row := k.from + int(key>>s.width); next <= row; next++ {
			s.at[next] = uint32(place + i)
		}
		s.column[place+i] = C(key & mask)
	}
	for ; next < k.to; next++ {
		s.at[next] = uint32(place + len(keys))
	}
}

const (
	digitBits = 11
	digits    = 1 << digitBits
)

// SortKeys sorts keys by `width` bits from bit `low` on, which are the highest bits in use: a stable radix sort from
// the least significant digit. It returns the sorted array and the other one.
func SortKeys[K uint32 | uint64](t *team.Team, keys, scratch []K, low, width int) (sorted, other []K) {
	counts := make([][digits]uint32, t.Size())
	for shift := low; shift < low+width; shift += digitBits {
		from, into := keys, scratch[:len(keys)]
		t.Split(len(from), 1, func(worker, begin, end int) {
			mine := &counts[worker]
			clear(mine[:])
			for _, key := range from[begin:end] {
				mine[uint64(key)>>(shift&63)&(digits-1)]++
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
				d := uint64(key) >> (shift & 63) & (digits - 1)
				into[mine[d]] = key
				mine[d]++
			}
		})
		keys, scratch = into, from
	}
	return keys, scratch
}
