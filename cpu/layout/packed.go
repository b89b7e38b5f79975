// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math/bits"
	"sort"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// Packed lists: neighbor lists without most of their leading zeros (after Kolganov 2018, section 3.1).
//
// Kolganov removes the leading zeros that all neighbors of a vertex have in common. Here most entries of any list are
// small, because vertices are numbered by descending degree. So each list has two parts: neighbors below NearLimit in
// 16 bits each, and the others in fields as wide as the largest vertex. Any entry can be read without those before it,
// and the first part, nearly all that a bottom-up step reads, needs no decoding.

// NearLimit is the number of vertices that fit the 16 bits of a near entry.
const NearLimit = 1 << 16

// Fields is an array of numbers of the same width, from 1 to 32 bits, without gaps between them.
type Fields struct {
	Words  []uint64 // one more than the fields fill, so that a field may be read across its end
	Width  uint64
	Mask   uint64
	Length int
}

func fieldsFor(largest uint32) Fields {
	width := uint64(max(bits.Len32(largest), 1))
	return Fields{Width: width, Mask: 1<<width - 1}
}

func (f *Fields) wordsFor(n int) int { return int((uint64(n)*f.Width+63)>>6) + 1 }

// Get returns field i.
func (f *Fields) Get(i uint64) uint32 {
	bit := i * f.Width
	w, shift := bit>>6, bit&63
	return uint32((f.Words[w]>>shift | f.Words[w+1]<<1<<(63-shift)) & f.Mask)
}

// packer writes consecutive fields. Several packers may write adjacent ranges of an array at the same time: they set
// bits of the words at both ends of a range atomically.
type packer struct {
	words []uint64
	width uint64
	word  uint64 // bits collected for words[at]
	at    uint64
	used  uint64 // number of bits of word that are final
	first bool   // words[at] is the first of the range
}

// pack returns a packer that writes from field i on.
func (f *Fields) pack(i uint64) packer {
	bit := i * f.Width
	return packer{words: f.Words, width: f.Width, at: bit >> 6, used: bit & 63, first: true}
}

// put writes the next field; x must fit it.
func (p *packer) put(x uint32) {
	p.word |= uint64(x) << p.used
	p.used += p.width
	if p.used < 64 {
		return
	}
	if p.first {
		p.close()
		p.first = false
	} else {
		p.words[p.at] = p.word
	}
	p.at++
	p.used -= 64
	p.word = uint64(x) >> (p.width - p.used) // the rest of x; 0 when the field ended with the word
}

// close writes a word that another packer may write too: the first or the last one of the range.
func (p *packer) close() {
	if p.word != 0 {
		atomic.OrUint64(&p.words[p.at], p.word)
	}
}

// pack turns lists in the csr layout into packed ones.
func (l *Lists) pack(t *team.Team, m *memory.Arena) {
	lists := len(l.At.low) - 1
	near := Offsets{low: memory.Allocate[uint32](m, "offsets of near entries", lists+1)}
	far := Offsets{low: memory.Allocate[uint32](m, "offsets of far entries", lists+1)}
	if m.Err() != nil {
		return
	}
	const piece = 1 << 10 // lists
	t.Pieces(lists, piece, func(_, from, to int) {
		for v := from; v < to; v++ {
			list := l.Targets[l.At.Get(uint32(v)):l.At.Get(uint32(v)+1)]
			n := sort.Search(len(list), func(i int) bool { return list[i] >= NearLimit })
			near.low[v], far.low[v] = uint32(n), uint32(len(list)-n)
		}
	})
	l.Near = memory.Allocate[uint16](m, "near entries", int(near.sum()))
	l.Far = fieldsFor(uint32(max(lists, 1) - 1))
	l.Far.Length = int(far.sum())
	l.Far.Words = memory.Allocate[uint64](m, "far entries", l.Far.wordsFor(l.Far.Length))
	if m.Err() != nil {
		return
	}
	t.Pieces(lists, piece, func(_, from, to int) {
		at := near.Get(uint32(from))
		fields := l.Far.pack(far.Get(uint32(from)))
		for _, neighbor := range l.Targets[l.At.Get(uint32(from)):l.At.Get(uint32(to))] {
			if neighbor < NearLimit {
				l.Near[at] = uint16(neighbor)
				at++
			} else {
				fields.put(neighbor)
			}
		}
		fields.close()
	})
	memory.Release(m, &l.Targets)
	memory.Release(m, &l.At.low)
	l.Packed, l.At, l.FarAt = true, near, far
}
