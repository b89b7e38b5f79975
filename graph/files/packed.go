package files

import (
	"encoding/binary"

	"github.com/tepsbench/teps/graph"
)

// readPacked reads tuples as graph.Edge describes them.
func readPacked(in *input) error {
	return in.readTuples(graph.EdgeBytes, func(t []byte) (u, v uint64) {
		low, high := binary.LittleEndian.Uint64(t), uint64(binary.LittleEndian.Uint32(t[8:]))
		return low&(1<<32-1) | high<<48>>16, low>>32 | high>>16<<32
	})
}

// readPacked16 reads tuples of two 64-bit numbers.
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
