// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// constructPaths runs kernel 1 with weights, and returns what it built and a validator.
func constructPaths(tb testing.TB, tuples []graph.Edge, weights []float32, options map[string]string) (
	built plugins.Built, s *pathSearch, v *validate.Validator) {
	tb.Helper()
	v = must.Get(validate.New(tuples, vertexCount(tuples), 0))
	must.Do(v.SetWeights(weights))
	in := plugins.Input{Tuples: tuples, Weights: weights, ShortestPaths: true, Options: options}
	built, one := constructGraph(tb, in)
	return built, one.paths, v
}

func weightsOf(tb testing.TB, source graph.Source) []float32 {
	tb.Helper()
	weights := make([]float32, source.Tuples())
	must.Do(graph.Weights(tb.Context(), source, 2, 3, weights, 0, 0))
	return weights
}

// weightLaws are weights that take different ways through kernel 3: bounds that hold for uniform weights only, equal
// sums, sums lost in rounding, and hubs that are far from each other.
var weightLaws = map[string]func(r *rand.Rand) float32{
	"uniform":       func(r *rand.Rand) float32 { return r.Float32() },
	"from 0.9 to 1": func(r *rand.Rand) float32 { return 0.9 + 0.1*r.Float32() },
	"all 0":         func(*rand.Rand) float32 { return 0 },
	"minus 0":       func(r *rand.Rand) float32 { return max(r.Float32()-0.5, float32(math.Copysign(0, -1))) },
	"quarters":      func(r *rand.Rand) float32 { return float32(r.IntN(4)) / 4 },
	"lost":          func(r *rand.Rand) float32 { return [...]float32{0x1p-27, 0x1p-26, 0x1p-25, 0.5}[r.IntN(4)] },
	"denormal":      func(r *rand.Rand) float32 { return float32(r.IntN(3)) * 1e-44 },
	"huge":          func(r *rand.Rand) float32 { return r.Float32() * graph.MaxWeight },
	"many scales":   func(r *rand.Rand) float32 { return float32(math.Exp2(-40 * r.Float64())) },
}

// pathGraphs are graphs that take all ways through kernel 3: with and without hubs, with hubs that are far from each
// other or from the root, and deep ones, where passes leave work for rounds over whole lists.
func pathGraphs(t *testing.T) map[string][]graph.Edge {
	all := map[string][]graph.Edge{}
	for _, spec := range []string{"kron:10", "kron:14", "grid2d:60", "star:5000"} {
		_, all[spec] = generate(t, spec)
	}
	for _, length := range []graph.Vertex{1, 40, 5000} {
		all[fmt.Sprintf("stars on paths of %d", length)] = starsOnPaths(5, 300, length)
	}
	all["kron:10 with stars on paths"] = append(slices.Clone(all["kron:10"]), starsOnPaths(3, 300, 40)...)
	r := rand.New(rand.NewPCG(5, 6))
	var relays []graph.Edge // hubs over vertices with a few neighbors, which also lead from one to another
	for v := graph.Vertex(7); v < 5000; v++ {
		for range 2 + r.IntN(5) {
			relays = append(relays, graph.MakeEdge(v, graph.Vertex(r.Int64N(7))))
		}
		relays = append(relays, graph.MakeEdge(v, 7+graph.Vertex(r.Int64N(4993))))
	}
	all["hubs with relays"] = relays
	return all
}

// starsOnPaths joins hubs, with leaves, by paths.
func starsOnPaths(hubs, leaves, length graph.Vertex) (tuples []graph.Edge) {
	next := hubs
	for h := range hubs {
		for range leaves {
			tuples = append(tuples, graph.MakeEdge(h, next))
			next++
		}
		at := h
		for range length {
			tuples = append(tuples, graph.MakeEdge(at, next))
			at, next = next, next+1
		}
		tuples = append(tuples, graph.MakeEdge(at, (h+1)%hubs))
	}
	return tuples
}

func TestShortestPathsAgreeWithTheOracle(t *testing.T) {
	needGPU(t)
	for name, tuples := range pathGraphs(t) {
		for law, weight := range weightLaws {
			t.Run(name+", "+law, func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				weights := make([]float32, len(tuples))
				for i := range weights {
					weights[i] = weight(r)
				}
				oracle := must.Get(graph.NewWeightedCSR(tuples, weights, vertexCount(tuples)))
				built, _, v := constructPaths(t, tuples, weights, nil)
				parent, distance := make([]graph.Vertex, built.Vertices), make([]float32, built.Vertices)
				for range 6 {
					root := graph.Vertex(r.Int64N(built.Vertices))
					v.Overwrite(parent, distance)
					must.Get(built.Search(t.Context(), root, plugins.Output{Parent: parent, Distance: distance}))
					_, want := must.Get2(oracle.ShortestPaths(root))
					for u, d := range want {
						if math.Float32bits(d) != math.Float32bits(distance[u]) {
							t.Fatalf("root %d: distance[%d] is %v, want %v", root, u, distance[u], d)
						}
					}
					if _, err := v.Validate(t.Context(), root, parent, distance); err != nil {
						t.Fatalf("root %d: %v", root, err)
					}
				}
			})
		}
	}
}

// Lists that do not fit into memory to sort are made in several parts.
func TestWeightedListsAreMadeInParts(t *testing.T) {
	needGPU(t)
	source, tuples := generate(t, "kron:20")
	weights := weightsOf(t, source)
	for _, memory := range []string{"1.5", "0.1"} {
		t.Run(memory, func(t *testing.T) {
			if memory == "0.1" {
				settings := must.Get(plugins.Resolve(options(), map[string]string{"memory": memory}))
				_, err := build(t.Context(), plugins.Input{Tuples: tuples, Weights: weights, ShortestPaths: true}, settings, nil)
				if err == nil || !strings.Contains(err.Error(), "raise the option memory") {
					t.Errorf("got %v, want advice", err)
				}
				return
			}
			built, _, v := constructPaths(t, tuples, weights, map[string]string{"memory": memory})
			parent, distance := make([]graph.Vertex, built.Vertices), make([]float32, built.Vertices)
			must.Get(built.Search(t.Context(), 469580, plugins.Output{Parent: parent, Distance: distance}))
			if _, err := v.Validate(t.Context(), 469580, parent, distance); err != nil {
				t.Error(err)
			}
		})
	}
}
