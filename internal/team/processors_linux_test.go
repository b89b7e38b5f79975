// SPDX-License-Identifier: Apache-2.0

package team

import (
	"os"
	"runtime"
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
