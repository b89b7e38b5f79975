// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagGPU    = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagGraphs = flag.String("graphs", "kron:17 path:5k grid2d:300 grid3d:50 star:1M uniform:100k:150k",
		"graphs that are compared with the oracle: small ones for compute-sanitizer, which slows kernels down")
)

// needGPU skips a test if the machine has no GPU, or fails it with -gpu.
func needGPU(t *testing.T) {
	t.Helper()
	switch why := driver.Missing(); {
	case why == "":
	case *flagGPU:
		t.Fatal(why)
	default:
		t.Skip(why)
	}
}

// variants are sets of options in which every value of every option occurs.
func variants() []map[string]string {
	return []map[string]string{
		nil,
		{"kernel": "habr", "levels": "u32"},
		{"kernel": "habr", "levels": "u32", "readonly": "off", "parents": "last", "tile": "4"},
		{"kernel": "habr", "levels": "u32", "permute": "off", "parents": "last"},
		{"kernel": "romeo"},
		{"kernel": "romeo", "visited": "plain", "direction": "topdown"},
		{"kernel": "romeo", "direction": "bottomup"},
		{"kernel": "merrill"},
		{"kernel": "merrill", "order": "expand-contract", "gather": "scan", "cull": "warp"},
		{"kernel": "merrill", "order": "contract-expand", "gather": "warp", "cull": "history", "output": "distance"},
		{"kernel": "merrill", "order": "two-phase", "gather": "cta", "cull": "none", "counters": "on"},
		{"kernel": "merrill", "order": "expand-contract", "output": "distance", "ctamin": "8", "warpmin": "100"},
		{"kernel": "bisson"},
		{"kernel": "bisson", "edges": "1", "append": "warp"},
		{"kernel": "bisson", "edges": "8", "visit": "compact"},
		{"kernel": "bisson", "edges": "2", "search": "warp"},
		{"kernel": "bisson", "edges": "16", "visit": "compact", "search": "warp"},
		{"kernel": "merrill", "ranks": "2"},
		{"kernel": "merrill", "ranks": "3", "transfer": "staged", "gather": "scan", "cull": "none"},
		{"kernel": "bisson", "ranks": "2", "partition": "1d-source"},
		{"kernel": "bisson", "ranks": "4", "transfer": "staged", "edges": "2"},
		{"kernel": "bisson", "ranks": "4", "search": "warp"},
		{"kernel": "kolganov"},
		{"kernel": "kolganov", "local": "off", "aligned": "100", "child": "64", "lists": "host"},
		{"kernel": "kolganov", "global": "off", "child": "0"},
		{"kernel": "kolganov", "renumber": "off", "direction": "topdown", "claim": "off"},
		{"kernel": "kolganov", "local": "off", "global": "off", "renumber": "off", "direction": "bottomup", "aligned": "0",
			"child": "0"},
	}
}

func TestConformance(t *testing.T) {
	needGPU(t)
	open := func(ctx context.Context) (plugins.Engine, error) {
		return plugins.New(func() (plugins.Description, error) { return New().Describe(ctx) }, buildRanks), nil
	}
	enginetest.Test(t, open, variants()...)
}

// generate returns the tuples of a source and 1 + their largest label.
func generate(t *testing.T, spec string) ([]graph.Edge, int64) {
	t.Helper()
	_, tuples := enginetest.Generated(t, spec)
	vertices := must.Get(plugins.VerticesOf(tuples, graph.VertexBits))
	return tuples, vertices
}

// buildRanks is kernel 1 on one GPU. Ranks are goroutines instead of processes with a GPU each; teps conform tests
// those.
func buildRanks(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
	n := set.Int("ranks")
	if n == 0 {
		return build(ctx, in, set, nil)
	}
	worlds := enginetest.Goroutines(n)
	r, err := enginetest.Build(n, in, func(k int, slice plugins.Input) (plugins.Built, error) {
		return team.Joined(worlds[k], func() (plugins.Built, error) {
			return build(ctx, slice, set, &team.World{Group: worlds[k], Here: n})
		}, func(call func()) { call() })
	})
	if err != nil {
		return plugins.Built{}, err
	}
	return r.Built(), nil
}

