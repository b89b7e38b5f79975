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
func Checksum(seed maphash.Seed, edges []Edge) uint64 { return checksum(seed, memory(edges)) }

// WeightsChecksum is Checksum for weights.
func WeightsChecksum(seed maphash.Seed, weights []float32) uint64 {
	return checksum(seed, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(weights))), 4*len(weights)))
}

func checksum(seed maphash.Seed, bytes []byte) (sum uint64) {
	const block = 3 << 18 // bytes
	sums := make([]uint64, (len(bytes)+block-1)/block)
	_, _ = Parallel(context.Background(), runtime.GOMAXPROCS(0), int64(len(bytes)), block,
		func(_ int, first, last int64) bool {
			sums[first/block] = maphash.Bytes(seed, bytes[first:last])
			return true
		})
	for _, s := range sums {
		sum = sum*0x9e3779b97f4a7c15 + s // the order of the blocks counts
	}
	return sum
}
