// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

var flagAround = flag.String("cuda.around", "", "how far around the landmark kernel 3 pushes, in reaches of the core, "+
	"with commas; empty: as far as the engine does")

var flagImages = flag.String("cuda.images", "", "builds of kernels/paths to compare, with commas")

// constructPaths runs kernel 1 with weights, and returns what it built and a validator.
func constructPaths(tb testing.TB, tuples []graph.Edge, weights []float32, options map[string]string) (
	built plugins.Built, s *pathSearch, v *validate.Validator) {
	tb.Helper()
	v, err := validate.New(tuples, vertexCount(tuples), 0)
	if err == nil {
		err = v.SetWeights(weights)
	}
	if err != nil {
		tb.Fatal(err)
	}
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

// clearBeyond marks the vertices beyond the labels of the tuples as unreached.
func clearBeyond(n int64, parent []graph.Vertex, distance []float32) {
	for v := n; v < int64(len(parent)); v++ {
		parent[v], distance[v] = graph.Unreached, graph.Infinity()
	}
}

// Golden distances of the graphs of the benchmark.
func TestDistancesAreTheGoldenOnes(t *testing.T) {
	needGPU(t)
	for scale, golden := range map[int]map[graph.Vertex]string{
		10: {458: "a755a9b4836fed792b5d11d81b1bf4810cbde8f4d1128a77367bd0669e29bf07",
			214: "be3ca8a2fb773796995c24f73855229050de778405e3ac42ab25dbefa728d5f7"},
		16: {29348: "a2c2b318d0733f8bd4356fad1ce5aaed01d85033e432370444e045ee32163ca6",
			8064: "1b209babc7cd4136752a699e9d5d9e55a4a586d3106956c06db1f376998e70be"},
		20: {469580: "c848fe4140914cee97c51251123d575cc95175685fac678de78c2c2a38082a78",
			129031: "ea8c799cf6176736593b99809c1f3ddd0add1784a38b95b64b78246d5190f990"},
	} {
		source, tuples := generate(t, fmt.Sprintf("kron:%d", scale))
		built, _, v := constructPaths(t, tuples, weightsOf(t, source), nil)
		parent, distance := make([]graph.Vertex, source.Vertices()), make([]float32, source.Vertices())
		for root, want := range golden {
			n := built.Vertices
			clearBeyond(n, parent, distance)
			must.Get(built.ShortestPaths(t.Context(), root, parent[:n], distance[:n]))
			if got := fmt.Sprintf("%x", sha256.Sum256(driver.Bytes(distance))); got != want {
				t.Errorf("scale %d, root %d: got %s, want %s", scale, root, got, want)
			}
			if _, err := v.ShortestPaths(t.Context(), root, parent[:n], distance[:n]); err != nil {
				t.Errorf("scale %d, root %d: %v", scale, root, err)
			}
		}
	}
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
					v.OverwritePaths(parent, distance)
					must.Get(built.ShortestPaths(t.Context(), root, parent, distance))
					_, want := must.Get2(oracle.ShortestPaths(root))
					for u, d := range want {
						if math.Float32bits(d) != math.Float32bits(distance[u]) {
							t.Fatalf("root %d: distance[%d] is %v, want %v", root, u, distance[u], d)
						}
					}
					if _, err := v.ShortestPaths(t.Context(), root, parent, distance); err != nil {
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
			must.Get(built.ShortestPaths(t.Context(), 469580, parent, distance))
			if _, err := v.ShortestPaths(t.Context(), 469580, parent, distance); err != nil {
				t.Error(err)
			}
		})
	}
}

// BenchmarkShortestPaths is BenchmarkSearch for kernel 3.
func BenchmarkShortestPaths(b *testing.B) {
	needGPU(b)
	source, tuples := generate(b, *flagGraph)
	weights := weightsOf(b, source)
	for image := range strings.SplitSeq(*flagImages, ",") {
		set := map[string]string(nil)
		b.Run(image, func(b *testing.B) {
			if image != "" {
				text := must.Get(os.ReadFile(image))
				pathImage = string(text)
			}
			fmt.Println("IMAGE", image)
			built, s, v := constructPaths(b, tuples, weights, set)
			fmt.Printf("%s %v kernel 1: %v, uses %d MB, %v\n", source.Name(), set, built.Elapsed, built.Bytes>>20, built.Phases)
			for _, d := range built.Details {
				fmt.Printf("  %s: %s\n", d.Name, d.Value)
			}
			n := built.Vertices
			roots := chooseRoots(v, n, *flagRoots)
			parent, distance := make([]graph.Vertex, n), make([]float32, n)
			var counts []int64
			for i, root := range roots {
				v.OverwritePaths(parent, distance)
				must.Get(built.ShortestPaths(b.Context(), root, parent, distance))
				if i >= *flagValidate && parent[roots[0]] >= 0 { // the same component
					counts = append(counts, counts[0])
					continue
				}
				tree, err := v.ShortestPaths(b.Context(), root, parent, distance)
				if err != nil {
					b.Fatalf("root %d: %v", root, err)
				}
				counts = append(counts, tree.NEdge())
			}
			for text := range strings.SplitSeq(*flagAround, ",") {
				if share, err := strconv.ParseFloat(text, 32); err == nil {
					s.params.Around = float32(share) * s.params.Reach
				}
				for range *flagPasses {
					pathPass(b, text, built, roots, counts, parent, distance)
				}
			}
		})
	}
}

// pathPass searches from every root, and prints the mean of each step.
func pathPass(b *testing.B, name string, built plugins.Built, roots []graph.Vertex, counts []int64,
	parent []graph.Vertex, distance []float32) {
	const shown = 32
	var begin, output, all, outside time.Duration
	var steps [shown]levelSum
	seconds, entries, barriers := 0.0, int64(0), int64(0)
	for i, root := range roots {
		t := must.Get(built.ShortestPaths(b.Context(), root, parent, distance))
		seconds += t.Elapsed.Seconds() / float64(counts[i])
		all += t.Elapsed
		begin += t.Phases[0].Elapsed
		output += t.Phases[1].Elapsed
		passes := 0
		for k, l := range t.Levels {
			edges, _ := l.Edges.Get()
			entries += edges
			if l.Direction == graph.BottomUp {
				k = shown - 8 + min(passes, 7)
				passes++
			}
			outside -= l.Elapsed
			steps[min(k, shown-1)].add(l)
			if l.Counters != nil {
				barriers += l.Counters[0].Value
			}
		}
	}
	n := time.Duration(len(roots))
	fmt.Printf("RESULT %s: %.1f GTEPS harmonic, mean %v: begin %v, output %v, launch %v, %d entries, %d barriers\n", name,
		float64(len(roots))/seconds/1e9, all/n, begin/n, output/n, (outside+all-begin-output)/n,
		entries/int64(n), barriers/int64(n))
	for k, s := range steps {
		if s.levels > 0 {
			fmt.Printf("  step %d, %d times: %v, frontier %d, examined %d\n", k, s.levels,
				s.elapsed/time.Duration(s.levels), s.frontiers/s.levels, s.edges/s.levels)
		}
	}
}