// Grids of up to 16 processes find the oracle's levels.
func TestGridsHaveTheOraclesLevels(t *testing.T) {
	needGPU(t)
	sets := []map[string]string{{"kernel": "merrill", "ranks": "1"}, {"kernel": "merrill", "ranks": "16"},
		{"kernel": "bisson", "ranks": "16", "partition": "1d-source"}}
	for _, grid := range [][2]string{{"1", "1"}, {"2", "1"}, {"3", "3"}, {"4", "2"}, {"6", "2"}, {"6", "3"}, {"9", "3"},
		{"8", "4"}, {"16", "2"}, {"16", "4"}, {"16", "8"}, {"16", "16"}} {
		sets = append(sets, map[string]string{"kernel": "bisson", "ranks": grid[0], "rows": grid[1]})
	}
	for _, spec := range []string{"kron:14", "grid2d:50", "uniform:1k:1k", "path:2"} {
		compareWithOracle(t, spec, sets)
	}
}

// buildSearch runs kernel 1 and returns kernel 2, with queues of 1/queueShare of the room.
func buildSearch(t *testing.T, tuples []graph.Edge, set map[string]string, queueShare uint64) (
	search func(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error)) {
	t.Helper()
	settings, build := resolve(t, set), buildRanks
	if settings.Int("ranks") == 0 {
		build = func(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
			return construct(ctx, in, set, nil, queueShare)
		}
	}
	built := must.Get(build(t.Context(), plugins.Input{Tuples: tuples}, settings))
	t.Cleanup(func() {
		if err := built.Free(); err != nil {
			t.Error(err)
		}
	})
	return built.Search
}

// Every search has the oracle's frontiers, and its parents pass the validator: on graphs that are larger than those of
// the suite, with more than 2^16 labels, so that edges are not packed.
func TestGraphsHaveTheOraclesLevels(t *testing.T) {
	needGPU(t)
	for _, spec := range strings.Fields(*flagGraphs) {
		compareWithOracle(t, spec, variants())
	}
}

// So has every combination of options, on a small graph.
func TestProductHasTheOraclesLevels(t *testing.T) {
	needGPU(t)
	for _, kernel := range kernels {
		compareWithOracle(t, "kron:10", product(t, kernel))
	}
}

// product returns all combinations of the options of a kernel, with a few values of those that are numbers.
func product(t *testing.T, kernel string) []map[string]string {
	t.Helper()
	numbers := map[string][]string{"ranks": {"4"}, "tile": {"4"}, "twophase": {"256"}, "ctamin": {"8"},
		"aligned": {"0", "100"}, "child": {"0", "64"}}
	sets := []map[string]string{{"kernel": kernel}}
	for _, o := range options() {
		values := numbers[o.Name]
		if o.Kind == plugins.Choice && o.Name != "kernel" && o.Name != "transfer" {
			values = o.Choices
		}
		for _, set := range sets {
			for _, value := range values {
				more := maps.Clone(set)
				more[o.Name] = value
				if _, err := plugins.Resolve(options(), more); err == nil && value != o.Default &&
					(o.Name != "partition" || set["ranks"] != "") {
					sets = append(sets, more)
				}
			}
		}
	}
	return sets
}

