// SPDX-License-Identifier: Apache-2.0

package rpc

// This is the only file of the package that uses unsafe. Package graph documents the memory layout of the elements.

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
)

type element interface {
	graph.Edge | graph.Vertex | float32
}

const (
	vertexBytes = 8
	floatBytes  = 4 // of a weight or a distance
)

var (
	_ [graph.EdgeBytes]byte = [unsafe.Sizeof(graph.Edge{})]byte{}
	_ [vertexBytes]byte     = [unsafe.Sizeof(graph.Vertex(0))]byte{}
)

// view returns bytes as elements. The result lies outside the Go heap and is valid as long as the mapping.
func view[E element](bytes []byte) []E {
	var zero E
	if len(bytes) == 0 {
		return []E{}
	}
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/int(unsafe.Sizeof(zero)))
}

// within reports whether part is a range of elements of view(whole), and the index of its first element.
func within[E element](part []E, whole []byte) (first int64, ok bool) {
	if len(part) == 0 || len(whole) == 0 {
		return 0, false
	}
	size := unsafe.Sizeof(part[0])
	start, begin := uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	if start < begin || start-begin+uintptr(len(part))*size > uintptr(len(whole)) {
		return 0, false
	}
	return int64((start - begin) / size), (start-begin)%size == 0
}

const (
	hugePage   = 2 << 20 // bytes, of amd64, and of arm64 with pages of 4 KiB
	guardBytes = 2 << 20 // inaccessible on both sides of a mapping, so that code that leaves an array crashes
)

// A mapping is a shared mapping of a file with inaccessible addresses on both sides.
type mapping struct {
	bytes    []byte
	reserved unsafe.Pointer // the first of the addresses that belong to the mapping
	length   uintptr        // their number
}

// mapFile maps size bytes of f. They begin at a multiple of hugePage, which huge pages need.
func mapFile(f *os.File, size int64, writable bool) (mapping, error) {
	m := mapping{length: guardBytes + hugePage + uintptr(size) + guardBytes}
	var err error
	m.reserved, err = unix.MmapPtr(-1, 0, nil, m.length, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil || size == 0 {
		return m, err
	}
	protection := unix.PROT_READ
	if writable {
		protection |= unix.PROT_WRITE
	}
	start := unsafe.Add(m.reserved, guardBytes)
	start = unsafe.Add(start, -uintptr(start)&(hugePage-1))
	start, err = unix.MmapPtr(int(f.Fd()), 0, start, uintptr(size), protection, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return mapping{}, errors.Join(err, m.unmap())
	}
	m.bytes = unsafe.Slice((*byte)(start), size)
	return m, nil
}

// shorten leaves the first size bytes of a mapping and makes the rest inaccessible.
func (m *mapping) shorten(size int64) error {
	page := int64(os.Getpagesize())
	kept := (size + page - 1) &^ (page - 1)
	if rest := int64(len(m.bytes)) - kept; rest > 0 {
		_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&m.bytes[kept]), uintptr(rest), unix.PROT_NONE,
			unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
		if err != nil {
			return err
		}
	}
	m.bytes = m.bytes[:size]
	return nil
}

func (m mapping) unmap() error {
	if m.reserved == nil {
		return nil
	}
	return unix.MunmapPtr(m.reserved, m.length)
}
