//go:build cuda

package cuda

import (
	"fmt"
	"sort"
)

// maxRanges is how many ranges of vertices are counted separately, to find out how many can be sorted together.
const maxRanges = 4096

// makeLists makes the neighbour lists: keys of both directions of every tuple, sorted, without duplicates.
func (b *builder) makeLists() {
	g := &b.graph
	searched := int64(g.Searched)
	g.Offset = b.filled("offsets", 8*(searched+1), 0)
	entries, width := b.countEntries()
	total, maxRange := int64(0), int64(0)
	for _, n := range entries {
		total += int64(n)
		maxRange = max(maxRange, int64(n))
	}
	b.placeLists(total, maxRange)
	// What a search needs besides the lists is allocated after the sort has freed its memory.
	capacity := max((b.memory.room()-minSortBytes)/pairBytes, minSortBytes/pairBytes)
	parts, err := spans(entries, width, searched, min(capacity, max(total, 1)))
	b.fail("lists", err)
	maxPart := int64(0)
	for _, s := range parts {
		maxPart = max(maxPart, s.entries)
	}
	keys := b.array("keys to sort", 8*maxPart)
	buffer := b.array("keys to sort", 8*maxPart)
	for _, s := range parts {
		b.appendLists(s, &keys, &buffer)
	}
	if len(parts) > 1 {
		b.note("parts in which lists were sorted", fmt.Sprint(len(parts)))
	}
	b.release(&keys, &buffer, &b.pairs, &b.degree)
}

// countEntries returns the entries of consecutive ranges of vertices, duplicates included, and the width of a range.
func (b *builder) countEntries() (entries []uint64, width int64) {
	searched := int64(b.graph.Searched)
	width = max((searched+maxRanges-1)/maxRanges, 1)
	ranges := (searched + width - 1) / width
	if ranges == 0 {
		return nil, width
	}
	counts := b.array("entries of ranges", 8*ranges)
	b.callBlocks(int(ranges), "range_entries", b.graph.Label, b.degree, b.graph.Searched, uint64(width), counts)
	entries = readAll[uint64](b, counts, ranges)
	b.release(&counts)
	return entries, width
}

// placeLists allocates the lists on the device, or pinned in the host if the option says so or if they do not fit
// besides what a search needs, or besides the sort of the largest range.
func (b *builder) placeLists(entries, maxRange int64) {
	g := &b.graph
	rest := searchBytes(int64(g.Labels), int64(g.Vertices), int64(g.Searched)) + parentBytes(int64(g.Labels))
	if b.c.lists == "device" || b.c.lists == "auto" && listsFit(b.memory.room(), entries, maxRange, rest) {
		g.Target = b.array("neighbour lists", 4*entries)
		return
	}
	b.note("neighbour lists", "pinned in the host, read by the kernels over the bus")
	g.Target = b.hostArray("neighbour lists", 4*entries)
}

// appendLists makes the lists of the vertices of s, behind the existing ones.
func (b *builder) appendLists(s span, keys, buffer *uint64) {
	g := &b.graph
	from, to := uint64(s.from), uint64(s.to)
	targetBits, keyBits := sortBits(s, int64(g.Searched))
	b.clearCounters()
	b.call("list_keys", b.pairs, uint64(len(b.tuples)), g.Vertex, g.Searched, from<<32|to, uint64(targetBits),
		*keys, b.counters)
	n := b.counter(0)
	b.sort(keys, buffer, int64(n), 0, keyBits)

	blocks := b.loopBlocks()
	unique := b.array("entries of blocks", int64(8*blocks))
	b.callBlocks(blocks, "count_unique", *keys, n, unique)
	b.prefixSums(unique, uint64(blocks), b.counters)
	b.callBlocks(blocks, "write_lists", *keys, n, uint64(targetBits), from, g.Entries, unique, g.Target, g.Offset)
	g.Entries += b.counter(0)
	b.call("end_lists", *keys, n, uint64(targetBits), from, to, g.Entries, g.Offset)
	b.release(&unique)
}

// derive makes the arrays that follow from the lists, those that a search writes, and the aligned blocks in the
// memory that is left.
func (b *builder) derive() {
	g := &b.graph
	n, hubs := int64(g.Searched), int64(g.Hubs)
	bitmap := 4 * words(n)
	for _, a := range []struct {
		at    *uint64
		what  string
		bytes int64
	}{
		{&g.FirstNeighbour, "first neighbours", 4 * n},
		{&g.WordHub, "hubs of words", 4 * words(n)},
		{&g.HubEdges, "edges of hubs", 4 * hubs},
		{&g.OutputTemplate, "output template", 4 * int64(g.Labels)},
		{&g.Unvisited, "bitmap", bitmap},
		{&g.Frontier[0], "bitmap", bitmap},
		{&g.Frontier[1], "bitmap", bitmap},
		{&g.Frontier[2], "bitmap", bitmap},
		{&g.Corrections, "corrections", 8 * n},
		{&g.Queue, "queue", 4 * n},
		{&g.EdgesBefore, "edges before each queued vertex", 8 * n},
		{&g.Written, "corrections written by each block", 8 * int64(b.device.multiprocessors)},
	} {
		*a.at = b.array(a.what, a.bytes)
	}
	b.publish()
	b.call("first_neighbours", g.FirstNeighbour)
	b.call("word_hubs", g.WordHub)
	b.callBlocks(max((int(hubs)+blockThreads-1)/blockThreads, 1), "hub_edges", g.HubEdges)
	b.call("output_template", g.OutputTemplate)
	if rest := g.Searched - g.Hubs; rest > 0 {
		g.AverageDegree = (g.Entries - readOne[uint64](b, g.Offset, g.Hubs)) / rest
	}
	b.align()
	b.publish()
}

// publish makes the graph visible to the kernels.
func (b *builder) publish() {
	if b.err == nil {
		b.fail("publish the graph", write(b.device.graph, b.graph))
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
	room := uint64(max(b.memory.room()-parentBytes(int64(g.Labels)), 0) / rowBytes)
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
