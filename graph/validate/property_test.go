// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// verdict is the result of the slow checker below.
type verdict struct {
	rule   Rule         // 0: accepted
	vertex graph.Vertex // that rule 1, 2 or 5 names first
	tuple  int          // that rule 3 or 4 names
	tree   Tree         // if accepted
}

// judge checks a result rule by rule as the specification states them, slowly. It shares no code with the validator.
func judge(s sample, parent []graph.Vertex) verdict {
	isVertex := func(p graph.Vertex) bool { return p >= 0 && p < graph.Vertex(s.vertices) }

	// Rule 1, the root first.
	if parent[s.root] != s.root {
		return verdict{rule: RuleTree, vertex: s.root}
	}
	for v := range graph.Vertex(s.vertices) {
		p, steps := parent[v], int64(0)
		for u := p; isVertex(u) && u != s.root && steps < s.vertices; u = parent[u] {
			steps++
		}
		if p != graph.Unreached && !isVertex(p) || steps == s.vertices {
			return verdict{rule: RuleTree, vertex: v}
		}
	}

	// Rule 2, and levels.
	level := map[graph.Vertex]int{}
	for v := range graph.Vertex(s.vertices) {
		if parent[v] == graph.Unreached {
			continue
		}
		if parent[parent[v]] == graph.Unreached {
			return verdict{rule: RuleTreeLevel, vertex: v}
		}
	}
	for v := range graph.Vertex(s.vertices) {
		if parent[v] != graph.Unreached {
			depth := 0
			for u := v; u != s.root; u = parent[u] {
				depth++
			}
			level[v] = depth
		}
	}

	// Rules 3 and 4.
	split := -1
	edges := map[[2]graph.Vertex]bool{}
	tree := Tree{Root: s.root, Reached: int64(len(level))}
	for i, e := range s.edges {
		u, v := e.Ends()
		edges[[2]graph.Vertex{u, v}], edges[[2]graph.Vertex{v, u}] = true, true
		levelU, inU := level[u]
		levelV, inV := level[v]
		switch {
		case inU && inV && (levelU > levelV+1 || levelV > levelU+1):
			return verdict{rule: RuleLevel, tuple: i}
		case inU != inV && split < 0:
			split = i
		case inU && u == v:
			tree.SelfLoops++
			tree.Tuples++
		case inU:
			tree.Tuples++
		}
	}
	if split >= 0 {
		return verdict{rule: RuleSpan, tuple: split}
	}

	// Rule 5.
	for v := range graph.Vertex(s.vertices) {
		if _, in := level[v]; in && v != s.root && !edges[[2]graph.Vertex{v, parent[v]}] {
			return verdict{rule: RuleTuple, vertex: v}
		}
	}
	for _, l := range level {
		tree.Depth = max(tree.Depth, l)
	}
	return verdict{tree: tree}
}

// differs describes how the validator's error differs from the verdict, or returns "".
func (want verdict) differs(err error) string {
	var got *Violation
	switch {
	case want.rule == 0 && err == nil:
		return ""
	case want.rule == 0 || !errors.As(err, &got):
		return fmt.Sprintf("want rule %d, got error %v", want.rule, err)
	case got.Rule != want.rule || !strings.HasPrefix(err.Error(), "the parents from root "):
		return fmt.Sprintf("want rule %d, got %v", want.rule, err)
	case len(got.Vertices) == 0 || len(got.Vertices) > 2:
		return fmt.Sprintf("vertices %d are named", got.Vertices)
	case got.Rule == RuleLevel || got.Rule == RuleSpan:
		if !strings.HasPrefix(got.Text, fmt.Sprintf("tuple %d (", want.tuple)) {
			return fmt.Sprintf("want tuple %d, got %v", want.tuple, err)
		}
	case got.Vertices[0] != want.vertex:
		return fmt.Sprintf("want vertex %d, got %v, vertices %d", want.vertex, err, got.Vertices)
	}
	return ""
}

// checkVerdict compares the validator in each of its forms with the slow checker.
func checkVerdict(t interface {
	Helper()
	Fatalf(string, ...any)
}, s sample, parent []graph.Vertex) {
	t.Helper()
	want := judge(s, slices.Clone(parent))
	for _, threads := range []int{1, 2} {
		for _, plain := range []bool{false, true} {
			v := must.Get(New(s.edges, s.vertices, threads))
			v.vertexGrain, v.tupleGrain = 64, 5
			if plain {
				v.parent32 = nil // as in graphs of more than 2^32 vertices
			}
			tree, err := v.Validate(context.Background(), s.root, parent, nil)
			if message := want.differs(err); message != "" || err == nil && tree != want.tree {
				t.Fatalf("tuples %v, root %d, parents %d, %d threads, plain scan %v: %s; want %+v, got %+v",
					s.edges, s.root, parent, threads, plain, message, want.tree, tree)
			}
		}
	}
}

// drawn draws a graph of up to limit vertices and a result, right or wrong, of a search in it.
func drawn(t *rapid.T, limit int64) (sample, []graph.Vertex) {
	n := rapid.Int64Range(1, limit).Draw(t, "vertices")
	vertex := rapid.Custom(func(t *rapid.T) graph.Vertex {
		return graph.Vertex(rapid.Int64Range(0, n-1).Draw(t, "vertex"))
	})
	edge := rapid.Custom(func(t *rapid.T) graph.Edge { return graph.MakeEdge(vertex.Draw(t, "u"), vertex.Draw(t, "v")) })
	s := sample{"drawn", rapid.SliceOfN(edge, 0, int(limit*5/2)).Draw(t, "tuples"), n, vertex.Draw(t, "root")}
	parent, _ := must.Get2(must.Get(graph.NewCSR(s.edges, n)).Search(s.root))
	special := rapid.SampledFrom([]graph.Vertex{graph.Unreached, graph.Unwritten, -2, graph.Vertex(n), 1 << 40})
	entry := rapid.OneOf(vertex, vertex, rapid.Just(graph.Unreached), special)
	if rapid.Bool().Draw(t, "from nothing") {
		for v := range parent {
			parent[v] = rapid.OneOf(vertex, rapid.Just(graph.Unreached)).Draw(t, "parent")
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		parent[vertex.Draw(t, "changed")] = entry.Draw(t, "to")
	}
	return s, parent
}

func TestValidatorAgreesWithTheSlowChecker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, parent := drawn(t, 12)
		checkVerdict(t, s, parent)
	})
}

func TestPartsAgreeOnRandomParents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, parent := drawn(t, 40)
		all, _ := newParts(t, s.edges, s.vertices, rapid.IntRange(1, 33).Draw(t, "parts"), 2)
		_ = all.agree(t, must.Get(New(s.edges, s.vertices, 1)), s, parent)
	})
}
