// SPDX-License-Identifier: Apache-2.0

package cpu

import "github.com/tepsbench/teps/cpu/layout"

// prefetch asks for the rows of n > 0 vertices, the lower halves of us, and does not wait for them.
//
//go:noescape
func prefetch(array *uint32, length int, us *uint64, n int)

// prefetchNeighbors asks for the states of the neighbors in an entry of n > 0 vertices, the lower halves of us. heads
// has that entry of vertex 0, and size bytes further on that of the next one.
//
//go:noescape
func prefetchNeighbors(states *uint64, heads *layout.Head, size int, us *uint64, n int)
