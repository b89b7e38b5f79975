//go:build cuda

package cuda

import (
	"fmt"
	"sort"

	"github.com/tepsbench/teps/cuda/driver"
)

// lists are the neighbour lists of sources 0 to sources-1, made of keys source<<bits | target.
type lists struct {
	sources, targets        int64
	offset, target, entries uint64                                        // as in deviceGraph
	count                   func(width, ranges, counts uint64)            // the entries of ranges of sources
	keys                    func(fromTo, bits, keys, written uint64)      // of a range
	place                   func(entries, maxRange int64) (target uint64) // allocates the lists
}

// makeLists makes the neighbour lists: keys of both directions of every tuple, sorted, without duplicates.
func (b *builder) makeLists() {
	g := &b.graph
	l := lists{
		sources: int64(g.Searched), targets: int64(g.Searched), place: b.placeLists,
		count: func(width, ranges, counts uint64) {
			b.callBlocks(int(ranges), "range_entries", g.Label, b.degree, g.Searched, width, counts)
		},
		keys: func(fromTo, bits, keys, written uint64) {
			b.call("list_keys", b.pairs, uint64(len(b.tuples)), g.Vertex, g.Searched, fromTo, bits, keys, written)
		},
	}
	b.sortLists(&l)
	g.Offset, g.Target, g.Entries = l.offset, l.target, l.entries
	g.SourceOffset, g.SourceTarget = g.Offset, g.Target
	b.release(&b.pairs, &b.degree)
}

// sortLists makes lists, range by range.
func (b *builder) sortLists(l *lists) {
	l.offset = b.filled("offsets", 8*(l.sources+1), 0)
	entries, width := b.countEntries(l)
	total, maxRange := int64(0), int64(0)
	for _, n := range entries {
		total += int64(n)
		maxRange = max(maxRange, int64(n))
	}
	l.target = l.place(total, maxRange)
	// What a search needs besides the lists is allocated after the sort has freed its memory.
	capacity := max((b.memory.Room()-minSortBytes)/pairBytes, minSortBytes/pairBytes)
	parts, err := spans(entries, width, l.sources, min(capacity, max(total, 1)))
	b.fail("lists", err)
	maxPart := int64(0)
	for _, s := range parts {
		maxPart = max(maxPart, s.entries)
	}
	keys := b.array("keys to sort", 8*maxPart)
	buffer := b.array("keys to sort", 8*maxPart)
	for _, s := range parts {
		b.appendLists(l, s, &keys, &buffer)
	}
	if len(parts) > 1 {
		b.note("parts in which lists were sorted", fmt.Sprint(len(parts)))
	}
	b.release(&keys, &buffer)
}

// countEntries returns the entries of consecutive ranges of sources, duplicates included, and the width of a range.
func (b *builder) countEntries(l *lists) (entries []uint64, width int64) {
	width = max((l.sources+maxRanges-1)/maxRanges, 1)
	ranges := (l.sources + width - 1) / width
	if ranges == 0 {
		return nil, width
	}
	counts := b.filled("entries of ranges", 8*ranges, 0)
	l.count(uint64(width), uint64(ranges), counts)
	entries = readAll[uint64](b, counts, ranges)
	b.release(&counts)
	return entries, width
}

// placeLists allocates the lists on the device, or pinned in the host if the option says so or if they do not fit
// besides what a search needs, or besides the sort of the largest range.
func (b *builder) placeLists(entries, maxRange int64) (target uint64) {
	g := &b.graph
	rest := searchBytes(int64(g.Labels), int64(g.Vertices), int64(g.Searched)) + parentBytes(int64(g.Labels))
	if b.c.lists == "device" || b.c.lists == "auto" && listsFit(b.memory.Room(), entries, maxRange, rest) {
		return b.array("neighbour lists", 4*entries)
	}
	b.note("neighbour lists", "pinned in the host, read by the kernels over the bus")
	return b.hostArray("neighbour lists", 4*entries)
}

