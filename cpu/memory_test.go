package cpu

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

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

func TestMemoryCountsWhatIsOut(t *testing.T) {
	m := newMemory()
	a, err := allocate[uint32](m, "a", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b, err := allocate[uint64](m, "b", 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		if a[i] != 0 {
			t.Fatalf("element %d of a fresh array is %d", i, a[i])
		}
		a[i] = uint32(i)
	}
	if want := int64(4<<20 + 800); m.held != want || m.peak != want {
		t.Errorf("held %d, peak %d, want %d", m.held, m.peak, want)
	}
	trim(m, &a, 10)
	if len(a) != 10 || a[9] != 9 || m.held != 840 {
		t.Errorf("after trim: %d elements, last %d, held %d; want 10, 9, 840", len(a), a[9], m.held)
	}
	release(m, &a)
	release(m, &b)
	if a != nil || b != nil || m.held != 0 || m.peak != 4<<20+800 {
		t.Errorf("after release: %v %v, held %d, peak %d", a, b, m.held, m.peak)
	}
}
