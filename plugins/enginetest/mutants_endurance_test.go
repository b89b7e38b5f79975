package enginetest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// searched is a mutant with another Search.
func searched(search func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)) *mutant {
	return &mutant{search: search}
}

// offHeap is memory that the race detector does not watch, as a device or a library in C would write to.
func offHeap(n int64) []graph.Vertex {
	memory, err := syscall.Mmap(-1, 0, int(n)*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*graph.Vertex)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// wrongInTheLongRun are mutants that are right once, and wrong about their clocks or after a while.
func wrongInTheLongRun() map[string]wrong {
	var opened atomic.Int64
	return map[string]wrong{
		"leaves its preparations out of the clock": {func() *mutant {
			return searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				time.Sleep(10*time.Millisecond + 2*t.Elapsed)
				return t, err
			})
		}, map[string]string{"honest/clock": "beside that lie"}},
		"returns before it has finished": {func() *mutant {
			m := searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err == nil {
					last := parent[len(parent)-1]
					parent[len(parent)-1] = graph.Unwritten
					time.AfterFunc(5*time.Millisecond, func() { parent[len(parent)-1] = last })
				}
				return t, err
			})
			m.parents = offHeap
			return m
		}, map[string]string{"honest/done": "parent["}},
		"keeps the answer for each root": {func() *mutant {
			answers := map[graph.Vertex][]graph.Vertex{}
			return searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				start := time.Now()
				if answer, known := answers[root]; known && len(answer) == len(parent) {
					copy(parent, answer)
					return plugins.Traversal{Elapsed: time.Since(start)}, nil
				}
				time.Sleep(2 * time.Millisecond)
				_, err := right.Search(ctx, root, parent)
				answers[root] = slices.Clone(parent)
				return plugins.Traversal{Elapsed: time.Since(start)}, err
			})
		}, map[string]string{"honest/nothing-learned": "want the same work each time"}},
		"wears out after some hundred searches": {func() *mutant {
			searches := 0
			return searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if searches++; searches > 700 && err == nil {
					parent[root] = graph.Unreached
				}
				return t, err
			})
		}, map[string]string{"stress/many-roots": "search 701: "}},
		"forgets its root after a cancelled search": {func() *mutant {
			broken := false
			return searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err == nil && ctx.Err() == nil && broken {
					parent[root] = graph.Unreached
				}
				broken = ctx.Err() != nil
				return t, err
			})
		}, map[string]string{"stress/cancel-at-random": "want the root itself"}},
		"can be opened four times": {func() *mutant {
			nth := opened.Add(1)
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				if nth > 4 {
					return plugins.Construction{}, fmt.Errorf("the device is in use: %w", plugins.ErrUnavailable)
				}
				return right.Construct(ctx, g)
			}}
		}, map[string]string{"stress/restart": "engine 4 of 8"}},
		"keeps what it allocates": {func() *mutant {
			var kept int64
			m := searched(func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				kept += 8 * int64(len(parent))
				return right.Search(ctx, root, parent)
			})
			m.memory = func() int64 { return 100<<20 + kept }
			return m
		}, map[string]string{"stress/memory": "it grew by 15.0 MiB during 60 searches, 256 KiB each"}},
	}
}
