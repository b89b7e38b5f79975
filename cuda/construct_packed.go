// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// packLists makes packed lists (kernels/neighbors.cuh), span by span, in all the memory that is left: the packed lists
// grow from its beginning, and the keys of a span are sorted at its end. So a span is the larger the fewer lists there
// are. In the end the memory behind them is given back.
//
// The keys become plain lists in one of the two arrays of the sort, and their packed sizes take the other one.
func (b *builder) packLists(l *lists, ranges rangeEntries) {
	total, _ := ranges.sum()
	room := min(b.Memory.Room()-minSortBytes, packingBytes*total+minSortBytes)
	size := int64(0)
	if b.Err == nil {
		l.target, size, b.Err = b.Memory.Shrinkable("packed lists", room)
	}
	end, used, spans := l.target+uint64(size), uint64(0), 0 // used: words
	for next := int64(0); next < l.sources && b.Err == nil; spans++ {
		s, err := ranges.span(next, (int64(end-l.target)-4*int64(used))/packingBytes)
		b.Fail("lists", err)
		next = s.to
		keys := (end - 8*uint64(s.entries)) &^ 0xff
		buffer := (keys - 8*uint64(s.entries)) &^ 0xff
		sorted := b.sortKeys(l, s, &keys, &buffer)
		offset, sources := l.offset+8*uint64(s.from), uint64(s.to-s.from)
		if b.Err == nil {
			written, err := b.device.MakeLists(b.Memory, sorted, 0, buffer, l.offset)
			b.Fail("lists", err)
			l.entries += written
		}
		b.Loop(packedSizesKernel(offset, buffer, sources, keys))
		b.PrefixSums(keys, sources, b.counters)
		words := b.counter(0)
		if room = int64(min(keys, buffer)) - int64(l.target+4*used) - 4; int64(4*words) > room {
			b.Fail("lists", fmt.Errorf("the packed lists of vertices %d to %d take %s, and %s are left: %w; %s",
				s.from, s.to-1, units.Bytes(int64(4*words)), units.Bytes(room), plugins.ErrMemory, advice))
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
	if b.c.lists == "host" {
		device := l.target
		l.target = b.hostArray("packed lists", int64(4*used+4))
		if b.Err == nil {
			err := cu.MemcpyDtoH(b.Memory.Host(l.target), cu.DevicePtr(device), int64(4*used))
			b.Fail("copy packed lists to the host", err)
		}
		b.Release(&device)
	} else if b.Err == nil {
		b.Fail("give memory back", b.Memory.Shrink(l.target, int64(4*used+4))) // a lane may read the word behind them
	}
}

// choosePacked reports whether the lists are to be packed, and loads the kernels for them. Packed lists are chosen
// where plain ones do not fit on the device; if packed ones would not fit either, plain lists in the host are the last
// resort.
func (b *builder) choosePacked(entries, maxRange int64) bool {
	g := &b.graph
	rest := searchBytes(int64(g.Labels), int64(g.Vertices), int64(g.Searched)) + parentBytes(int64(g.Labels))
	packed := b.c.adjacency == "packed"
	if b.c.adjacency == "auto" && b.c.lists != "host" {
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
	b.Fail("load the kernels for packed lists", b.device.load(packedImage))
	b.packed = b.Err == nil
	return b.packed
}

// load replaces the kernels by those of another image. Nothing may run, and the graph is not published.
func (d *gpu) load(image string) error {
	return errors.Join(d.Replace(image), d.prepare(0))
}
