package native

import "runtime"

// thread runs functions, one at a time, on one thread of the operating system. It lives as long as the process: an engine
// is the whole of its process.
type thread struct {
	work chan func()
	done chan struct{}
}

func newThread() *thread {
	t := &thread{make(chan func()), make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
			t.done <- struct{}{}
		}
	}()
	return t
}

// do runs f and waits for it.
func (t *thread) do(f func()) {
	t.work <- f
	<-t.done
}
