// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package lookup

import "github.com/tepsbench/teps/graph"

// Tight finds the tuples that may lie on a shortest path: it sets bit i of tight unless tuple i joins two vertices
// and the distance of each is less than that of the other plus the weight. It returns false for a label without one.
func Tight(tuples []graph.Edge, weights, distance []float32, tight []uint64) bool {
	return eachTight(tuples, weights, distance, tight)
}

// In64 looks up the entries of 64 bits.
func In64(b []uint64, entry []uint32, word uint64) (found uint64) { return each(b, entry, word) }

// In32 looks up the entries of 32 bits.
func In32(b, entry []uint32, word uint32) (found uint32) { return each(b, entry, word) }
