// SPDX-License-Identifier: Apache-2.0

package team

import (
	"math/bits"
	"sync/atomic"
)

// Every worker has a share of a turn's pieces. Opening a turn writes nothing per worker: on 64 cores that would be 64
// cache misses before the first worker could begin. So a share says which turn its count belongs to, and the first
// worker that takes a piece of it in a new turn starts the count again. A bitmap has the shares with pieces left.

// share counts the pieces taken in a turn: turn<<pieceBits | pieces. The padding keeps two shares off one cache line.
type share struct {
	taken atomic.Uint64
	_     [56]byte
}

const (
	pieceBits = 24
	maxPieces = 1<<pieceBits - 1<<turnBits // of a turn; each member may count one more than there are
)

// take returns the number in its share of the next piece, which may be beyond the end.
func (s *share) take(turn uint64) int {
	for {
		taken := s.taken.Load()
		if taken>>pieceBits == turn {
			return int(s.taken.Add(1)-1) & (1<<pieceBits - 1)
		}
		if s.taken.CompareAndSwap(taken, turn<<pieceBits|1) {
			return 0
		}
	}
}

// piecesOf returns the pieces [first, end) of share i of wanted.
func piecesOf(i, pieces, wanted int) (first, end int) {
	return pieces * i / wanted, pieces * (i + 1) / wanted
}

// First returns the items [from, to) of a worker's own share of n items in pieces of the given size.
func (t *Team) First(worker, n, size int) (from, to int) {
	pieces := (n + size - 1) / size
	wanted := min(pieces, t.size)
	if worker >= wanted {
		return n, n
	}
	first, end := piecesOf(worker, pieces, wanted)
	return first * size, min(end*size, n)
}

// takeAll works on pieces until all have been taken.
func (t *Team) takeAll(worker int, turn uint64) {
	number := turn >> turnBits & (1<<(64-pieceBits) - 1)
	for i := worker; i >= 0; i = t.unfinished(worker) {
		first, end := piecesOf(i, t.pieces, t.wanted)
		for {
			piece := first + t.shares[i].take(number)
			if piece >= end {
				break
			}
			if piece == end-1 {
				t.left[i>>6].And(^(1 << (i & 63)))
			}
			from := piece * t.pieceSize
			t.task.Piece(worker, from, min(from+t.pieceSize, t.items))
		}
	}
}

// unfinished returns a share with pieces left, or -1. It looks first after the worker's share, so that not all workers
// help the same one.
func (t *Team) unfinished(worker int) int {
	if i := t.firstLeft(worker+1, t.wanted); i >= 0 {
		return i
	}
	return t.firstLeft(0, min(worker, t.wanted))
}

// firstLeft returns the first of shares from..to-1 with pieces left, or -1.
func (t *Team) firstLeft(from, to int) int {
	for from < to {
		if word := t.left[from>>6].Load() >> (from & 63); word != 0 {
			if from += bits.TrailingZeros64(word); from < to {
				return from
			}
			return -1
		}
		from = (from>>6 + 1) << 6
	}
	return -1
}
