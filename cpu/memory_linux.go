//go:build linux && !race

package cpu

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a transparent huge page on the platforms that have them in this size. Elsewhere the advice
// is without effect, not wrong.
const hugePage = 2 << 20

// block is an anonymous private mapping.
type block struct {
	mapping []byte
	start   int64 // of the array in mapping
	bytes   int64 // of the array
}

// obtain maps room for n elements. Arrays of a huge page or more start at a huge page's border and ask for huge pages;
// memory that nobody touches costs nothing. This is one of the package's two uses of unsafe: it turns a mapping into a
// typed array of the same extent. T holds no pointers, so the collector need not know of it.
func obtain[T any](n int) ([]T, block, error) {
	var element T
	size := n * int(unsafe.Sizeof(element))
	extent, start := size, 0
	if size >= hugePage {
		extent += hugePage
	}
	mapping, err := unix.Mmap(-1, 0, extent, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, block{}, fmt.Errorf("map %d bytes: %w", extent, err)
	}
	if size >= hugePage {
		start = -int(uintptr(unsafe.Pointer(&mapping[0]))) & (hugePage - 1)
		_ = unix.Madvise(mapping, unix.MADV_HUGEPAGE) // a kernel without huge pages refuses, and small ones do
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&mapping[start])), n), block{mapping, int64(start), int64(size)}, nil
}

func (b *block) free() { _ = unix.Munmap(b.mapping) }

// shorten gives back the pages behind the first bytes of the array. The mapping stays, so that free finds it.
func (b *block) shorten(bytes int64) {
	page := int64(os.Getpagesize())
	kept := (b.start + bytes + page - 1) &^ (page - 1)
	if kept < int64(len(b.mapping)) {
		_ = unix.Madvise(b.mapping[kept:], unix.MADV_DONTNEED)
	}
	b.bytes = bytes
}
