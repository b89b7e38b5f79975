// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// weightLaws are weights that take different ways through kernel 3: bounds that hold for uniform weights only, equal
// sums, sums lost in rounding, and hubs that are far from each other.
var weightLaws = map[string]func(r *rand.Rand) float32{
	"uniform":       func(r *rand.Rand) float32 { return r.Float32() },
	"from 0.9 to 1": func(r *rand.Rand) float32 { return 0.9 + 0.1*r.Float32() },
	"all 1":         func(*rand.Rand) float32 { return 1 },
	"all 0":         func(*rand.Rand) float32 { return 0 },
	"half 0":        func(r *rand.Rand) float32 { return r.Float32() * float32(r.IntN(2)) },
	"minus 0":       func(r *rand.Rand) float32 { return max(r.Float32()-0.5, float32(math.Copysign(0, -1))) },
	"quarters":      func(r *rand.Rand) float32 { return float32(r.IntN(4)) / 4 },
	"lost":          func(r *rand.Rand) float32 { return [...]float32{0x1p-27, 0x1p-26, 0x1p-25, 0.5}[r.IntN(4)] },
	"denormal":      func(r *rand.Rand) float32 { return float32(r.IntN(3)) * 1e-44 },
	"huge":          func(r *rand.Rand) float32 { return r.Float32() * graph.MaxWeight },
	"many scales":   func(r *rand.Rand) float32 { return float32(math.Exp2(-40 * r.Float64())) },
}

// hubsOnPaths joins hubs, with leaves, by paths: no vertex but a hub has more than two neighbors.
func hubsOnPaths(hubs, length graph.Vertex) (tuples []graph.Edge) {
	return starsOnPaths(hubs, 300, length)
}

// hubsWithRelays joins hubs over many vertices with a few neighbors, which also lead from one to another.
func hubsWithRelays(hubs, relays graph.Vertex, r *rand.Rand) (tuples []graph.Edge) {
	for v := hubs; v < hubs+relays; v++ {
		for range 2 + r.IntN(5) {
			tuples = append(tuples, graph.MakeEdge(v, graph.Vertex(r.Int64N(int64(hubs)))))
		}
		tuples = append(tuples, graph.MakeEdge(v, hubs+graph.Vertex(r.Int64N(int64(relays)))))
	}
	return tuples
}

func TestShortestPathsAgreeWithTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	grid, _ := source(t, "grid2d:60")
	// A tail leads from a hub to another hub, far away.
	tailed := append(kronecker(t, 10), hubsOnPaths(3, 40)...)
	graphs := map[string][]graph.Edge{
		"kron:10": kronecker(t, 10), "kron:12": kronecker(t, 12), "grid": grid, "tailed": tailed,
		"hubs on paths": hubsOnPaths(5, 30), "hubs with relays": hubsWithRelays(7, 3000, r),
		"star": starsOnPaths(1, 700, 1), "caterpillar": caterpillar(2000, 3),
	}
	for i, name := range slices.Sorted(maps.Keys(graphs)) {
		tuples, vertices := graphs[name], int64(0)
		for _, e := range tuples {
			u, v := e.Ends()
			vertices = max(vertices, int64(max(u, v))+1)
		}
		for k, law := range slices.Sorted(maps.Keys(weightLaws)) {
			if (i+k)%2 == 1 || testing.Short() && (i+k)%8 != 0 {
				continue // every law on half of the graphs
			}
			t.Run(fmt.Sprintf("%s, %s", name, law), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				weights := make([]float32, len(tuples))
				for i := range weights {
					weights[i] = weightLaws[law](r)
				}
				roots := make([]graph.Vertex, 4)
				for j := range roots {
					roots[j] = graph.Vertex(r.Int64N(vertices))
				}
				checkPaths(t, tuples, weights, vertices, []string{"1", "2", "8", "3"}[(i+k/2)%4], roots)
			})
		}
	}
}

