//go:build linux && !race

package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Where arrays lie on the Go heap this would count them twice.
func TestMemoryNeededIsAnUpperBound(t *testing.T) {
	scales := []int{10, 14, 18}
	if testing.Short() {
		scales = scales[:2]
	}
	for _, scale := range scales {
		tuples := kronecker(t, scale)
		for _, threads := range []int{1, 2, 5} {
			e := &engine{}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := e.Construct(context.Background(), plugins.Graph{Tuples: tuples, Options: map[string]string{optionThreads: fmt.Sprint(threads)}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Search(context.Background(), 0, make([]graph.Vertex, 1<<scale)); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			used := e.memory.peak + int64(after.TotalAlloc-before.TotalAlloc) // as if the collector freed nothing
			m := need(threads)
			bound := m.Fixed + int64(m.PerVertex*float64(int64(1)<<scale)+m.PerTuple*float64(len(tuples)))
			if used > bound {
				t.Errorf("s%d, %d threads: used %d bytes, bound is %d", scale, threads, used, bound)
			}
			if used*16 < bound && scale >= 18 {
				t.Errorf("s%d, %d threads: used %d bytes, and a bound of %d says nothing", scale, threads, used, bound)
			}
			e.Close()
			if held := e.memory; held != nil {
				t.Errorf("s%d: Close left memory behind", scale)
			}
		}
	}
}

func TestMemoryThatCannotBeHadIsAnError(t *testing.T) {
	if _, err := allocate[uint64](newMemory(), "everything", 1<<55); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("allocating 2^58 bytes: error is %v, want %v", err, plugins.ErrMemory)
	}
}
