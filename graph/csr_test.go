// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
)

func tuples(labels ...Vertex) []Edge {
	var edges []Edge
	for i := 0; i < len(labels); i += 2 {
		edges = append(edges, MakeEdge(labels[i], labels[i+1]))
	}
	return edges
}

func TestCSRKeepsSelfLoopsAndDuplicatesInBothDirections(t *testing.T) {
	g := must.Get(NewCSR(tuples(0, 1, 1, 0, 2, 2, 3, 0), 5))
	for v, want := range [][]Vertex{{1, 1, 3}, {0, 0}, {2, 2}, {0}, {}} {
		got := slices.Sorted(slices.Values(g.Neighbors(Vertex(v))))
		if !slices.Equal(got, want) {
			t.Errorf("neighbors of %d: %v, want %v", v, got, want)
		}
	}
}

func TestCSRWithoutTuplesOrVertices(t *testing.T) {
	if g := must.Get(NewCSR(nil, 0)); g.NumVertices() != 0 || len(g.Targets) != 0 {
		t.Errorf("no vertices: %+v", g)
	}
	if g := must.Get(NewCSR(nil, 3)); g.NumVertices() != 3 || len(g.Neighbors(2)) != 0 {
		t.Errorf("three isolated vertices: %+v", g)
	}
}

func TestNewCSRRejectsLabelsBeyondTheVertices(t *testing.T) {
	must.Fail(t, must.Err(NewCSR(tuples(0, 1, 2, 4), 4)), "4 vertices: tuple 1 is (2,4)")
	if _, err := NewCSR(tuples(0, 0), 0); err == nil {
		t.Error("label 0 of no vertices was accepted")
	}
	must.Fail(t, must.Err(NewCSR(nil, -1)), "cannot be negative")
}

// Levels are distances, and parents are one level above: Search agrees with Bellman's relaxation over the tuples, which
// uses neither a queue nor a CSR.
func TestSearchLevelsAreDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vertices := rapid.Int64Range(1, 24).Draw(t, "vertices")
		label := rapid.Int64Range(0, vertices-1)
		var edges []Edge
		for range rapid.IntRange(0, 40).Draw(t, "tuples") {
			edges = append(edges, MakeEdge(Vertex(label.Draw(t, "u")), Vertex(label.Draw(t, "v"))))
		}
		root := Vertex(label.Draw(t, "root"))

		const far = 1 << 40
		distance := slices.Repeat([]int64{far}, int(vertices))
		distance[root] = 0
		for range vertices {
			for _, e := range edges {
				u, v := e.Ends()
				distance[u] = min(distance[u], distance[v]+1)
				distance[v] = min(distance[v], distance[u]+1)
			}
		}
		g := must.Get(NewCSR(edges, vertices))
		parent, level := must.Get2(g.Search(root))
		for v := range level {
			if want := distance[v]; level[v] != want && !(want >= far && level[v] == -1) {
				t.Fatalf("level of %d from %d: %d, want %d", v, root, level[v], want)
			}
			p := parent[v]
			switch {
			case Vertex(v) == root && p != root, level[v] < 0 && p != Unreached:
				t.Fatalf("parent of %d from %d is %d", v, root, p)
			case level[v] > 0 && (level[p] != level[v]-1 || !slices.Contains(g.Neighbors(p), Vertex(v))):
				t.Fatalf("parent of %d from %d is %d, which is not a neighbor one level above", v, root, p)
			}
		}
	})
}

func TestSearchRejectsRootOutsideTheGraph(t *testing.T) {
	g := must.Get(NewCSR(tuples(0, 1), 2))
	for _, root := range []Vertex{-1, 2, MaxVertex} {
		if _, _, err := g.Search(root); err == nil {
			t.Errorf("root %d was accepted", root)
		}
	}
}
