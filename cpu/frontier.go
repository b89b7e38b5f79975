package cpu

import (
	"math/bits"
	"sync/atomic"
)

// bitmap is a set of vertices, 64 to a word. Bit v&63 of word v>>6 stands for vertex v.
type bitmap []uint64

func bitmapWords(vertices int) int { return (vertices + 63) >> 6 }

func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }

func (b bitmap) add(v uint32)    { b[v>>6] |= 1 << (v & 63) }
func (b bitmap) remove(v uint32) { b[v>>6] &^= 1 << (v & 63) }

// claim removes v and says whether it was there: of several workers that claim a vertex at the same time, one succeeds.
func (b bitmap) claim(v uint32) bool {
	bit := uint64(1) << (v & 63)
	return atomic.LoadUint64(&b[v>>6])&bit != 0 && atomic.AndUint64(&b[v>>6], ^bit)&bit != 0
}

// fill makes words [from, to) of the bitmap hold every vertex below n.
func (b bitmap) fill(n, from, to int) {
	for w := from; w < to; w++ {
		b[w] = ^uint64(0)
		if last := n - w<<6; last < 64 {
			b[w] = 1<<last - 1
		}
	}
}

// list appends the vertices of words [from, to) to queue, in ascending order.
func (b bitmap) list(queue []uint32, from, to int) []uint32 {
	for w := from; w < to; w++ {
		for word := b[w]; word != 0; word &= word - 1 {
			queue = append(queue, uint32(w<<6+bits.TrailingZeros64(word)))
		}
	}
	return queue
}
