// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var (
	flagGPU       = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagMutations = flag.Int("mutations", 1000, "random mutations of the parents of each graph")
	flagScale     = flag.Int("scale", 16, "of the largest graph")
)

func open(t *testing.T) *Accelerator {
	t.Helper()
	if why := driver.Missing(); why != "" && *flagGPU {
		t.Fatal(why)
	} else if why != "" {
		t.Skip(why)
	}
	a := New()
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestAccelerator compares an accelerator with package graph: tuples and weights bit for bit, and verdicts on right
// parents and on random mutations.
func TestAccelerator(t *testing.T) {
	a := open(t)
	t.Run("generate", func(t *testing.T) { testGenerate(t, a) })
	names := []string{"path:50", "path:2000", "star:40", "grid2d:30", "uniform:500:600", "kron:8", "kron:12"}
	if *flagScale > 12 {
		names = append(names, fmt.Sprintf("kron:%d", *flagScale))
	}
	for _, name := range names {
		t.Run("validate "+name, func(t *testing.T) { testValidate(t, a, name, false) })
	}
	t.Run("validate without tuples", func(t *testing.T) { testValidate(t, a, "kron:10", true) })
}

func testGenerate(t *testing.T, a *Accelerator) {
	for _, c := range []struct {
		recipe   graph.Kronecker
		first, n int64
	}{
		{graph.Kronecker{Scale: 1, EdgeFactor: 1, Seed1: 2, Seed2: 3}, 0, 2},
		{graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}, 0, 1 << 14},
		{graph.Kronecker{Scale: 16, EdgeFactor: 16, Seed1: 2, Seed2: 3}, 12345, 1 << 18},
		{graph.Kronecker{Scale: 20, EdgeFactor: 16, Seed1: 77, Seed2: 1 << 63}, 1<<23 + 1, 1<<18 + 7},
		{graph.Kronecker{Scale: 32, EdgeFactor: 16, Seed1: 2, Seed2: 3}, 1 << 35, 5000},
		{graph.Kronecker{Scale: 40, EdgeFactor: 16, Seed1: 2, Seed2: 3}, 1<<43 + 99, 5000},
		{graph.Kronecker{Scale: 42, EdgeFactor: 16, Seed1: 2, Seed2: 3}, 1<<46 - 1, 1},
	} {
		got, want := make([]graph.Edge, c.n), make([]graph.Edge, c.n)
		must.Do(a.Generate(t.Context(), plugins.Input{Recipe: &c.recipe, Tuples: got, First: c.first}))
		must.Do(c.recipe.Generate(t.Context(), want, c.first, 0))
		weights, wantWeights := make([]float32, c.n), make([]float32, c.n)
		if err := errors.Join(a.Generate(t.Context(), plugins.Input{Recipe: &c.recipe, Weights: weights, First: c.first}),
			graph.Weights(t.Context(), c.recipe, 0, 0, wantWeights, c.first, 0)); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] || math.Float32bits(weights[i]) != math.Float32bits(wantWeights[i]) {
				t.Fatalf("%+v: tuple %d is %v of weight %v, want %v of %v", c.recipe, c.first+int64(i), got[i], weights[i],
					want[i], wantWeights[i])
			}
		}
	}
	recipe := &graph.Kronecker{Scale: 4, EdgeFactor: 16}
	end := recipe.Tuples()
	if a.Generate(t.Context(), plugins.Input{Recipe: recipe, Tuples: make([]graph.Edge, 1), First: end}) == nil ||
		a.Generate(t.Context(), plugins.Input{Recipe: recipe, Weights: make([]float32, 2), First: end - 1}) == nil {
		t.Error("tuples or weights behind the end of the list were generated")
	}
}

func testValidate(t *testing.T, a *Accelerator, name string, again bool) {
	source, tuples := enginetest.Generated(t, name)
	vertices := source.Vertices()
	validator := must.Get(validate.New(tuples, vertices, 0))
	csr := must.Get(graph.NewCSR(tuples, vertices))
	load := func() error { return a.Load(t.Context(), plugins.Input{Tuples: tuples}, vertices) }
	if recipe, ok := source.(graph.Kronecker); ok && again {
		load = func() error { return a.Load(t.Context(), plugins.Input{Recipe: &recipe}, recipe.Vertices()) }
	}
	must.Do(load())
	parent, rng := make([]graph.Vertex, vertices), rand.New(rand.NewPCG(1, uint64(vertices)))
	rules := map[validate.Rule]int{}
	var good []graph.Vertex
	var level []int64
	var root graph.Vertex
	for i := range 1 + *flagMutations {
		if i%1000 == 0 {
			root, _ = tuples[rng.IntN(len(tuples))].Ends()
			good, level = must.Get2(csr.Search(root))
		}
		copy(parent, good)
		for range min(i, 1+rng.IntN(2)) {
			mutate(rng, csr, parent, level, root)
		}
		want := judged(validator.Validate(t.Context(), root, parent, nil))
		want.compare(t, judged(a.Validate(t.Context(), root, plugins.Output{Parent: parent})))
		rules[want.rule]++
	}
	t.Log(rules)
	if *flagMutations >= 1000 && strings.HasPrefix(name, "kron") && len(rules) < 5 {
		t.Errorf("the mutations break only the rules %v", rules)
	}
}

