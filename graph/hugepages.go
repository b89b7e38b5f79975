//go:build !linux

package graph

// hugePages does nothing on systems without a call for huge pages.
func hugePages[T int32 | uint16 | uint32 | uint64 | Vertex](array []T) []T { return array }
