// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"fmt"
	"strings"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
)

// tuning has every constant that was chosen by measuring. None of them changes a result.
type tuning struct {
	group     int    // items of a work-group of the search, at most 1024
	perUnit   int    // work-groups of the search for each compute unit
	queue     int    // QUEUE of kernels/search.cl
	piece     int    // PIECE
	oneGroup  int    // ONE_GROUP
	alone     int    // items of the work-group that runs alone; it follows 16 times as many edges
	turns     int    // TURNS; 0: every step is a launch
	reads     int    // READS
	scan      int    // SCAN
	sortGroup int    // items of a work-group of kernel 1
	sortUnit  int    // work-groups of kernel 1 for each compute unit
	batch     int    // slots of the first batch of a search; 0: kernel 1 finds out
	compiler  string // further options of the compiler
}

// tuned returns the constants for a device.
func tuned(d driver.Device) tuning {
	if d.Kind == "cpu" {
		t := tuning{group: 64, perUnit: 2, queue: 1024, piece: 256, oneGroup: 1024, alone: 64, reads: 4, scan: 16,
			sortGroup: 64, sortUnit: 4}
		if d.Platform == "Portable Computing Language" { // pocl; llvmpipe ends loops early (docs/opencl.md)
			t.perUnit, t.turns = 1, 2
		}
		return t
	}
	return tuning{group: 128, perUnit: 8, queue: 1024, piece: 256, oneGroup: 512, alone: 1024, reads: 4, scan: 64,
		sortGroup: 256, sortUnit: 8}
}

// flags returns the options of the compiler for the search with work-groups of a number of items.
func (t tuning) flags(group int) string {
	return fmt.Sprintf("-DWG=%du -DQUEUE=%du -DPIECE=%du -DONE_GROUP=%du -DREADS=%d -DSCAN=%du -DTURNS=%du -DALONE=0 %s",
		group, t.queue, t.piece, t.oneGroup, t.reads, t.scan, t.turns, t.compiler)
}

// flagsAlone returns those for the work-group that runs alone.
func (t tuning) flagsAlone(group int) string {
	t.queue, t.oneGroup, t.turns = 1, 16*t.oneGroup, 0
	return strings.Replace(t.flags(group), "-DALONE=0", "-DALONE=1", 1)
}

const (
	none      = 1<<32 - 1 // NONE: not a vertex, not a label
	block     = 8         // BLOCK: words that stay together
	longPiece = 16        // LONG / PIECE
	maxBatch  = 64        // slots that are queued before the host looks at the result
	wordBits  = 32
)

// sizes is struct Graph of kernels/graph.cl.
type sizes struct {
	Labels, Vertices, Searched, Words, Hubs, ChunkWords, Steps uint32
	Alpha, Beta                                                float32
}

// chunkWords returns how many words of a bitmap each of a number of work-groups takes at a time, so that all have as
// many chunks.
func chunkWords(words, groups, group int) int {
	rounds := max((words+groups*group-1)/(groups*group), 1)
	each := (words + groups*rounds - 1) / (groups * rounds)
	return min(max((each+block-1)/block*block, block), group)
}

// hubCount returns how many hubs a graph has.
func hubCount(vertices uint32) uint32 { return min(max(vertices/64&^31, 64), 1<<18, vertices) }

const (
	pairBytes  = 8     // of a tuple on the device
	entryBytes = 2 * 4 // of a tuple in the lists
	keyBytes   = 2 * 8 // of a list entry that is sorted: two keys

	// maxTuples keeps the index of an entry, and its sum with the stride of a loop, below 2^32.
	maxTuples = 1<<31 - 1<<14
)

// searchBytes is what a search needs on the device besides the lists: labels, vertices, template, parents; offsets,
// quads, queues and parents by vertex; bitmaps.
func searchBytes(labels, searched int64) int64 { return (4+4+4+8)*labels + (4+16+2*8+4+1)*searched }

// limits returns the largest graph that kernel 1 accepts on a device: offsets have 32 bits, the lists of all vertices
// are one array, and the tuples are on the device while they are made.
func limits(d driver.Device) plugins.Limits {
	tuples := min(d.MaxArray/entryBytes, (d.Memory-d.Memory/8)/(pairBytes+entryBytes), maxTuples) // the rest: a sort
	return plugins.Limits{Vertices: min(d.MaxArray/16, none), Tuples: tuples}
}

// checkTuples refuses graphs beyond the limits of a device. tooLong: a label has more than 32 bits.
func checkTuples(d driver.Device, tuples int64, maxLabel uint32, tooLong bool) error {
	l := limits(d)
	switch {
	case tooLong || maxLabel >= none:
		return fmt.Errorf("the tuples have labels above %d, the largest that this engine accepts: %w",
			none-1, plugins.ErrTuples)
	case tuples > maxTuples:
		return fmt.Errorf("%d tuples, and this engine accepts at most %d: %w", tuples, maxTuples, plugins.ErrTuples)
	case tuples > l.Tuples || int64(maxLabel) >= l.Vertices:
		return fmt.Errorf("%d tuples and labels up to %d; the OpenCL device %s takes at most %d and %d, in arrays of at "+
			"most %d bytes: %w; use a smaller graph or another device", tuples, maxLabel, d.Name, l.Tuples, l.Vertices-1,
			d.MaxArray, plugins.ErrMemory)
	}
	return nil
}

// hostMemory bounds the memory of the host. The device's is the host's for a processor, and for a GPU without memory.
func hostMemory(devices []driver.Device) plugins.Memory {
	m := plugins.Memory{Fixed: 1 << 30} // the driver with its compiler, staging buffers
	if i, err := choose(devices, automatic); err == nil && devices[i].Unified {
		m.PerVertex = float64(searchBytes(1, 1))
		m.PerTuple = pairBytes + entryBytes + 2*keyBytes
	}
	return m
}
