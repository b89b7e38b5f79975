package cuda

import (
	"fmt"
	"math/bits"

	"github.com/tepsbench/teps/plugins"
)

// Limits of the engine, and what fits in memory during kernel 1. All of it is arithmetic that needs no GPU.

// limits returns the largest graph that kernel 1 accepts: labels must be below none, and the queue of a level must be
// able to count both directions of every tuple.
func limits() plugins.Limits { return plugins.Limits{Vertices: none, Tuples: 1<<(queueShift-1) - 1} }

// checkTuples refuses graphs beyond limits. tooLong: a label has more than 32 bits.
func checkTuples(tuples int64, maxLabel uint64, tooLong bool) error {
	if tooLong || maxLabel >= none {
		return fmt.Errorf("the tuples have labels above %d, the largest that this engine accepts: %w",
			none-1, plugins.ErrTuples)
	}
	if limit := limits().Tuples; tuples > limit {
		return fmt.Errorf("%d tuples, and this engine accepts at most %d (scale 28 with edge factor 16): %w",
			tuples, limit, plugins.ErrTuples)
	}
	return nil
}

// checkSearched refuses more vertices with lists than a queue can count: it packs their number above the number of
// edges.
func checkSearched(searched int64) error {
	if limit := int64(1)<<(64-queueShift) - 1; searched > limit {
		return fmt.Errorf("%d vertices of degree 2 or more, and this engine accepts at most %d: %w",
			searched, limit, plugins.ErrTuples)
	}
	return nil
}

// words returns how many 32-bit words a bitmap of n vertices has.
func words(n int64) int64 { return (n + 31) / 32 }

// searchBytes is what a search needs on the device besides the lists and the parents: four bitmaps and the hubs of
// words; corrections, queue and prefix sums; offsets and first neighbours; labels of vertices, vertices of labels and
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

// span is a range of vertices whose lists are sorted together.
type span struct {
	from, to int64 // vertices
	entries  int64 // duplicates included
}

// spans joins consecutive ranges of width vertices, with the given numbers of entries, into as few spans as possible
// of at most capacity entries. A single range beyond capacity cannot be sorted: ErrMemory.
func spans(entries []uint64, width, searched int64, capacity int64) ([]span, error) {
	var all []span
	for i, n := range entries {
		from := int64(i) * width
		to := min(from+width, searched)
		if int64(n) > capacity {
			return nil, fmt.Errorf("the lists of vertices %d to %d have %d entries, and device memory has room to sort %d: %w; "+
				"raise the option memory", from, to, n, capacity, plugins.ErrMemory)
		}
		if last := len(all) - 1; last >= 0 && all[last].entries+int64(n) <= capacity {
			all[last].to = to
			all[last].entries += int64(n)
			continue
		}
		all = append(all, span{from, to, int64(n)})
	}
	return all, nil
}

// sortBits returns the bits of a target in a key, and of a whole key, for sources in s.
func sortBits(s span, searched int64) (target, key int) {
	target = max(1, bits.Len64(uint64(max(searched-1, 0))))
	return target, target + max(1, bits.Len64(uint64(max(s.to-s.from-1, 0))))
}

// cachedBytes returns how many bytes of frontier bits, in whole words, a block of the search caches in shared memory
// in addition to what it needs: what it wants, or what is left below the limit.
func cachedBytes(needed, wanted, limit int64) int64 { return min(wanted, max(limit-needed, 0)) &^ 3 }
