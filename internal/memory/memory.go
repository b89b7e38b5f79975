// SPDX-License-Identifier: Apache-2.0

// Package memory hands out the large arrays of an engine and counts their bytes. On Linux they lie outside the Go heap:
// gigabytes of graph do not double the heap target of the garbage collector, huge pages avoid most of a search's TLB
// misses, and releasing them takes effect at once.
package memory

import (
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// Arena owns arrays. One goroutine at a time may use it.
type Arena struct {
	blocks map[any]block // by pointer to the first element
	held   int64         // bytes in use
	peak   int64         // the maximum of held so far
	err    error         // of the first allocation that failed
}

// New returns an arena without arrays. A page will be on the NUMA node of the worker that touches it first, unless the
// process was started with another policy (numactl).
func New() *Arena { return &Arena{blocks: make(map[any]block)} }

// Held returns the bytes that are in use now.
func (a *Arena) Held() int64 { return a.held }

// Peak returns the largest number of bytes that were in use at once.
func (a *Arena) Peak() int64 { return a.peak }

// Err returns the error of the first allocation that failed. It wraps plugins.ErrMemory.
func (a *Arena) Err() error { return a.err }

// Allocate returns a zeroed array of n elements, aligned to a cache line; T must hold no pointers. An array that cannot
// be allocated is nil, and Err then names its purpose, so several allocations need one check.
func Allocate[T any](a *Arena, what string, n int) []T {
	if n == 0 || a.err != nil {
		return nil
	}
	array, b, err := obtain[T](n)
	if err != nil {
		a.err = fmt.Errorf("allocating %d elements for %s: %w: %w; use a smaller scale", n, what, plugins.ErrMemory, err)
		return nil
	}
	a.blocks[&array[0]] = b
	a.held += b.bytes
	a.peak = max(a.peak, a.held)
	return array
}

// Release frees an array of a and sets it to nil. An empty array stays as it is.
func Release[T any](a *Arena, array *[]T) {
	if len(*array) == 0 {
		return
	}
	first := &(*array)[0]
	b := a.blocks[first]
	delete(a.blocks, first)
	a.held -= b.bytes
	*array = nil
	b.free()
}

// Trim shortens an array of a to its first n elements and frees the memory behind them.
func Trim[T any](a *Arena, array *[]T, n int) {
	if n == 0 {
		Release(a, array)
		return
	}
	first := &(*array)[0]
	b := a.blocks[first]
	a.held -= b.bytes
	b.shorten(int64(n) * (b.bytes / int64(len(*array))))
	a.held += b.bytes
	a.blocks[first] = b
	*array = (*array)[:n:n]
}

// ReleaseAll frees every array of a.
func (a *Arena) ReleaseAll() {
	for first, b := range a.blocks {
		delete(a.blocks, first)
		a.held -= b.bytes
		b.free()
	}
}