// compareWithOracle searches a graph from a few roots with each set of options.
func compareWithOracle(t *testing.T, spec string, sets []map[string]string) {
	t.Helper()
	tuples, vertices := generate(t, spec)
	truth := must.Get(enginetest.NewTruth(tuples, vertices))
	end, _ := tuples[len(tuples)-1].Ends()
	want := map[graph.Vertex][]int64{} // frontiers
	for _, root := range []graph.Vertex{0, end, graph.Vertex(vertices / 2)} {
		want[root] = must.Get(truth.Levels(root))
	}
	for _, set := range sets {
		t.Run(spec+"-"+strings.ReplaceAll(fmt.Sprint(set), " ", ","), func(t *testing.T) {
			search := buildSearch(t, tuples, set, 1)
			for root, want := range want {
				got, err := truth.Search(t.Context(), root, search)
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

// Levels of one byte end at 254. A deeper search is refused, and the next one is right.
func TestLevelsThatDoNotFitAreRefused(t *testing.T) {
	needGPU(t)
	tuples, vertices := generate(t, "path:256")
	parent := make([]graph.Vertex, vertices)
	search := buildSearch(t, tuples, map[string]string{"kernel": "habr"}, 1)
	_, err := search(t.Context(), 0, plugins.Output{Parent: parent})
	if !errors.Is(err, plugins.ErrOption) || !strings.Contains(err.Error(), "set levels=u16") {
		t.Errorf("256 levels: got %v, want advice to set levels", err)
	}
	if got, err := search(t.Context(), 1, plugins.Output{Parent: parent}); err != nil || len(got.Levels) != 255 {
		t.Errorf("255 levels: got %d levels and %v", len(got.Levels), err)
	}
	wide := buildSearch(t, tuples, map[string]string{"kernel": "habr", "levels": "u16"}, 1)
	if got, err := wide(t.Context(), 0, plugins.Output{Parent: parent}); err != nil || len(got.Levels) != 256 {
		t.Errorf("256 levels of 16 bits: got %d levels and %v", len(got.Levels), err)
	}
}

// A level of Bisson's has the times of its scan and of its expansion.
func TestTimesOfScanAndExpansion(t *testing.T) {
	needGPU(t)
	tuples, vertices := generate(t, "kron:14")
	search := buildSearch(t, tuples, map[string]string{"kernel": "bisson"}, 1)
	root, _ := tuples[0].Ends()
	for range 2 {
		got := must.Get(search(t.Context(), root, plugins.Output{Parent: make([]graph.Vertex, vertices)}))
		for i, l := range got.Levels {
			if len(l.Phases) != 2 || l.Phases[0].Name != "scan" || l.Phases[1].Name != "expand" ||
				min(l.Phases[0].Elapsed, l.Phases[1].Elapsed) <= 0 {
				t.Errorf("level %d: got the phases %+v, want the times of scan and expand", i, l.Phases)
			}
		}
	}
}

// What becomes of the neighbors of a level adds up, and with atomicOr no vertex is kept twice.
func TestCountersAddUp(t *testing.T) {
	needGPU(t)
	tuples, vertices := generate(t, "kron:14")
	parent := make([]graph.Vertex, vertices)
	root, _ := tuples[0].Ends()
	for _, order := range []string{"hybrid", "expand-contract", "contract-expand", "two-phase"} {
		for _, share := range []uint64{1, 1 << 40} {
			search := buildSearch(t, tuples, map[string]string{"kernel": "merrill", "order": order, "counters": "on"},
				share)
			got := must.Get(search(t.Context(), root, plugins.Output{Parent: parent}))
			looked := int64(1) // the root
			for i, l := range got.Levels {
				edges, _ := l.Edges.Get()
				if order == "expand-contract" {
					looked = edges
				}
				sum := int64(0)
				n := len(culledNames)
				if len(l.Counters) != n+1 || l.Counters[n].Name != plugins.KernelLaunches || l.Counters[n].Value < 1 {
					t.Fatalf("%s, level %d: got counters %v, want %d and kernel launches", order, i, l.Counters, n)
				}
				for j, c := range l.Counters[:n] {
					if c.Name != culledNames[j] || c.Value < 0 || share > 1 && c.Name == "duplicates" && c.Value != 0 {
						t.Errorf("%s, level %d: %+v", order, i, c)
					}
					if c.Name != "duplicates" {
						sum += c.Value
					}
				}
				if sum != looked {
					t.Errorf("%s, level %d: the sum of %v is %d, want %d", order, i, l.Counters, sum, looked)
				}
				looked = edges
			}
		}
	}
}

// A search of Merrill's whose queues are too small for its duplicates is repeated without them; one of Kolganov's makes
// the queue of that level again, and counts the duplicates.
func TestFullQueuesAreNoError(t *testing.T) {
	needGPU(t)
	tuples, vertices := generate(t, "kron:14")
	v := must.Get(validate.New(tuples, vertices, 0))
	parent := make([]graph.Vertex, vertices)
	root, _ := tuples[0].Ends()
	sets := []map[string]string{{"kernel": "kolganov", "claim": "off", "direction": "topdown"},
		{"kernel": "kolganov", "claim": "off", "child": "0"}}
	for _, order := range []string{"hybrid", "expand-contract", "contract-expand", "two-phase"} {
		sets = append(sets, map[string]string{"kernel": "merrill", "order": order})
	}
	for _, set := range sets {
		for _, share := range []uint64{1, 50, 1 << 40} {
			search := buildSearch(t, tuples, set, share)
			got := must.Get(search(t.Context(), root, plugins.Output{Parent: parent}))
			tree, err := v.Validate(t.Context(), root, parent, nil)
			if err != nil || len(got.Levels) != tree.Depth+1 {
				t.Errorf("%v, 1/%d of the room: %d levels for depth %d: %v", set, share, len(got.Levels), tree.Depth, err)
			}
			for i, l := range got.Levels {
				if n := len(l.Counters); set["claim"] == "off" && (n < 2 || l.Counters[n-2].Name != "duplicates" ||
					l.Counters[n-2].Value < 0 || l.Counters[n-1].Name != plugins.KernelLaunches) {
					t.Errorf("%v, level %d: got the counters %v, want duplicates and kernel launches", set, i, l.Counters)
				}
			}
		}
	}
}
