package distributed

import (
	"math/bits"
	"slices"
)

// Messages that hold sets of vertices.
//
// A set is a range of a bitmap of 32-bit words. Its message is a list of numbers or the words themselves, whichever
// is shorter, decided for each message (Bisson et al., section 5; Satish et al., "Large-Scale Energy-Efficient Graph
// Traversal", IPDPS 2012). The first word holds the number of vertices and a flag for bitmaps; the message of an
// empty set is that word alone. Early predecessors follow the set, one for each vertex in ascending order.

// Form is how sets are sent.
type Form int

const (
	Adaptive Form = iota
	Lists
	Bitmaps
)

const (
	headerWords = 1
	bitmapFlag  = 1 << 31
)

// bitmap is a set of numbers, 32 in a word.
type bitmap []uint32

func (b bitmap) add(k uint32) { b[k>>5] |= 1 << (k & 31) }

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount32(w)
	}
	return n
}

// encode appends the message of a set with n members to message. If predecessor is not nil, predecessor[v] of every
// member v follows.
func (f Form) encode(message []uint32, set bitmap, n int, predecessor []uint32) []uint32 {
	if n > 0 && (f == Bitmaps || f == Adaptive && n > len(set)) {
		message = append(message, uint32(n)|bitmapFlag)
		message = append(message, set...)
	} else {
		message = append(message, uint32(n))
		message = appendMembers(message, set, n)
	}
	if predecessor != nil {
		message = appendValues(message, set, predecessor)
	}
	return message
}

// appendMembers appends the n numbers in a set.
func appendMembers(list []uint32, set bitmap, n int) []uint32 {
	if n == 0 {
		return list
	}
	list = slices.Grow(list, n)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(w<<5+bits.TrailingZeros32(word)))
		}
	}
	return list
}

// appendValues appends value[v] of every member v of a set.
func appendValues(list []uint32, set bitmap, value []uint32) []uint32 {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			list = append(list, value[w<<5+bits.TrailingZeros32(word)])
		}
	}
	return list
}

// decode splits a message into its members, as a list or as a bitmap of the given number of words, and what follows
// them.
func decode(message []uint32, words int) (list []uint32, set bitmap, rest []uint32) {
	n := int(message[0] &^ bitmapFlag)
	if message[0]&bitmapFlag != 0 {
		return nil, message[headerWords : headerWords+words], message[headerWords+words:]
	}
	return message[headerWords : headerWords+n], nil, message[headerWords+n:]
}

// include adds the set in the message to set.
func include(set bitmap, message []uint32) {
	list, words, _ := decode(message, len(set))
	for w, word := range words {
		set[w] |= word
	}
	for _, v := range list {
		set.add(v)
	}
}
