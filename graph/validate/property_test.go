// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// subject is a correct result that is about to be changed.
type subject struct {
	sample
	csr    *graph.CSR
	parent []graph.Vertex
	level  []int64
	rng    *rand.Rand
}

func newSubject(s sample, seed int) *subject {
	csr := must.Get(graph.NewCSR(s.edges, s.vertices))
	parent, level := must.Get2(csr.Search(s.root))
	return &subject{s, csr, parent, level, rand.New(rand.NewPCG(uint64(seed), 3))}
}

// find returns a random vertex that suits, or any if none does.
func (m *subject) find(suits func(v graph.Vertex) bool) graph.Vertex {
	all := m.rng.Perm(int(m.vertices))
	return graph.Vertex(all[max(0, slices.IndexFunc(all, func(v int) bool { return suits(graph.Vertex(v)) }))])
}

// below reports whether v is u or a descendant of u.
func (m *subject) below(v, u graph.Vertex) bool {
	for ; v != u && m.level[v] > 0; v = m.parent[v] {
	}
	return v == u
}

// mutated returns the parents with one or two random changes, which seldom leave them right.
func (m *subject) mutated() []graph.Vertex {
	parent := slices.Clone(m.parent)
	for range 1 + m.rng.IntN(2) {
		m.mutate(parent)
	}
	return parent
}

func (m *subject) mutate(parent []graph.Vertex) {
	oneOf := func(all ...graph.Vertex) graph.Vertex { return all[m.rng.IntN(len(all))] }
	out := func() graph.Vertex { return m.find(func(v graph.Vertex) bool { return m.level[v] < 0 }) }
	v := m.find(func(v graph.Vertex) bool { return m.level[v] > 0 })
	switch m.rng.IntN(12) {
	case 0:
		parent[m.root] = oneOf(graph.Unreached, graph.Unwritten, v, out())
	case 1: // the last one is right in its low 32 bits
		parent[v] = oneOf(graph.Vertex(m.vertices), 1<<62, -2, graph.Unwritten+1, graph.Unwritten, parent[v]+1<<32)
	case 2:
		parent[oneOf(v, out())] = graph.Unwritten
	case 3: // a second root
		v = oneOf(v, out())
		parent[v] = v
	case 4: // a cycle
		top := v
		for range m.rng.IntN(20) {
			if m.level[top] > 1 {
				top = m.parent[top]
			}
		}
		parent[top] = v
	case 5: // a cycle or a chain of unreached vertices
		u, w := out(), out()
		parent[u] = w
		parent[w] = oneOf(u, parent[w])
	case 6:
		parent[v] = oneOf(graph.Unreached, out())
	case 7: // a vertex and what is below it are dropped
		for u := range parent {
			if m.below(graph.Vertex(u), v) {
				parent[u] = graph.Unreached
			}
		}
	case 8: // what the search has not reached is claimed
		parent[out()] = oneOf(m.root, v)
	case 9: // to a neighbor of any level
		parent[v] = oneOf(append(slices.Clone(m.csr.Neighbors(v)), m.root)...)
	case 10: // to a vertex one level up, which need not be a neighbor
		parent[v] = m.find(func(u graph.Vertex) bool { return m.level[u] == m.level[v]-1 })
	case 11: // every vertex one level up is attached to the same one
		for u, l := range m.level {
			if l == m.level[v] && l > 0 {
				parent[u] = m.parent[v]
			}
		}
	}
}

// listSource is a list of tuples as a source.
type listSource struct {
	graph.Source // nil: what follows is enough
	edges        []graph.Edge
	vertices     int64
}

func (l listSource) Vertices() int64 { return l.vertices }
func (l listSource) Tuples() int64   { return int64(len(l.edges)) }

func (l listSource) Generate(_ context.Context, dst []graph.Edge, first int64, _ int) error {
	copy(dst, l.edges[first:])
	return nil
}

func TestWrongParentsAreRefusedByTheLowestRule(t *testing.T) {
	rules := map[Rule]int{}
	for i, s := range samples(t) {
		m := newSubject(s, i)
		source := listSource{edges: s.edges, vertices: s.vertices}
		again := must.Get(NewFromSource(t.Context(), source, make([]graph.Edge, 97), 3))
		again.tupleGrain = 10
		validators := []*Validator{mustValidator(t, s.edges, s.vertices, 1), mustValidator(t, s.edges, s.vertices, 3), again}
		for change := range min(200, 10+20_000/s.vertices) {
			parent := m.mutated()
			want := judge(s, parent)
			rules[want.rule]++
			for k, v := range validators {
				tree, err := v.Validate(context.Background(), s.root, parent, nil)
				if message := want.differs(err); message != "" || err == nil && tree != want.tree {
					t.Fatalf("%s, change %d, validator %d: %s; want %+v, got %+v", s.name, change, k, message, want.tree, tree)
				}
			}
		}
	}
	for rule := RuleTree; rule <= RuleTuple; rule++ {
		if rules[rule] < 20 {
			t.Errorf("the changes break the rules %v times", rules)
		}
	}
	t.Log(rules)
}
