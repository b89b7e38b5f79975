// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/team"
)

// A message that holds a set of vertices is a list of numbers or the words of a bitmap, whichever is shorter (Bisson et
// al., section 5; Satish et al., "Large-Scale Energy-Efficient Graph Traversal", IPDPS 2012). A list is shorter than
// the bitmap, so its length shows which it is. The message of an empty set is empty, that is, it is not sent.

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

// peers is a group of ranks with the messages of a search. Two outboxes take turns: others may read the messages of one
// exchange until the next.
type peers struct {
	comm.Group
	outboxes  [2]outbox
	exchanges int
	received  [][]uint32 // [rank] by the last exchange
}

type outbox struct {
	list  []uint32   // memory for a list to all ranks
	lists [][]uint32 // [rank] memory for a list; nil until there is one
	send  [][]uint32 // [rank] the list, or memory of a set
}

func newPeers(group comm.Group) *peers {
	return &peers{Group: group, received: make([][]uint32, group.Size())}
}

// nextOutbox returns the outbox of the next exchange, with empty messages to each rank.
func (p *peers) nextOutbox() (lists, send [][]uint32) {
	p.exchanges++
	o := &p.outboxes[p.exchanges&1]
	if o.lists == nil {
		o.lists, o.send = make([][]uint32, p.Size()), make([][]uint32, p.Size())
	}
	clear(o.send)
	return o.lists, o.send
}

// nextList returns the memory of the next exchange, for a list to all ranks.
func (p *peers) nextList() *[]uint32 {
	p.exchanges++
	return &p.outboxes[p.exchanges&1].list
}

// packer counts and lists the members of bitmaps. Its workers share out a long one in parts.
type packer struct {
	team    *team.Team
	members []int // [part] in the part, then before it
}

func (p *packer) count(a *set) int {
	if a.listed {
		return len(a.list)
	}
	if a.counted == 0 {
		a.counted, _ = p.countBits(a.bits)
	}
	return a.counted
}

func (p *packer) countBits(b bitmap) (n, parts int) {
	parts = 1
	if len(b) > manyWords {
		parts = len(p.members)
	}
	p.team.Pieces(parts, 1, func(_, k, _ int) { p.members[k] = bitmap(cut(b, k, parts)).count() })
	for k, members := range p.members[:parts] {
		p.members[k], n = n, n+members
	}
	return n, parts
}

func (p *packer) appendMembers(list []uint32, b bitmap) []uint32 {
	length := len(list)
	n, parts := p.countBits(b)
	if n == 0 {
		return list
	}
	list = slices.Grow(list, n)[:length+n]
	p.team.Pieces(parts, 1, func(_, k, _ int) {
		at, first := length+p.members[k], uint32(len(b)*k/parts)<<5
		for w, word := range cut(b, k, parts) {
			for ; word != 0; word &= word - 1 {
				list[at] = first + uint32(w<<5+bits.TrailingZeros32(word))
				at++
			}
		}
	})
	return list
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

// bitmap is a set of numbers, 32 in a word.
type bitmap []uint32

func (b bitmap) add(k uint32) { b[k>>5] |= 1 << (k & 31) }

func (b bitmap) has(k uint32) bool { return b[k>>5]>>(k&31)&1 != 0 }

// Piece empties words from..to-1 (team.Task).
func (b bitmap) Piece(_, from, to int) { clear(b[from:to]) }

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount32(w)
	}
	return n
}

// set is a set of numbers, a list while it is small: a level of few vertices costs no pass over a bitmap.
type set struct {
	listed  bool     // the members are those of list, in any order, and bits is empty; otherwise they are those of bits
	list    []uint32 // without duplicates; empty if not listed
	bits    bitmap
	counted int // members of bits; 0: not counted
}

// add adds a number, which a list must not have yet.
func (s *set) add(k uint32) {
	if s.listed {
		s.list = append(s.list, k)
	} else {
		s.bits.add(k)
	}
}

func (s *set) toBitmap() {
	for _, k := range s.list {
		s.bits.add(k)
	}
	s.listed, s.list = false, s.list[:0]
}

func (s *set) members() (list []uint32, words bitmap) {
	if s.listed {
		return s.list, nil
	}
	return nil, s.bits
}

// replace makes b the set that is in list or bits.
func (b bitmap) replace(list []uint32, bits bitmap) {
	clear(b[copy(b, bits):])
	for _, v := range list {
		b.add(v)
	}
}

func (b bitmap) includeSet(s *set) {
	if s.listed {
		for _, k := range s.list {
			b.add(k)
		}
		return
	}
	for w, word := range s.bits {
		b[w] |= word
	}
}
