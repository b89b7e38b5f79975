// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

var flagGolden = flag.Int("distributed.golden", 16, "largest scale of the golden distances; 20 with all partitions")

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
			oracle, err := graph.NewWeightedCSR(tuples, weights, vertices)
			if err != nil {
				t.Fatal(err)
			}
			host, err := validate.New(tuples, vertices, 1)
			if err == nil {
				err = host.SetWeights(weights)
			}
			if err != nil {
				t.Fatal(err)
			}
			e := openPaths(t, tuples, weights, set)
			parent, distance := make([]graph.Vertex, vertices), make([]float32, vertices)
			for _, root := range []graph.Vertex{0, graph.Vertex(r.Int64N(vertices)), graph.Vertex(vertices - 1)} {
				host.OverwritePaths(parent, distance)
				if _, err := e.Search(t.Context(), root, plugins.Output{Parent: parent, Distance: distance}); err != nil {
					t.Fatal(err)
				}
				_, want, _ := oracle.ShortestPaths(root)
				if diff := cmp.Diff(bitsOf(want), bitsOf(distance)); diff != "" {
					t.Fatalf("input %d, %v, root %d: distances (-want +got):\n%.400s", input, set, root, diff)
				}
				if _, err := host.ShortestPaths(t.Context(), root, parent, distance); err != nil {
					t.Fatalf("input %d, %v: %v", input, set, err)
				}
			}
			e.Close()
		}
	}
}

func bitsOf(distance []float32) (bits []uint32) {
	for _, d := range distance {
		bits = append(bits, math.Float32bits(d))
	}
	return bits
}

// The values come from the Graph500 reference.
func TestDistancesMatchTheReferenceBitForBit(t *testing.T) {
	for scale, roots := range map[int]map[graph.Vertex]string{
		10: {
			458: "a755a9b4836fed792b5d11d81b1bf4810cbde8f4d1128a77367bd0669e29bf07",
			214: "be3ca8a2fb773796995c24f73855229050de778405e3ac42ab25dbefa728d5f7",
		},
		16: {
			29348: "a2c2b318d0733f8bd4356fad1ce5aaed01d85033e432370444e045ee32163ca6",
			8064:  "1b209babc7cd4136752a699e9d5d9e55a4a586d3106956c06db1f376998e70be",
		},
		20: {
			469580: "c848fe4140914cee97c51251123d575cc95175685fac678de78c2c2a38082a78",
			129031: "ea8c799cf6176736593b99809c1f3ddd0add1784a38b95b64b78246d5190f990",
		},
	} {
		if scale > *flagGolden || testing.Short() && scale > 10 {
			continue
		}
		tuples, recipe := kronecker(t, scale, 16), graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		weights := make([]float32, len(tuples))
		if err := graph.Weights(t.Context(), recipe, 0, 0, weights, 0, 0); err != nil {
			t.Fatal(err)
		}
		for ranks := 1; ranks <= 16; ranks++ {
			for k, set := range []string{"", ":partition=1d-source:owner=modulo", ":partition=2d", ":threads=2"} {
				here := (ranks+ranks/4)%4 == k // at scale 10
				if scale > 10 {
					here = slices.Contains([]string{"4", "16:partition=2d"}, fmt.Sprint(ranks)+set)
				}
				if !here && *flagGolden < 20 {
					continue
				}
				set = fmt.Sprintf("ranks=%d%s", ranks, set)
				e := openPaths(t, tuples, weights, optionsOf(set))
				parent, distance := make([]graph.Vertex, 1<<scale), make([]float32, 1<<scale)
				for root, want := range roots {
					if _, err := e.Search(t.Context(), root, plugins.Output{Parent: parent, Distance: distance}); err != nil {
						t.Fatal(err)
					}
					hash := sha256.New()
					_ = binary.Write(hash, binary.LittleEndian, distance) // a hash has no errors
					if got := fmt.Sprintf("%x", hash.Sum(nil)); got != want {
						t.Errorf("scale %d, %s, root %d: got distances with SHA-256 %s", scale, set, root, got)
					}
				}
				e.Close()
			}
		}
	}
}
