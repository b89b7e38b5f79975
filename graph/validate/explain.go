// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// These methods describe a broken rule, on one thread and in order, so that the message does not depend on the division
// of work. If they find nothing wrong, the array has changed since.

func (s *search) broken(rule Rule, vertices []graph.Vertex, format string, args ...any) error {
	return &Violation{rule, s.root, vertices, fmt.Sprintf(format, args...)}
}

func (s *search) explainTree() error {
	if p := s.parent[s.root]; p != s.root {
		return s.broken(RuleTree, []graph.Vertex{s.root}, "the root %d must be its own parent, but %s", s.root, s.describe(p))
	}
	cycle := s.lowestInCycle()
	for at, p := range s.parent {
		if u := graph.Vertex(at); u == cycle {
			return s.explainCycle(u)
		} else if p != graph.Unreached && !s.isVertex(p) {
			return s.broken(RuleTree, []graph.Vertex{u}, "vertex %d has no usable parent: %s", u, s.describe(p))
		}
	}
	for at, p := range s.parent {
		if s.isVertex(p) && s.parent[p] == graph.Unreached {
			return s.broken(RuleTreeLevel, []graph.Vertex{graph.Vertex(at), p},
				"vertex %d has parent %d, which is unreached, so neither has a level", at, p)
		}
	}
	return fmt.Errorf("validating a search from root %d: the parents changed while they were read, or the tree "+
		"has 2^31 levels or more; nothing may write to the parents after the search returns", s.root)
}

func (s *search) describe(p graph.Vertex) string {
	switch {
	case p == graph.Unreached:
		return "it is marked unreached"
	case p == graph.Unwritten:
		return "its entry was never written"
	case s.isVertex(p):
		return fmt.Sprintf("its parent is %d", p)
	}
	return fmt.Sprintf("its parent is %d, which is not one of the vertices 0 to %d", p, s.vertices-1)
}

// lowestInCycle returns the lowest vertex that is in a cycle, or -1. It ignores the root, and overwrites the levels.
func (s *search) lowestInCycle() graph.Vertex {
	const unknown, walking, done = 0, 1, 2
	state := s.levels
	clear(state)
	state[s.root] = done
	low := graph.Vertex(-1)
	for at := range s.parent {
		u := graph.Vertex(at)
		for ; s.isVertex(u) && state[u] == unknown; u = s.parent[u] {
			state[u] = walking
		}
		for ; s.isVertex(u) && state[u] == walking; u = s.parent[u] { // around the cycle
			state[u] = done
			if low < 0 || u < low {
				low = u
			}
		}
		for u = graph.Vertex(at); s.isVertex(u) && state[u] == walking; u = s.parent[u] {
			state[u] = done
		}
	}
	return low
}

func (s *search) explainCycle(low graph.Vertex) error {
	n := int64(1)
	for u := s.parent[low]; u != low && s.isVertex(u) && n < s.vertices; u = s.parent[u] {
		n++
	}
	if n == 1 {
		return s.broken(RuleTree, []graph.Vertex{low}, "vertex %d is its own parent, but the root is %d", low, s.root)
	}
	return s.broken(RuleTree, []graph.Vertex{low, s.parent[low]},
		"the parents form a cycle of %d vertices: one is %d, with parent %d", n, low, s.parent[low])
}

// explainTuple describes a breach of rule 3 or 4, or returns nil.
func (s *search) explainTuple(b *breaches) error {
	if i := b.changed.Load(); i != math.MaxInt64 {
		return fmt.Errorf("validating: tuple %d or a later one changed since the validator was made; "+
			"nothing may write to the tuples", i)
	}
	rule, i := RuleLevel, b.far.Load()
	if i == math.MaxInt64 {
		rule, i = RuleSpan, b.unspanned.Load()
	}
	if i == math.MaxInt64 {
		return nil
	}
	tuple := make([]graph.Edge, 1)
	if s.source != nil {
		_ = s.source.Generate(context.Background(), tuple, i, 1) // its only error is that of the context
	} else {
		tuple[0] = s.edges[i]
	}
	a, z := tuple[0].Ends()
	if rule == RuleLevel {
		return s.broken(rule, []graph.Vertex{a, z}, "tuple %d (%d,%d) joins vertex %d on level %d to vertex %d on level %d",
			i, a, z, a, s.levels[a], z, s.levels[z])
	}
	in, out := a, z
	if s.levels[a] < 0 {
		in, out = z, a
	}
	return s.broken(rule, []graph.Vertex{in, out},
		"tuple %d (%d,%d) joins vertex %d on level %d to vertex %d, which is unreached", i, a, z, in, s.levels[in], out)
}

// explainPending describes a breach of rule 5 by the lowest vertex whose tree edge is not a tuple, or returns nil.
func (s *search) explainPending() error {
	i := slices.IndexFunc(s.pending, func(word uint64) bool { return word != 0 })
	if i < 0 {
		return nil
	}
	child := graph.Vertex(i*64 + bits.TrailingZeros64(s.pending[i]))
	p := s.parent[child]
	return s.broken(RuleTuple, []graph.Vertex{child, p},
		"vertex %d on level %d has parent %d, but neither (%d,%d) nor (%d,%d) is a tuple",
		child, s.levels[child], p, child, p, p, child)
}
