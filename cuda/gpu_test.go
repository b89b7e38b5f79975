// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagGPU     = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagProduct = flag.Bool("cuda.product", false, "run the conformance suite over every combination of variants")
)

// needGPU skips a test if the machine has no GPU, or fails it with -gpu.
func needGPU(tb testing.TB) {
	tb.Helper()
	switch why := driver.Missing(); {
	case why == "":
	case *flagGPU:
		tb.Fatal(why)
	default:
		tb.Skip(why)
	}
}

// constructGraph runs kernel 1 on a GPU, and returns what it built and its search.
func constructGraph(tb testing.TB, in plugins.Input) (plugins.Built, *search) {
	tb.Helper()
	set := must.Get(plugins.Resolve(options(), in.Options))
	c := must.Get(configure(set))
	s, built := must.Get2(construct(tb.Context(), in, c))
	tb.Cleanup(func() {
		if err := built.Free(); err != nil {
			tb.Error(err)
		}
	})
	return built, s
}

// variants returns sets of options: those in which every variant occurs, or all combinations.
func variants() (sets []map[string]string) {
	if !*flagProduct {
		return []map[string]string{
			nil,
			{"topdown": "dynamic", "bottomup": "csr", "lists": "host", "hubs": "3"},
			{"levels": "stepped", "alpha": "0", "aligned": "40"},
			{"alpha": "1e9", "beta": "1e9", "hubs": "2", "memory": "0.88"},
			{"direction": "bottomup"},
			{"adjacency": "packed"},
			{"adjacency": "packed", "direction": "topdown", "levels": "stepped"},
			{"adjacency": "packed", "topdown": "dynamic", "bottomup": "csr", "hubs": "3"},
			{"ranks": "2"},
			{"ranks": "2", "transfer": "staged"},
			{"ranks": "3", "direction": "topdown"},
			{"ranks": "2", "partition": "1d-source"},
			{"ranks": "2", "partition": "1d-source", "transfer": "staged"},
			{"ranks": "4", "partition": "2d"},
			{"ranks": "3", "partition": "1d-source", "direction": "topdown", "messages": "lists"},
			{"ranks": "2", "partition": "1d-source", "messages": "bitmaps"},
		}
	}
	sets = []map[string]string{{}}
	for name, values := range map[string][]string{"topdown": {"scan", "dynamic"}, "bottomup": {"aligned", "csr"},
		"lists": {"device", "host"}, "levels": {"fused", "stepped"}, "alpha": {"0", "30", "1e9"}} {
		var more []map[string]string
		for _, set := range sets {
			for _, value := range values {
				set = maps.Clone(set)
				set[name] = value
				more = append(more, set)
			}
		}
		sets = more
	}
	return sets
}

func TestConformance(t *testing.T) {
	needGPU(t)
	open := func(context.Context) (plugins.Engine, error) {
		return plugins.New(func() (plugins.Description, error) { return New().Describe(t.Context()) }, buildRanks), nil
	}
	for _, set := range variants() {
		t.Run(strings.ReplaceAll(fmt.Sprint(set), " ", ","), func(t *testing.T) { enginetest.Test(t, open, set) })
	}
}

// deepGraphs are graphs whose frontiers are small for many levels, and graphs that make a search pass from one
// block to all, from a sparse to a dense frontier, and back.
func deepGraphs(t *testing.T) map[string][]graph.Edge {
	all := map[string][]graph.Edge{}
	for _, spec := range []string{"path:3000", "grid2d:200", "grid3d:60", "star:100k", "uniform:100k:150k",
		"uniform:5000:1M", "kron:12"} {
		_, all[spec] = generate(t, spec)
	}
	all["grid2d:200, labels permuted"] = permuted(all["grid2d:200"])
	all["grid3d:60, labels permuted"] = permuted(all["grid3d:60"])
	// A binary tree, whose frontiers double, with a path at a leaf and another at the root.
	const inner = 1 << 19
	var tree []graph.Edge
	for v := graph.Vertex(1); v < inner; v++ {
		tree = append(tree, graph.MakeEdge(v, 2*v), graph.MakeEdge(v, 2*v+1))
	}
	all["tree with tails"] = joinPath(joinPath(tree, 2*inner-1, 2*inner, 500), 1, 3*inner, 500)
	// A dense graph between two paths: its frontiers go from one vertex to nearly all and back to one.
	_, blob := generate(t, "kron:16")
	u, v := blob[0].Ends()
	w, _ := blob[len(blob)-1].Ends()
	all["dense between paths"] = joinPath(joinPath(joinPath(blob, u, 1<<17, 300), v, 1<<18, 300), w, 1<<19, 300)
	// A path with a hub at every tenth vertex, joined to 1,500 pairs: lists that are too long for a sparse frontier.
	var comb []graph.Edge
	next := graph.Vertex(1000)
	for v := range graph.Vertex(500) {
		comb = append(comb, graph.MakeEdge(v, v+1))
		for range (9 - v%10) / 9 * 1500 {
			comb = append(comb, graph.MakeEdge(v, next), graph.MakeEdge(v, next+1), graph.MakeEdge(next, next+1))
			next += 2
		}
	}
	all["path of hubs"] = comb
	// Cliques in a row: many edges to vertices that have been reached.
	var cliques []graph.Edge
	for v := range graph.Vertex(6000) {
		for u := v + 1; u < v/60*60+61; u++ {
			cliques = append(cliques, graph.MakeEdge(u, v))
		}
	}
	all["cliques in a row"] = cliques
	return all
}

