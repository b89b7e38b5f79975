// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

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

// combinations are sets of options that together take every path of the engine. Teams alternate, from one call to the
// next as well.
func combinations(call int) (sets []map[string]string) {
	for i, text := range []string{
		"", "adjacency=packed", "adjacency=packed alpha=1e9 beta=0 hubs=5", "adjacency=packed alpha=0 sequential=0",
		"direction=topdown hubs=2 sequential=0", "direction=bottomup", "alpha=1e9 beta=0 hubs=3", "alpha=1e9 beta=0",
		"alpha=1000 beta=1.5 sequential=0",
	} {
		set := optionsOf(text, " ")
		if set["threads"] = []string{"1", "3", "2", "8"}[(i+call)%4]; testing.Short() && i%2 == 1 {
			continue
		}
		sets = append(sets, set)
	}
	return sets
}

var named = map[string][]graph.Edge{
	"no tuples":                     nil,
	"one edge":                      edges(0, 1),
	"self-loops only":               edges(2, 2, 0, 0),
	"one vertex with a self-loop":   edges(0, 0),
	"a path":                        edges(0, 1, 1, 2, 2, 3, 3, 4, 4, 5),
	"a star":                        edges(3, 0, 3, 1, 3, 2, 3, 4, 3, 5, 3, 6),
	"two components":                edges(0, 1, 1, 2, 5, 6, 6, 7),
	"duplicates in both directions": edges(0, 1, 1, 0, 0, 1, 1, 2, 2, 1, 2, 2),
	"a clique":                      edges(0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3),
	"far labels":                    edges(20_000, 5, 5, 17_000),
}

func TestSearchesAgreeWithTheOracle(t *testing.T) {
	defer goleak.VerifyNone(t)
	uniform, _ := source(t, "uniform:900:2500") // in the given order, with isolated labels and another component
	graphs := map[string][]graph.Edge{"uniform": append(uniform, edges(910, 911, 905, 905)...)}
	for scale := 6; scale <= 12 && (scale < 10 || !testing.Short()); scale += 2 {
		graphs[fmt.Sprintf("Kronecker s%d", scale)] = kronecker(t, scale)
	}
	maps.Copy(graphs, named)
	for call, name := range slices.Sorted(maps.Keys(graphs)) {
		tuples := graphs[name]
		vertices := int64(3) // labels beyond every tuple
		for _, e := range tuples {
			u, v := e.Ends()
			vertices = max(vertices, int64(u)+4, int64(v)+4)
		}
		truth := truthOf(t, tuples, vertices)
		for _, set := range combinations(call) {
			t.Run(fmt.Sprint(name, set), func(t *testing.T) {
				e := open(t, tuples, set)
				for i := range int64(12) {
					check(t, e, truth, graph.Vertex(i*7919%vertices))
				}
				check(t, e, truth, graph.Vertex(vertices-1))
			})
		}
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
