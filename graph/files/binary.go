// SPDX-License-Identifier: Apache-2.0

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
// int32 in an .sg, int32 and an int32 weight in a .wsg. A directed graph also has the offsets and the entries of its
// inverse. An undirected one has each edge in the lists of both its ends.

const sgHeader = 17 // bytes of the first three numbers

func readSG(in *input) error  { return in.readSerialized(4) }
func readWSG(in *input) error { return in.readSerialized(8) }

func (in *input) readSerialized(entryBytes int64) error {
	var header [sgHeader]byte
	if err := in.readHeader(header[:]); err != nil {
		return err
	}
	entries, n := int64(binary.LittleEndian.Uint64(header[1:])), int64(binary.LittleEndian.Uint64(header[9:]))
	const limit = 1 << 31
	if header[0] > 1 || n < 0 || n >= limit || entries < 0 || entries >= 1<<56 {
		return in.atByte(0, "not the header of a graph of GAPBS: directed %d, %d entries, %d vertices",
			header[0], entries, n)
	}
	directed := header[0] == 1
	want := ((n+1)*8 + entries*entryBytes) << header[0]
	if in.content > 0 && in.content != sgHeader+want {
		return in.atByte(0, "the header announces %d vertices and %d entries, %d bytes in all, but the file has %d",
			n, entries, sgHeader+want, in.content)
	}
	lists := in.newSerialized(n, entries, entryBytes, directed)
	kinds := []entryKind{bothEnds}
	if directed {
		kinds = []entryKind{arc, inverse}
	}
	for _, kind := range kinds {
		if err := lists.read(kind); err != nil {
			return err
		}
	}
	if lists.both.broken() && !directed {
		return in.atByte(in.offset, "the lists of an undirected graph are not symmetric: %d entries are larger than "+
			"their vertex, %d smaller", lists.both.up, lists.both.down)
	}
	if err := lists.checkInverse(); err != nil {
		return err
	}
	var loops []graph.Edge // half as many as there are entries
	for _, v := range slices.Sorted(maps.Keys(lists.loops)) {
		loops = append(loops, slices.Repeat([]graph.Edge{graph.MakeEdge(graph.Vertex(v), graph.Vertex(v))},
			int(lists.loops[v]+1)/2)...)
	}
	return in.add(loops)
}

func (in *input) readHeader(header []byte) error {
	n, err := io.ReadFull(in.r, header)
	in.offset += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return in.atByte(in.offset, "the file ends within its header")
	} else if err != nil {
		return in.readError(err)
	}
	return nil
}

// entryKind is the meaning of an entry.
type entryKind int

const (
	bothEnds entryKind = iota // one end of an edge
	arc
	inverse // the arc from the entry to the vertex
)

type serialized struct {
	*input
	vertices, entries, bytes int64
	both                     symmetry

	mu    sync.Mutex
	loops map[int64]int64 // entries of vertices that are their own neighbors
	room  int             // of loops, for which memory has been reserved
}

func (in *input) newSerialized(vertices, entries, bytes int64, directed bool) *serialized {
	in.info.Vertices, in.info.Symmetrized = vertices, directed
	return &serialized{input: in, vertices: vertices, entries: entries, bytes: bytes, loops: map[int64]int64{}}
}

// checkInverse compares the arcs of the graph with those of its inverse.
func (l *serialized) checkInverse() error {
	if l.both.broken() {
		return l.atByte(l.offset, "the inverse has other edges than the graph")
	}
	return nil
}

// read reads offsets and entries, and makes a tuple of each arc, or of the first entry of each edge. It only counts the
// self-loops of an undirected graph, because the two entries of one may be in different blocks.
func (l *serialized) read(kind entryKind) error {
	var word [8]byte
	offsets, err := l.readOffsets(func(v int64) (int64, error) {
		n, err := io.ReadFull(l.r, word[:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return 0, l.atByte(l.offset+int64(n), "the file ends within its offsets: %d are missing", l.vertices+1-v)
		} else if err != nil {
			return 0, l.readError(err)
		}
		l.offset += 8
		return int64(binary.LittleEndian.Uint64(word[:])), nil
	})
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
		l.mu.Lock()
		defer l.mu.Unlock()
		return edges, l.grow(&l.room, len(l.loops))
	}
	return l.parallel(blocks{record: int(l.bytes), limit: l.entries * l.bytes, parse: parse})
}

// readOffsets returns the offsets of the lists, which next reads. It allocates memory only for offsets that the file
// contains.
func (l *serialized) readOffsets(next func(v int64) (int64, error)) ([]int64, error) {
	var offsets []int64
	for v, low := int64(0), int64(0); v <= l.vertices; v++ {
		start := l.offset
		offset, err := next(v)
		if err != nil {
			return nil, err
		}
		if offset < low || offset > l.entries || v == 0 && offset != 0 || v == l.vertices && offset != l.entries {
			return nil, l.atByte(start, "offset %d of vertex %d: want ascending offsets from 0 to %d", offset, v, l.entries)
		}
		if len(offsets) == cap(offsets) {
			room := min(2*v+1024, l.vertices+1)
			if l.content > 0 { // the header has been compared with the size
				room = l.vertices + 1
			}
			if err := l.reserve(8 * room); err != nil {
				return nil, err
			}
			offsets = append(make([]int64, 0, room), offsets...)
		}
		offsets, low = append(offsets, offset), offset
	}
	return offsets, nil
}

func readPacked(in *input) error {
	return in.readTuples(graph.EdgeBytes, func(t []byte) (u, v uint64) {
		low, high := binary.LittleEndian.Uint64(t), uint64(binary.LittleEndian.Uint32(t[8:]))
		return low&(1<<32-1) | high<<48>>16, low>>32 | high>>16<<32
	})
}

func readPacked16(in *input) error {
	return in.readTuples(16, func(t []byte) (u, v uint64) {
		return binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:])
	})
}

func (in *input) readTuples(bytes int, ends func([]byte) (u, v uint64)) error {
	records := blocks{record: bytes, exact: true, limit: -1}
	return in.labeled(records, func(b *block, edges []graph.Edge, seen *seen) ([]graph.Edge, error) {
		for t := b.data; len(t) > 0; t = t[bytes:] {
			edges = append(edges, seen.edge(ends(t)))
		}
		return edges, nil
	})
}
