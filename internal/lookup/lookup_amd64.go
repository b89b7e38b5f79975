// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math"
	"math/bits"

	processor "golang.org/x/sys/cpu"

	"github.com/tepsbench/teps/graph"
)

const fewBits = 4 // of a word, from which vectors are faster

// In64 looks up the entries of 64 bits.
func In64(b []uint64, entry []uint32, word uint64) (found uint64) {
	if !processor.X86.HasAVX512F || bits.OnesCount64(word) < fewBits {
		return each(b, entry, word)
	}
	return vector64(&b[0], &entry[0], word)
}

// In32 looks up the entries of 32 bits.
func In32(b, entry []uint32, word uint32) (found uint32) {
	if !processor.X86.HasAVX512F || bits.OnesCount32(word) < fewBits {
		return each(b, entry, word)
	}
	return vector32(&b[0], &entry[0], word)
}

// Tight finds the tuples that may lie on a shortest path: it sets bit i of tight unless tuple i joins two vertices
// and the distance of each is less than that of the other plus the weight. It returns false for a label without one.
func Tight(tuples []graph.Edge, weights, distance []float32, tight []uint64) bool {
	n := len(tuples) &^ 63
	if n == 0 || !processor.X86.HasAVX512F || len(distance) > math.MaxInt32 {
		return eachTight(tuples, weights, distance, tight)
	}
	return vectorTight(&tuples[0], &weights[:n][0], &distance[0], n, len(distance), &tight[:n/64][0]) &&
		eachTight(tuples[n:], weights[n:], distance, tight[n/64:])
}

// vectorTight is Tight for a multiple of 16 tuples, and at most 2^31 vertices.
//
//go:noescape
func vectorTight(tuple *graph.Edge, weight, distance *float32, n, vertices int, tight *uint64) bool

// vector64 and vector32 look up 16 entries at a time with AVX-512. They read no entry without a bit.

//go:noescape
func vector64(b *uint64, entry *uint32, word uint64) (found uint64)

//go:noescape
func vector32(b, entry *uint32, word uint32) (found uint32)
