// SPDX-License-Identifier: Apache-2.0

package graph

import "math"

// # Distances
//
// The distances of a search for shortest paths are float32, one for each vertex, sums of weights that are added from
// the root outwards. The least solution of distance[v] = min over the tuples {u, v} of distance[u] + weight is unique,
// because rounding is monotone.

// MaxWeight is the largest weight of a tuple. No sum of weights along a path overflows.
const MaxWeight = 1 << 64

// Infinity returns the distance of a vertex that the search did not reach, +Inf.
func Infinity() float32 { return float32(math.Inf(1)) }

// UnwrittenDistance returns the NaN that fills an array of distances before a search, to detect entries that the engine
// did not write.
func UnwrittenDistance() float32 { return float32(math.NaN()) }
