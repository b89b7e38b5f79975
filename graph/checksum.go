// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"hash/maphash"
	"io"
	"runtime"
	"unsafe"
)

func memory(edges []Edge) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(edges))), len(edges)*EdgeBytes)
}

// WriteEdges writes tuples in the packed form of Edge.
func WriteEdges(w io.Writer, edges []Edge) error {
	_, err := w.Write(memory(edges))
	return err
}

// Checksum returns a keyed checksum of the tuples and their order.
func Checksum(seed maphash.Seed, edges []Edge) (sum uint64) {
	const block = 1 << 16 // tuples
	sums := make([]uint64, (len(edges)+block-1)/block)
	_, _ = Parallel(context.Background(), runtime.GOMAXPROCS(0), int64(len(edges)), block,
		func(_ int, first, last int64) bool {
			sums[first/block] = maphash.Bytes(seed, memory(edges[first:last]))
			return true
		})
	for _, s := range sums {
		sum = sum*0x9e3779b97f4a7c15 + s // the order of the blocks counts
	}
	return sum
}
