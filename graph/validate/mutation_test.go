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

// mutation breaks a correct result in one way. apply changes m.parent and returns whether that is possible in the
// graph.
type mutation struct {
	name  string
	rule  Rule
	apply func(m *subject) bool
}

// subject is a correct result that is about to be broken.
type subject struct {
	sample
	csr    *graph.CSR
	parent []graph.Vertex
	level  []int64
	rng    *rand.Rand
}

// pick returns a random vertex among the suitable ones.
func (m *subject) pick(suits func(v graph.Vertex) bool) (graph.Vertex, bool) {
	var all []graph.Vertex
	for v := range graph.Vertex(m.vertices) {
		if suits(v) {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return all[m.rng.IntN(len(all))], true
}

func (m *subject) reached(v graph.Vertex) bool  { return m.level[v] >= 0 }
func (m *subject) nonRoot(v graph.Vertex) bool  { return m.level[v] > 0 }
func (m *subject) isolated(v graph.Vertex) bool { return len(m.csr.Neighbors(v)) == 0 }
func (m *subject) isLeaf(v graph.Vertex) bool   { return m.nonRoot(v) && !slices.Contains(m.parent, v) }

// below reports whether v is u or a descendant of u.
func (m *subject) below(v, u graph.Vertex) bool {
	for ; v != u && v != m.root; v = m.parent[v] {
	}
	return v == u
}

func (m *subject) adjacent(u, v graph.Vertex) bool { return slices.Contains(m.csr.Neighbors(u), v) }

// entry makes a mutation that sets the entry of a reached vertex other than the root.
func entry(p func(m *subject) graph.Vertex) func(m *subject) bool {
	return func(m *subject) bool {
		v, ok := m.pick(m.nonRoot)
		if ok {
			m.parent[v] = p(m)
		}
		return ok
	}
}

var mutations = []mutation{
	{"root unset", RuleTree, func(m *subject) bool { m.parent[m.root] = graph.Unreached; return true }},
	{"root never written", RuleTree, func(m *subject) bool { m.parent[m.root] = graph.Unwritten; return true }},
	{"root's parent is a child", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return m.level[v] == 1 })
		m.parent[m.root] = v
		return ok && v != m.root
	}},
	{"root's parent is an unreached vertex", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		m.parent[m.root] = v
		return ok
	}},
	{"second root inside the component", RuleTree, func(m *subject) bool {
		v, ok := m.pick(m.nonRoot)
		m.parent[v] = v
		return ok && v != m.root
	}},
	{"second root elsewhere", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		m.parent[v] = v
		return ok
	}},
	{"cycle of two", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return m.level[v] > 1 })
		if ok {
			m.parent[m.parent[v]] = v
		}
		return ok
	}},
	{"cycle of two unreached vertices", RuleTree, func(m *subject) bool {
		u, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		v, ok2 := m.pick(func(v graph.Vertex) bool { return !m.reached(v) && v != u })
		m.parent[u], m.parent[v] = v, u
		return ok && ok2
	}},
	{"long cycle", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return m.level[v] > 2 })
		top := v
		for m.level[top] > 1 {
			top = m.parent[top]
		}
		m.parent[top] = v
		return ok
	}},
	{"parent just beyond the vertices", RuleTree,
		entry(func(m *subject) graph.Vertex { return graph.Vertex(m.vertices) })},
	{"parent far beyond the vertices", RuleTree, entry(func(m *subject) graph.Vertex { return 1 << 62 })},
	{"parent right in its low 32 bits only", RuleTree, func(m *subject) bool {
		v, ok := m.pick(m.nonRoot)
		m.parent[v] += 1 << 32
		return ok
	}},
	{"parent -2", RuleTree, entry(func(m *subject) graph.Vertex { return -2 })},
	{"parent very negative", RuleTree, entry(func(m *subject) graph.Vertex { return graph.Unwritten + 1 })},
	{"entry never written", RuleTree, entry(func(m *subject) graph.Vertex { return graph.Unwritten })},
	{"entry of an unreached vertex never written", RuleTree, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		m.parent[v] = graph.Unwritten
		return ok
	}},
	{"inner vertex unreached", RuleTreeLevel, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return m.nonRoot(v) && !m.isLeaf(v) })
		m.parent[v] = graph.Unreached
		return ok
	}},
	{"parent in another component", RuleTreeLevel, func(m *subject) bool {
		u, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		return ok && entry(func(m *subject) graph.Vertex { return u })(m)
	}},
	{"chain of unreached vertices", RuleTreeLevel, func(m *subject) bool {
		u, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) })
		v, ok2 := m.pick(func(v graph.Vertex) bool { return !m.reached(v) && v != u })
		m.parent[u] = v
		return ok && ok2
	}},
	{"attached to a neighbor on the same level", RuleLevel, func(m *subject) bool {
		return m.attach(func(v, u graph.Vertex) bool { return m.level[u] == m.level[v] && u != v })
	}},
	{"attached to a deeper neighbor", RuleLevel, func(m *subject) bool {
		return m.attach(func(v, u graph.Vertex) bool { return m.level[u] == m.level[v]+1 && !m.below(u, v) })
	}},
	{"depth first instead of breadth first", RuleLevel, func(m *subject) bool {
		parent, deeper := depthFirst(m.csr, m.root, m.level)
		copy(m.parent, parent)
		return deeper
	}},
	{"dropped leaf", RuleSpan, func(m *subject) bool {
		v, ok := m.pick(m.isLeaf)
		m.parent[v] = graph.Unreached
		return ok && v != m.root
	}},
	{"dropped subtree", RuleSpan, func(m *subject) bool {
		top, ok := m.pick(m.nonRoot)
		return ok && m.drop(func(v graph.Vertex) bool { return m.below(v, top) })
	}},
	{"dropped last level", RuleSpan, func(m *subject) bool {
		last := slices.Max(m.level)
		return last > 0 && m.drop(func(v graph.Vertex) bool { return m.level[v] == last })
	}},
	{"dropped everything but the root", RuleSpan, func(m *subject) bool { return m.drop(m.nonRoot) }},
	{"vertex of another component claimed", RuleSpan, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool {
			return !m.reached(v) && slices.ContainsFunc(m.csr.Neighbors(v), func(u graph.Vertex) bool { return u != v })
		})
		m.parent[v] = m.root
		return ok
	}},
	{"isolated vertex claimed", RuleTuple, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) && m.isolated(v) })
		m.parent[v] = m.root
		return ok
	}},
	{"whole other component claimed", RuleTuple, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return !m.reached(v) && !m.isolated(v) })
		if !ok {
			return false
		}
		other, level, _ := m.csr.Search(v)
		for u, l := range level {
			if l >= 0 {
				m.parent[u] = other[u]
			}
		}
		m.parent[v] = m.root
		return true
	}},
	{"attached one level up to what is not a neighbor", RuleTuple, func(m *subject) bool {
		v, ok := m.pick(func(v graph.Vertex) bool { return m.level[v] > 1 })
		u, ok2 := m.pick(func(u graph.Vertex) bool { return ok && m.level[u] == m.level[v]-1 && !m.adjacent(u, v) })
		m.parent[v] = u
		return ok && ok2
	}},
}

