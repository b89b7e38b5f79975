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

// each looks up one entry at a time. It is not inlined because its loop needs all registers.
//
//go:noinline
func each[W uint32 | uint64](b []W, entry []uint32, word W) (found W) {
	shift, mask := 5+bits.Len64(uint64(^W(0)))/64, uint32(bits.Len64(uint64(^W(0)))-1)
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(uint64(word))
		u := entry[i]
		found |= b[u>>shift] >> (u & mask) & 1 << (uint32(i) & mask)
	}
	return found
}
