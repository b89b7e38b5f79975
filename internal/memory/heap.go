// SPDX-License-Identifier: Apache-2.0

//go:build !linux || race

package memory

import "unsafe"

// block is an array of the Go heap, for other systems and the race detector, which watches only the heap.
type block struct{ bytes int64 }

func obtain[T any](n int) ([]T, block, error) {
	var element T
	return make([]T, n), block{int64(n) * int64(unsafe.Sizeof(element))}, nil
}

func (*block) free() {}

func (b *block) shorten(bytes int64) { b.bytes = bytes }
