// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package memory

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the usual size of a transparent huge page. Where huge pages have another size, the advice has no effect.
const hugePage = 2 << 20

type block struct {
	mapping []byte
	start   int64 // of the array in mapping
	bytes   int64 // of the array
}

// obtain maps room for n elements. Arrays of at least a huge page start at the border of one and ask for huge pages;
// pages that are never touched take no memory.
func obtain[T any](n int) ([]T, block, error) {
	var element T
	size := n * int(unsafe.Sizeof(element))
	extent, start := size, 0
	if size >= hugePage {
		extent += hugePage
	}
	const protection, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	mapping, err := unix.Mmap(-1, 0, extent, protection, flags)
	if err != nil {
		return nil, block{}, fmt.Errorf("mapping %d bytes: %w", extent, err)
	}
	if size >= hugePage {
		start = -int(uintptr(unsafe.Pointer(&mapping[0]))) & (hugePage - 1)
		_ = unix.Madvise(mapping, unix.MADV_HUGEPAGE) // small pages do where the kernel refuses
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mapping[start])), n), block{mapping, int64(start), int64(size)}, nil
}

func (b *block) free() { _ = unix.Munmap(b.mapping) }

// shorten frees the pages behind the first bytes of the array. The mapping stays, so that free finds it.
func (b *block) shorten(bytes int64) {
	page := int64(os.Getpagesize())
	kept := (b.start + bytes + page - 1) &^ (page - 1)
	if kept < int64(len(b.mapping)) {
		_ = unix.Madvise(b.mapping[kept:], unix.MADV_DONTNEED)
	}
	b.bytes = bytes
}
