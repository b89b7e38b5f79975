// SPDX-License-Identifier: Apache-2.0

package accelerator

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// wrongResults are the graphs and wrong results of TestWrongParentsOfAccelerators in package graph, which writes them.
//
//go:embed testdata/wrong_parents.jsonl
var wrongResults []byte

// testAccelerator compares an accelerator with package graph: tuples bit for bit, and verdicts on right parents, on
// every kind of wrong parents that the CPU's validator is tested with, and on parents with the given number of random
// mutations on each graph, up to Kronecker graphs of the largest scale.
func testAccelerator(t *testing.T, a plugins.Accelerator, largest, mutations int) {
	t.Run("generate", func(t *testing.T) { testGenerate(t, a) })
	t.Run("wrong parents", func(t *testing.T) { testWrongParents(t, a) })
	names := []string{"path:50", "path:2000", "star:40", "grid2d:30", "uniform:500:600", "kron:8", "kron:12"}
	if largest > 12 {
		names = append(names, fmt.Sprintf("kron:%d", largest))
	}
	for _, name := range names {
		t.Run("validate "+name, func(t *testing.T) { testValidate(t, a, name, false, mutations) })
	}
	t.Run("validate without tuples", func(t *testing.T) { testValidate(t, a, "kron:10", true, mutations) })
}

func testGenerate(t *testing.T, a plugins.Accelerator) {
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
		if err := a.Generate(t.Context(), c.recipe, got, c.first); err != nil {
			t.Fatal(err)
		}
		if err := c.recipe.Generate(t.Context(), want, c.first, 0); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%+v: tuple %d is %v, want %v", c.recipe, c.first+int64(i), got[i], want[i])
			}
		}
	}
	recipe, one := graph.Kronecker{Scale: 4, EdgeFactor: 16}, make([]graph.Edge, 1)
	if a.Generate(t.Context(), recipe, one, recipe.Tuples()) == nil {
		t.Error("tuples behind the end of the list were generated")
	}
}

// testWrongParents compares the rule and the vertices that an accelerator names with those of the CPU's validator.
func testWrongParents(t *testing.T, a plugins.Accelerator) {
	var line struct {
		Graph, Name     string
		Vertices        int64
		Root            graph.Vertex
		Tuples, Changes [][2]graph.Vertex
		Rule            validate.Rule
		Named           []graph.Vertex
	}
	var good, parent []graph.Vertex
	for lines := json.NewDecoder(bytes.NewReader(wrongResults)); lines.More(); {
		line.Name, line.Tuples, line.Changes, line.Named = "", nil, nil, nil
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Name == "" { // a graph, for the results that follow
			tuples := make([]graph.Edge, len(line.Tuples))
			for i, ends := range line.Tuples {
				tuples[i] = graph.MakeEdge(ends[0], ends[1])
			}
			csr, err := graph.NewCSR(tuples, line.Vertices)
			if err == nil {
				good, _, err = csr.Search(line.Root)
			}
			if err = errors.Join(err, a.Load(t.Context(), tuples, line.Vertices)); err != nil {
				t.Fatal(err)
			}
			parent = make([]graph.Vertex, line.Vertices)
			continue
		}
		copy(parent, good)
		for _, change := range line.Changes {
			parent[change[0]] = change[1]
		}
		_, got := verdict(a.Validate(t.Context(), line.Root, parent))
		if got.Rule != line.Rule || !slices.Equal(got.Vertices, line.Named) {
			t.Errorf("%s, %s: %v by %v, want %v by %v", line.Graph, line.Name, got.Rule, got.Vertices, line.Rule, line.Named)
		}
	}
}

func testValidate(t *testing.T, a plugins.Accelerator, name string, again bool, mutations int) {
	source, tuples := enginetest.Generated(t, name)
	vertices := source.Vertices()
	validator, err := validate.New(tuples, vertices, 0)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := graph.NewCSR(tuples, vertices)
	if err != nil {
		t.Fatal(err)
	}
	load := func() error { return a.Load(t.Context(), tuples, vertices) }
	if recipe, ok := source.(graph.Kronecker); ok && again {
		load = func() error { return a.LoadRecipe(t.Context(), recipe) }
	}
	if err := load(); err != nil {
		t.Fatal(err)
	}
	parent, rng := make([]graph.Vertex, vertices), rand.New(rand.NewPCG(1, uint64(vertices)))
	rules := map[validate.Rule]int{}
	var good []graph.Vertex
	var level []int64
	var root graph.Vertex
	for i := range 1 + mutations {
		if i%1000 == 0 {
			root, _ = tuples[rng.IntN(len(tuples))].Ends()
			if good, level, err = csr.Search(root); err != nil {
				t.Fatal(err)
			}
		}
		copy(parent, good)
		for range min(i, 1+rng.IntN(2)) {
			mutate(rng, csr, parent, level, root)
		}
		tree, violation := verdict(a.Validate(t.Context(), root, parent))
		want, wanted := verdict(validator.Validate(t.Context(), root, parent))
		if tree != want || violation.Rule != wanted.Rule || !slices.Equal(violation.Vertices, wanted.Vertices) {
			t.Fatalf("mutation %d from root %d: %+v, %+v, want %+v, %+v", i, root, tree, violation, want, wanted)
		}
		rules[wanted.Rule]++
	}
	t.Log(rules)
	if i := mutations; i >= 1000 && len(source.Name()) > 5 && source.Name()[:4] == "kron" && len(rules) < 5 {
		t.Errorf("the mutations break only the rules %v", rules)
	}
}

// verdict returns the violation among the errors of Validate; others are violations of no rule.
func verdict(t validate.Tree, err error) (validate.Tree, validate.Violation) {
	var violation *validate.Violation
	if errors.As(err, &violation) {
		return t, validate.Violation{Rule: violation.Rule, Vertices: violation.Vertices}
	}
	if err != nil {
		return t, validate.Violation{Rule: -1, Text: err.Error()}
	}
	return t, validate.Violation{}
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

// byCPU is an accelerator that asks package graph. The suite is tested with it where there is no GPU.
type byCPU struct {
	plugins.Accelerator // nil: the suite makes no other calls
	validator           *validate.Validator
}

func (*byCPU) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{Name: "slow", Version: "1"}, nil
}

func (*byCPU) Generate(ctx context.Context, k graph.Kronecker, dst []graph.Edge, first int64) error {
	return k.Generate(ctx, dst, first, 0)
}

func (a *byCPU) Load(_ context.Context, tuples []graph.Edge, vertices int64) (err error) {
	a.validator, err = validate.New(tuples, vertices, 0)
	return err
}

func (a *byCPU) LoadRecipe(ctx context.Context, k graph.Kronecker) (err error) {
	a.validator, err = validate.NewFromSource(ctx, k, make([]graph.Edge, 1000), 0)
	return err
}

func (a *byCPU) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error) {
	return a.validator.Validate(ctx, root, parent)
}

func (*byCPU) Close() error { return nil }

func TestSuiteWithTheCPU(t *testing.T) { testAccelerator(t, &byCPU{}, 12, 100) }
