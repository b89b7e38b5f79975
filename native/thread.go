package native

import (
	"runtime"
	"sync/atomic"
	"time"
)

// thread runs functions, one at a time, on one thread of the operating system. It lives as long as the process: an
// engine is the whole of its process.
//
// Waking a thread that sleeps takes tens of microseconds there and back, which is much beside a search of one
// millisecond. So both sides look for each other for a while before they sleep: the thread after each call, for the
// next one, and the caller for the end of a short call.
type thread struct {
	function func()
	state    atomic.Uint32 // of the thread: sleeping, looking, working
	wake     chan struct{}
	result   atomic.Uint32 // of the call: open, awaited, finished
	finish   chan struct{}
	patience time.Duration // how long the thread looks for the next call
}

const (
	sleeping, looking, working = 0, 1, 2
	open, awaited, finished    = 0, 1, 2
)

const (
	lookForCall = 500 * time.Microsecond
	lookForEnd  = 20 * time.Microsecond // longer would take a processor from the library's own threads
)

func newThread() *thread {
	t := &thread{wake: make(chan struct{}), finish: make(chan struct{}), patience: lookForCall}
	if runtime.GOMAXPROCS(0) == 1 {
		t.patience = 0 // nobody could make a call meanwhile
	}
	go t.serve()
	return t
}

// do runs f and waits for it. Calls come one at a time.
func (t *thread) do(f func()) {
	t.function = f
	t.result.Store(open)
	if !t.state.CompareAndSwap(looking, working) {
		t.wake <- struct{}{}
	}
	if !spin(lookForEnd, &t.result, finished) && t.result.CompareAndSwap(open, awaited) {
		<-t.finish
	}
}

func (t *thread) serve() {
	runtime.LockOSThread()
	<-t.wake
	for {
		t.function()
		t.state.Store(looking)
		if t.result.Swap(finished) == awaited {
			t.finish <- struct{}{}
		}
		if !spin(t.patience, &t.state, working) && t.state.CompareAndSwap(looking, sleeping) {
			<-t.wake
		}
	}
}

// spin looks for a value for a while, and says whether it came.
func spin(patience time.Duration, at *atomic.Uint32, value uint32) bool {
	for start := time.Now(); ; {
		for range 64 {
			if at.Load() == value {
				return true
			}
		}
		if time.Since(start) > patience {
			return false
		}
	}
}
