//go:build cuda

package cuda

import (
	"context"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// builder is kernel 1: it turns tuples into a graph on the device. Every phase runs as kernels and leaves its result
// on the device; only counts come back to the host. After the first error, which is kept in err, its methods do
// nothing.
type builder struct {
	ctx    context.Context
	device *gpu
	memory *driver.Allocator
	c      configuration
	tuples []graph.Edge
	lent   *plugins.DeviceTuples // if they are in device memory
	recipe *graph.Kronecker      // if there are no tuples
	n      int64                 // the number of tuples
	err    error

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

// sort sorts n keys by bits low to high, stably. It uses buffer, which is as large; the two arrays may change places.
func (b *builder) sort(keys, buffer *uint64, n int64, low, high int) {
	if b.err == nil {
		b.fail("sort", b.device.Sort(b.ctx, b.memory, keys, buffer, n, low, high))
	}
}

// fail keeps the first error.
func (b *builder) fail(action string, err error) {
	if b.err == nil && err != nil {
		b.err = fmt.Errorf("%s: %w", action, err)
	}
}

// note adds a line to the record.
func (b *builder) note(name, value string) {
	b.notes = append(b.notes, plugins.Fact{Name: name, Value: value})
}

// call queues a kernel that loops over its work.
func (b *builder) call(kernel driver.Call) { b.callBlocks(b.loopBlocks(), kernel) }

// loopBlocks is the number of blocks of a kernel that loops over its work.
func (b *builder) loopBlocks() int { return b.device.Multiprocessors * 8 }

func (b *builder) callBlocks(blocks int, kernel driver.Call) {
	if b.err == nil {
		b.fail("launch", b.device.Launch(cu.NoStream, blocks, blockThreads, kernel))
	}
}

// prefixSums replaces n numbers by their exclusive prefix sums, and writes their total.
func (b *builder) prefixSums(numbers, n, total uint64) {
	if b.err == nil {
		b.fail("launch", b.device.PrefixSums(numbers, n, total))
	}
}

// array allocates an array on the device.
func (b *builder) array(what string, bytes int64) (at uint64) {
	if b.err == nil {
		at, b.err = b.memory.OnDevice(what, bytes)
	}
	return at
}

// hostArray allocates an array in pinned host memory.
func (b *builder) hostArray(what string, bytes int64) (at uint64) {
	if b.err == nil {
		at, b.err = b.memory.OnHost(what, bytes)
	}
	return at
}

// filled allocates an array of equal bytes.
func (b *builder) filled(what string, bytes int64, with byte) uint64 {
	at := b.array(what, bytes)
	if b.err == nil {
		b.fail(what, cu.MemsetD8(cu.DevicePtr(at), with, max(bytes, driver.MinArray)))
	}
	return at
}

// release frees arrays and forgets their addresses.
func (b *builder) release(arrays ...*uint64) {
	for _, at := range arrays {
		if b.err == nil {
			b.fail("free", b.memory.Free(*at))
		}
		*at = 0
	}
}

func (b *builder) clearCounters() {
	if b.err == nil {
		b.fail("clear counters", cu.MemsetD8(cu.DevicePtr(b.counters), 0, 8*counters))
	}
}

// counter returns counter i.
func (b *builder) counter(i int) uint64 { return readOne[uint64](b, b.counters, uint64(i)) }

// readOne returns element i of an array on the device, 0 after an error.
func readOne[T uint32 | uint64](b *builder, array, i uint64) T {
	return readAll[T](b, array+i*uint64(unsafe.Sizeof(T(0))), 1)[0]
}

// readAll returns the first n elements of an array on the device, zeros after an error.
func readAll[T uint32 | uint64](b *builder, array uint64, n int64) []T {
	into := make([]T, n)
	if b.err == nil {
		b.fail("read from the device", driver.Read(into, array))
	}
	return into
}
