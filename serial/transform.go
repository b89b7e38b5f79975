// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"cmp"
	"context"
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

// inverse returns the label of each number.
func inverse(number []uint32) []uint32 {
	label := make([]uint32, len(number))
	for v, n := range number {
		label[n] = uint32(v)
	}
	return label
}
