package rpc

// This file is the only one of the package that uses unsafe: it maps the bytes of a segment, looks at them as the
// slices of package plugins, and finds the segment that a slice lies in. Elements begin at a multiple of 4096 from the
// start of a mapping, so they are aligned; their layout is the memory image that package graph documents.

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
)

// element is what segments hold.
type element interface{ graph.Edge | graph.Vertex }

// The sizes in the segment header are those of the Go types.
var (
	_ [graph.EdgeBytes]byte = [unsafe.Sizeof(graph.Edge{})]byte{}
	_ [vertexBytes]byte     = [unsafe.Sizeof(graph.Vertex(0))]byte{}
)

// view returns bytes as elements. The result is valid as long as the mapping; it lies outside the Go heap.
func view[E element](bytes []byte) []E {
	var zero E
	if len(bytes) == 0 {
		return []E{}
	}
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/int(unsafe.Sizeof(zero)))
}

// within tells whether part is a run of elements of the view of whole, and the index of its first element.
func within[E element](part []E, whole []byte) (first int64, ok bool) {
	if len(part) == 0 || len(whole) == 0 {
		return 0, false
	}
	var zero E
	start, begin := uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	if start < begin || start-begin+uintptr(len(part))*unsafe.Sizeof(zero) > uintptr(len(whole)) {
		return 0, false
	}
	return int64((start - begin) / unsafe.Sizeof(zero)), (start-begin)%unsafe.Sizeof(zero) == 0
}

// hugePage is what mappings are aligned to, in bytes: a huge page of amd64, and of arm64 with pages of 4 KiB.
const hugePage = 2 << 20

// guardBytes is how much of the address space behind a mapping stays shut: who runs past the end of an array that ends
// with a page meets a segmentation fault there, and not somebody else's memory.
const guardBytes = 2 << 20

// mapAligned maps size bytes of a file shared, at a multiple of hugePage, without which there are no huge pages, and
// shuts guardBytes behind it. It reserves addresses for more than that, maps into their middle, and gives the rest back.
func mapAligned(fd int, size uintptr, protection int) ([]byte, error) {
	page := uintptr(os.Getpagesize())
	end := (size + page - 1) &^ (page - 1)
	room, err := unix.MmapPtr(-1, 0, nil, end+guardBytes+hugePage, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	before := -uintptr(room) & (hugePage - 1)
	start, err := unix.MmapPtr(fd, 0, unsafe.Add(room, before), size, protection, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return nil, errors.Join(err, unix.MunmapPtr(room, end+guardBytes+hugePage))
	}
	if before > 0 {
		err = unix.MunmapPtr(room, before)
	}
	return unsafe.Slice((*byte)(start), size), errors.Join(err, unix.MunmapPtr(unsafe.Add(start, end+guardBytes), hugePage-before))
}

// unmap undoes mapAligned.
func unmap(memory []byte) error {
	page := uintptr(os.Getpagesize())
	end := (uintptr(len(memory)) + page - 1) &^ (page - 1)
	return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(memory)), end+guardBytes)
}
