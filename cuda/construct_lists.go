//go:build cuda

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

const ranges = 4096 // of vertices, to find out how many can be sorted together

// lists makes the neighbour lists: keys of both directions of every tuple, sorted, without duplicates.
func (b *builder) lists() (err error) {
	g := &b.graph
	searched := int64(g.Searched)
	if g.Offset, err = b.zeroed("offsets", 8*(searched+1)); err != nil {
		return err
	}
	entries, width, err := b.countEntries()
	if err != nil {
		return err
	}
	total, widest := int64(0), int64(0)
	for _, n := range entries {
		total += int64(n)
		widest = max(widest, int64(n))
	}
	if err := b.placeTargets(total, widest); err != nil {
		return err
	}
	// what a search needs beside the lists is allocated after the sort has given its memory back
	capacity := max((b.memory.room()-leastSort)/pairBytes, leastSort/pairBytes)
	parts, err := spans(entries, width, searched, min(capacity, max(total, 1)))
	if err != nil {
		return err
	}
	largest := int64(0)
	for _, s := range parts {
		largest = max(largest, s.entries)
	}
	keys, err := b.memory.array("keys to sort", 8*largest)
	if err != nil {
		return err
	}
	spare, err := b.memory.array("keys to sort", 8*largest)
	if err != nil {
		return err
	}
	for _, s := range parts {
		if err := b.sortSpan(s, &keys, &spare); err != nil {
			return err
		}
	}
	if len(parts) > 1 {
		b.notes = append(b.notes, plugins.Fact{Name: "parts in which lists were sorted", Value: fmt.Sprint(len(parts))})
	}
	for _, each := range []*uint64{&keys, &spare, &b.pairs, &b.degree} {
		if err := b.memory.release(each); err != nil {
			return err
		}
	}
	return nil
}

// countEntries returns the entries of ranges of vertices, duplicates included, and how wide a range is.
func (b *builder) countEntries() (entries []uint64, width int64, err error) {
	searched := int64(b.graph.Searched)
	width = max((searched+ranges-1)/ranges, 1)
	n := (searched + width - 1) / width
	if n == 0 {
		return nil, width, nil
	}
	counts, err := b.memory.array("entries of ranges", 8*n)
	if err != nil {
		return nil, 0, err
	}
	err = b.device.kernels.rangeEntries.launch(cu.NoStream, int(n), b.graph.Original, b.degree, b.graph.Searched, uint64(width), counts)
	if err != nil {
		return nil, 0, err
	}
	entries = make([]uint64, n)
	if err := read(entries, counts); err != nil {
		return nil, 0, fmt.Errorf("cuda: entries: %w", err)
	}
	return entries, width, b.memory.release(&counts)
}

// placeTargets allocates the lists: on the device, or pinned in the host where the option says so or they do not fit beside
// what a search needs, or beside the sort of the range with most entries.
func (b *builder) placeTargets(entries, widest int64) (err error) {
	g := &b.graph
	rest := searchBytes(int64(g.Labels), int64(g.Vertices), int64(g.Searched)) + parentBytes(int64(g.Labels))
	inDevice := b.c.lists == "device" || b.c.lists == "auto" && listsFit(b.memory.room(), entries, widest, rest)
	if inDevice {
		g.Target, err = b.memory.array("neighbour lists", 4*entries)
		return err
	}
	b.notes = append(b.notes, plugins.Fact{Name: "neighbour lists", Value: "pinned in the host, read by the kernels over the bus"})
	g.Target, err = b.memory.hostArray("neighbour lists", 4*entries)
	return err
}

// sortSpan makes the lists of the vertices of a span, behind those that are there.
func (b *builder) sortSpan(s span, keys, spare *uint64) error {
	g, k := &b.graph, &b.device.kernels
	target, key := sortBits(s, int64(g.Searched))
	if err := b.clearScratch(); err != nil {
		return err
	}
	err := k.listKeys.launch(cu.NoStream, b.stride(), b.pairs, uint64(len(b.tuples)), g.Vertex, g.Searched,
		uint64(s.from)<<32|uint64(s.to), uint64(target), *keys, b.scratch)
	if err != nil {
		return err
	}
	var written [1]uint64
	if err := read(written[:], b.scratch); err != nil {
		return fmt.Errorf("cuda: keys of lists: %w", err)
	}
	n := int64(written[0])
	if err := b.sort(keys, spare, n, 0, key); err != nil {
		return err
	}
	blocks := b.stride()
	counts, err := b.memory.array("entries of blocks", int64(8*blocks))
	if err != nil {
		return err
	}
	if err := k.countUnique.launch(cu.NoStream, blocks, *keys, written[0], counts); err != nil {
		return err
	}
	if err := k.scan.launch(cu.NoStream, 1, counts, uint64(blocks), b.scratch); err != nil {
		return err
	}
	err = k.writeLists.launch(cu.NoStream, blocks, *keys, written[0], uint64(target), uint64(s.from), g.Entries, counts, g.Target, g.Offset)
	if err != nil {
		return err
	}
	var unique [1]uint64
	if err := read(unique[:], b.scratch); err != nil {
		return fmt.Errorf("cuda: entries of lists: %w", err)
	}
	g.Entries += unique[0]
	err = k.endLists.launch(cu.NoStream, b.stride(), *keys, written[0], uint64(target), uint64(s.from), uint64(s.to), g.Entries, g.Offset)
	if err != nil {
		return err
	}
	return b.memory.release(&counts)
}
