package cpu

// bitmap is a set of vertices, 64 to a word. Bit v&63 of word v>>6 stands for vertex v.
type bitmap []uint64

func bitmapWords(vertices int) int { return (vertices + 63) >> 6 }

func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }

func (b bitmap) remove(v uint32) { b[v>>6] &^= 1 << (v & 63) }

// fill makes the bitmap, which has room for n vertices and no more words, hold all of them.
func (b bitmap) fill(n int) {
	for w := range b {
		b[w] = all(w, n)
	}
}

// all returns word w of the bitmap of all vertices below n.
func all(w, n int) uint64 {
	if left := n - w<<6; left < 64 {
		return 1<<max(left, 0) - 1
	}
	return ^uint64(0)
}

// set makes the bitmap hold exactly the vertices of queue.
func (b bitmap) set(queue []uint32) {
	clear(b)
	for _, v := range queue {
		b[v>>6] |= 1 << (v & 63)
	}
}

// span calls for the words that hold the vertices [from, to), which is not empty: first and last word, and which bits
// of those two belong.
func span(from, to int) (first, last int, head, tail uint64) {
	first, last = from>>6, (to-1)>>6
	head, tail = ^uint64(0)<<(from&63), ^uint64(0)>>(63-(to-1)&63)
	if first == last {
		head &= tail
		tail = head
	}
	return first, last, head, tail
}

// add puts the vertices [from, to) into the bitmap.
func (b bitmap) add(from, to int) {
	if from >= to {
		return
	}
	first, last, head, tail := span(from, to)
	b[first] |= head
	for w := first + 1; w < last; w++ {
		b[w] = ^uint64(0)
	}
	b[last] |= tail
}

// cut takes the vertices [from, to) out of the bitmap.
func (b bitmap) cut(from, to int) {
	if from >= to {
		return
	}
	first, last, head, tail := span(from, to)
	b[first] &^= head
	for w := first + 1; w < last; w++ {
		b[w] = 0
	}
	b[last] &^= tail
}
