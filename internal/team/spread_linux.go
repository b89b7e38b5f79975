// SPDX-License-Identifier: Apache-2.0

package team

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// leave undoes spread, which has returned the place.
func (p *places) leave(place int) {
	if place > 0 {
		p[place-1].Store(false)
	}
}

// YieldProcessor lets a waiting thread of the system run on this processor, without the Go scheduler: the goroutine
// stays on its thread.
func YieldProcessor() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
