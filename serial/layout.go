// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/internal/kolganov"
	"github.com/tepsbench/teps/plugins"
)

// transform applies the selected transformations of Kolganov's section 2, in the paper's order. It sorts rows of g in
// place and returns the new number of each label, nil if all labels stay.
func (g *csr) transform(ctx context.Context, options plugins.Settings) (transformed *csr, number []uint32, err error) {
	on := func(name string) bool { return options.Text(name) == "on" }
	if on("local") || on("global") {
		order := make([]uint32, len(g.offsets)-1) // labels by descending degree, which are ascending among equals
		for v := range order {
			order[v] = uint32(v)
		}
		slices.SortStableFunc(order, func(u, v uint32) int {
			return cmp.Compare(len(g.neighbors(v)), len(g.neighbors(u)))
		})
		place := inverse(order)
		if on("local") { // 2.1: neighbors with long lists come first
			for v := range order {
				if v%stride == 0 && ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				slices.SortFunc(g.neighbors(uint32(v)), func(u, w uint32) int { return cmp.Compare(place[u], place[w]) })
			}
		}
		if on("global") { // 2.2: so do vertices
			g, number = g.relabel(place), place
		}
	}
	if on("renumber") { // 2.3
		again, err := kolganov.Order(ctx, g.offsets, g.targets, options.Int("threads"))
		if err != nil {
			return nil, nil, err
		}
		g = g.relabel(again)
		for v, n := range number {
			number[v] = again[n]
		}
		if number == nil {
			number = again
		}
	}
	return g, number, ctx.Err()
}

// relabel returns the rows in new numbers, with each list in its old order.
func (g *csr) relabel(number []uint32) *csr {
	h := &csr{offsets: make([]int64, 1, len(g.offsets)), targets: make([]uint32, 0, len(g.targets))}
	for _, v := range inverse(number) {
		for _, u := range g.neighbors(v) {
			h.targets = append(h.targets, number[u])
		}
		h.offsets = append(h.offsets, int64(len(h.targets)))
	}
	return h
}

func inverse(number []uint32) []uint32 {
	label := make([]uint32, len(number))
	for v, n := range number {
		label[n] = uint32(v)
	}
	return label
}

// packed has the rows of a csr, in the same order, without leading zeros (Kolganov 2018, section 3.1): the entries of a
// list are as wide as its largest one.
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

func (p *packed) entry(bit, width uint64) uint32 {
	w, shift := bit>>6, bit&63
	return uint32((p.words[w]>>shift | p.words[w+1]<<1<<(63-shift)) & (1<<width - 1))
}

func (p *packed) bytes() int64 { return 8 * int64(len(p.begin)+len(p.words)) }

func (p *packed) fact(entries int64) plugins.Fact {
	used := p.begin[len(p.begin)-1] >> 6
	return plugins.Fact{Name: "neighbor lists", Value: fmt.Sprintf("packed, each as wide as its largest neighbor: "+
		"%.1f bits for each of %d entries", float64(used)/float64(max(entries, 1)), entries)}
}