// Vectors look as one vertex at a time does. Neighbors are not among those that look, so the order does not matter.
func TestVectorsLookLikeSingleVertices(t *testing.T) {
	const looking, all = 203, 500
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		states, heads := make([]uint64, all), make([]layout.Head, looking)
		for v := range states {
			states[v] = stateOf(float32(r.IntN(4)), uint32(r.IntN(all))) | final*uint64(r.IntN(2))
			if r.IntN(5) == 0 {
				states[v] = stateOf(graph.Infinity(), all)
			}
		}
		for v := range heads {
			weights := []float32{0, 0.5, 1, 1e-44, graph.Infinity()}
			heads[v] = layout.Head{
				Neighbor: uint32(looking + r.IntN(all-looking)), Weight: weights[r.IntN(5)],
				Label: uint32(r.IntN(all)), Next: 2 * weights[r.IntN(5)],
			}
		}
		us := make([]uint32, looking)
		for k, v := range r.Perm(looking) {
			us[k] = uint32(v)
		}
		at := func() (*paths, *pathWorker) {
			return &paths{g: &layout.Weighted{Heads: heads}, states: slices.Clone(states), pull: pull{low: 0.5}}, &pathWorker{}
		}
		s, x := at()
		rest, hard := s.lookFirst(x, us)
		one, y := at()
		var wantRest, wantHard []uint32
		for k := range us {
			rest, hard := one.lookFirst(y, us[k:k+1])
			wantRest, wantHard = append(wantRest, y.rest[:rest]...), append(wantHard, y.hard[:hard]...)
		}
		if !slices.Equal(s.states, one.states) || !slices.Equal(x.rest[:rest], wantRest) ||
			!slices.Equal(x.hard[:hard], wantHard) {
			t.Fatalf("%d vertices: got states %x, rest %x, hard %x; want %x, %x, %x", looking, s.states, x.rest[:rest],
				x.hard[:hard], one.states, wantRest, wantHard)
		}
	}
}

// The end of a long list is not sorted, so push must go on after an entry that cannot matter. Here entries of weight
// 0.5 are among those of weight 3: they lead to hub 2, and from there to hub 1, whose way over hub 0 is longer.
func TestPushGoesThroughAListThatIsNotSorted(t *testing.T) {
	const relay, root, mid, firstLeaf = 5, 6, 7, 8
	var tuples []graph.Edge
	var weights []float32
	add := func(u, v graph.Vertex, w float32) {
		tuples, weights = append(tuples, graph.MakeEdge(u, v)), append(weights, w)
	}
	vertices := graph.Vertex(firstLeaf)
	for hub, leaves := range []graph.Vertex{600, 400, 300, 300, 300} {
		for range leaves {
			add(graph.Vertex(hub), vertices, 1)
			vertices++
		}
	}
	add(root, 0, 0.1)
	add(root, mid, 0.2)
	add(mid, relay, 0.01)
	add(0, 1, 1)
	add(1, 2, 0.01)
	add(0, 4, 1)
	for range 24 {
		add(relay, 3, 0.1)
	}
	for range 6 {
		for range 4 {
			add(relay, 4, 3)
		}
		add(relay, 2, 0.5)
	}
	checkPaths(t, tuples, weights, int64(vertices), "1", []graph.Vertex{root})
}

// checkPaths compares searches from roots with those of package graph, bit for bit, and validates the parents.
func checkPaths(t *testing.T, tuples []graph.Edge, weights []float32, vertices int64, threads string,
	roots []graph.Vertex) {
	oracle := must.Get(graph.NewWeightedCSR(tuples, weights, vertices))
	host, err := validate.New(tuples, vertices, 1)
	if err == nil {
		err = host.SetWeights(weights)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := New()
	defer e.Close()
	if _, err := e.Construct(t.Context(), plugins.Input{
		Tuples: tuples, Weights: weights, ShortestPaths: true, Options: map[string]string{"threads": threads},
	}); err != nil {
		t.Fatal(err)
	}
	parent, distance := make([]graph.Vertex, vertices), make([]float32, vertices)
	for _, root := range roots {
		host.Overwrite(parent, distance)
		must.Get(e.Search(t.Context(), root, plugins.Output{Parent: parent, Distance: distance}))
		_, want := must.Get2(oracle.ShortestPaths(root))
		if diff := cmp.Diff(bitsOfAll(want), bitsOfAll(distance)); diff != "" {
			t.Fatalf("threads=%s, root %d: distances (-want +got):\n%.600s", threads, root, diff)
		}
		if _, err := host.Validate(t.Context(), root, parent, distance); err != nil {
			t.Fatalf("threads=%s, root %d: %v", threads, root, err)
		}
	}
}

func bitsOfAll(distance []float32) (bits []uint32) {
	for _, d := range distance {
		bits = append(bits, math.Float32bits(d))
	}
	return bits
}
