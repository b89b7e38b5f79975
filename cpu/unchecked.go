// SPDX-License-Identifier: Apache-2.0

package cpu

import "unsafe"

// unchecked is an array that is indexed without bounds checks, for loops whose body is a few loads: checks take a third
// of their time. Kernel 1 makes the arrays, so their entries and lengths fit each other.
type unchecked[T any] struct{ first *T }

func uncheckedOf[T any](array []T) unchecked[T] { return unchecked[T]{unsafe.SliceData(array)} }

// at returns &array[i].
func (a unchecked[T]) at(i int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(a.first), uintptr(i)*unsafe.Sizeof(*a.first)))
}

// four returns the address of array[i:i+4].
func (a unchecked[T]) four(i int) *[4]T { return (*[4]T)(unsafe.Pointer(a.at(i))) }

// fetchLines asks for an array, and does not wait for it.
func fetchLines[T any](array []T) {
	var element T
	prefetchLines((*byte)(unsafe.Pointer(unsafe.SliceData(array))), len(array)*int(unsafe.Sizeof(element)))
}
