// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"context"
	"fmt"

	"gorgonia.org/cu"
)

// Work queues work of one graph on a GPU. After the first error, which is kept in Err, its methods do nothing.
type Work struct {
	Ctx    context.Context
	Memory *Allocator
	Err    error
	gpu    *GPU
}

// NewWork returns work on a GPU with the arrays of an Allocator.
func NewWork(ctx context.Context, gpu *GPU, memory *Allocator) Work {
	return Work{Ctx: ctx, Memory: memory, gpu: gpu}
}

// Fail keeps the first error, with what was done if that is not empty.
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

// Sort sorts n keys by bits low to high, stably; see GPU.Sort.
func (w *Work) Sort(keys, buffer *uint64, n int64, low, high int) {
	if w.Err == nil {
		w.Fail("sort", w.gpu.Sort(w.Ctx, w.Memory, keys, buffer, n, low, high))
	}
}

// PrefixSums replaces n numbers by their exclusive prefix sums, and writes their total.
func (w *Work) PrefixSums(numbers, n, total uint64) {
	if w.Err == nil {
		w.Fail("", w.gpu.PrefixSums(numbers, n, total))
	}
}

// Array allocates an array on the device.
func (w *Work) Array(what string, bytes int64) (at uint64) {
	if w.Err == nil {
		at, w.Err = w.Memory.OnDevice(what, bytes)
	}
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
