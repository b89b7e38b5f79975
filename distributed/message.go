package distributed

import (
	"math/bits"
	"slices"
)

// Messages that hold sets of vertices.
//
// A message is a list of numbers or the words of a bitmap, whichever is shorter, decided for each message (Bisson et
// al., section 5; Satish et al., "Large-Scale Energy-Efficient Graph Traversal", IPDPS 2012). The first word is 1 for a
// bitmap and 0 for a list; the message of an empty set is empty, that is, it is not sent.

// Form is how sets are sent, a value of the option messages: "lists", "bitmaps" or "adaptive".
type Form string

// encode returns the message of a set. It reuses buffer.
func (f Form) encode(buffer []uint32, s *set) []uint32 {
	n := s.count()
	if n == 0 {
		return buffer[:0]
	}
	if f.isBitmap(n, s) {
		message := append(append(buffer[:0], 1), s.bits...)
		if s.listed {
			for _, v := range s.list {
				bitmap(message[1:]).add(v)
			}
		}
		return message
	}
	message := slices.Grow(append(buffer[:0], 0), n)
	if s.listed {
		return append(message, s.list...)
	}
	return appendMembers(message, s.bits, n)
}

// isBitmap reports whether a set with n members is sent as a bitmap.
func (f Form) isBitmap(n int, s *set) bool {
	return f == "bitmaps" || f == "adaptive" && n > len(s.bits)
}

// appendMembers appends the n members of a bitmap.
func appendMembers(list []uint32, b bitmap, n int) []uint32 {
	for w, word := range b {
		if n == 0 {
			break
		}
		n -= bits.OnesCount32(word)
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(w<<5+bits.TrailingZeros32(word)))
		}
	}
	return list
}

// decode returns the members in a message, as a list or as a bitmap.
func decode(message []uint32) (list []uint32, words bitmap) {
	switch {
	case len(message) == 0:
		return nil, nil
	case message[0] == 1:
		return nil, message[1:]
	}
	return message[1:], nil
}

// replace makes b the set in the message.
func (b bitmap) replace(message []uint32) {
	list, words := decode(message)
	clear(b[copy(b, words):])
	for _, v := range list {
		b.add(v)
	}
}
