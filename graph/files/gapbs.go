package files

import (
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/tepsbench/teps/graph"
)

// GAPBS's serialized graphs (src/writer.h of github.com/sbeamer/gapbs), little endian: a byte that is 1 for a directed
// graph, the numbers of entries and of vertices (int64), vertices+1 offsets into the entries (int64), and the entries:
// int32, or in a .wsg int32 and an int32 weight. A directed graph has the offsets and the entries of the inverse as
// well. An undirected one has each edge in the lists of both its ends.

// sgHeader is the length of the first three numbers.
const sgHeader = 17

func readSG(in *input) error  { return in.readSerialized(4) }
func readWSG(in *input) error { return in.readSerialized(8) }

// readSerialized reads a graph with entries of the given number of bytes.
func (in *input) readSerialized(entryBytes int64) error {
	var header [sgHeader]byte
	if n, err := io.ReadFull(in.r, header[:]); err != nil {
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			return in.readError(err)
		}
		return in.atByte(int64(n), "the file ends within its header")
	}
	in.offset = sgHeader
	entries, n := int64(binary.LittleEndian.Uint64(header[1:])), int64(binary.LittleEndian.Uint64(header[9:]))
	const limit = 1 << 31
	if header[0] > 1 || n < 0 || n >= limit || entries < 0 || entries >= 1<<56 {
		return in.atByte(0, "not the header of a graph of GAPBS: directed %d, %d entries, %d vertices",
			header[0], entries, n)
	}
	directed := header[0] == 1
	want := ((n+1)*8 + entries*entryBytes) << header[0]
	if in.size > 0 && in.info.Compression == "" && in.size != sgHeader+want {
		return in.atByte(0, "the header announces %d vertices and %d entries, %d bytes in all, but the file has %d",
			n, entries, sgHeader+want, in.size)
	}
	in.info.Vertices, in.info.Symmetrized = n, directed

	lists := serialized{input: in, vertices: n, entries: entries, bytes: entryBytes, loops: map[int64]int64{}}
	if !directed {
		if err := lists.read(bothEnds); err != nil {
			return err
		}
		if lists.both.broken() {
			return in.atByte(in.offset, "the lists of an undirected graph are not symmetric: %d entries are larger than "+
				"their vertex, %d smaller", lists.both.up, lists.both.down)
		}
		return lists.addLoops()
	}
	for _, kind := range []entryKind{arc, inverse} {
		if err := lists.read(kind); err != nil {
			return err
		}
	}
	if lists.both.broken() {
		return in.atByte(in.offset, "the inverse has other edges than the graph")
	}
	return nil
}

// entryKind is what an entry stands for.
type entryKind int

const (
	bothEnds entryKind = iota // one end of an edge
	arc
	inverse // the arc from the entry to the vertex
)

// serialized are the lists of a graph.
type serialized struct {
	*input
	vertices, entries, bytes int64
	both                     symmetry

	mu    sync.Mutex
	loops map[int64]int64 // entries of vertices that are their own neighbors
}

// read reads offsets and entries, and makes tuples of arcs and of the first entry of each edge. Self-loops of an
// undirected graph are counted instead: each takes two entries, which may be in different blocks.
func (l *serialized) read(kind entryKind) error {
	offsets, err := l.readOffsets()
	if err != nil {
		return err
	}
	start := l.offset
	parse := func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		var part symmetry
		first := (b.offset - start) / l.bytes
		// The list that the first entry is in: the last that begins at or before it.
		u := int64(sort.Search(len(offsets), func(v int) bool { return offsets[v] > first })) - 1
		for data := b.data; len(data) > 0; u++ {
			list := data[:min(int64(len(data)), (offsets[u+1]-first)*l.bytes)]
			data, first = data[len(list):], offsets[u+1]
			for ; len(list) > 0; list = list[l.bytes:] {
				v := int64(binary.LittleEndian.Uint32(list))
				if v >= l.vertices {
					at := b.offset + int64(len(b.data)-len(data)-len(list))
					return edges, l.atByte(at, "neighbor %d of vertex %d: want a vertex below %d", int32(v), u, l.vertices)
				}
				switch {
				case kind == inverse:
					part.sum -= arcHash(v, u)
					continue
				case kind == arc:
					part.sum += arcHash(u, v)
				case u == v:
					l.mu.Lock()
					l.loops[u]++
					l.mu.Unlock()
					continue
				case !part.add(u, v):
					continue
				}
				edges = append(edges, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v)))
			}
		}
		l.both.merge(&part)
		return edges, nil
	}
	return l.parallel(blocks{record: int(l.bytes), limit: l.entries * l.bytes, parse: parse})
}

// readOffsets reads the beginnings of the lists and the end of the last one.
func (l *serialized) readOffsets() ([]int64, error) {
	var offsets []int64
	buffer := make([]byte, 1<<16)
	for left := l.vertices + 1; left > 0; {
		part := buffer[:min(int64(len(buffer)), left*8)]
		if n, err := io.ReadFull(l.r, part); err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				return nil, l.readError(err)
			}
			return nil, l.atByte(l.offset+int64(n), "the file ends within its offsets: %d are missing", left-int64(n/8))
		}
		if offsets == nil && l.size > 0 && l.info.Compression == "" { // the header has been compared with the size
			offsets = make([]int64, 0, left)
		}
		for ; len(part) > 0; part = part[8:] {
			offset, low := int64(binary.LittleEndian.Uint64(part)), int64(0)
			if len(offsets) > 0 {
				low = offsets[len(offsets)-1]
			}
			left--
			if offset < low || offset > l.entries || len(offsets) == 0 && offset != 0 || left == 0 && offset != l.entries {
				return nil, l.atByte(l.offset, "offset %d of vertex %d: want ascending offsets from 0 to %d",
					offset, len(offsets), l.entries)
			}
			offsets = append(offsets, offset)
			l.offset += 8
		}
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

// addLoops adds half as many self-loops as there are entries.
func (l *serialized) addLoops() error {
	var edges []graph.Edge
	for _, v := range slices.Sorted(maps.Keys(l.loops)) {
		for range (l.loops[v] + 1) / 2 {
			edges = append(edges, graph.MakeEdge(graph.Vertex(v), graph.Vertex(v)))
		}
	}
	return l.add(edges)
}
