// SPDX-License-Identifier: Apache-2.0

package cpu

// bitmap is a set of vertices. Bit v&63 of word v>>6 stands for vertex v.
type bitmap []uint64

func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }

func (b bitmap) remove(v uint32) { b[v>>6] &^= 1 << (v & 63) }

// fill makes the bitmap the set of all vertices below n, which has room for them and no more words.
func (b bitmap) fill(n int) {
	for w := range b {
		b[w] = wordBelow(w, n)
	}
}

// wordBelow returns word w of the bitmap of all vertices below n.
func wordBelow(w, n int) uint64 {
	if left := n - w<<6; left < 64 {
		return 1<<max(left, 0) - 1
	}
	return ^uint64(0)
}

// set makes the bitmap the set of the vertices in queue, the lower halves.
func (b bitmap) set(queue []uint64) {
	clear(b)
	for _, e := range queue {
		v := uint32(e)
		b[v>>6] |= 1 << (v & 63)
	}
}