// attach gives a vertex v a suitable neighbor u as its parent.
func (m *subject) attach(suits func(v, u graph.Vertex) bool) bool {
	v, ok := m.pick(func(v graph.Vertex) bool {
		return m.nonRoot(v) && slices.ContainsFunc(m.csr.Neighbors(v), func(u graph.Vertex) bool { return suits(v, u) })
	})
	if !ok {
		return false
	}
	list := m.csr.Neighbors(v)
	m.parent[v] = list[slices.IndexFunc(list, func(u graph.Vertex) bool { return suits(v, u) })]
	return true
}

// drop makes vertices unreached, and reports whether there were any.
func (m *subject) drop(which func(v graph.Vertex) bool) bool {
	var all []graph.Vertex
	for v := range graph.Vertex(m.vertices) {
		if m.reached(v) && which(v) {
			all = append(all, v)
		}
	}
	for _, v := range all {
		m.parent[v] = graph.Unreached
	}
	return len(all) > 0
}

// depthFirst returns the parents of a depth-first search, and whether a vertex is deeper in it than its level.
func depthFirst(csr *graph.CSR, root graph.Vertex, level []int64) (parent []graph.Vertex, deeper bool) {
	parent = make([]graph.Vertex, len(level))
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
	var visit func(u graph.Vertex, depth int64)
	visit = func(u graph.Vertex, depth int64) {
		deeper = deeper || depth > level[u]
		for _, v := range csr.Neighbors(u) {
			if parent[v] == graph.Unreached {
				parent[v] = u
				visit(v, depth+1)
			}
		}
	}
	visit(root, 0)
	return parent, deeper
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

func TestEveryMutationIsDetectedWithItsRule(t *testing.T) {
	list := samples(t)
	validators := make([][]*Validator, len(list))
	subjects := make([]subject, len(list))
	for i, s := range list {
		csr := must.Get(graph.NewCSR(s.edges, s.vertices))
		parent, level := must.Get2(csr.Search(s.root))
		subjects[i] = subject{sample: s, csr: csr, parent: parent, level: level}
		for _, threads := range []int{1, 3} {
			validators[i] = append(validators[i], mustValidator(t, s.edges, s.vertices, threads))
		}
		source := listSource{edges: s.edges, vertices: s.vertices}
		again := must.Get(NewFromSource(t.Context(), source, make([]graph.Edge, 97), 3))
		again.tupleGrain = 10
		validators[i] = append(validators[i], again)
	}
	for _, c := range mutations {
		t.Run(c.name, func(t *testing.T) {
			applied := 0
			for i, s := range subjects {
				for seed := range uint64(min(5, 1+2000/s.vertices)) {
					m := s
					m.parent, m.rng = slices.Clone(s.parent), rand.New(rand.NewPCG(seed, uint64(i)))
					if !c.apply(&m) {
						continue
					}
					applied++
					want := judge(m.sample, m.parent)
					if want.rule != c.rule {
						t.Fatalf("%s: the mutation breaks %v, not %v", s.name, want.rule, c.rule)
					}
					for _, v := range validators[i] {
						_, err := v.Validate(context.Background(), m.root, m.parent, nil)
						if message := want.differs(err); message != "" {
							t.Fatalf("%s, seed %d: %s", s.name, seed, message)
						}
					}
				}
			}
			if applied < 10 {
				t.Errorf("applied only %d times", applied)
			}
		})
	}
}
