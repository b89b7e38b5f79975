// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"sort"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// lists are the neighbor lists of sources 0 to sources-1, made of keys source<<bits | target.
type lists struct {
	sources, targets        int64
	offset, target, entries uint64                                   // as in deviceGraph
	maxRanges               int64                                    // that count takes
	count                   func(width, ranges, counts uint64)       // the entries of ranges of sources
	keys                    func(fromTo, bits, keys, written uint64) // of a range
}

// makeLists makes the neighbor lists: keys of both directions of every tuple, sorted, without duplicates.
func (b *builder) makeLists() {
	g := &b.graph
	l := lists{
		sources: int64(g.Searched), targets: int64(g.Searched), maxRanges: 1 << 16,
		count: func(width, ranges, counts uint64) {
			b.Blocks(int(ranges), rangeEntriesKernel(g.Label, b.degree, g.Searched, width, counts))
		},
		keys: func(fromTo, bits, keys, written uint64) {
			b.forTuples(func(pairs, n uint64) {
				b.Loop(listKeysKernel(pairs, n, g.Vertex, g.Searched, fromTo, bits, keys, written))
			})
		},
	}
	ranges := b.countEntries(&l)
	b.Release(&b.degree)
	if b.choosePacked(ranges.Sum()) {
		b.packLists(&l, ranges)
	} else {
		b.sortLists(&l, ranges)
	}
	g.Offset, g.Target, g.Entries = l.offset, l.target, l.entries
	g.SourceOffset, g.SourceTarget = g.Offset, g.Target
	b.Release(&b.pairs)
}

// sortLists makes plain lists, span by span.
func (b *builder) sortLists(l *lists, ranges offload.Ranges[uint64]) {
	total, maxRange := ranges.Sum()
	l.target = b.placeLists(total, maxRange)
	// What a search needs besides the lists is allocated after the sort has freed its memory.
	capacity := min(max((b.Memory.Room()-minSortBytes)/pairBytes, minSortBytes/pairBytes), total)
	keys := b.Array("keys to sort", 8*capacity)
	buffer := b.Array("keys to sort", 8*capacity)
	spans := 0
	for next := int64(0); next < l.sources && b.Err == nil; spans++ {
		s, err := ranges.Span(next, capacity)
		b.Fail("lists", err)
		next = s.To
		sorted := b.sortKeys(l, s, &keys, &buffer)
		l.entries += b.MakeLists(sorted, l.entries, l.target, l.offset)
	}
	if spans > 1 {
		b.note("parts in which lists were sorted", fmt.Sprint(spans))
	}
	b.Release(&keys, &buffer)
}

// packLists makes packed lists (kernels/neighbors.cuh), span by span, in all the memory that is left, and gives back
// what they do not need. They grow from its beginning, and the keys of a span are sorted at its end: they become plain
// lists in one of the two arrays of the sort, and the packed sizes take the other one.
func (b *builder) packLists(l *lists, ranges offload.Ranges[uint64]) {
	total, _ := ranges.Sum()
	room := min(b.Memory.Room()-minSortBytes, packingBytes*total+minSortBytes)
	size := int64(0)
	if b.Err == nil {
		l.target, size, b.Err = b.Memory.Shrinkable("packed lists", room)
	}
	end, used, spans := l.target+uint64(size), uint64(0), 0 // used: words
	for next := int64(0); next < l.sources && b.Err == nil; spans++ {
		s, err := ranges.Span(next, (int64(end-l.target)-4*int64(used))/packingBytes)
		b.Fail("lists", err)
		next = s.To
		keys := (end - 8*uint64(s.Entries)) &^ 0xff
		buffer := (keys - 8*uint64(s.Entries)) &^ 0xff
		sorted := b.sortKeys(l, s, &keys, &buffer)
		offset, sources := l.offset+8*uint64(s.From), uint64(s.To-s.From)
		l.entries += b.MakeLists(sorted, 0, buffer, l.offset)
		b.Loop(packedSizesKernel(offset, buffer, sources, keys))
		b.PrefixSums(keys, sources, b.counters)
		words := b.counter(0)
		if room = int64(min(keys, buffer)) - int64(l.target+4*used) - 4; int64(4*words) > room {
			b.Fail("lists", fmt.Errorf("the packed lists of vertices %d to %d take %s, and %s are left: %w; %s",
				s.From, s.To-1, units.Bytes(int64(4*words)), units.Bytes(room), plugins.ErrMemory, advice))
		}
		b.Loop(packListsKernel(offset, buffer, sources, used, keys, l.target))
		if b.Err == nil {
			b.Fail("lists", cu.MemcpyDtoD(cu.DevicePtr(offset), cu.DevicePtr(keys), int64(8*sources)))
		}
		used += words
	}
	b.note("neighbor lists", fmt.Sprintf("packed, %s: %.1f bits for each of %d entries",
		units.Bytes(int64(4*used)), 32*float64(used)/max(float64(l.entries), 1), l.entries))
	b.note("parts in which lists were sorted", fmt.Sprint(spans))
	if b.c.Text("lists") == "host" {
		device := l.target
		l.target = b.HostArray("packed lists", int64(4*used+4))
		if b.Err == nil {
			err := cu.MemcpyDtoH(b.Memory.Host(l.target), cu.DevicePtr(device), int64(4*used))
			b.Fail("copy packed lists to the host", err)
		}
		b.Release(&device)
	} else if b.Err == nil {
		b.Fail("give memory back", b.Memory.Shrink(l.target, int64(4*used+4))) // a lane may read the word behind them
	}
}

