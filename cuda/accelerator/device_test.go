// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

var (
	flagGPU       = flag.Bool("gpu", false, "fail instead of skipping tests if the machine has no GPU")
	flagMutations = flag.Int("mutations", 1000, "random mutations of the parents of each graph")
	flagScale     = flag.Int("scale", 16, "of the largest graph")
	flagGolden24  = flag.Bool("golden24", false, "generate scale 24, too")
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

func TestAccelerator(t *testing.T) {
	testAccelerator(t, open(t), *flagScale, *flagMutations)
}

// Verdicts are the same whether the tuples are kept or made again.
func TestRecipeHasTheVerdictsOfItsTuples(t *testing.T) {
	a, again := open(t), open(t)
	recipe := graph.Kronecker{Scale: 14, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := recipe.Generate(t.Context(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	csr, err := graph.NewCSR(tuples, recipe.Vertices())
	if err != nil {
		t.Fatal(err)
	}
	root, _ := tuples[0].Ends()
	parent, _, err := csr.Search(root)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := errors.Join(a.Load(ctx, tuples, recipe.Vertices()), again.LoadRecipe(ctx, recipe)); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	at, before := 0, parent[0]
	for mutation := range 100 {
		tree, err := a.Validate(t.Context(), root, parent)
		treeAgain, errAgain := again.Validate(t.Context(), root, parent)
		if tree != treeAgain || fmt.Sprint(err) != fmt.Sprint(errAgain) || mutation == 0 && err != nil {
			t.Fatalf("mutation %d: got %v and %v from the tuples, %v and %v from the recipe", mutation, tree, err, treeAgain,
				errAgain)
		}
		parent[at] = before
		at = random.IntN(len(parent))
		before, parent[at] = parent[at], graph.Vertex(random.IntN(len(parent)+1)-1)
	}
}

// TestGoldenValues compares whole lists with what the reference generates: FNV-1a of the packed tuples, with the offset
// basis that its program uses.
func TestGoldenValues(t *testing.T) {
	a := open(t)
	for scale, want := range map[int]uint64{
		10: 0x99120108d157ef13, 16: 0x33560a4ab9c6fbe9, 20: 0x3f15e9b5537e7da6, 24: 0xe2f155ba3f9f99ea,
	} {
		if scale == 24 && !*flagGolden24 {
			continue
		}
		recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		tuples := make([]graph.Edge, recipe.Tuples())
		if err := a.Generate(t.Context(), recipe, tuples, 0); err != nil {
			t.Fatal(err)
		}
		if got := fingerprint(tuples); got != want {
			t.Errorf("scale %d: %016x, want %016x", scale, got, want)
		}
	}
}

// TestTooLittleMemory takes nearly all memory of the device first, as another process on it would. With its error the
// host goes on without the device (TestHostDevice of package harness).
func TestTooLittleMemory(t *testing.T) {
	a := open(t)
	if err := a.do(func() error {
		_, err := a.memory.OnDevice("memory of others", a.memory.Room()-1<<20)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	recipe := graph.Kronecker{Scale: 16, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := a.Generate(t.Context(), recipe, tuples, 0); err != nil {
		t.Fatal(err)
	}
	if err := a.Load(t.Context(), tuples, recipe.Vertices()); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("got %v, want %v", err, plugins.ErrMemory)
	}
	if _, err := a.Validate(t.Context(), 0, make([]graph.Vertex, recipe.Vertices())); !errors.Is(err,
		plugins.ErrNotConstructed) {
		t.Errorf("validating after that: got %v, want %v", err, plugins.ErrNotConstructed)
	}
}

func fingerprint(tuples []graph.Edge) uint64 {
	sum := uint64(1469598103934665603)
	for _, b := range driver.Bytes(tuples) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return sum
}

func BenchmarkValidate(b *testing.B) {
	if driver.Missing() != "" {
		b.Skip(driver.Missing())
	}
	a := New()
	defer a.Close()
	recipe := graph.Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := a.Generate(b.Context(), recipe, tuples, 0); err != nil {
		b.Fatal(err)
	}
	if err := a.Load(b.Context(), tuples, recipe.Vertices()); err != nil {
		b.Fatal(err)
	}
	csr, err := graph.NewCSR(tuples, recipe.Vertices())
	if err != nil {
		b.Fatal(err)
	}
	root, _ := tuples[0].Ends()
	parent, _, err := csr.Search(root)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := a.Validate(b.Context(), root, parent); err != nil {
			b.Fatal(err)
		}
	}
}
