package cpu

import "math/bits"

// Packed adjacency: neighbour lists without the bits that say nothing (Kolganov 2018, section 3.1).
//
// Kolganov strips the leading zeros that all neighbours of a vertex have in common. Here the vertices are numbered by
// descending degree, so most entries of any list are small numbers, and a list is cut in two instead: neighbours below
// 2^16 stand in 16 bits each, and the others in fields of a fixed width, that of the largest vertex. Both widths are
// the same for all lists, so any entry of a list can be read without the ones before it, which a search that stops at
// the first frontier vertex and workers that share a long list both need; and the first part, which is nearly all that
// a bottom-up search reads, needs no decoding at all.

// nearLimit is the number of vertices that fit the 16 bits of a near entry.
const nearLimit = 1 << 16

// fields is an array of numbers of the same width, from 1 to 32 bits, without gaps between them.
type fields struct {
	words  []uint64 // one more than the fields fill, so that a field may be read across its end
	width  uint64
	mask   uint64
	length int
}

// fieldsFor returns an empty array for numbers up to largest.
func fieldsFor(largest uint32) fields {
	width := uint64(max(bits.Len32(largest), 1))
	return fields{width: width, mask: 1<<width - 1}
}

// wordsFor returns how many words n fields need.
func (f *fields) wordsFor(n int) int { return int((uint64(n)*f.width+63)>>6) + 1 }

// get returns field i.
func (f *fields) get(i uint64) uint32 {
	bit := i * f.width
	w, shift := bit>>6, bit&63
	return uint32((f.words[w]>>shift | f.words[w+1]<<1<<(63-shift)) & f.mask)
}

// packer writes consecutive fields. Several packers may write neighbouring ranges of one array at the same time: the
// words at both ends of a range are shared, and or keeps the other's bits.
type packer struct {
	words []uint64
	width uint64
	word  uint64 // bits collected for words[at]
	at    uint64
	used  uint64 // bits of word that are decided
	first bool   // words[at] is the first of the range
	or    func(word *uint64, bits uint64)
}

// pack returns a packer that writes from field i on. or must set bits of a word as one step where ranges are written
// at the same time.
func (f *fields) pack(i uint64, or func(word *uint64, bits uint64)) packer {
	bit := i * f.width
	return packer{words: f.words, width: f.width, at: bit >> 6, used: bit & 63, first: true, or: or}
}

// put writes the next field; x must fit it.
func (p *packer) put(x uint32) {
	p.word |= uint64(x) << p.used
	p.used += p.width
	if p.used < 64 {
		return
	}
	p.flush()
	p.at++
	p.used -= 64
	p.word = uint64(x) >> (p.width - p.used) // what did not fit; nothing when the field ended with the word
}

// flush writes the collected bits. The word belongs to this packer alone unless it is the first or the last one.
func (p *packer) flush() {
	if p.first {
		p.or(&p.words[p.at], p.word)
		p.first = false
		return
	}
	p.words[p.at] = p.word
}

// close writes the last word.
func (p *packer) close() {
	if p.word != 0 {
		p.or(&p.words[p.at], p.word)
	}
}
