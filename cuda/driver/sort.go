// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"context"
	"errors"

	"gorgonia.org/cu"
)

// The functions below run kernels of kernels/sort.cu and kernels/lists.cu, which the image of the GPU must contain.

// LoopBlocks is the number of blocks of a kernel that loops over its work.
func (d *GPU) LoopBlocks() int { return d.Multiprocessors * 8 }

// Sort sorts n keys of 64 bits by bits low to high, stably. It uses buffer, which is as large; the two arrays may
// change places.
func (d *GPU) Sort(ctx context.Context, memory *Allocator, keys, buffer *uint64, n int64, low, high int) error {
	const digitBits = 8
	tile := int64(Threads * SortKeys)
	blocks := int(max(1, min((n+tile-1)/tile, int64(d.Multiprocessors)*4)))
	places := uint64(1<<digitBits) * uint64(blocks)
	place, err := memory.OnDevice("places of digits", 8*int64(places+1))
	for shift := low; shift < high && err == nil; shift += digitBits {
		err = errors.Join(
			d.Launch(cu.NoStream, blocks, Threads, sortCountKernel(*keys, uint64(n), uint64(shift), place)),
			d.PrefixSums(place, places, place+8*places),
			d.Launch(cu.NoStream, blocks, Threads, sortScatterKernel(*keys, *buffer, uint64(n), uint64(shift), place)),
			ctx.Err())
		*keys, *buffer = *buffer, *keys
	}
	if err != nil {
		return err // the caller frees all arrays
	}
	return memory.Free(place)
}

// PrefixSums replaces n numbers of 64 bits by their exclusive prefix sums, and writes their total.
func (d *GPU) PrefixSums(numbers, n, total uint64) error {
	return d.Launch(cu.NoStream, 1, SumThreads, prefixSumsKernel(numbers, n, total))
}

// Keys are N sorted keys of 64 bits (source-From)<<TargetBits | target, for sources from From to To-1.
type Keys struct {
	Address    uint64
	N          uint64
	TargetBits int
	From, To   uint64
}

// MakeLists appends the targets of keys, each key once, to the entries of earlier sources in target, and writes where
// the list of each source begins, up to offset[To]. It returns how many entries it has written.
func (d *GPU) MakeLists(memory *Allocator, keys Keys, entries, target, offset uint64) (written uint64, err error) {
	blocks := d.LoopBlocks()
	unique, err := memory.OnDevice("entries of blocks", int64(8*(blocks+1)))
	if err != nil {
		return 0, err
	}
	total := unique + uint64(8*blocks)
	bits := uint64(keys.TargetBits)
	if err := errors.Join(
		d.Launch(cu.NoStream, blocks, Threads, countUniqueKernel(keys.Address, keys.N, unique)),
		d.PrefixSums(unique, uint64(blocks), total),
		d.Launch(cu.NoStream, blocks, Threads, writeListsKernel(keys.Address, keys.N, bits, keys.From, entries, unique,
			target, offset))); err != nil {
		return 0, err
	}
	var n [1]uint64
	if err := Read(n[:], total); err != nil {
		return 0, err
	}
	return n[0], errors.Join(
		d.Launch(cu.NoStream, blocks, Threads, endListsKernel(keys.Address, keys.N, bits, keys.From, keys.To, entries+n[0],
			offset)),
		memory.Free(unique))
}
