package rpc

// This file is the only one of the package that uses unsafe: it looks at the bytes of a segment as the slices of
// package plugins, and finds the segment that a slice lies in. Elements begin at a multiple of 4096 from the start of
// a mapping, so they are aligned; their layout is the memory image that package graph documents.

import (
	"unsafe"

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
