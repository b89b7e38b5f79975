package graph

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// Progress counts the tuples of each pass from beginning to end, also while it runs.
func TestProgressCountsTuples(t *testing.T) {
	recipe := Kronecker{Scale: 14, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges := make([]Edge, recipe.Tuples())
	if err := recipe.Generate(context.Background(), edges, 0, 0); err != nil {
		t.Fatal(err)
	}
	csr, err := NewCSR(edges, recipe.Vertices())
	if err != nil {
		t.Fatal(err)
	}
	root, _ := edges[0].Ends()
	parents, _, err := csr.Search(root)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewValidator(edges, recipe.Vertices(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if done, total := v.Progress(); done != 0 || total != recipe.Tuples() {
		t.Errorf("before the first call: %d of %d", done, total)
	}
	var over, between atomic.Bool
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for !over.Load() && !between.Load() {
			if done, total := v.Progress(); 0 < done && done < total {
				between.Store(true)
			}
		}
	}()
	// A pass takes a millisecond, so on a busy machine it may take many passes until one is seen on its way.
	for start := time.Now(); !between.Load() && time.Since(start) < time.Minute; {
		if _, err := v.Validate(context.Background(), root, parents); err != nil {
			t.Fatal(err)
		}
		if done, total := v.Progress(); done != total {
			t.Fatalf("after a validation: %d of %d", done, total)
		}
		if _, err := v.Count(context.Background(), root, parents); err != nil {
			t.Fatal(err)
		}
		if done, total := v.Progress(); done != total {
			t.Fatalf("after a count: %d of %d", done, total)
		}
	}
	over.Store(true)
	<-watched
	if !between.Load() {
		t.Error("no call of Progress saw a pass on its way")
	}
}