// choosePacked reports whether to pack the lists, and loads the kernels for it. adjacency=auto packs them where plain
// ones do not fit on the device and packed ones do; otherwise they are plain, if need be in the host.
func (b *builder) choosePacked(entries, maxRange int64) bool {
	rest := b.restBytes()
	packed := b.c.Text("adjacency") == "packed"
	if b.c.Text("adjacency") == "auto" && b.c.Text("lists") != "host" {
		packed = !listsFit(b.Memory.Room(), entries, maxRange, rest) && packable(b.Memory.Room(), entries, rest) &&
			b.maxDegree < 1<<lengthBits
	}
	switch {
	case !packed || b.Err != nil:
		return false
	case b.maxDegree >= 1<<lengthBits:
		b.Fail("lists", fmt.Errorf("a vertex has %d tuples, and packed lists have at most %d entries: %w; set adjacency=csr",
			b.maxDegree, 1<<lengthBits-1, plugins.ErrTuples))
	case !packable(b.Memory.Room(), entries, rest):
		b.Fail("lists", fmt.Errorf("packed lists of %d entries take about %s, all other arrays of a search %s, and %s are "+
			"left on the device: %w; use a GPU with more memory, several GPUs, or lists=host",
			entries, units.Bytes(packedBytes(entries)), units.Bytes(rest), units.Bytes(b.Memory.Room()), plugins.ErrMemory))
	}
	b.Fail("load the kernels for packed lists", errors.Join(b.device.Load(packedImage), b.device.prepare(false)))
	b.packed = b.Err == nil
	return b.packed
}

// countEntries makes room for the offsets, and counts the entries of ranges of sources.
func (b *builder) countEntries(l *lists) offload.Ranges[uint64] {
	l.offset = b.Filled("offsets", 8*(l.sources+1), 0)
	r := offload.Ranges[uint64]{Sources: l.sources, Width: max((l.sources+l.maxRanges-1)/l.maxRanges, 1)}
	ranges := (l.sources + r.Width - 1) / r.Width
	if ranges == 0 {
		return r
	}
	counts := b.Filled("entries of ranges", 8*ranges, 0)
	l.count(uint64(r.Width), uint64(ranges), counts)
	r.Entries = driver.Get(&b.Work, make([]uint64, ranges), counts)
	b.Release(&counts)
	return r
}

// restBytes is what a search needs on the device besides the lists.
func (b *builder) restBytes() int64 {
	g := &b.graph
	return searchBytes(int64(g.Labels), int64(g.Vertices), int64(g.Searched)) + parentBytes(int64(g.Labels))
}

// placeLists allocates the lists on the device, or pinned in the host if the option says so or if they do not fit
// besides what a search needs, or besides the sort of the largest range.
func (b *builder) placeLists(entries, maxRange int64) (target uint64) {
	where := b.c.Text("lists")
	if where == "device" || where == "auto" && listsFit(b.Memory.Room(), entries, maxRange, b.restBytes()) {
		return b.Array("neighbor lists", 4*entries)
	}
	b.note("neighbor lists", "pinned in the host, read by the kernels over the bus")
	return b.HostArray("neighbor lists", 4*entries)
}

// sortKeys makes and sorts the keys of the sources of s. The two arrays may change places.
func (b *builder) sortKeys(l *lists, s offload.Span, keys, buffer *uint64) driver.Keys {
	from, to := uint64(s.From), uint64(s.To)
	targetBits, keyBits := sortBits(s, l.targets)
	b.clearCounters()
	l.keys(from<<32|to, uint64(targetBits), *keys, b.counters)
	n := b.counter(0)
	b.Sort(keys, buffer, int64(n), 0, keyBits)
	return driver.Keys{Address: *keys, N: n, TargetBits: targetBits, From: from, To: to}
}