// verdict is an answer of Validate.
type verdict struct {
	tree  validate.Tree
	err   error
	wrong bool          // a rule is broken
	rule  validate.Rule // which the CPU's validator names
}

func judged(t validate.Tree, err error) verdict {
	var violation *validate.Violation
	if errors.As(err, &violation) {
		return verdict{t, err, true, violation.Rule}
	}
	return verdict{tree: t, err: err}
}

// compare compares the verdict of a device with that of the CPU.
func (want verdict) compare(t *testing.T, got verdict) {
	t.Helper()
	if got.tree != want.tree || got.wrong != want.wrong || !want.wrong && (got.err != nil || want.err != nil) {
		t.Fatalf("%+v, %v, want %+v, %v", got.tree, got.err, want.tree, want.err)
	}
}

// mutate breaks parents in a random way, as the mutants of package graph do; some changes leave a right result.
func mutate(rng *rand.Rand, csr *graph.CSR, parent []graph.Vertex, level []int64, root graph.Vertex) {
	n := len(parent)
	any := func() graph.Vertex { return graph.Vertex(rng.IntN(n)) }
	find := func(suits func(v graph.Vertex) bool) graph.Vertex { // if there is one soon behind a random vertex
		first := any()
		for i := range min(n, 1000) {
			if v := (first + graph.Vertex(i)) % graph.Vertex(n); suits(v) {
				return v
			}
		}
		return first
	}
	in := func(v graph.Vertex) bool { return level[v] > 0 }
	out := func(v graph.Vertex) bool { return level[v] < 0 }
	attach := func(deeper int64) { // a vertex to a neighbor of another level
		v := find(in)
		for _, u := range csr.Neighbors(v) {
			if level[u] == level[v]+deeper && u != v {
				parent[v] = u
				return
			}
		}
	}
	switch v := find(in); rng.IntN(15) {
	case 0:
		parent[root] = []graph.Vertex{graph.Unreached, graph.Unwritten, v}[rng.IntN(3)]
	case 1:
		parent[any()] = any()
	case 2:
		v = any()
		parent[v] = v
	case 3: // a cycle of two
		if v = find(func(v graph.Vertex) bool { return level[v] > 1 }); parent[v] >= 0 && int(parent[v]) < n {
			parent[parent[v]] = v
		}
	case 4: // of several
		v = find(func(v graph.Vertex) bool { return level[v] > 2 })
		top := v
		for range rng.IntN(20) {
			if p := parent[top]; p >= 0 && int(p) < n && level[p] > 0 {
				top = p
			}
		}
		parent[top] = v
	case 5: // of unreached vertices
		u := find(out)
		v = find(out)
		parent[u], parent[v] = v, u
	case 6:
		parent[v] = []graph.Vertex{graph.Vertex(n), 1 << 62, -2, graph.Unwritten + 1, graph.Unwritten, parent[v] + 1<<32,
			graph.Vertex(n) - 1}[rng.IntN(7)]
	case 7:
		parent[any()] = graph.Unwritten
	case 8:
		parent[v] = graph.Unreached
	case 9:
		parent[v] = find(out)
	case 10:
		attach(0)
	case 11:
		attach(1)
	case 12: // a subtree, or what is left of it
		gone := map[graph.Vertex]bool{v: true}
		for l := level[v]; l < level[v]+3; l++ {
			for u, p := range parent {
				if gone[p] && level[u] == l+1 {
					gone[graph.Vertex(u)] = true
				}
			}
		}
		for u := range gone {
			parent[u] = graph.Unreached
		}
	case 13: // an isolated vertex, or one of another component, claimed
		parent[find(out)] = []graph.Vertex{root, v}[rng.IntN(2)]
	case 14: // to a vertex one level up that need not be a neighbor
		parent[v] = find(func(u graph.Vertex) bool { return level[u] == level[v]-1 })
	}
}

// With the error of TestTooLittleMemory the host goes on without the device (TestHostDevice of package harness).
func TestTooLittleMemory(t *testing.T) {
	a := open(t)
	leaveRoom(t, a, 1<<20)
	recipe := graph.Kronecker{Scale: 16, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	must.Do(a.Generate(t.Context(), plugins.Input{Recipe: &recipe, Tuples: tuples}))
	if err := a.Load(t.Context(), plugins.Input{Tuples: tuples}, recipe.Vertices()); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("got %v, want %v", err, plugins.ErrMemory)
	}
	out := plugins.Output{Parent: make([]graph.Vertex, recipe.Vertices())}
	if _, err := a.Validate(t.Context(), 0, out); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("validating after that: got %v, want %v", err, plugins.ErrNotConstructed)
	}
}

func fingerprint(tuples []graph.Edge) uint64 {
	sum := uint64(1469598103934665603)
	for _, b := range offload.Bytes(tuples) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return sum
}
