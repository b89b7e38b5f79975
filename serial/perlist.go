// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/plugins"
)

// packed has the rows of a csr, in the same order, without leading zeros (Kolganov 2018, section 3.1): the entries of a
// list are as wide as its largest one. A walk goes from entry to entry:
//
//	for bit, width, end := p.list(v); bit < end; bit += width {
//		u := p.entry(bit, width)
type packed struct {
	begin []uint64 // [vertices+1] first bit of each list, shifted left by 6, and the width of its entries
	words []uint64 // with one extra word, so that every entry can be read as two words
}

// widthOf returns the bits of an entry of a list: at least one, so that a list ends after it begins.
func widthOf(list []uint32) uint64 {
	if len(list) == 0 {
		return 0
	}
	return uint64(max(bits.Len32(slices.Max(list)), 1))
}

// pack packs the rows of g.
func (g *csr) pack(ctx context.Context) (*packed, error) {
	p := &packed{begin: make([]uint64, len(g.offsets))}
	var end uint64
	for v := range len(g.offsets) - 1 {
		if v%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list := g.neighbors(uint32(v))
		width := widthOf(list)
		p.begin[v] = end<<6 | width
		end += width * uint64(len(list))
	}
	p.begin[len(g.offsets)-1] = end << 6
	p.words = make([]uint64, (end+63)/64+1)
	for v := range uint32(len(g.offsets) - 1) {
		if v%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		bit, width, _ := p.list(v)
		for _, u := range g.neighbors(v) {
			w, shift := bit>>6, bit&63
			p.words[w] |= uint64(u) << shift
			p.words[w+1] |= uint64(u) >> 1 >> (63 - shift)
			bit += width
		}
	}
	return p, nil
}

// list returns the first bit of the list of v, the width of its entries, and the bit after it.
func (p *packed) list(v uint32) (bit, width, end uint64) {
	begin := p.begin[v]
	return begin >> 6, begin & 63, p.begin[v+1] >> 6
}

// entry returns the entry at bit.
func (p *packed) entry(bit, width uint64) uint32 {
	w, shift := bit>>6, bit&63
	return uint32((p.words[w]>>shift | p.words[w+1]<<1<<(63-shift)) & (1<<width - 1))
}

func (p *packed) bytes() int64 { return 8 * int64(len(p.begin)+len(p.words)) }

// fact describes the size of the lists.
func (p *packed) fact(entries int64) plugins.Fact {
	used := p.begin[len(p.begin)-1] >> 6
	return plugins.Fact{Name: "neighbor lists", Value: fmt.Sprintf("packed, each as wide as its largest neighbor: "+
		"%.1f bits for each of %d entries", float64(used)/float64(max(entries, 1)), entries)}
}
