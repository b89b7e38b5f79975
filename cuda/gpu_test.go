// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagGPU     = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagGPUs    = flag.String("gpus", "0,0", "the GPUs of tests of several GPUs, as option gpus takes them")
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

// constructGraph runs kernel 1, and returns what it built and the search of each rank. Ranks wait for each other for a
// limited time if patience is not 0.
func constructGraph(tb testing.TB, in plugins.Input, patience time.Duration) (built plugins.Built, ranks []*search) {
	tb.Helper()
	set, err := plugins.Resolve(options(), in.Options)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := configure(set)
	if err != nil {
		tb.Fatal(err)
	}
	if patience != 0 {
		c.patience = patience
	}
	if len(c.devices) > 1 {
		var s *teamSearch
		if s, built, err = constructTeam(tb.Context(), in.Tuples, c, nil); err == nil {
			ranks = s.ranks
		}
	} else {
		var s *search
		s, built, err = construct(tb.Context(), in, c)
		ranks = []*search{s}
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := built.Free(); err != nil {
			tb.Error(err)
		}
	})
	return built, ranks
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
			{"gpus": *flagGPUs},
			{"gpus": *flagGPUs, "transfer": "staged"},
			{"gpus": "0,0,0", "direction": "topdown"},
			{"gpus": *flagGPUs, "partition": "1d-source"},
			{"gpus": *flagGPUs, "partition": "1d-source", "transfer": "staged"},
			{"gpus": "0,0,0,0", "partition": "2d"},
			{"gpus": "0,0,0", "partition": "1d-source", "direction": "topdown", "messages": "lists"},
			{"gpus": *flagGPUs, "partition": "1d-source", "transfer": "staged", "messages": "bitmaps"},
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
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	for _, set := range variants() {
		t.Run(strings.ReplaceAll(fmt.Sprint(set), " ", ","), func(t *testing.T) { enginetest.Test(t, open, set) })
	}
}

// A GPU that cannot start its part of a search ends the search for all, and the next search is right again. A GPU that
// does not answer ends the search for all.
func TestSearchEndsIfAGPUFails(t *testing.T) {
	needGPU(t)
	_, tuples := generate(t, "kron:12")
	in := plugins.Input{Tuples: tuples, Options: map[string]string{"gpus": *flagGPUs}}
	built, ranks := constructGraph(t, in, time.Second)
	parent := make([]graph.Vertex, built.Vertices)
	last := ranks[len(ranks)-1].device
	fails := func(want string) {
		t.Helper()
		_, err := built.Search(t.Context(), 1, parent)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
	shared := last.searchShared
	last.searchShared = 1 << 30
	fails("launch the search")
	last.searchShared = shared
	if _, err := built.Search(t.Context(), 1, parent); err != nil {
		t.Error(err)
	}
	silent, err := last.Lookup("wake")
	if err != nil {
		t.Fatal(err)
	}
	last.searchFunction, last.searchShared = silent, 0
	fails("did not answer GPU 0 within 1s")
}

func TestSeveralGPUsRefuseWhatDoesNotWork(t *testing.T) {
	needGPU(t)
	_, tuples := generate(t, "kron:16")
	for _, test := range []struct {
		set  map[string]string
		want string
		kind error
	}{
		{map[string]string{"gpus": "0,1000"}, "GPU 1000 of the options device and gpus: the GPUs of this machine",
			plugins.ErrOption},
		{map[string]string{"gpus": *flagGPUs, "memory": "0.01"}, "raise the option memory", plugins.ErrMemory},
	} {
		settings, err := plugins.Resolve(options(), test.set)
		if err != nil {
			t.Fatal(err)
		}
		_, err = build(t.Context(), plugins.Input{Tuples: tuples}, settings, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
			!errors.Is(err, test.kind) {
			t.Errorf("%v: got %v, want one line with %q", test.set, err, test.want)
		}
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
		truth, err := enginetest.NewTruth(tuples, vertices)
		if err != nil {
			t.Fatal(err)
		}
		end, _ := tuples[len(tuples)-1].Ends()
		want := map[graph.Vertex][]int64{} // frontiers
		for _, root := range []graph.Vertex{1, end, graph.Vertex(vertices / 2)} {
			if want[root], err = truth.Levels(root); err != nil {
				t.Fatal(err)
			}
		}
		for _, set := range []map[string]string{
			nil, {"direction": "topdown"}, {"hubs": "3"}, {"direction": "bottomup"}, {"levels": "stepped"},
			{"topdown": "dynamic"}, {"alpha": "1e9", "beta": "1e9"}, {"lists": "host"},
			{"gpus": *flagGPUs}, {"gpus": *flagGPUs, "transfer": "staged"}, {"gpus": *flagGPUs, "direction": "bottomup"},
			{"gpus": *flagGPUs, "direction": "topdown", "hubs": "3"}, {"gpus": "0,0,0", "levels": "stepped"},
			{"gpus": *flagGPUs, "partition": "1d-source"}, {"gpus": *flagGPUs, "partition": "1d-source", "transfer": "staged"},
			{"gpus": "0,0,0,0", "partition": "2d"}, {"gpus": "0,0,0,0", "partition": "2d", "transfer": "staged"},
			{"gpus": "0,0,0", "partition": "1d-source", "alpha": "1e9", "beta": "1e9"},
			{"gpus": "0,0,0,0", "partition": "2d", "messages": "bitmaps", "levels": "stepped"},
		} {
			t.Run(strings.ReplaceAll(fmt.Sprint(name, set), " ", "-"), func(t *testing.T) {
				built, _ := constructGraph(t, plugins.Input{Tuples: tuples, Options: set}, 0)
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
	v, err := validate.New(tuples, 100_000, 0)
	if err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, 100_000)
	built, _ := constructGraph(t, plugins.Input{Tuples: tuples}, 0)
	for root, depth := range map[graph.Vertex]int{0: 0, 50_000: 50_001, 65_535: 65_536, 65_536: 0} {
		got, err := built.Search(t.Context(), root, parent)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := v.Validate(t.Context(), root, parent)
		if err != nil {
			t.Error(err)
		}
		if want := max(int(root), 99_999-int(root)); len(got.Levels) != depth || tree.Depth != want {
			t.Errorf("root %d: got %d levels and depth %d, want %d and %d", root, len(got.Levels), tree.Depth, depth, want)
		}
	}
}
