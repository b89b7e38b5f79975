// SPDX-License-Identifier: Apache-2.0

// Package lookup reads many places of an array at once, with AVX-512 where there is: one instruction reads 16.
//
// In64 and In32 look up neighbors in a bitmap: they return those bits of word whose entry (bit i has entry[i]) is in b,
// the bitmap. Bottom-up steps spend a third of their time here, and take a sixth less time with AVX-512.
package lookup

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// eachTight is Tight for one tuple at a time.
func eachTight(tuples []graph.Edge, weights, distance []float32, tight []uint64) bool {
	clear(tight)
	for i, w := range weights[:len(tuples)] {
		u, v, ok := tuples[i].Ends32()
		if !ok || uint64(u) >= uint64(len(distance)) || uint64(v) >= uint64(len(distance)) {
			return false
		}
		if dU, dV := distance[u], distance[v]; u == v || !(dU+w > dV && dV+w > dU) {
			tight[i/64] |= 1 << (i % 64)
		}
	}
	return true
}

// each64 looks up one entry at a time. It is not inlined because its loop needs all registers.
//
//go:noinline
func each64(b []uint64, entry []uint32, word uint64) (found uint64) {
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(word)
		u := entry[i]
		found |= b[u>>6] >> (u & 63) & 1 << (i & 63)
	}
	return found
}

// each32 is each64 for words of 32 bits.
//
//go:noinline
func each32(b, entry []uint32, word uint32) (found uint32) {
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros32(word)
		u := entry[i]
		found |= b[u>>5] >> (u & 31) & 1 << (i & 31)
	}
	return found
}
