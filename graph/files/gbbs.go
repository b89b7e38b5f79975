// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"regexp"
	"sort"
	"strconv"

	"github.com/tepsbench/teps/graph"
)

// Adjacency graphs of PBBS, Ligra and GBBS (README of github.com/ParAlg/gbbs, section "Input Formats"): a title, the
// numbers of vertices and of entries, the offset of each vertex, the entries, and their weights if the title says so,
// each in a line. The binary form (utils/converter.h there, binary_format) has three numbers of 64 bits (vertices,
// entries, all bytes), vertices+1 offsets and entries of 32 bits, little endian; the inverse may follow in the same
// form. Neither says whether the graph is undirected, so each entry is an arc.

var adjacencyTitle = regexp.MustCompile(`^(Weighted)?AdjacencyGraph\s`)

func readAdjacency(in *input) error {
	title, err := in.readLine()
	if err != nil && err != io.EOF {
		return err
	}
	if !adjacencyTitle.Match(append(title, '\n')) {
		return atLine(1, "want AdjacencyGraph or WeightedAdjacencyGraph: %q", truncate(title))
	}
	numbers := func() (int64, error) {
		line, err := in.headerLine("#")
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 56)
		if err != nil {
			return 0, atLine(in.line, "want a number from 0 to 2^56-1: %q", truncate(line))
		}
		return int64(n), nil
	}
	n, err := numbers()
	if err != nil {
		return err
	}
	entries, err := numbers()
	if err != nil {
		return err
	}
	if n > maxListed || in.content > 0 && max(n, entries) > in.content/2 { // each in a line
		return atLine(in.line, "the file is too small for %d vertices and %d entries, or they are too many", n, entries)
	}
	l := in.newSerialized(n, entries, 4, true)
	offsets, err := l.readOffsets(func(v int64) (int64, error) {
		if v == n {
			return entries, nil
		}
		return numbers()
	})
	if err != nil {
		return err
	}
	found := int64(0) // entries and weights
	lines := blocks{limit: -1, line: maxNeighborLine, next: func(b *block) (first int64) {
		first = found
		found += int64(len(bytes.Fields(b.data)))
		return first
	}, parse: func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		u := int64(sort.Search(len(offsets), func(v int) bool { return offsets[v] > b.state })) - 1
		for i, at := skipSpace(b.data, 0), b.state; i < len(b.data); i, at = skipSpace(b.data, i), at+1 {
			start := i
			if at >= entries {
				if i = value(b.data, i); i == start {
					return edges, b.atLine(i, "want a weight")
				}
				continue
			}
			var v uint64
			if v, i = number(b.data, i); i == start || v >= uint64(n) {
				return edges, b.atLine(start, "want neighbors from 0 to "+strconv.FormatInt(n-1, 10))
			}
			for offsets[u+1] <= at {
				u++
			}
			edges = append(edges, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v)))
		}
		return edges, nil
	}}
	if err := in.parallel(lines); err != nil {
		return err
	}
	if title[0] == 'W' {
		return in.checkCount("neighbors and weights", 2*entries, found)
	}
	return in.checkCount("neighbors", entries, found)
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (blank(text[i]) || text[i] == '\n') {
		i++
	}
	return i
}

const maxListed = 1<<32 - 1 // vertices that entries of 32 bits may name

func readGBBS(in *input) error {
	vertices, entries, err := in.readHeaderGBBS()
	if err != nil {
		return err
	}
	l := in.newSerialized(vertices, entries, 4, true)
	if err := l.read(arc); err != nil {
		return err
	}
	if _, err := in.r.Peek(1); err == io.EOF {
		return nil
	}
	if _, l.entries, err = in.readHeaderGBBS(); err == nil {
		err = l.read(inverse)
	}
	return cmp.Or(err, l.checkInverse())
}

func (in *input) readHeaderGBBS() (vertices, entries int64, err error) {
	header := make([]byte, headerGBBS)
	if err := in.readHeader(header); err != nil {
		return 0, 0, err
	}
	vertices, entries = int64(binary.LittleEndian.Uint64(header)), int64(binary.LittleEndian.Uint64(header[8:]))
	size, total := in.content, int64(binary.LittleEndian.Uint64(header[16:]))
	if !isGBBS(header) || size > 0 && size != total && size != 2*total {
		err = in.atByte(in.offset-headerGBBS, "not the header of a graph of GBBS without weights and compression: "+
			"%d vertices, %d entries, %d bytes", vertices, entries, total)
	}
	return vertices, entries, err
}

const headerGBBS = 24 // bytes

// isGBBS reports whether the numbers in a header agree with each other.
func isGBBS(header []byte) bool {
	if len(header) < headerGBBS {
		return false
	}
	n, entries := binary.LittleEndian.Uint64(header), binary.LittleEndian.Uint64(header[8:])
	return n <= maxListed && entries < 1<<56 && binary.LittleEndian.Uint64(header[16:]) == headerGBBS+8*(n+1)+4*entries
}
