// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// kronecker generates the tuples of a small benchmark graph.
func kronecker(t testing.TB, scale int) []graph.Edge {
	t.Helper()
	_, tuples := enginetest.Generated(t, fmt.Sprintf("kron:%d", scale))
	return tuples
}

// edges makes tuples from pairs of labels.
func edges(labels ...graph.Vertex) []graph.Edge {
	var tuples []graph.Edge
	for i := 0; i+1 < len(labels); i += 2 {
		tuples = append(tuples, graph.MakeEdge(labels[i], labels[i+1]))
	}
	return tuples
}

// construction runs kernel 1 without the adapter around it.
func construction(t testing.TB, tuples []graph.Edge, set map[string]string) *instance {
	t.Helper()
	settings := must.Get(plugins.Resolve(options(), set))
	e := must.Get(construct(context.Background(), tuples, settings, layout.Options{}))
	return e
}

// open constructs a graph.
func open(t interface {
	Fatal(...any)
	Cleanup(func())
}, tuples []graph.Edge, set map[string]string) plugins.Engine {
	e := New()
	t.Cleanup(func() { e.Close() })
	must.Get(e.Construct(context.Background(), plugins.Input{Tuples: tuples, Options: set}))
	return e
}

// truthOf returns what searches of a graph are compared with.
func truthOf(t *testing.T, tuples []graph.Edge, vertices int64) *enginetest.Truth {
	t.Helper()
	truth := must.Get(enginetest.NewTruth(tuples, vertices))
	return truth
}

// check searches from root and compares parents and levels with the truth.
func check(t *testing.T, e plugins.Engine, truth *enginetest.Truth, root graph.Vertex) {
	t.Helper()
	if _, err := truth.Search(t.Context(), root, e.Search); err != nil {
		t.Fatalf("Search(%d): %v", root, err)
	}
}

// Packed lists hold neighbors from 65,536 on apart from the others. Here most neighbors are such, and all degrees are
// about 16, so bottom-up steps look through them.
func TestPackedListsOfFarNeighborsAreSearched(t *testing.T) {
	if testing.Short() {
		t.Skip("packed lists of smaller graphs are searched")
	}
	const vertices = 1 << 17 // the last half are far
	random := rand.New(rand.NewPCG(1, 2))
	tuples := make([]graph.Edge, 4*vertices)
	for i := range tuples {
		tuples[i] = graph.MakeEdge(graph.Vertex(random.Int64N(vertices)), graph.Vertex(random.Int64N(vertices)))
	}
	truth := truthOf(t, tuples, vertices)
	set := map[string]string{"adjacency": "packed", "threads": "3", "alpha": "1e9", "beta": "0"} // bottom-up only
	e := open(t, tuples, set)
	for _, root := range []graph.Vertex{0, 1000, vertices - 1} {
		check(t, e, truth, root)
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	tuples := kronecker(t, 12)
	for _, set := range []map[string]string{nil, {"threads": "1"}, {"threads": "3", "adjacency": "packed"}} {
		e := construction(t, tuples, set)
		out := plugins.Output{Parent: make([]graph.Vertex, e.graph.Labels)}
		root := graph.Vertex(0)
		if n := testing.AllocsPerRun(50, func() {
			must.Get(e.traverse(context.Background(), root, out))
			root++
		}); n != 0 {
			t.Errorf("%v: a search allocates %v times, want 0", set, n)
		}
		if err := e.free(); err != nil {
			t.Error(err)
		}
	}
}

func TestSearchWithTooManyLevelsReportsNone(t *testing.T) {
	for _, c := range []struct{ vertices, levels int }{
		{maxLevels - 1, maxLevels - 1}, {maxLevels, maxLevels}, {maxLevels + 1, 0}, {maxLevels + 1000, 0},
	} {
		var tuples []graph.Edge
		for v := range graph.Vertex(c.vertices - 1) {
			tuples = append(tuples, graph.MakeEdge(v, v+1))
		}
		e := open(t, tuples, nil)
		parent := make([]graph.Vertex, c.vertices)
		found := must.Get(e.Search(context.Background(), 0, plugins.Output{Parent: parent}))
		if len(found.Levels) != c.levels {
			t.Errorf("a path of %d vertices: %d levels, want %d", c.vertices, len(found.Levels), c.levels)
		}
		for v, p := range parent {
			if v > 0 && p != graph.Vertex(v-1) {
				t.Fatalf("a path of %d vertices: parent of %d is %d", c.vertices, v, p)
			}
		}
	}
}

// The whole suite with the default options, and searches of its smaller graphs with sets of options that together have
// every pair of values of two options.
func TestConformance(t *testing.T) {
	defer goleak.VerifyNone(t)
	enginetest.Test(t, opener)
	sets := append(slices.Clone(pairwise), "threads=1 direction=bottomup hubs=3")
	for _, set := range sets {
		if testing.Short() && !strings.Contains(set, "threads=3 adj") {
			continue // one worker has no races
		}
		enginetest.TestQuick(t, opener, []string{"graph/*"}, optionsOf(set, " "))
	}
}

func opener(context.Context) (plugins.Engine, error) { return New(), nil }

// pairwise has every pair of values, except for beta with searches that never go bottom-up.
var pairwise = []string{
	"threads=3 adjacency=packed alpha=1e9 beta=0 sequential=0 hubs=2",
	"threads=1 adjacency=csr alpha=1e9 beta=16384 sequential=4096 hubs=0",
	"threads=1 adjacency=packed alpha=20 beta=0 sequential=4096 hubs=2",
	"threads=3 adjacency=csr alpha=20 beta=16384 sequential=0 hubs=0",
	"threads=3 adjacency=packed alpha=0 beta=0 sequential=4096 hubs=0",
	"threads=1 adjacency=csr alpha=0 beta=0 sequential=0 hubs=2",
	"threads=1 adjacency=packed alpha=1e9 beta=16384 sequential=0 hubs=2",
}

func TestBitmapIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "vertices")
		b, want := make(bitmap, (n+63)>>6), make([]bool, n)
		if rapid.Bool().Draw(t, "full") {
			b.fill(n)
			for v := range want {
				want[v] = true
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			from := rapid.IntRange(0, n).Draw(t, "from")
			if from < n {
				b.remove(uint32(from))
				want[from] = false
			}
		}
		var queue []uint64
		for v, in := range want {
			if b.has(uint32(v)) != in {
				t.Fatalf("bitmap has %d: %v, want %v", v, !in, in)
			}
			if in {
				queue = append(queue, uint64(v))
			}
		}
		again := make(bitmap, len(b))
		again.set(queue)
		if !slices.Equal(again, b) {
			t.Fatalf("bitmap set from its queue is %x, want %x", again, b)
		}
	})
}
