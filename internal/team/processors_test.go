// SPDX-License-Identifier: Apache-2.0

package team

import (
	"slices"
	"sync/atomic"
	"testing"
)

// machine returns nodes x cores x threads processors, numbered as Linux does: first one thread of every core.
func machine(nodes, cores, threads int) (all []processor) {
	for range threads {
		for node := range nodes {
			for core := range cores {
				all = append(all, processor{number: len(all), node: node, socket: node, core: core})
			}
		}
	}
	return all
}

func TestProcessorsAreChosenByNodeAndCore(t *testing.T) {
	for _, c := range []struct {
		name       string
		processors []processor
		size       int
		want       []int // numbers
	}{
		{"one of each core", machine(1, 4, 2), 4, []int{0, 1, 2, 3}},
		{"then the second threads", machine(1, 4, 2), 6, []int{0, 1, 2, 3, 4, 5}},
		{"evenly over nodes", machine(2, 4, 1), 4, []int{0, 1, 4, 5}},
		{"ordered by node", machine(2, 2, 2), 8, []int{0, 1, 4, 5, 2, 3, 6, 7}},
		{"more workers than processors", machine(1, 2, 1), 5, []int{0, 0, 0, 1, 1}},
		{"what affinity leaves", machine(2, 4, 1)[3:6], 3, []int{3, 4, 5}},
	} {
		var got []int
		for _, p := range choose(c.processors, c.size) {
			got = append(got, p.number)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: workers are on processors %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWorkersHelpTheNextOnesFirst(t *testing.T) {
	team := &Team{left: make([]atomic.Uint64, 1)}
	team.wanted = 6
	for _, c := range []struct {
		left   uint64 // bitmap of shares
		worker int
		want   int
	}{
		{0b111111, 1, 2}, {0b111001, 1, 3}, {0b100000, 1, 5}, {0b000111, 4, 0}, {0b001110, 4, 1}, {0b010000, 3, 4},
		{0, 2, -1},
	} {
		team.left[0].Store(c.left)
		if got := team.unfinished(c.worker); got != c.want {
			t.Errorf("shares %06b have pieces left: worker %d helps %d, want %d", c.left, c.worker, got, c.want)
		}
	}
}
