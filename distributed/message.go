package distributed

import (
	"math/bits"
	"slices"
)

// Messages that hold sets of vertices.
//
// A message is a list of numbers or the words of a bitmap, whichever is shorter, decided for each message (Bisson et
// al., section 5; Satish et al., "Large-Scale Energy-Efficient Graph Traversal", IPDPS 2012). A list is shorter than
// the bitmap, so its length tells the two apart. The message of an empty set is empty, that is, it is not sent.

// Form is how sets are sent, a value of the option messages: "lists", "bitmaps" or "adaptive".
type Form string

// isBitmap reports whether a set with n members, a bitmap of the given number of words, is sent as a bitmap.
func (f Form) isBitmap(n, words int) bool {
	return f == "bitmaps" || f == "adaptive" && n >= words
}

// decode returns the members in a message, as a list or as a bitmap of the given number of words.
func (f Form) decode(message []uint32, words int) (list []uint32, bits bitmap) {
	if len(message) == words && f.isBitmap(words, words) {
		return nil, message
	}
	return message, nil
}

// mail makes messages and counts them.
type mail struct {
	form      Form
	outbox    [3]outbox // take turns
	exchanges int
	receive   [][]uint32
	unpacked  struct { // the members of bits, in parts, that are written to list
		bits  bitmap
		parts int
		list  []uint32
	}
}

// outbox holds the messages of one exchange. Others may read them until the next exchange of the same group, so
// outboxes take turns.
type outbox struct {
	lists [][]uint32 // [rank] memory for a list
	send  [][]uint32 // [rank] the list, or memory of a set
}

// nextOutbox returns the outbox of the next exchange of a group, with empty messages.
func (s *Rank) nextOutbox(size int) (lists, send [][]uint32) {
	s.exchanges++
	o := &s.outbox[s.exchanges%len(s.outbox)]
	clear(o.send)
	return o.lists[:size], o.send[:size]
}

// messageOf returns the message of a set, which is memory of the set or, if a bitmap is sent as a list, that of list.
func (s *Rank) messageOf(own *set, list *[]uint32) []uint32 {
	switch n := s.count(own); {
	case n == 0:
		return nil
	case s.form.isBitmap(n, len(own.bits)):
		own.toBitmap()
		return own.bits
	case own.listed:
		return own.list
	}
	*list = s.appendMembers((*list)[:0], own.bits)
	return *list
}

// count returns the number of members of a set.
func (s *Rank) count(a *set) int {
	if a.listed {
		return len(a.list)
	}
	if a.counted == 0 {
		a.counted = s.countMembers(a.bits)
	}
	return a.counted
}

// countMembers counts the members of a bitmap in parts, one for each worker if it is long.
func (s *Rank) countMembers(b bitmap) (n int) {
	s.unpacked.bits, s.unpacked.parts = b, 1
	if len(b) > manyWords {
		s.unpacked.parts = s.team.Size()
	}
	s.team.Do(s.unpacked.parts, 1, (*countParts)(s))
	for k := range s.unpacked.parts {
		x := &s.workers[k]
		x.members, n = n, n+x.members
	}
	return n
}

// appendMembers appends the members of a bitmap to a list.
func (s *Rank) appendMembers(list []uint32, b bitmap) []uint32 {
	at, n := len(list), s.countMembers(b)
	list = slices.Grow(list, n)[:at+n]
	s.unpacked.list = list[at:]
	s.team.Do(s.unpacked.parts, 1, (*listParts)(s))
	return list
}

// countParts counts the members of unpacked.bits.
type countParts Rank

// Piece counts those in parts from..to-1.
func (s *countParts) Piece(_, from, to int) {
	for k := from; k < to; k++ {
		s.workers[k].members = bitmap(cut(s.unpacked.bits, k, s.unpacked.parts)).count()
	}
}

// listParts writes the members of unpacked.bits to unpacked.list.
type listParts Rank

// Piece writes those in parts from..to-1, behind those of earlier parts.
func (s *listParts) Piece(_, from, to int) {
	for k := from; k < to; k++ {
		words, at := cut(s.unpacked.bits, k, s.unpacked.parts), s.workers[k].members
		first := uint32(len(s.unpacked.bits)*k/s.unpacked.parts) << 5
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				s.unpacked.list[at] = first + uint32(w<<5+bits.TrailingZeros32(word))
				at++
			}
		}
	}
}