// appendLists makes the lists of the sources of s, behind the existing ones.
func (b *builder) appendLists(l *lists, s span, keys, buffer *uint64) {
	from, to := uint64(s.from), uint64(s.to)
	targetBits, keyBits := sortBits(s, l.targets)
	b.clearCounters()
	l.keys(from<<32|to, uint64(targetBits), *keys, b.counters)
	n := b.counter(0)
	b.sort(keys, buffer, int64(n), 0, keyBits)

	if b.err == nil {
		all := driver.Keys{Address: *keys, N: n, TargetBits: targetBits, From: from, To: to}
		written, err := b.device.MakeLists(b.memory, all, l.entries, l.target, l.offset)
		b.fail("lists", err)
		l.entries += written
	}
}

// derive makes the arrays that follow from the lists, those that a search writes, and the aligned blocks in the
// memory that is left.
func (b *builder) derive() {
	g := &b.graph
	b.deriveArrays()
	b.call("output_template", g.OutputTemplate)
	g.HubDegree = g.HubEdges
	if rest := g.Searched - g.Hubs; rest > 0 {
		g.AverageDegree = (g.Entries - readOne[uint64](b, g.Offset, g.Hubs)) / rest
	}
	b.align()
	b.publish()
}

// deriveArrays makes all of them but the template and the aligned blocks.
func (b *builder) deriveArrays() {
	g := &b.graph
	n, all, hubs := int64(g.Searched), 32*int64(g.FrontierWords), int64(g.Hubs)
	const line = 256 // bytes: where an array begins
	bitmap := (4*int64(g.FrontierWords) + line - 1) / line * line
	for _, a := range []struct {
		at    *uint64
		what  string
		bytes int64
	}{
		{&g.FirstNeighbour, "first neighbours", 4 * n},
		{&g.WordHub, "hubs of words", 4 * int64(g.Words)},
		{&g.HubEdges, "edges of hubs", 4 * hubs},
		{&g.OutputTemplate, "output template", 4 * int64(g.Labels)},
		{&g.Unvisited, "bitmap", 4 * int64(g.Columns*g.Words)},
		{&g.Frontier[0], "bitmaps", 3 * bitmap},
		{&g.Corrections, "corrections", 8 * n},
		{&g.Queue, "queue", 4 * all},
		{&g.EdgesBefore, "edges before each queued vertex", 8 * all},
		{&g.Written, "corrections written by each block", 8 * int64(b.device.Multiprocessors)},
	} {
		*a.at = b.array(a.what, a.bytes)
	}
	g.Frontier[1], g.Frontier[2] = g.Frontier[0]+uint64(bitmap), g.Frontier[0]+uint64(2*bitmap)
	b.publish()
	b.call("first_neighbours", g.FirstNeighbour)
	b.call("word_hubs", g.WordHub)
	b.callBlocks(max((int(hubs)+blockThreads-1)/blockThreads, 1), "hub_edges", g.HubEdges)
}

// publish makes the graph visible to the kernels.
func (b *builder) publish() {
	if b.err == nil {
		b.fail("publish the graph", driver.Write(b.device.graph, b.graph))
	}
}

const rowBytes = 16 // of one vertex in an aligned block: four entries of its list

// align makes aligned blocks for the share of the vertices that the options ask for, or for as many as fit besides a
// parent array.
func (b *builder) align() {
	g := &b.graph
	count := words(int64(g.Searched) * int64(b.c.aligned) / 100)
	if count == 0 {
		return
	}
	g.AlignedRows = b.array("rows of blocks", 4*count)
	g.AlignedBegin = b.array("begin of each block", 8*(count+1))
	b.call("aligned_rows", uint64(count), g.AlignedRows, g.AlignedBegin)
	b.prefixSums(g.AlignedBegin, uint64(count), g.AlignedBegin+uint64(8*count))
	ends := readAll[uint64](b, g.AlignedBegin, count+1)[1:]
	room := uint64(max(b.memory.Room()-parentBytes(int64(g.Labels)), 0) / rowBytes)
	fit := sort.Search(int(count), func(i int) bool { return ends[i] > room })
	if fit < int(count) {
		b.note("aligned", fmt.Sprintf("%d %% of the vertices, as many as fit", 100*32*int64(fit)/int64(g.Searched)))
	}
	if fit == 0 {
		return
	}
	g.Aligned = b.array("aligned blocks", rowBytes*int64(ends[fit-1]))
	g.AlignedWords = uint64(fit)
	b.call("aligned_fill", uint64(fit), g.AlignedRows, g.AlignedBegin, g.Aligned)
}
