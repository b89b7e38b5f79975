// SPDX-License-Identifier: Apache-2.0

package team

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/internal/must"
)

// A worker takes the processor that no other one has, wherever it is, and may then be moved as before.
func TestWorkersThatWakeUpSpread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	must.Do(unix.SchedGetaffinity(0, &before))
	var p places
	for k := range p {
		p[k].Store(true)
	}
	for k := range p {
		if !before.IsSet(k) {
			continue
		}
		p.leave(k + 1)
		if got := p.spread(); got != k+1 {
			t.Errorf("spread took place %d, want %d", got, k+1)
		}
		if got := p.spread(); got != 0 {
			t.Errorf("spread took place %d while all were taken", got)
		}
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("the caller may use %d processors, want %d as before (%v)", after.Count(), before.Count(), err)
	}
}

// All threads of a process move to its share, and to none where there are too few processors.
func TestBindMovesAllThreads(t *testing.T) {
	var before unix.CPUSet
	must.Do(unix.SchedGetaffinity(0, &before))
	defer func() {
		for _, thread := range threads(t) {
			_ = unix.SchedSetaffinity(thread, &before)
		}
	}()
	if Bind(0, before.Count()+1, 1) {
		t.Errorf("Bind found %d shares of one processor among %d", before.Count()+1, before.Count())
	}
	share := before.Count() - 1
	if !Bind(share, before.Count(), 1) {
		t.Fatalf("Bind found no share %d of %d processors", share, before.Count())
	}
	var first unix.CPUSet
	for k, thread := range threads(t) {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(thread, &set); err != nil {
			continue // it has ended
		}
		if k == 0 {
			first = set
		}
		if set.Count() != 1 || set != first {
			t.Errorf("a thread may use %d processors, or not those of the others", set.Count())
		}
	}
}

// threads returns the threads of this process.
func threads(t *testing.T) (threads []int) {
	entries := must.Get(os.ReadDir("/proc/self/task"))
	for _, entry := range entries {
		number := must.Get(strconv.Atoi(entry.Name()))
		threads = append(threads, number)
	}
	return threads
}

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
