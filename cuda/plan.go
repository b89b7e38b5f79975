// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math/bits"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// Constants that host and device share, and arithmetic that needs no GPU: limits of the engine, and what fits in memory
// during kernel 1. cuda/generate.py makes the structures that host and device share (structures.gen.go) and a function
// for each kernel that the host launches (kernels.gen.go). openGPU compares the sizes of the structures.

//go:generate python3 generate.py

const (
	maxRanks     = team.MaxRanks // MAX_RANKS: GPUs that search a graph together
	numPhases    = team.NumPhases
	chunkWords   = 8                     // CHUNK_WORDS: words of consecutive vertices that have the same owner
	mailboxBytes = maxRanks * 2 * 12 * 8 // struct Mailbox

	maxRanges    = 4096           // MAX_RANGES: ranges of vertices that are counted separately before lists are sorted
	none         = 1<<32 - 1      // NONE: not a vertex, not a label
	launchLevels = 65536          // LEVELS: levels that one launch of the search runs
	blockThreads = driver.Threads // of a block of every kernel but search and prefix_sums

	// Kernel 3:
	pathSteps     = 4096    // PATH_STEPS: steps that one launch runs
	boundBits     = 24      // BOUND_BITS: bits of a bound in a key
	degreeClasses = 4       // CLASSES: of degrees of vertices that are not hubs
	pathVertices  = 1 << 30 // limit of vertices with lists: a queue has 30 bits for a vertex
	pathEntries   = 1 << 32 // limit of entries: a head has 32 bits for the place of a list
)

// limits returns the largest graph that kernel 1 accepts: labels must be below none.
func limits() plugins.Limits { return plugins.Limits{Vertices: none, Tuples: 1 << 34} }

// checkTuples refuses graphs beyond limits. tooLong: a label has more than 32 bits.
func checkTuples(tuples int64, maxLabel uint64, tooLong bool) error {
	if tooLong || maxLabel >= none {
		return fmt.Errorf("the tuples have labels above %d, the largest that this engine accepts: %w",
			none-1, plugins.ErrTuples)
	}
	if limit := limits().Tuples; tuples > limit {
		return fmt.Errorf("%d tuples, and this engine accepts at most %d (scale 30 with edge factor 16): %w",
			tuples, limit, plugins.ErrTuples)
	}
	return nil
}

// queueShift returns how many bits the edges of a queue take in a counter that has the number of its vertices in the
// other bits. It refuses a graph whose queues can have too many of both.
func queueShift(searched, entries uint64) (uint64, error) {
	shift := bits.Len64(entries)
	if shift+bits.Len64(searched) > 64 {
		return 0, fmt.Errorf("%d vertices of degree 2 or more with %d neighbors: their product must be below 2^64: %w",
			searched, entries, plugins.ErrTuples)
	}
	return uint64(shift), nil
}

// words returns how many 32-bit words a bitmap of n vertices has.
func words(n int64) int64 { return (n + 31) / 32 }

// searchBytes is what a search needs on the device besides the lists and the parents: four bitmaps and the hubs of
// words; corrections, queue and prefix sums; offsets and first neighbors; labels of vertices, vertices of labels and
// the output template.
func searchBytes(labels, vertices, searched int64) int64 {
	return 5*4*words(searched) + (8+4+8)*searched + (8+4)*searched + 4*vertices + (4+4)*labels
}

// parentBytes is the size of the parent array on the device.
func parentBytes(labels int64) int64 { return 8 * labels }

const (
	pairBytes    = 16        // two keys: a sort needs two arrays
	minSortBytes = 256 << 20 // always left for sorting
)

// listsFit reports whether lists with the given number of entries fit into available bytes on the device: with the
// sort of the largest range, which has maxRange entries, and later with the rest bytes that a search needs.
func listsFit(available, entries, maxRange, rest int64) bool {
	return 4*entries+max(rest, pairBytes*maxRange)+minSortBytes <= available
}

const (
	lengthBits   = 26 // LENGTH_BITS: bits of the length of a packed list
	packingBytes = 22 // of an entry while it is packed: its key, twice, and its share of the packed lists
)

// packedBytes is an upper estimate of the size of packed lists, 20 bits an entry. Kronecker graphs take 14 at scale 24,
// and half a bit more at each larger one; lists of few vertices take more.
func packedBytes(entries int64) int64 { return entries * 5 / 2 }

// packable reports whether packed lists with about the given number of entries fit into available bytes, with the rest
// that a search needs.
func packable(available, entries, rest int64) bool {
	return packedBytes(entries)+rest+minSortBytes <= available
}

// sortBits returns the bits of a target in a key, and of a whole key, for sources in s.
func sortBits(s offload.Span, searched int64) (target, key int) {
	target = max(1, bits.Len64(uint64(max(searched-1, 0))))
	return target, target + max(1, bits.Len64(uint64(max(s.To-s.From-1, 0))))
}

// cachedBytes returns how many bytes of frontier bits, in reads of 16, a block of the search caches in shared memory
// in addition to the bytes that it needs: as many as it wants, or as fit below the limit.
func cachedBytes(needed, wanted, limit int64) int64 { return min(wanted, max(limit-needed, 0)) &^ 15 }
