package distributed

import "math/bits"

// Sets of vertices as messages.
//
// A set is a range of a bitmap of 32-bit words, and a message says the same as a list of numbers or as the words
// themselves, whichever is shorter, decided for every message anew (Bisson et al., section 5; Satish et al.,
// "Large-Scale Energy-Efficient Graph Traversal", IPDPS 2012). The first word says which, and how many vertices there
// are; an empty set is that word alone. Where predecessors are sent along, they follow, one for each vertex in ascending
// order.

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

// bitmap is a set of numbers, 32 to a word: words as messages have them.
type bitmap []uint32

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount32(w)
	}
	return n
}

// encode appends the message of a set with so many members to message. With predecessors, predecessor[v] of every
// member v follows.
func (f Form) encode(message []uint32, set bitmap, members int, predecessor []uint32) []uint32 {
	asBitmap := f == Bitmaps || f == Adaptive && members > len(set)
	if members == 0 || !asBitmap {
		message = append(message, uint32(members))
		message = appendMembers(message, set, members)
	} else {
		message = append(message, uint32(members)|bitmapFlag)
		message = append(message, set...)
	}
	if predecessor != nil {
		for w, word := range set {
			for ; word != 0; word &= word - 1 {
				message = append(message, predecessor[w<<5+bits.TrailingZeros32(word)])
			}
		}
	}
	return message
}

// appendMembers appends the numbers in a set, which are so many.
func appendMembers(list []uint32, set bitmap, members int) []uint32 {
	if members == 0 {
		return list
	}
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(w<<5+bits.TrailingZeros32(word)))
		}
	}
	return list
}

// parts takes a message apart: the members as a list or as a bitmap of so many words, and what follows.
func parts(message []uint32, words int) (list []uint32, set bitmap, rest []uint32) {
	n := int(message[0] &^ bitmapFlag)
	if message[0]&bitmapFlag != 0 {
		return nil, message[headerWords : headerWords+words], message[headerWords+words:]
	}
	return message[headerWords : headerWords+n], nil, message[headerWords+n:]
}

// replace makes set what the message says.
func replace(set bitmap, message []uint32) {
	list, words, _ := parts(message, len(set))
	if words != nil {
		copy(set, words)
		return
	}
	clear(set)
	for _, v := range list {
		set[v>>5] |= 1 << (v & 31)
	}
}

// include adds to set what the message says.
func include(set bitmap, message []uint32) {
	list, words, _ := parts(message, len(set))
	for w, word := range words {
		set[w] |= word
	}
	for _, v := range list {
		set[v>>5] |= 1 << (v & 31)
	}
}

// listWords is the room that a message of n members in a set of so many words can take.
func (f Form) room(words int, predecessors bool) int {
	n := headerWords + words
	if f == Lists {
		n = headerWords + 32*words
	}
	if predecessors {
		n += 32 * words
	}
	return n
}
