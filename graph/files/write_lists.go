package files

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/tepsbench/teps/graph/adjacency"
)

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
	l, err := adjacency.New(out.ctx, out.source, 1, out.progress)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	fmt.Fprintf(w, "%d %d\n", n, out.source.Tuples())
	return out.parts(w, n, func(text []byte, v int64) []byte {
		for i, u := range l.Of(v) {
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
	l, err := adjacency.New(out.ctx, out.source, 2, out.progress)
	if err != nil {
		return err
	}
	n := out.source.Vertices()
	header := binary.LittleEndian.AppendUint64([]byte{0}, uint64(len(l.Entries)))
	if _, err := w.Write(binary.LittleEndian.AppendUint64(header, uint64(n))); err != nil {
		return err
	}
	err = out.parts(w, n+1, func(text []byte, v int64) []byte {
		return binary.LittleEndian.AppendUint64(text, uint64(l.Offsets[v]))
	})
	if err != nil {
		return err
	}
	return out.parts(w, n, func(text []byte, v int64) []byte {
		for _, u := range l.Of(v) {
			text = binary.LittleEndian.AppendUint32(text, u)
		}
		return text
	})
}
