// SPDX-License-Identifier: Apache-2.0

package team

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bind moves this process to size processors, by NUMA node: share k of the processors that `shares` processes may use,
// which all call Bind. It reports false, and moves nothing, if there are too few or unknown ones.
func Bind(k, shares, size int) bool {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil || allowed.Count() < shares*size {
		return false
	}
	var processors []processor
	for number := range len(allowed) * 64 {
		if allowed.IsSet(number) {
			processors = append(processors, describe(number))
		}
	}
	var own unix.CPUSet
	for _, p := range choose(processors, shares*size)[k*size : (k+1)*size] {
		own.Set(p.number)
	}
	moved := map[string]bool{}
	for before := -1; before < len(moved); { // until no thread has started others in the loop
		before = len(moved)
		threads, _ := os.ReadDir("/proc/self/task")
		for _, thread := range threads {
			if number, err := strconv.Atoi(thread.Name()); err == nil && !moved[thread.Name()] {
				_ = unix.SchedSetaffinity(number, &own) // it may have ended
				moved[thread.Name()] = true
			}
		}
	}
	return true
}

type processor struct{ number, node, socket, core int }

// choose returns a processor for each of size workers, by NUMA node. It takes one hardware thread of every core before
// it takes a second oneand the same number from each node as far as possible.
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
	for k := range chosen {
		chosen[k] = all[k].processor
	}
	slices.SortStableFunc(chosen, func(a, b processor) int { return cmp.Or(a.node-b.node, a.number-b.number) })
	return chosen
}

// describe finds where a processor is. Unknown numbers are 0.
func describe(number int) processor {
	directory := fmt.Sprintf("/sys/devices/system/cpu/cpu%d", number)
	read := func(name string) int {
		text, _ := os.ReadFile(filepath.Join(directory, name))
		n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return n
	}
	p := processor{number: number, socket: read("topology/physical_package_id"), core: read("topology/core_id")}
	if nodes, _ := filepath.Glob(filepath.Join(directory, "node[0-9]*")); len(nodes) > 0 {
		p.node, _ = strconv.Atoi(strings.TrimPrefix(filepath.Base(nodes[0]), "node"))
	}
	return p
}

// places says on which processors workers have woken up and are awake. A worker that has slept now and then wakes up on
// the processor of another worker while others are idle, and the system leaves it there for some milliseconds, longer
// than many a search. So it moves to a processor that no worker of its teams has.
type places [1024]atomic.Bool

// spread moves the caller as above, and returns 1 + the processor that it has taken; 0 if it has taken none.
func (p *places) spread() int {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return 0
	}
	if int(cpu) < len(p) && p[cpu].CompareAndSwap(false, true) {
		return 1 + int(cpu)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed, one unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return 0
	}
	for k := range p {
		if allowed.IsSet(k) && p[k].CompareAndSwap(false, true) {
			one.Set(k)
			_ = unix.SchedSetaffinity(0, &one) // an optimization: if the system refuses, the worker stays
			_ = unix.SchedSetaffinity(0, &allowed)
			return 1 + k
		}
	}
	return 0
}

func (p *places) leave(place int) {
	if place > 0 {
		p[place-1].Store(false)
	}
}

// YieldProcessor lets a waiting thread of the system run on this processor, without the Go scheduler.
func YieldProcessor() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
