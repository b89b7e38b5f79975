// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"math/bits"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// habr reads all edges in every level (kernels/habr.cu).
func habr(b *base, set plugins.Settings) method {
	edges, maxV := b.pairs, b.tuples
	b.entries = maxV
	if set.Text("permute") == "on" {
		b.permute(&edges, set.Int("tile"))
	}
	packed := uint64(0)
	if b.labels <= 1<<16 {
		packed = 1
		words := b.array("packed edges", 4*maxV)
		b.Each(maxV, habrPackKernel(edges, maxV, words))
		b.Release(&edges)
		edges = words
	}
	name, last := set.Text("levels"), set.Text("parents") == "last"
	width, largest := widthOf(name)
	levels := b.array("levels", width*b.labels)
	modif := b.counters
	kernel, inline := habrKernel, b.parent
	if set.Text("readonly") == "on" {
		kernel = habrReadonlyKernel
	}
	if last {
		inline = 0
	}
	m := method{
		begin: func(root uint64) {
			b.fill(modif, 0xff, 4)
			b.fill(levels, 0xff, width*b.labels)
			b.fill(levels+width*root, 0, width)
		},
		step: func(iter uint64) (plugins.Level, bool) {
			b.Each(maxV, kernel(name, edges, packed, maxV, levels, iter, inline, modif))
			found := uint32(b.read().vertices) == uint32(iter) // modif[0]
			if found && iter == largest {
				b.Fail("", plugins.OptionError("option levels=%s: the search has more than %d levels; set levels=u16 or levels=u32",
					name, iter+1))
			}
			return plugins.Level{Frontier: 1, Edges: plugins.Counted(int64(maxV))}, found // counted after the clock
		},
		frontiers: b.countFrontiers,
	}
	if last {
		m.end = func() { b.Each(maxV, habrParentsKernel(name, edges, packed, maxV, levels, b.parent)) }
	}
	return m
}

// permute sorts edges by the tiles of 1<<tileBits vertices of their ends, the first end first, so that the levels that
// neighboring threads read stay in the cache.
func (b *base) permute(edges *uint64, tileBits int) {
	labelBits := bits.Len64(max(b.labels, 1) - 1)
	if tileBits >= labelBits {
		return // one tile
	}
	buffer := b.array("edges to sort", 8*b.tuples)
	b.Sort(edges, &buffer, int64(b.tuples), tileBits, labelBits)
	b.Sort(edges, &buffer, int64(b.tuples), 32+tileBits, 32+labelBits)
	if b.Err == nil {
		b.Fail("", cu.Synchronize())
	}
	b.Release(&buffer)
}
