//go:build !linux

package graph

// hugePages does nothing where the system is not asked for huge pages.
func hugePages[T int32 | uint16 | uint32](array []T) []T { return array }
