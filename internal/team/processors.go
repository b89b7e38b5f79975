// SPDX-License-Identifier: Apache-2.0

package team

import (
	"cmp"
	"slices"
)

type processor struct{ number, node, socket, core int }

// choose returns a processor for each of size workers, by NUMA node. It takes one hardware thread of every core before
// it takes a second one, the same number from each node as far as possible, and all again if there are fewer than size.
func choose(processors []processor, size int) []processor {
	type core struct{ node, socket, core int }
	type rank struct {
		processor
		thread, place int // of its core; of the node's processors that are equal threads of their cores
	}
	threads, places := map[core]int{}, map[[2]int]int{}
	var all []rank
	for _, p := range processors {
		r := rank{processor: p, thread: threads[core{p.node, p.socket, p.core}]}
		threads[core{p.node, p.socket, p.core}]++
		r.place = places[[2]int{p.node, r.thread}]
		places[[2]int{p.node, r.thread}]++
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rank) int {
		return cmp.Or(a.thread-b.thread, a.place-b.place, a.node-b.node)
	})
	chosen := make([]processor, size)
	for worker := range chosen {
		chosen[worker] = all[worker%len(all)].processor
	}
	slices.SortStableFunc(chosen, func(a, b processor) int { return cmp.Or(a.node-b.node, a.number-b.number) })
	return chosen
}
