//go:build cuda

package cuda

import (
	"fmt"
	"sort"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// columns makes what lies beside the lists, the search's own arrays, and the aligned blocks in what memory is left.
func (b *builder) columns() (err error) {
	g, k := &b.graph, &b.device.kernels
	n := int64(g.Searched)
	for _, array := range []struct {
		at    *uint64
		what  string
		bytes int64
	}{
		{&g.First, "first neighbours", 4 * n},
		{&g.WordHub, "hubs of words", 4 * words(n)},
		{&g.Linked, "links of hubs", 4 * int64(g.Hubs)},
		{&g.Output, "output template", 4 * int64(g.Labels)},
		{&g.Unvisited, "bitmap", 4 * words(n)},
		{&g.Frontier[0], "bitmap", 4 * words(n)},
		{&g.Frontier[1], "bitmap", 4 * words(n)},
		{&g.Frontier[2], "bitmap", 4 * words(n)},
		{&g.Finds, "finds", 8 * n},
		{&g.Queue, "queue", 4 * n},
		{&g.Before, "links before each queued vertex", 8 * n},
		{&g.Written, "finds that blocks have written", 8 * int64(b.device.units)},
	} {
		if *array.at, err = b.memory.array(array.what, array.bytes); err != nil {
			return err
		}
	}
	if err := b.publish(); err != nil {
		return err
	}
	if err := k.firstNeighbours.launch(cu.NoStream, b.stride(), g.First); err != nil {
		return err
	}
	if err := k.wordHubs.launch(cu.NoStream, b.stride(), g.WordHub); err != nil {
		return err
	}
	hubBlocks := (int(g.Hubs) + blockThreads - 1) / blockThreads
	if err := k.linkHubs.launch(cu.NoStream, max(hubBlocks, 1), g.Linked); err != nil {
		return err
	}
	if err := k.outputTemplate.launch(cu.NoStream, b.stride(), g.Output); err != nil {
		return err
	}
	if rest := g.Searched - g.Hubs; rest > 0 {
		hubEntries, err := b.offset(g.Hubs)
		if err != nil {
			return err
		}
		g.Average = (g.Entries - hubEntries) / rest
	}
	if err := b.align(); err != nil {
		return err
	}
	return b.publish()
}

// offset returns where the list of a vertex begins.
func (b *builder) offset(v uint64) (uint64, error) {
	var at [1]uint64
	if err := read(at[:], b.graph.Offset+8*v); err != nil {
		return 0, fmt.Errorf("cuda: offsets: %w", err)
	}
	return at[0], nil
}

// publish lets the kernels see the graph as it is.
func (b *builder) publish() error {
	if err := write(b.device.graph, []deviceGraph{b.graph}); err != nil {
		return fmt.Errorf("cuda: publish the graph: %w", err)
	}
	return nil
}

const quadBytes = 16 // four entries of a list, side by side in an aligned block

// align makes aligned blocks for the share of the vertices that the options ask for, or for as many as there is room for
// beside a parent array.
func (b *builder) align() (err error) {
	g, k := &b.graph, &b.device.kernels
	count := words(int64(g.Searched) * int64(b.c.aligned) / 100)
	if count == 0 {
		return nil
	}
	if g.AlignedRows, err = b.memory.array("rows of blocks", 4*count); err != nil {
		return err
	}
	if g.AlignedAt, err = b.memory.array("blocks", 8*(count+1)); err != nil {
		return err
	}
	if err := k.alignedRows.launch(cu.NoStream, b.stride(), uint64(count), g.AlignedRows, g.AlignedAt); err != nil {
		return err
	}
	if err := k.scan.launch(cu.NoStream, 1, g.AlignedAt, uint64(count), g.AlignedAt+uint64(8*count)); err != nil {
		return err
	}
	ends := make([]uint64, count+1)
	if err := read(ends, g.AlignedAt); err != nil {
		return fmt.Errorf("cuda: blocks: %w", err)
	}
	room := max(b.memory.room()-parentBytes(int64(g.Labels)), 0) / quadBytes
	fit := int64(sort.Search(int(count), func(i int) bool { return int64(ends[i+1]) > room }))
	if fit < count {
		b.notes = append(b.notes, plugins.Fact{Name: "aligned", Value: fmt.Sprintf("%d %% of the vertices, as many as fit", 100*32*fit/int64(g.Searched))})
	}
	if fit == 0 {
		return nil
	}
	if g.Aligned, err = b.memory.array("aligned blocks", quadBytes*int64(ends[fit])); err != nil {
		return err
	}
	g.AlignedWords = uint64(fit)
	return k.alignedFill.launch(cu.NoStream, b.stride(), uint64(fit), g.AlignedRows, g.AlignedAt, g.Aligned)
}
