// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"unsafe"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// builder is kernel 1: it turns tuples into a graph on the device. Every phase runs as kernels and leaves its result
// on the device; only counts come back to the host.
type builder struct {
	driver.Work
	device *gpu
	c      configuration
	tuples []graph.Edge
	lent   *plugins.DeviceTuples // if they are in device memory
	recipe *graph.Kronecker      // if there are no tuples
	n      int64                 // the number of tuples

	graph  deviceGraph
	packed bool // the lists
	phases []plugins.Phase
	notes  []plugins.Fact

	opened    uint64 // the lent tuples, 12 bytes each
	pairs     uint64 // [n] tuples u<<32 | v; 0: see forTuples
	degree    uint64 // [labels] duplicates included
	maxDegree uint64
	counters  uint64 // [counters] for the kernels' results
}

const counters = 16

// note adds a line to the record.
func (b *builder) note(name, value string) {
	b.notes = append(b.notes, plugins.Fact{Name: name, Value: value})
}

// hostArray allocates an array in pinned host memory.
func (b *builder) hostArray(what string, bytes int64) (at uint64) {
	if b.Err == nil {
		at, b.Err = b.Memory.OnHost(what, bytes)
	}
	return at
}

// filled allocates an array of equal bytes.
func (b *builder) filled(what string, bytes int64, with byte) uint64 {
	at := b.Array(what, bytes)
	b.Fill(at, with, max(bytes, driver.MinArray))
	return at
}

func (b *builder) clearCounters() { b.Fill(b.counters, 0, 8*counters) }

// counter returns counter i.
func (b *builder) counter(i int) uint64 { return readOne[uint64](b, b.counters, uint64(i)) }

// readOne returns element i of an array on the device, 0 after an error.
func readOne[T uint32 | uint64](b *builder, array, i uint64) T {
	return readAll[T](b, array+i*uint64(unsafe.Sizeof(T(0))), 1)[0]
}

// readAll returns the first n elements of an array on the device, zeros after an error.
func readAll[T uint32 | uint64](b *builder, array uint64, n int64) []T {
	return driver.Get(&b.Work, make([]T, n), array)
}
