// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
)

var golden24 = flag.Bool("golden24", false, "check the golden roots of scale 24 too (half a minute, 3 GB of memory)")

func kroneckerTuples(t testing.TB, k graph.Kronecker) []graph.Edge {
	t.Helper()
	edges := make([]graph.Edge, k.Tuples())
	must.Do(k.Generate(context.Background(), edges, 0, 0))
	return edges
}

// drawn draws at most wanted roots from a graph of some tuples.
func drawn(t testing.TB, k graph.Kronecker, edges []graph.Edge, wanted int) (roots []graph.Vertex, rejected int) {
	t.Helper()
	v, err := validate.New(edges, k.Vertices(), 0)
	if err == nil {
		joined := func(some []graph.Vertex) ([]bool, error) { return v.Joined(t.Context(), some) }
		all, _ := v.CountJoined(t.Context())
		roots, rejected, err = DrawRoots(k.Vertices(), k.Seed1, k.Seed2, joined, min(wanted, int(all)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return roots, rejected
}

// The values were obtained by running the Graph500 reference.
func TestRootsEqualThoseOfTheReference(t *testing.T) {
	for _, c := range []struct {
		scale int
		first []graph.Vertex
		draws int
	}{
		{10, []graph.Vertex{458, 214, 220, 966, 395, 9, 848, 777}, 75},
		{16, []graph.Vertex{29348, 8064, 61854, 29808, 54316, 22032, 1364, 15128}, 87},
		{20, []graph.Vertex{469580, 129031, 989678, 404994, 9614, 869058, 795925, 352515}, 105},
		{24, []graph.Vertex{3516586, 3611407, 2064498, 153835, 7631025, 13904934, 12734806, 5640247}, 116},
	} {
		t.Run(fmt.Sprintf("scale=%d", c.scale), func(t *testing.T) {
			if c.scale >= 20 && testing.Short() {
				t.Skip("takes seconds")
			}
			if c.scale >= 24 && !*golden24 {
				t.Skip("run with -args -golden24")
			}
			k := graph.Kronecker{Scale: c.scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
			roots, rejected := drawn(t, k, kroneckerTuples(t, k), 64)
			if len(roots) != 64 || !slices.Equal(roots[:8], c.first) {
				t.Errorf("%d roots %v, want 64 starting with %v", len(roots), roots, c.first)
			}
			if draws := len(roots) + rejected; draws != c.draws {
				t.Errorf("%d draws, want %d", draws, c.draws)
			}
		})
	}
}

func TestRootsAreDistinctAndHaveNeighbors(t *testing.T) {
	for _, k := range []graph.Kronecker{
		{Scale: 1, EdgeFactor: 16, Seed1: 2, Seed2: 3},
		{Scale: 6, EdgeFactor: 1, Seed1: 2, Seed2: 3},
		{Scale: 7, EdgeFactor: 16, Seed1: 4, Seed2: 5},
		{Scale: 12, EdgeFactor: 2, Seed1: 6, Seed2: 7},
	} {
		edges := kroneckerTuples(t, k)
		eligible := map[graph.Vertex]bool{}
		for _, e := range edges {
			if u, v := e.Ends(); u != v {
				eligible[u], eligible[v] = true, true
			}
		}
		for _, wanted := range []int{0, 1, 64, len(eligible) - 1, len(eligible), len(eligible) + 1, 1 << 20} {
			roots, _ := drawn(t, k, edges, wanted)
			if want := min(wanted, len(eligible)); len(roots) != want {
				t.Errorf("%+v: %d roots of %d wanted, %d eligible: want %d", k, len(roots), wanted, len(eligible), want)
			}
			seen := map[graph.Vertex]bool{}
			for _, root := range roots {
				if seen[root] || !eligible[root] {
					t.Errorf("%+v: root %d is a repeat (%t) or has no neighbor (%t)", k, root, seen[root], !eligible[root])
				}
				seen[root] = true
			}
		}
	}
}

func TestFewerRootsAreAPrefix(t *testing.T) {
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges := kroneckerTuples(t, k)
	many, rejected := drawn(t, k, edges, 64)
	few, fewer := drawn(t, k, edges, 10)
	if !slices.Equal(few, many[:10]) || fewer > rejected {
		t.Errorf("10 roots %v (%d rejected), 64 roots %v (%d rejected)", few, fewer, many, rejected)
	}
}

func TestRootsOfAlmostEmptyGraphs(t *testing.T) {
	k := graph.Kronecker{Scale: 20, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	for name, c := range map[string]struct {
		edges []graph.Edge
		want  []graph.Vertex
	}{
		"no tuples":       {},
		"only self-loops": {edges: []graph.Edge{graph.MakeEdge(5, 5), graph.MakeEdge(5, 5), graph.MakeEdge(7, 7)}},
		"two vertices among a million": {
			[]graph.Edge{graph.MakeEdge(1, 1<<20-1), graph.MakeEdge(9, 9)}, []graph.Vertex{1, 1<<20 - 1},
		},
	} {
		roots, rejected := drawn(t, k, c.edges, 64)
		slices.Sort(roots)
		if !slices.Equal(roots, c.want) || (rejected > 0) != (len(c.want) > 0) {
			t.Errorf("%s: roots %v, %d rejected", name, roots, rejected)
		}
	}
}

// One label that has no vertex, or whose vertex has no neighbor, is enough to refuse all.
func TestGivenRootsAreVerticesWithNeighbors(t *testing.T) {
	in := &Input{id: record.GraphID{Source: "g"}, graph: record.GraphRecord{Vertices: 4}}
	joined := func(all []graph.Vertex) (has []bool, err error) {
		for _, v := range all {
			has = append(has, v != 3)
		}
		return has, nil
	}
	must.Equal(t, must.Get(in.given([]uint64{2, 0}, joined)), []graph.Vertex{2, 0})
	must.Is(t, must.Err(in.given([]uint64{0, 4}, joined)), record.ErrUsage, "not vertices of g: 4 (1 of 2 roots)")
	must.Is(t, must.Err(in.given([]uint64{3}, joined)), record.ErrUsage, "without a neighbor in g: 3 (1 of 1 roots)")
}
