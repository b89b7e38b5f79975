package distributed

import (
	"math/bits"
	"slices"
)

// Messages that hold sets of vertices.
//
// A set is a range of a bitmap of 32-bit words. Its message is a list of numbers or the words themselves, whichever
// is shorter, decided for each message (Bisson et al., section 5; Satish et al., "Large-Scale Energy-Efficient Graph
// Traversal", IPDPS 2012). The first word is 1 for a bitmap and 0 for a list; the message of an empty set is that word
// alone.

// Form is how sets are sent, a value of the option messages: "lists", "bitmaps" or "adaptive".
type Form string

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

// encode returns the message of a set. It reuses buffer.
func (f Form) encode(buffer []uint32, set bitmap) []uint32 {
	n := set.count()
	if n > 0 && (f == "bitmaps" || f == "adaptive" && n > len(set)) {
		return append(append(buffer[:0], 1), set...)
	}
	message := slices.Grow(append(buffer[:0], 0), n)
	if n == 0 {
		return message
	}
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			message = append(message, uint32(w<<5+bits.TrailingZeros32(word)))
		}
	}
	return message
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

// decode returns the members in a message, as a list or as a bitmap.
func decode(message []uint32) (list []uint32, set bitmap) {
	if message[0] == 1 {
		return nil, message[1:]
	}
	return message[1:], nil
}

// include adds the set in the message to set.
func include(set bitmap, message []uint32) {
	list, words := decode(message)
	for w, word := range words {
		set[w] |= word
	}
	for _, v := range list {
		set.add(v)
	}
}
