package enginetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// offHeap returns memory that the race detector does not watch, like that written by a device or a library in C.
func offHeap(n int64) []vertex {
	memory, err := syscall.Mmap(-1, 0, int(n)*8, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*vertex)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// wrongInTheLongRun are mutants with wrong clocks and mutants that fail after a while.
func wrongInTheLongRun() map[string]wrong {
	var opened atomic.Int64
	return map[string]wrong{
		"leaves its preparations out of the clock": {func() *mutant {
			return &mutant{search: func(c call) (traversal, error) {
				t, err := c.search()
				time.Sleep(10*time.Millisecond + 2*t.Elapsed)
				return t, err
			}}
		}, words{"honest/clock": "is less than half of the call"}},
		"returns before it has finished": {func() *mutant {
			m := &mutant{search: func(c call) (traversal, error) {
				t, err := c.search()
				if err == nil {
					last := c.parent[len(c.parent)-1]
					c.parent[len(c.parent)-1] = graph.Unwritten
					time.AfterFunc(5*time.Millisecond, func() { c.parent[len(c.parent)-1] = last })
				}
				return t, err
			}}
			m.parents = offHeap
			return m
		}, words{"honest/done": "parent["}},
		"keeps the answer for each root": {func() *mutant {
			answers := map[vertex][]vertex{}
			return &mutant{search: func(c call) (traversal, error) {
				start := time.Now()
				if answer, known := answers[c.root]; known && len(answer) == len(c.parent) {
					copy(c.parent, answer)
					return traversal{Elapsed: time.Since(start)}, nil
				}
				time.Sleep(2 * time.Millisecond)
				_, err := c.search()
				answers[c.root] = slices.Clone(c.parent)
				return traversal{Elapsed: time.Since(start)}, err
			}}
		}, words{"honest/nothing-learned": "want the same work each time"}},
		"wears out after some hundred searches": {func() *mutant {
			searches := 0
			return &mutant{search: func(c call) (traversal, error) {
				t, err := c.search()
				if searches++; searches > 700 && err == nil {
					c.parent[c.root] = graph.Unreached
				}
				return t, err
			}}
		}, words{"stress/many-roots": "search 701: "}},
		"forgets its root after a canceled search": {func() *mutant {
			broken := false
			return &mutant{search: func(c call) (traversal, error) {
				t, err := c.search()
				time.Sleep(2 * time.Millisecond) // so that cancels come before the end
				if err == nil && c.ctx.Err() == nil && broken {
					c.parent[c.root] = graph.Unreached
				}
				broken = c.ctx.Err() != nil
				return t, err
			}}
		}, words{"stress/cancel-at-random": "want the root itself"}},
		"can be opened four times": {func() *mutant {
			nth := opened.Add(1)
			return &mutant{construct: func(b build) (construction, error) {
				if nth > 4 {
					return construction{}, fmt.Errorf("the device is in use: %w", plugins.ErrUnavailable)
				}
				return b.construct()
			}}
		}, words{"close/others": "engine 4 of 8"}},
		"keeps what it allocates": {func() *mutant {
			var kept int64
			m := &mutant{search: func(c call) (traversal, error) {
				kept += 8 * int64(len(c.parent))
				return c.search()
			}}
			m.memory = func() int64 { return 100<<20 + kept }
			return m
		}, words{"stress/memory": "it grew by 15.0 MiB during 60 searches, 256 KiB each"}},
	}
}
