// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// Work is kernel 1 of one graph on a GPU, with its clock. After the first error, which is kept in Err, its methods do
// nothing. The image of the GPU must contain kernels/sort.cu and kernels/lists.cu for Sort, PrefixSums and MakeLists.
type Work struct {
	Ctx    context.Context
	Memory *Allocator
	Err    error
	gpu    *GPU
	start  time.Time
}

// NewWork starts the clock of kernel 1 on a GPU. The limit and the advice are those of NewAllocator.
func NewWork(ctx context.Context, gpu *GPU, limit int64, advice string) Work {
	w := Work{Ctx: ctx, gpu: gpu, start: time.Now()}
	w.Memory, w.Err = NewAllocator(limit, advice)
	return w
}

// On returns the same work with the kernels of another image, on the same GPU and within the same memory.
func (w *Work) On(gpu *GPU) Work {
	other := *w
	other.gpu = gpu
	return other
}

// Step returns a step that queues work, and waits for it.
func (w *Work) Step(name string, do func()) offload.Step {
	return offload.Step{Name: name, Do: func() error {
		if do(); w.Err == nil {
			w.Fail("", cu.Synchronize())
		}
		return w.Err
	}}
}

// Built ends kernel 1. It returns the fields that the engines share, or frees everything after an error.
func (w *Work) Built(phases []plugins.Phase, err error) (plugins.Built, error) {
	if err != nil {
		_ = cu.Synchronize() // nothing may still run when the arrays are freed; err is the error to report
		return plugins.Built{}, errors.Join(err, w.Memory.FreeAll(), w.gpu.Close())
	}
	return plugins.Built{
		Elapsed: time.Since(w.start), Bytes: w.Memory.Used + w.Memory.InHost, VertexBits: 32, Phases: phases,
		Details: []plugins.Fact{
			{Name: plugins.DeviceUUID, Value: w.gpu.UUID},
			{Name: "parents", Value: "in device memory, 64 bits each, when the clock stops; copied to the host afterwards"},
			{Name: "before the clock", Value: "an empty kernel wakes device and driver; it knows neither root nor graph"},
		},
	}, nil
}

// Fail keeps the first error, with the failed action if that is not empty.
func (w *Work) Fail(action string, err error) {
	if w.Err != nil || err == nil {
		return
	}
	if w.Err = err; action != "" {
		w.Err = fmt.Errorf("%s: %w", action, err)
	}
}

// Loop queues a kernel that loops over its items.
func (w *Work) Loop(kernel Call) { w.Blocks(w.gpu.LoopBlocks(), kernel) }

// Each queues a kernel with a thread for each of n items.
func (w *Work) Each(n uint64, kernel Call) {
	if n > 0 {
		w.Blocks(int((n+Threads-1)/Threads), kernel)
	}
}

// Blocks queues a kernel with a number of blocks.
func (w *Work) Blocks(blocks int, kernel Call) {
	if w.Err == nil {
		w.Fail("", w.gpu.Launch(cu.NoStream, blocks, Threads, kernel))
	}
}

// Sort sorts n keys of 64 bits by bits low to high, stably. It uses buffer, which is as large; the two arrays may
// change places.
func (w *Work) Sort(keys, buffer *uint64, n int64, low, high int) {
	w.sort(keys, buffer, n, low, high, func(place, shift uint64) Call {
		return sortScatterKernel(*keys, *buffer, uint64(n), shift, place)
	})
}

// SortPairs is Sort for keys with values of 64 bits. The image must contain kernels/paths/pairs.cu.
func (w *Work) SortPairs(keys, buffer, values, valuesBuffer *uint64, n int64, low, high int) {
	w.sort(keys, buffer, n, low, high, func(place, shift uint64) Call {
		from, into := *values, *valuesBuffer
		*values, *valuesBuffer = into, from
		return sortScatterPairsKernel(*keys, *buffer, from, into, uint64(n), shift, place)
	})
}

func (w *Work) sort(keys, buffer *uint64, n int64, low, high int, scatter func(place, shift uint64) Call) {
	const digitBits = 8
	tile := int64(Threads * SortKeys)
	blocks := int(max(1, min((n+tile-1)/tile, int64(w.gpu.Multiprocessors)*4)))
	places := uint64(1<<digitBits) * uint64(blocks)
	place := w.Array("places of digits", 8*int64(places+1))
	for shift := low; shift < high && w.Err == nil; shift += digitBits {
		w.Blocks(blocks, sortCountKernel(*keys, uint64(n), uint64(shift), place))
		w.PrefixSums(place, places, place+8*places)
		w.Blocks(blocks, scatter(place, uint64(shift)))
		w.Fail("sort", w.Ctx.Err())
		*keys, *buffer = *buffer, *keys
	}
	w.Release(&place)
}

// PrefixSums replaces n numbers of 64 bits by their exclusive prefix sums, and writes their total.
func (w *Work) PrefixSums(numbers, n, total uint64) {
	if w.Err == nil {
		w.Fail("", w.gpu.Launch(cu.NoStream, 1, SumThreads, prefixSumsKernel(numbers, n, total)))
	}
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
func (w *Work) MakeLists(keys Keys, entries, target, offset uint64) (written uint64) {
	blocks := w.gpu.LoopBlocks()
	unique := w.Array("entries of blocks", int64(8*(blocks+1)))
	total, bits := unique+uint64(8*blocks), uint64(keys.TargetBits)
	w.Blocks(blocks, countUniqueKernel(keys.Address, keys.N, unique))
	w.PrefixSums(unique, uint64(blocks), total)
	w.Blocks(blocks, writeListsKernel(keys.Address, keys.N, bits, keys.From, entries, unique, target, offset))
	written = One[uint64](w, total)
	w.Blocks(blocks, endListsKernel(keys.Address, keys.N, bits, keys.From, keys.To, entries+written, offset))
	w.Release(&unique)
	return written
}

// Array allocates an array on the device.
func (w *Work) Array(what string, bytes int64) (at uint64) {
	if w.Err == nil {
		at, w.Err = w.Memory.OnDevice(what, bytes)
	}
	return at
}

// HostArray allocates an array in pinned host memory.
func (w *Work) HostArray(what string, bytes int64) (at uint64) {
	if w.Err == nil {
		at, w.Err = w.Memory.OnHost(what, bytes)
	}
	return at
}

// Filled allocates an array of equal bytes.
func (w *Work) Filled(what string, bytes int64, with byte) uint64 {
	at := w.Array(what, bytes)
	w.Fill(at, with, max(bytes, minArray))
	return at
}

// Fill queues setting all bytes of an array.
func (w *Work) Fill(at uint64, with byte, bytes int64) {
	if w.Err == nil {
		w.Fail("fill", cu.MemsetD8(cu.DevicePtr(at), with, bytes))
	}
}

// Release frees arrays and forgets their addresses.
func (w *Work) Release(arrays ...*uint64) {
	for _, at := range arrays {
		if w.Err == nil {
			w.Fail("free", w.Memory.Free(*at))
		}
		*at = 0
	}
}

// Get reads an array of values without pointers.
func Get[T any](w *Work, into []T, from uint64) []T {
	if w.Err == nil {
		w.Fail("read from the device", Read(into, from))
	}
	return into
}

// One reads a value without pointers.
func One[T any](w *Work, from uint64) T { return Get(w, make([]T, 1), from)[0] }
