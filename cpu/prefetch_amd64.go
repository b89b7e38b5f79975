// SPDX-License-Identifier: Apache-2.0

package cpu

// prefetch asks for the rows of n > 0 vertices, the lower halves of us, and does not wait for them.
//
//go:noescape
func prefetch(array *uint32, length int, us *uint64, n int)
