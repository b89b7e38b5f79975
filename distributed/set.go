// SPDX-License-Identifier: Apache-2.0

package distributed

import "math/bits"

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
