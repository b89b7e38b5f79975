// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"syscall"
	"unsafe"
)

// hugePages asks the system to use huge pages for an array that has not been touched. Validation reads its arrays at
// random, and on pages of 4 KiB nearly every read of a large array misses the TLB. A refusal is not an error.
func hugePages[T any](array []T) []T {
	const page = 2 << 20
	bytes := uintptr(len(array)) * unsafe.Sizeof(*new(T))
	if bytes < 2*page {
		return array
	}
	start := unsafe.Pointer(&array[0])
	skip := -uintptr(start) % page
	all := unsafe.Slice((*byte)(start), bytes)
	_ = syscall.Madvise(all[skip:skip+(bytes-skip)&^(page-1)], syscall.MADV_HUGEPAGE)
	return array
}