// derive makes the arrays that follow from the lists, those that a search writes, and the aligned blocks in the
// memory that is left.
func (b *builder) derive() {
	g := &b.graph
	b.deriveArrays()
	b.Loop(outputTemplateKernel(g.OutputTemplate))
	g.HubDegree = g.HubEdges
	if rest := g.Searched - g.Hubs; rest > 0 {
		g.AverageDegree = (g.Entries - b.hubEntries()) / rest
	}
	shift, err := queueShift(g.Searched, g.Entries)
	b.Fail("lists", err)
	g.QueueShift = shift
	b.align()
	b.publish()
}

// hubEntries returns the entries of the lists of own hubs.
func (b *builder) hubEntries() (entries uint64) {
	if !b.packed {
		return driver.One[uint64](&b.Work, b.graph.Offset+8*b.graph.OwnHubs)
	}
	for _, offset := range driver.Get(&b.Work, make([]uint64, b.graph.OwnHubs), b.graph.Offset) {
		entries += offset & (1<<lengthBits - 1)
	}
	return entries
}

// deriveArrays makes all of them but the template and the aligned blocks.
func (b *builder) deriveArrays() {
	g := &b.graph
	n, all, hubs := int64(g.Searched), 32*int64(g.FrontierWords), int64(g.Hubs)
	const line = 256 // bytes: where an array begins
	bitmap := (4*int64(g.FrontierWords) + line - 1) / line * line
	bitmaps := 3 * bitmap
	if b.c.Int("ranks") > 0 { // other processes open them
		bitmaps = team.Exported(bitmaps)
	}
	for _, a := range []struct {
		at    *uint64
		what  string
		bytes int64
	}{
		{&g.FirstNeighbor, "first neighbors", 4 * n},
		{&g.WordHub, "hubs of words", 4 * int64(g.Words)},
		{&g.HubEdges, "edges of hubs", 4 * hubs},
		{&g.OutputTemplate, "output template", 4 * int64(g.Labels)},
		{&g.Unvisited, "bitmap", 4 * int64(g.Columns*g.Words)},
		{&g.Frontier[0], "bitmaps", bitmaps},
		{&g.Corrections, "corrections", 8 * n},
		{&g.Queue, "queue", 4 * all},
		{&g.EdgesBefore, "edges before each queued vertex", 8 * all},
		{&g.Written, "corrections written by each block", 8 * int64(b.device.Multiprocessors)},
	} {
		*a.at = b.Array(a.what, a.bytes)
	}
	g.Frontier[1], g.Frontier[2] = g.Frontier[0]+uint64(bitmap), g.Frontier[0]+uint64(2*bitmap)
	b.publish()
	b.Loop(firstNeighborsKernel(g.FirstNeighbor))
	b.Loop(wordHubsKernel(g.WordHub))
	b.Blocks(max((int(hubs)+blockThreads-1)/blockThreads, 1), hubEdgesKernel(g.HubEdges))
}

const (
	rowBytes    = 16 // of one vertex in an aligned block: four entries of its list
	alignedRows = 16 // maximum rows of a block: a scan rarely gets further
)

// align makes aligned blocks for the share of the vertices that the options ask for. If they do not fit besides a
// parent array they have fewer rows, since most scans end in the first one, and then as many blocks are made as fit.
func (b *builder) align() {
	g := &b.graph
	count := words(int64(g.Searched) * int64(b.c.Int("aligned")) / 100)
	if count == 0 || b.c.Text("bottomup") == "csr" {
		return
	}
	g.AlignedRows = b.Array("rows of blocks", 4*count)
	g.AlignedBegin = b.Array("begin of each block", 8*(count+1))
	room := uint64(max(b.Memory.Room()-parentBytes(int64(g.Labels)), 0) / rowBytes)
	for limit := uint64(alignedRows); ; limit /= 2 {
		total := g.AlignedBegin + uint64(8*count)
		b.Loop(alignedRowsKernel(uint64(count), limit, g.AlignedRows, g.AlignedBegin))
		b.PrefixSums(g.AlignedBegin, uint64(count), total)
		if driver.One[uint64](&b.Work, total) <= room || limit == 1 {
			b.note("rows of aligned blocks", fmt.Sprintf("at most %d", limit))
			break
		}
	}
	ends := driver.Get(&b.Work, make([]uint64, count+1), g.AlignedBegin)[1:]
	fit := sort.Search(int(count), func(i int) bool { return ends[i] > room })
	if fit < int(count) {
		b.note("aligned", fmt.Sprintf("%d %% of the vertices, as many as fit", 100*32*int64(fit)/int64(g.Searched)))
	}
	if fit == 0 {
		return
	}
	g.Aligned = b.Array("aligned blocks", rowBytes*int64(ends[fit-1]))
	g.AlignedWords = uint64(fit)
	b.Loop(alignedFillKernel(uint64(fit), g.AlignedRows, g.AlignedBegin, g.Aligned))
}
