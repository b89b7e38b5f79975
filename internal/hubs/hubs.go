// SPDX-License-Identifier: Apache-2.0

// Package hubs discovers groups: the vertices that have a hub for their first neighbor.
//
// Nearly every vertex that finds a parent bottom-up finds it at its first neighbor, the one of largest degree. So
// engines number the vertices of a group consecutively. A hub in the frontier then discovers its whole group as a range
// of bits, without looking at an edge, and the template of the output (package parents) has the parents.
package hubs

import (
	"math/bits"
	"slices"
)

// Groups has n+1 entries, or none: the group of hub h has the vertices Groups[h] to Groups[h+1]-1.
type Groups []uint32

// Size returns the number of vertices in the group of hub h.
func (g Groups) Size(h int) int { return int(g[h+1] - g[h]) }

// Word is a word of a bitmap. Bit i of word w stands for vertex w*size+i, where size is the number of bits of a Word.
type Word interface{ ~uint32 | ~uint64 }

// Add adds the groups of hubs in frontier, a bitmap, to into, the words of a bitmap of vertices from word first on.
func Add[W Word](g Groups, into []W, first int, frontier []W) {
	hubs := len(g) - 1
	if hubs < 1 {
		return
	}
	size := bits.Len64(uint64(^W(0))) // 32 or 64
	base := first * size
	low, high := max(base, int(g[0])), min(base+len(into)*size, int(g[hubs]))
	if low >= high {
		return
	}
	h, _ := slices.BinarySearch(g, uint32(low+1)) // the first group that begins behind low
	for w := (h - 1) / size; w*size < hubs && int(g[w*size]) < high; w++ {
		word := uint64(frontier[w])
		if rest := hubs - w*size; rest < size {
			word &= 1<<rest - 1
		}
		for word != 0 { // the groups of hubs that follow each other are one range
			h := bits.TrailingZeros64(word)
			end := h + bits.TrailingZeros64(^(word >> h))
			AddRange(into, max(int(g[w*size+h]), low)-base, min(int(g[w*size+end]), high)-base)
			if end == 64 {
				break
			}
			word &= ^uint64(0) << end
		}
	}
}

// AddRange adds the vertices from..to-1, if there are any, to a bitmap.
func AddRange[W Word](b []W, from, to int) {
	if from >= to {
		return
	}
	size := bits.Len64(uint64(^W(0)))
	first, last := from/size, (to-1)/size
	head, tail := ^W(0)<<(from%size), ^W(0)>>(size-1-(to-1)%size)
	if first == last {
		b[first] |= head & tail
		return
	}
	b[first] |= head
	for w := first + 1; w < last; w++ {
		b[w] = ^W(0)
	}
	b[last] |= tail
}
