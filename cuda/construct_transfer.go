// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// transfer brings the tuples to the device as pairs of 32-bit labels, and finds the largest label. If the lists and
// memory to sort would not fit besides them, every phase copies them again, part by part.
//
// Without tuples, it makes those of the recipe, and so does every phase again.
func (b *builder) transfer() {
	b.n = int64(len(b.tuples))
	if b.lent != nil {
		b.openLent()
	}
	times := int64(24) // lists as large as the pairs, and as much again to sort
	if b.c.adjacency != "csr" && len(b.c.devices) == 1 {
		times = 15 // packed
	}
	stays := times*b.n < b.Memory.Room()
	if b.recipe != nil {
		b.n, stays = b.recipe.Tuples(), false
		b.note("tuples", "made again on the device by every phase of kernel 1, from the recipe")
	} else if !stays && b.lent == nil {
		b.note("tuples", "copied to the device again by every phase of kernel 1")
	}
	b.counters = b.Array("counters", 8*counters)
	b.Fail("tuples", checkTuples(b.n, 0, false))
	b.clearCounters()
	maxLabel, tooLong := uint64(0), false
	switch {
	case b.recipe != nil:
		maxLabel = uint64(b.recipe.Vertices()) - 1
	case stays:
		pairs := b.Array("tuples", 8*b.n)
		b.eachPart(func(at uint64, first, n int64) {
			b.Loop(unpackTuplesKernel(at, uint64(n), pairs+uint64(8*first), b.bounds()))
		})
		b.pairs = pairs
	default:
		b.forTuples(func(uint64, uint64) {})
	}
	if b.recipe == nil {
		maxLabel, tooLong = b.counter(boundsAt), b.counter(boundsAt+1) != 0
	}
	b.Fail("tuples", checkTuples(b.n, maxLabel, tooLong))
	if b.n > 0 {
		b.graph.Labels = maxLabel + 1
		b.graph.AllLabels = b.graph.Labels
	}
}

// openLent opens the tuples that another process has on this device.
func (b *builder) openLent() {
	at, err := driver.OpenMemory(b.lent.Handle)
	if err != nil {
		err = fmt.Errorf("%w: open the tuples in device memory: %w", plugins.ErrUnavailable, err)
	}
	b.Fail("tuples", err)
	b.opened, b.n = at, b.lent.Count
	b.note("tuples", "in device memory when the clock started")
}

// closeLent ends openLent. Nothing may read the tuples any longer.
func (b *builder) closeLent() {
	if b.opened != 0 {
		b.Fail("tuples", errors.Join(cu.Synchronize(), driver.CloseMemory(b.opened)))
	}
}

// boundsAt is the first of the two counters that unpack_tuples uses.
const boundsAt = counters - 2

func (b *builder) bounds() uint64 { return b.counters + 8*boundsAt }

// forTuples queues kernels that read all tuples as pairs, perhaps part by part.
func (b *builder) forTuples(queue func(pairs, n uint64)) {
	if b.pairs != 0 {
		queue(b.pairs, uint64(b.n))
		return
	}
	size := int64(driver.StageBytes / graph.EdgeBytes)
	if b.recipe != nil || b.lent != nil {
		size = maxPart
	}
	part := b.Array("part of the tuples", 8*min(b.n, size))
	b.eachPart(func(at uint64, _, n int64) {
		b.Loop(unpackTuplesKernel(at, uint64(n), part, b.bounds()))
		queue(part, uint64(n))
	})
	b.Release(&part)
}

// maxPart is how many tuples that need no copy are unpacked at a time, and strideBits log2 of the threads that make
// them.
const (
	maxPart    = 1 << 23 // 160 MiB with their pairs, which fit into minSortBytes
	strideBits = 17
)

// eachPart calls use for n tuples, 12 bytes each, on the device at a time, from number first on.
func (b *builder) eachPart(use func(at uint64, first, n int64)) {
	if b.recipe != nil {
		b.generateParts(*b.recipe, use)
		return
	}
	if b.lent != nil {
		for first := int64(0); first < b.n && b.Err == nil; first += maxPart {
			use(b.opened+uint64(graph.EdgeBytes*first), first, min(b.n-first, maxPart))
			b.Fail("kernel 1", b.Ctx.Err())
		}
		return
	}
	if b.Err != nil {
		return
	}
	stage, err := driver.NewStage(b.Memory)
	if err == nil {
		err = errors.Join(stage.Upload(b.Ctx, driver.Bytes(b.tuples), func(at uint64, first, bytes int64) error {
			use(at, first/graph.EdgeBytes, bytes/graph.EdgeBytes)
			return b.Err
		}), cu.Synchronize(), stage.Close())
	}
	b.Fail("copy tuples to the device", err)
}

// generateParts makes the tuples of a recipe (accelerator/kernels/generate.cu).
func (b *builder) generateParts(recipe graph.Kronecker, use func(at uint64, first, n int64)) {
	constants := b.Array("constants of the generator", 8*512)
	part := b.Array("part of the tuples", graph.EdgeBytes*min(b.n, maxPart))
	if b.Err == nil {
		b.Fail("constants of the generator", driver.Write(constants, recipe.Constants()))
	}
	for first := int64(0); first < b.n && b.Err == nil; first += maxPart {
		n := min(b.n-first, maxPart)
		b.Blocks(1<<strideBits/blockThreads, generateKernel(constants, uint64(recipe.Scale), uint64(first), uint64(n),
			strideBits, part))
		use(part, first, n)
		b.Fail("kernel 1", b.Ctx.Err())
	}
	b.Release(&constants, &part)
}
