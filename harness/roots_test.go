package harness

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
)

var golden24 = flag.Bool("golden24", false, "check the golden roots of scale 24 too (half a minute, 3 GB of memory)")

func kroneckerTuples(t testing.TB, k graph.Kronecker) []graph.Edge {
	t.Helper()
	edges := make([]graph.Edge, k.Tuples())
	if err := k.Generate(context.Background(), edges, 0, 0); err != nil {
		t.Fatal(err)
	}
	return edges
}

func draw(t testing.TB, k graph.Kronecker, edges []graph.Edge, wanted int) ([]graph.Vertex, int) {
	t.Helper()
	roots, rejected, err := DrawRoots(k, edges, wanted, 2)
	if err != nil {
		t.Fatal(err)
	}
	return roots, rejected
}

// The values were obtained by running the Graph500 reference.
func TestRootsAreTheReferences(t *testing.T) {
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
			roots, rejected := draw(t, k, kroneckerTuples(t, k), 64)
			if len(roots) != 64 || !slices.Equal(roots[:8], c.first) {
				t.Errorf("%d roots %v, want 64 that begin with %v", len(roots), roots, c.first)
			}
			if draws := len(roots) + rejected; draws != c.draws {
				t.Errorf("%d draws, want %d", draws, c.draws)
			}
		})
	}
}

func TestRootsAreDistinctAndHaveNeighbours(t *testing.T) {
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
			roots, _ := draw(t, k, edges, wanted)
			if want := min(wanted, len(eligible)); len(roots) != want {
				t.Errorf("%+v: %d roots of %d wanted, %d eligible: want %d", k, len(roots), wanted, len(eligible), want)
			}
			seen := map[graph.Vertex]bool{}
			for _, root := range roots {
				if seen[root] || !eligible[root] {
					t.Errorf("%+v: root %d is a repeat (%t) or has no neighbour (%t)", k, root, seen[root], !eligible[root])
				}
				seen[root] = true
			}
		}
	}
}

func TestRootsOfFewAreTheFirstRootsOfMany(t *testing.T) {
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges := kroneckerTuples(t, k)
	many, rejected := draw(t, k, edges, 64)
	few, fewer := draw(t, k, edges, 10)
	if !slices.Equal(few, many[:10]) || fewer > rejected {
		t.Errorf("10 roots %v (%d rejected), 64 roots %v (%d rejected)", few, fewer, many, rejected)
	}
}

func TestRootsDoNotDependOnThreads(t *testing.T) {
	k := graph.Kronecker{Scale: 12, EdgeFactor: 3, Seed1: 2, Seed2: 3}
	edges := kroneckerTuples(t, k)
	want, wantRejected := draw(t, k, edges, 64)
	for _, threads := range []int{0, 1, 3, 7, 64} {
		roots, rejected, err := DrawRoots(k, edges, 64, threads)
		if err != nil || !slices.Equal(roots, want) || rejected != wantRejected {
			t.Errorf("%d threads: %v, %d rejected, %v; want %v, %d", threads, roots, rejected, err, want, wantRejected)
		}
	}
}

func TestNoRootsWhereNoVertexHasANeighbour(t *testing.T) {
	k := graph.Kronecker{Scale: 20, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	for name, edges := range map[string][]graph.Edge{
		"no tuples":       nil,
		"only self-loops": {graph.MakeEdge(5, 5), graph.MakeEdge(5, 5), graph.MakeEdge(7, 7)},
	} {
		if roots, rejected := draw(t, k, edges, 64); len(roots) != 0 || rejected != 0 {
			t.Errorf("%s: roots %v, %d rejected", name, roots, rejected)
		}
	}
}

func TestTheOnlyTwoRootsOfAMillionVerticesAreFound(t *testing.T) {
	k := graph.Kronecker{Scale: 20, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	roots, rejected := draw(t, k, []graph.Edge{graph.MakeEdge(1, 1<<20-1), graph.MakeEdge(9, 9)}, 64)
	slices.Sort(roots)
	if !slices.Equal(roots, []graph.Vertex{1, 1<<20 - 1}) || rejected < 2 {
		t.Errorf("roots %v after %d rejected draws", roots, rejected)
	}
}

func TestVerticesLeftAfterTheLastDrawAreTakenInOrder(t *testing.T) {
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges := kroneckerTuples(t, k)
	set, err := withNeighbours(edges, k.Vertices(), 1)
	if err != nil {
		t.Fatal(err)
	}
	eligible := int(set.size())
	roots, rejected := set.draw(k, 1<<20, 75) // 75 draws find 64
	if len(roots) != eligible || rejected != 11 {
		t.Errorf("%d roots, %d rejected; want %d and 11", len(roots), rejected, eligible)
	}
	if !slices.IsSorted(roots[64:]) || slices.IsSorted(roots[:64]) {
		t.Errorf("want 64 drawn roots and the others in ascending order, got %v", roots)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(roots))); len(unique) != len(roots) {
		t.Error("a root is there twice")
	}
}

func TestDrawRootsRefusesWhatCannotBe(t *testing.T) {
	k := graph.Kronecker{Scale: 4, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	if _, _, err := DrawRoots(k, []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(3, 16)}, 64, 1); err == nil ||
		!strings.Contains(err.Error(), "tuple 1 is (3,16), but the recipe's labels end at 15") {
		t.Errorf("label 16 of 16 vertices: %v", err)
	}
	if _, _, err := DrawRoots(graph.Kronecker{Scale: 99, EdgeFactor: 16}, nil, 64, 1); err == nil || !strings.Contains(err.Error(), "scale 99") {
		t.Errorf("scale 99: %v", err)
	}
	if _, _, err := DrawRoots(k, nil, -1, 1); err == nil {
		t.Error("-1 roots were accepted")
	}
	if _, _, err := DrawRoots(k, nil, 1, -1); err == nil {
		t.Error("-1 threads were accepted")
	}
}

func BenchmarkDrawRoots(b *testing.B) {
	k := graph.Kronecker{Scale: 20, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges := kroneckerTuples(b, k)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("scale=20/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := DrawRoots(k, edges, 64, threads); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