// joinPath appends a path of n vertices, from, from+1, ..., and joins its first vertex to v.
func joinPath(tuples []graph.Edge, v, from graph.Vertex, n int) []graph.Edge {
	tuples = append(slices.Clone(tuples), graph.MakeEdge(v, from))
	for i := range graph.Vertex(n - 1) {
		tuples = append(tuples, graph.MakeEdge(from+i, from+i+1))
	}
	return tuples
}

// permuted returns the same graph with other labels.
func permuted(tuples []graph.Edge) (other []graph.Edge) {
	label := rand.New(rand.NewPCG(3, 4)).Perm(int(vertexCount(tuples)))
	for _, e := range tuples {
		u, v := e.Ends()
		other = append(other, graph.MakeEdge(graph.Vertex(label[u]), graph.Vertex(label[v])))
	}
	return other
}

func vertexCount(tuples []graph.Edge) (n int64) {
	for _, e := range tuples {
		u, v := e.Ends()
		n = max(n, int64(u)+1, int64(v)+1)
	}
	return n
}

// Every search of a deep graph has the oracle's levels, and its parents pass the validator.
func TestDeepGraphsHaveTheOraclesLevels(t *testing.T) {
	needGPU(t)
	for name, tuples := range deepGraphs(t) {
		vertices := vertexCount(tuples)
		truth := must.Get(enginetest.NewTruth(tuples, vertices))
		end, _ := tuples[len(tuples)-1].Ends()
		want := map[graph.Vertex][]int64{} // frontiers
		for _, root := range []graph.Vertex{1, end, graph.Vertex(vertices / 2)} {
			want[root] = must.Get(truth.Levels(root))
		}
		for _, set := range []map[string]string{
			nil, {"direction": "topdown"}, {"hubs": "3"}, {"direction": "bottomup"}, {"levels": "stepped"},
			{"topdown": "dynamic"}, {"alpha": "1e9", "beta": "1e9"}, {"lists": "host"},
			{"ranks": "2"}, {"ranks": "2", "transfer": "staged"}, {"ranks": "2", "direction": "bottomup"},
			{"ranks": "2", "direction": "topdown", "hubs": "3"}, {"ranks": "3", "levels": "stepped"},
			{"ranks": "2", "partition": "1d-source"}, {"ranks": "2", "partition": "1d-source", "transfer": "staged"},
			{"ranks": "4", "partition": "2d"}, {"ranks": "4", "partition": "2d", "transfer": "staged"},
			{"ranks": "3", "partition": "1d-source", "alpha": "1e9", "beta": "1e9"},
			{"ranks": "4", "partition": "2d", "messages": "bitmaps", "levels": "stepped"},
		} {
			t.Run(strings.ReplaceAll(fmt.Sprint(name, set), " ", "-"), func(t *testing.T) {
				settings := must.Get(plugins.Resolve(options(), set))
				built := must.Get(buildRanks(t.Context(), plugins.Input{Tuples: tuples}, settings))
				defer func() {
					if err := built.Free(); err != nil {
						t.Error(err)
					}
				}()
				for root, want := range want {
					got, err := truth.Search(t.Context(), root, built.Search)
					if err != nil {
						t.Error(err)
					}
					var frontiers []int64
					for _, l := range got.Levels {
						frontiers = append(frontiers, l.Frontier)
					}
					if diff := cmp.Diff(want, frontiers); diff != "" {
						t.Errorf("root %d: frontiers of the oracle (-) and the engine (+):\n%s", root, diff)
					}
				}
			})
		}
	}
}

// A search may have more levels than a launch runs, and reports none of more than maxLevels.
func TestMoreLevelsThanALaunchRuns(t *testing.T) {
	needGPU(t)
	_, tuples := generate(t, "path:100k")
	v := must.Get(validate.New(tuples, 100_000, 0))
	parent := make([]graph.Vertex, 100_000)
	built, _ := constructGraph(t, plugins.Input{Tuples: tuples})
	for root, depth := range map[graph.Vertex]int{0: 0, 50_000: 50_001, 65_535: 65_536, 65_536: 0} {
		got := must.Get(built.Search(t.Context(), root, plugins.Output{Parent: parent}))
		tree, err := v.Validate(t.Context(), root, parent, nil)
		if err != nil {
			t.Error(err)
		}
		if want := max(int(root), 99_999-int(root)); len(got.Levels) != depth || tree.Depth != want {
			t.Errorf("root %d: got %d levels and depth %d, want %d and %d", root, len(got.Levels), tree.Depth, depth, want)
		}
	}
}
