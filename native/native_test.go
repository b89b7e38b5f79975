//go:build cgo

package native

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// loaded constructs a path of n vertices with the library.
func loaded(t testing.TB, library string, n int64) *Engine {
	t.Helper()
	e := New(library)
	t.Cleanup(func() { e.Close() })
	tuples := make([]graph.Edge, 0, n)
	for v := range graph.Vertex(n) {
		tuples = append(tuples, graph.MakeEdge(max(v-1, 0), v))
	}
	if _, err := e.Construct(context.Background(), plugins.Graph{Tuples: tuples}); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRepeatIsTheLibrarysOwnOrMadeOfSearches(t *testing.T) {
	for _, source := range []string{filepath.Join("testdata", "repeat.c"), filepath.Join("..", "examples", "c", "mine.c")} {
		e := loaded(t, compile(t, source), 1000)
		if e.loaded.repeats() != (filepath.Base(source) == "repeat.c") {
			t.Errorf("%s: repeats by itself: %v", source, e.loaded.repeats())
		}
		start := time.Now()
		n, err := e.Repeat(t.Context(), []graph.Vertex{0, 500, 999}, 50*time.Millisecond)
		if took := time.Since(start); err != nil || n < 1 || took < 50*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s: %d searches in %v: %v", source, n, took, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := e.Repeat(ctx, []graph.Vertex{0}, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: cancelled: %v", source, err)
		}
		cancel()
	}
}

// An engine is asked for its description before there is a library to ask, and after.
func TestALibraryThatIsNotThereIsAnErrorOfEachCall(t *testing.T) {
	e := New("missing.so")
	for range 2 {
		if _, err := e.Describe(t.Context()); err == nil {
			t.Error("want an error")
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Describe(t.Context()); !errors.Is(err, plugins.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// BenchmarkSearch is what one search of a graph of two vertices costs: in C alone, and through the bridge. The
// difference is what the bridge adds to every search. docs/results/native holds measured figures.
func BenchmarkSearch(b *testing.B) {
	library := compile(b, filepath.Join("testdata", "repeat.c"))
	b.Run("in-c-alone", func(b *testing.B) {
		e := loaded(b, library, 2)
		var searches int64
		for b.Loop() {
			n, err := e.Repeat(context.Background(), []graph.Vertex{0}, 20*time.Millisecond)
			if err != nil {
				b.Fatal(err)
			}
			searches += n
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(searches), "ns/search")
	})
	b.Run("by-cgo", func(b *testing.B) {
		e := loaded(b, library, 2)
		parent := make([]graph.Vertex, 2)
		for b.Loop() {
			if _, err := e.loaded.search(context.Background(), 0, parent); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/search")
	})
	b.Run("through-the-bridge", func(b *testing.B) {
		e := loaded(b, library, 2)
		parent := make([]graph.Vertex, 2)
		for b.Loop() {
			if _, err := e.Search(context.Background(), 0, parent); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/search")
	})
	b.Run("through-the-bridge-asleep", func(b *testing.B) { // the thread has gone to sleep, as while a host validates
		e := loaded(b, library, 2)
		parent := make([]graph.Vertex, 2)
		var calls, clocks []time.Duration
		for b.Loop() {
			time.Sleep(4 * lookForCall)
			start := time.Now()
			t, err := e.Search(context.Background(), 0, parent)
			if err != nil {
				b.Fatal(err)
			}
			calls, clocks = append(calls, time.Since(start)), append(clocks, t.Elapsed)
		}
		slices.Sort(calls)
		slices.Sort(clocks)
		b.ReportMetric(float64(calls[len(calls)/2]), "ns/search")
		b.ReportMetric(float64(clocks[len(clocks)/2]), "ns-on-the-clock")
	})
}

// The header is C++ too.
func TestTheHeaderIsCPlusPlus(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("g++ is not here")
	}
	for _, standard := range []string{"c++11", "c++20"} {
		out, err := exec.Command("g++", "-std="+standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-include", "teps_engine.h", "/dev/null").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", standard, err, out)
		}
	}
}
