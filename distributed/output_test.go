package distributed

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Parents that do not stay in the caches are right too.
func TestParentsStoredAroundTheCaches(t *testing.T) {
	k := graph.Kronecker{Scale: 12, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, k.Tuples())
	if err := k.Generate(t.Context(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	validator, err := graph.NewValidator(tuples, k.Vertices(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []map[string]string{
		{"ranks": "1", "threads": "2"}, {"ranks": "3"}, {"ranks": "4", "partition": "2d"},
	} {
		settings, err := plugins.Resolve(options(4), set)
		if err != nil {
			t.Fatal(err)
		}
		c := Configure(settings)
		c.Caches = 1
		p, results, err := startProcess(context.Background(), c, tuples)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.ranks[0].workers[0].room) == 0 {
			t.Fatalf("%v: no room for a region of parents", set)
		}
		parent := make([]graph.Vertex, k.Vertices())
		for root := range graph.Vertex(10) {
			validator.Overwrite(parent)
			for v := results[0].Labels; v < k.Vertices(); v++ {
				parent[v] = graph.Unreached // has no tuples
			}
			if _, err := p.search(t.Context(), root, parent[:results[0].Labels]); err != nil {
				t.Fatal(err)
			}
			if _, err := validator.Validate(t.Context(), root, parent); err != nil {
				t.Errorf("%v, root %d: %v", set, root, err)
			}
		}
		if err := p.free(); err != nil {
			t.Error(err)
		}
	}
}
