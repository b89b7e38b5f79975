// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	processor "golang.org/x/sys/cpu"

	"github.com/tepsbench/teps/cpu/layout"
)

// prefetch asks for the rows of n > 0 vertices, the lower halves of us, and does not wait for them.
//
//go:noescape
func prefetch(array *uint32, length int, us *uint64, n int)

// prefetchNeighbors asks for the states of the neighbors in an entry of n > 0 vertices. heads has that entry of vertex
// 0, and size bytes further on that of the next one.
//
//go:noescape
func prefetchNeighbors(states *uint64, heads *layout.Head, size int, us *uint32, n int)

// prefetchLines asks for the cache lines of an array.
//
//go:noescape
func prefetchLines(first *byte, bytes int)

// lookFirstVector is lookFirst for the first n vertices, with AVX-512 where there is: otherwise n is 0.
func (s *paths) lookFirstVector(mine *pathWorker, us []uint32) (n, rest, hard int) {
	if !processor.X86.HasAVX512F {
		return 0, 0, 0
	}
	for ; n+lookahead <= len(us); n += lookahead {
		heads, low := &s.g.Heads[0], s.pull.low
		s.fetchFirst(us, n)
		r, h := vectorFirst(&s.states[0], heads, &us[n], lookahead, low, &mine.rest[rest], &mine.hard[hard])
		rest, hard = rest+r, hard+h
	}
	return n, rest, hard
}

// vectorFirst is lookFirst for n vertices, a multiple of 8. rest and hard have room for n.
//
//go:noescape
func vectorFirst(states *uint64, heads *layout.Head, us *uint32, n int, low float32, rest, hard *uint32) (
	rests, hards int)
