package files

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/graph"
)

// lists is an adjacency: the neighbours of v are entries[offsets[v]:offsets[v+1]], ascending.
type lists struct {
	offsets []int64
	entries []uint32
}

// lists passes over the tuples twice: it counts entries, and then fills the lists. A self-loop takes the given number
// of entries. It takes 8 bytes a vertex and 8 bytes a tuple.
func (out *output) lists(loopEntries int64) (lists, error) {
	n := out.source.Vertices()
	l := lists{offsets: make([]int64, n+1)}
	err := out.each(func(edges []graph.Edge) error {
		for _, e := range edges {
			u, v := e.Ends()
			if u == v {
				l.offsets[u] += loopEntries
				continue
			}
			l.offsets[u]++
			l.offsets[v]++
		}
		return nil
	})
	if err != nil {
		return l, err
	}
	// As in graph.NewCSR, filling a list from the back turns its end into its beginning.
	var end int64
	for v, degree := range l.offsets {
		end += degree
		l.offsets[v] = end
	}
	l.entries = make([]uint32, end)
	put := func(u, v graph.Vertex) {
		l.offsets[u]--
		l.entries[l.offsets[u]] = uint32(v)
	}
	err = out.each(func(edges []graph.Edge) error {
		for _, e := range edges {
			u, v := e.Ends()
			put(u, v)
			if u != v || loopEntries == 2 {
				put(v, u)
			}
		}
		return nil
	})
	const part = 1 << 12 // vertices
	inParallel(out.threads, int((n+part-1)/part), func(_, i int) {
		for v := int64(i) * part; v < min(int64(i+1)*part, n) && out.ctx.Err() == nil; v++ {
			slices.Sort(l.entries[l.offsets[v]:l.offsets[v+1]])
		}
	})
	if err == nil {
		err = out.ctx.Err()
	}
	return l, err
}

// parts writes what format appends for the vertices, part by part. Several threads format at the same time.
func (out *output) parts(w io.Writer, vertices int64, format func(text []byte, v int64) []byte) error {
	const part = 1 << 10 // vertices
	texts := make([][]byte, 8*out.threads)
	for first := int64(0); first < vertices; first += part * int64(len(texts)) {
		inParallel(out.threads, len(texts), func(_, i int) {
			text := texts[i][:0]
			begin := first + int64(i)*part
			for v := begin; v < min(begin+part, vertices); v++ {
				text = format(text, v)
			}
			texts[i] = text
		})
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
		if err := out.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func writeMETIS(out *output, name string) error {
	w, err := out.create(name)
	if err != nil {
		return err
	}
	l, err := out.lists(1)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	fmt.Fprintf(w, "%d %d\n", n, out.source.Tuples())
	return out.parts(w, n, func(text []byte, v int64) []byte {
		for i, u := range l.entries[l.offsets[v]:l.offsets[v+1]] {
			if i > 0 {
				text = append(text, ' ')
			}
			text = strconv.AppendUint(text, uint64(u)+1, 10)
		}
		return append(text, '\n')
	})
}

func writeSG(out *output, name string) error {
	w, err := out.create(name)
	if err != nil {
		return err
	}
	l, err := out.lists(2)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	header := binary.LittleEndian.AppendUint64([]byte{0}, uint64(len(l.entries)))
	if _, err := w.Write(binary.LittleEndian.AppendUint64(header, uint64(n))); err != nil {
		return err
	}
	err = out.parts(w, n+1, func(text []byte, v int64) []byte {
		return binary.LittleEndian.AppendUint64(text, uint64(l.offsets[v]))
	})
	if err != nil {
		return err
	}
	return out.parts(w, n, func(text []byte, v int64) []byte {
		for _, u := range l.entries[l.offsets[v]:l.offsets[v+1]] {
			text = binary.LittleEndian.AppendUint32(text, u)
		}
		return text
	})
}
