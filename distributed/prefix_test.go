package distributed

import (
	"math/bits"
	"testing"

	"github.com/tepsbench/teps/graph"
)

// With fold=prefix a vertex is assigned to the first rank of the grid row that discovers it: what a rank has discovered
// less the prefix (Checconi et al. 2012). So every vertex that another rank than its owner has found is assigned once.
func TestPrefixAssignsAVertexToOneRank(t *testing.T) {
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, k.Tuples())
	if err := k.Generate(t.Context(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	c := Configuration{Grid: Grid{2, 3}, Threads: 1, Prefix: true, Form: "adaptive"}
	p, _, err := startProcess(t.Context(), c, tuples)
	if err != nil {
		t.Fatal(err)
	}
	defer p.free()
	parent := make([]graph.Vertex, k.Vertices())
	root, _ := tuples[0].Ends()
	if _, err := p.search(t.Context(), root, parent); err != nil {
		t.Fatal(err)
	}
	assigned := 0
	for row := range c.Grid.R {
		for w := range p.ranks[row].finder { // all ranks of a grid row have the same rows
			all, n := uint32(0), 0
			for column := range c.Grid.C {
				word := p.ranks[c.Grid.Rank(row, column)].finder[w]
				all |= word
				n += bits.OnesCount32(word)
			}
			if n != bits.OnesCount32(all) {
				t.Fatalf("grid row %d, word %d: %d assignments of %d vertices", row, w, n, bits.OnesCount32(all))
			}
			assigned += n
		}
	}
	if assigned == 0 {
		t.Error("no vertex is assigned")
	}
}
