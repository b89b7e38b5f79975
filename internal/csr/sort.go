// SPDX-License-Identifier: Apache-2.0

package csr

import "github.com/tepsbench/teps/internal/team"

const (
	digitBits = 11
	digits    = 1 << digitBits
)

// SortKeys sorts keys by `width` bits from bit `low` on, above which they have none: a stable radix sort from the least
// significant digit. It returns the sorted array and the other one.
func SortKeys[K uint32 | uint64](t *team.Team, keys, scratch []K, low, width int) (sorted, other []K) {
	counts := make([][digits]uint32, t.Size())
	for shift := low; shift < low+width; shift += digitBits {
		from, into := keys, scratch[:len(keys)]
		t.Split(len(from), 1, func(worker, begin, end int) {
			mine := &counts[worker]
			clear(mine[:])
			for _, key := range from[begin:end] {
				mine[uint64(key)>>(shift&63)&(digits-1)]++
			}
		})
		at := uint32(0)
		for d := range digits {
			for worker := range counts {
				n := counts[worker][d]
				counts[worker][d] = at
				at += n
			}
		}
		t.Split(len(from), 1, func(worker, begin, end int) {
			mine := &counts[worker]
			for _, key := range from[begin:end] {
				d := uint64(key) >> (shift & 63) & (digits - 1)
				into[mine[d]] = key
				mine[d]++
			}
		})
		keys, scratch = into, from
	}
	return keys, scratch
}
