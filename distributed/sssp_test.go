// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// openPaths constructs a graph for kernel 3.
func openPaths(t testing.TB, tuples []graph.Edge, weights []float32, options map[string]string) plugins.Engine {
	t.Helper()
	e := distributed.New()
	t.Cleanup(func() { e.Close() })
	in := plugins.Input{Tuples: tuples, ShortestPaths: true, Weights: weights, Options: options}
	if _, err := e.Construct(t.Context(), in); err != nil {
		t.Fatalf("%v: %v", options, err)
	}
	return e
}

// Every partition of 1 to 16 ranks has the oracle's distances, bit for bit, and valid parents, and every input has
// every law of weights. The conformance suite has more graphs.
func TestEveryGridHasTheDistancesOfTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	oneOf := func(weights ...float32) func() float32 {
		return func() float32 { return weights[r.IntN(len(weights))] }
	}
	laws := []func() float32{
		r.Float32, func() float32 { return 0.9 + 0.1*r.Float32() }, oneOf(0), oneOf(1), oneOf(0, 0.25, 0.5, 0.75),
		oneOf(0x1p-27, 0x1p-26, 0x1p-25, 0.5), func() float32 { return float32(math.Exp2(-40 * r.Float64())) },
		func() float32 { return r.Float32() * graph.MaxWeight }, oneOf(1e-44, 2e-44, 0),
	}
	// Hubs with leaves on a tail of the graph are far from the other hubs.
	tailed := kronecker(t, 9, 16)
	for v := graph.Vertex(512); v < 560; v++ {
		tailed = append(tailed, graph.MakeEdge(v-1, v))
	}
	for v := graph.Vertex(560); v < 1160; v++ {
		tailed = append(tailed, graph.MakeEdge(530+v%2*29, v))
	}
	pulled := false
	for input, tuples := range [][]graph.Edge{kronecker(t, 9, 16), tailed, kronecker(t, 9, 1)} {
		vertices := []int64{512, 1160, 512}[input]
		for g, forms := range slices.Collect(slices.Chunk(combinations(), 3)) {
			if g%3 != input || testing.Short() && g/3%4 != 0 {
				continue
			}
			set := forms[0] // the adaptive one
			weights := make([]float32, len(tuples))
			for i := range weights {
				weights[i] = laws[(g/3+3*input)%len(laws)]()
			}
			roots := []graph.Vertex{0, graph.Vertex(r.Int64N(vertices)), graph.Vertex(vertices - 1)}
			for _, l := range searchAll(t, tuples, weights, vertices, set, roots) {
				pulled = pulled || l.Direction == graph.BottomUp
			}
		}
	}
	if !pulled {
		t.Error("no level is recorded as bottom-up")
	}
}

// searchAll compares searches with the oracle, validates them, and returns their levels.
func searchAll(t *testing.T, tuples []graph.Edge, weights []float32, vertices int64, set map[string]string,
	roots []graph.Vertex) (levels []plugins.Level) {
	oracle := must.Get(graph.NewWeightedCSR(tuples, weights, vertices))
	host := must.Get(validate.New(tuples, vertices, 1))
	must.Do(host.SetWeights(weights))
	e := openPaths(t, tuples, weights, set)
	defer e.Close()
	parent, distance := make([]graph.Vertex, vertices), make([]float32, vertices)
	for _, root := range roots {
		host.Overwrite(parent, distance)
		found := must.Get(e.Search(t.Context(), root, plugins.Output{Parent: parent, Distance: distance}))
		_, want, _ := oracle.ShortestPaths(root)
		if !slices.Equal(want, distance) { // the validator accepts no -0
			t.Fatalf("%d tuples, %v, root %d: distances (-want +got):\n%.400s", len(tuples), set, root,
				cmp.Diff(bitsOf(want), bitsOf(distance)))
		}
		if _, err := host.Validate(t.Context(), root, parent, distance); err != nil {
			t.Fatalf("%d tuples, %v: %v", len(tuples), set, err)
		}
		levels = append(levels, found.Levels...)
	}
	return levels
}

// Kernel 3 as in TestLabelsOnBothSidesOfTheBorder: states have numbers of parents, and other ranks the labels.
func TestPathsOnBothSidesOfTheBorder(t *testing.T) {
	tuples, r := onBothSides(t), rand.New(rand.NewPCG(3, 4))
	weights := make([]float32, len(tuples))
	for i := range weights {
		weights[i] = float32(r.IntN(64)) / 64 // with ties
	}
	u, v := tuples[len(tuples)-1].Ends()
	for k, text := range []string{
		"ranks=4:partition=1d-source:threads=2", "ranks=6:partition=2d:threads=2:owner=modulo", "ranks=3:owner=modulo",
		"ranks=16:partition=2d", "ranks=4:partition=2d:rows=1", "ranks=4:partition=2d:rows=4",
	} {
		if k < 2 || !testing.Short() {
			searchAll(t, tuples, weights, bothSides, optionsOf(text), []graph.Vertex{u, v})
		}
	}
}

func bitsOf(distance []float32) (bits []uint32) {
	for _, d := range distance {
		bits = append(bits, math.Float32bits(d))
	}
	return bits
}
