package graph

import (
	"encoding/binary"
	"io"
)

// WriteEdges writes tuples in the packed form of the Graph500 reference: EdgeBytes each, little endian (see Edge).
func WriteEdges(w io.Writer, edges []Edge) error {
	var block [1024 * EdgeBytes]byte
	for len(edges) > 0 {
		n := min(len(edges), len(block)/EdgeBytes)
		for i, e := range edges[:n] {
			b := block[i*EdgeBytes : (i+1)*EdgeBytes]
			binary.LittleEndian.PutUint32(b, e.lowU)
			binary.LittleEndian.PutUint32(b[4:], e.lowV)
			binary.LittleEndian.PutUint32(b[8:], e.high)
		}
		if _, err := w.Write(block[:n*EdgeBytes]); err != nil {
			return err
		}
		edges = edges[n:]
	}
	return nil
}
