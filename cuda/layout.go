package cuda

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Planning: which part of kernel 1's work fits where. All of it is arithmetic, and none of it needs a GPU.

// words returns the words of 32 vertices that n vertices take.
func words(n int64) int64 { return (n + 31) / 32 }

// searchBytes is what a search needs on the device whatever becomes of the lists, beside the parents: four bitmaps, finds, queue
// and prefix sums; offsets, first neighbours and hubs of words; labels of vertices and vertices of labels; the
// output template.
func searchBytes(labels, vertices, searched int64) int64 {
	return 4*4*words(searched) + (8+4+8)*searched + (8+4)*searched + 4*words(searched) + 4*vertices + (4+4)*labels
}

// parentBytes is the size of the parent array on the device.
func parentBytes(labels int64) int64 { return 8 * labels }

const (
	pairBytes = 16        // two keys: a sort needs two arrays
	leastSort = 256 << 20 // bytes that are always left for sorting
)

// listsFit says whether lists of so many entries fit into room bytes of the device, beside those that are sorted together at
// least, widest entries, and later beside the rest bytes that a search needs.
func listsFit(room, entries, widest, rest int64) bool {
	return 4*entries+max(rest, pairBytes*widest)+leastSort <= room
}

// span is a range of vertices whose lists are sorted together.
type span struct {
	from, to int64 // vertices
	entries  int64 // duplicates included
}

// spans joins consecutive ranges of vertices, of the given width and with the given entries, until one more would have more
// entries than capacity. A single range beyond capacity is an error: it cannot be sorted.
func spans(entries []uint64, width, searched int64, capacity int64) ([]span, error) {
	var all []span
	for i, n := range entries {
		from := int64(i) * width
		to := min(from+width, searched)
		if int64(n) > capacity {
			return nil, fmt.Errorf("cuda: the lists of vertices %d to %d have %d entries, and device memory has room to sort %d: %w; "+
				"raise the option %s", from, to, n, capacity, plugins.ErrMemory, optionMemory)
		}
		last := len(all) - 1
		if last >= 0 && all[last].entries+int64(n) <= capacity {
			all[last].to = to
			all[last].entries += int64(n)
			continue
		}
		all = append(all, span{from, to, int64(n)})
	}
	return all, nil
}

// sortBits returns the bits of a target in a key, and of a whole key, for sources from a span.
func sortBits(s span, searched int64) (target, key int) {
	target = max(1, bits.Len64(uint64(max(searched-1, 0))))
	return target, target + max(1, bits.Len64(uint64(max(s.to-s.from-1, 0))))
}

// digits returns how many passes of 8 bits sort keys from bit low to bit high.
func digits(low, high int) int { return (high - low + 7) / 8 }

// alignedIndex returns where entry k of the list of vertex v lies, in entries: its word's block begins at quad `at`, its row k/4 has
// a quad for each of 32 vertices. Entries that a claim looks at are not in the block and are not counted.
func alignedIndex(at, v, k int64) int64 { return 4*(at+32*(k/4)+v%32) + k%4 }

// nearBytes returns how many bytes of frontier bits, in whole words, a block keeps in its shared memory beside what it needs: what is
// wanted, or what is left of the most that a block may have.
func nearBytes(needed, wanted, most int64) int64 { return min(wanted, max(most-needed, 0)) &^ 3 }

// checkTuples refuses what the engine cannot hold: tuples is their number, largest their largest label.
func checkTuples(tuples int64, largest uint64, wide bool) error {
	if wide || largest >= none {
		return fmt.Errorf("cuda: labels beyond %d are beyond this engine: %w", uint64(none)-1, plugins.ErrTuples)
	}
	if 2*tuples >= 1<<queueShift {
		return fmt.Errorf("cuda: %d tuples are beyond this engine: %w; it holds fewer than %d, which is scale 28 with 16 tuples a label",
			tuples, plugins.ErrTuples, int64(1)<<(queueShift-1))
	}
	return nil
}

// checkSearched refuses more vertices with lists than a queue counts: it keeps their number above the links before them.
func checkSearched(searched int64) error {
	if most := int64(1) << (64 - queueShift); searched >= most {
		return fmt.Errorf("cuda: %d vertices of degree 2 and more are beyond this engine: %w; it holds fewer than %d", searched, plugins.ErrTuples, most)
	}
	return nil
}

// checkSearch refuses a root or a parent array that do not fit the graph.
func checkSearch(root graph.Vertex, parents int, labels int64) error {
	switch {
	case int64(parents) < labels:
		return fmt.Errorf("cuda: search from %d: %d parents for a graph with labels below %d: %w; pass one for each label",
			root, parents, labels, plugins.ErrParent)
	case root < 0 || int64(root) >= int64(parents):
		return fmt.Errorf("cuda: search from %d: %w: want 0 to %d", root, plugins.ErrRoot, parents-1)
	}
	return nil
}

// checkRepeat refuses roots that are none of the graph's labels, and a loop of nothing.
func checkRepeat(roots []graph.Vertex, duration time.Duration, labels int64) error {
	if len(roots) == 0 || duration <= 0 {
		return fmt.Errorf("cuda: repeat: %d roots for %v: want at least one root and a time", len(roots), duration)
	}
	for _, root := range roots {
		if root < 0 || int64(root) >= labels {
			return fmt.Errorf("cuda: repeat from %d: %w: want 0 to %d", root, plugins.ErrRoot, labels-1)
		}
	}
	return nil
}
