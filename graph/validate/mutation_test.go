// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

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
