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

// Rule is one of the five rules of the specification, 1 to 5, or one of those for kernel 3 (shortest.go).
type Rule int

const (
	RuleTree Rule = 1 + iota
	RuleTreeLevel
	RuleLevel
	RuleSpan
	RuleTuple
)

// String returns the text of the rule.
func (r Rule) String() string {
	if r >= RulePathTree {
		return r.ofKernel3()
	}
	return fmt.Sprintf("rule %d (%s)", int(r), [...]string{
		RuleTree:      "the parents form a tree",
		RuleTreeLevel: "each tree edge joins levels that differ by one",
		RuleLevel:     "each tuple joins levels that differ by at most one",
		RuleSpan:      "the tree spans the root's component",
		RuleTuple:     "each tree edge is a tuple",
	}[r])
}

// Violation is the error for a parent array that breaks a rule. For rule 1, a wrong parent of the root comes first.
type Violation struct {
	Rule     Rule
	Root     graph.Vertex
	Vertices []graph.Vertex // a vertex and its parent, or the ends of a tuple
	Text     string         // description of the breach
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the parents from root %d break %v: %s", v.Root, v.Rule, v.Text)
}

func broken(rule Rule, root graph.Vertex, vertices []graph.Vertex, format string, args ...any) *Violation {
	return &Violation{rule, root, vertices, fmt.Sprintf(format, args...)}
}

// brokenRoot is the violation of a root with parent p, in a graph of the given number of vertices.
func brokenRoot(root, p graph.Vertex, vertices int64) *Violation {
	return broken(RuleTree, root, []graph.Vertex{root}, "the root %d must be its own parent, but %s", root,
		describe(p, vertices))
}

// brokenEntry is the violation of vertex u, whose parent p is not a vertex.
func brokenEntry(root, u, p graph.Vertex, vertices int64) *Violation {
	return broken(RuleTree, root, []graph.Vertex{u}, "vertex %d has no usable parent: %s", u, describe(p, vertices))
}

func describe(p graph.Vertex, vertices int64) string {
	switch {
	case p == graph.Unreached:
		return "it is marked unreached"
	case p == graph.Unwritten:
		return "its entry was never written"
	case p >= 0 && int64(p) < vertices:
		return fmt.Sprintf("its parent is %d", p)
	}
	return fmt.Sprintf("its parent is %d, which is not one of the vertices 0 to %d", p, vertices-1)
}

// brokenCycle is the violation of vertex u with parent p, from which the parents lead to a cycle.
func brokenCycle(root, u, p graph.Vertex) *Violation {
	if u == p {
		return broken(RuleTree, root, []graph.Vertex{u}, "vertex %d is its own parent, but the root is %d", u, root)
	}
	return broken(RuleTree, root, []graph.Vertex{u, p}, "the parents of vertex %d, from %d on, lead to a cycle", u, p)
}

// brokenTreeLevel is the violation of vertex u with parent p, which is unreached.
func brokenTreeLevel(root, u, p graph.Vertex) *Violation {
	return broken(RuleTreeLevel, root, []graph.Vertex{u, p},
		"vertex %d has parent %d, which is unreached, so neither has a level", u, p)
}

// brokenTuple is the violation of rule 3 or 4 by tuple i, which joins a and z. The level of an unreached vertex is
// negative.
func brokenTuple(root graph.Vertex, rule Rule, i int64, a, z graph.Vertex, levelA, levelZ int32) *Violation {
	if rule == RuleLevel {
		return broken(rule, root, []graph.Vertex{a, z},
			"tuple %d (%d,%d) joins vertex %d on level %d to vertex %d on level %d", i, a, z, a, levelA, z, levelZ)
	}
	in, out, level := a, z, levelA
	if levelA < 0 {
		in, out, level = z, a, levelZ
	}
	return broken(rule, root, []graph.Vertex{in, out},
		"tuple %d (%d,%d) joins vertex %d on level %d to vertex %d, which is unreached", i, a, z, in, level, out)
}

// brokenEdge is the violation of rule 5 by a vertex on the given level, whose edge to its parent p is not a tuple.
func brokenEdge(root, child, p graph.Vertex, level int32) *Violation {
	return broken(RuleTuple, root, []graph.Vertex{child, p},
		"vertex %d on level %d has parent %d, but neither (%d,%d) nor (%d,%d) is a tuple",
		child, level, p, child, p, p, child)
}

func errParentsChanged(root graph.Vertex) error {
	return fmt.Errorf("validating a search from root %d: the parents changed while they were read, or the tree "+
		"has 2^31 levels or more; nothing may write to the parents after the search returns", root)
}

// These methods describe a broken rule, on one thread and in order, so that the message does not depend on the division
// of work. If they find nothing wrong, the array has changed after the validation.

func (s *search) explainTree() error {
	if p := s.parent[s.root]; p != s.root {
		return brokenRoot(s.root, p, s.vertices)
	}
	clear(s.levels)
	s.levels[s.root] = walked
	for at, p := range s.parent {
		if u := graph.Vertex(at); p != graph.Unreached && !s.isVertex(p) {
			return brokenEntry(s.root, u, p, s.vertices)
		} else if s.endless(u) {
			return brokenCycle(s.root, u, p)
		}
	}
	for at, p := range s.parent {
		if s.isVertex(p) && s.parent[p] == graph.Unreached {
			return brokenTreeLevel(s.root, graph.Vertex(at), p)
		}
	}
	return errParentsChanged(s.root)
}

// Marks of vertices in the array of levels.
const (
	walking = 1 // by endless
	walked  = 2 // the parents have an end
)

// endless reports whether the parents of a vertex lead to a cycle.
func (s *search) endless(v graph.Vertex) bool {
	u := v
	for ; s.isVertex(u) && s.levels[u] == 0; u = s.parent[u] {
		s.levels[u] = walking
	}
	if s.isVertex(u) && s.levels[u] == walking {
		return true
	}
	for u = v; s.isVertex(u) && s.levels[u] == walking; u = s.parent[u] {
		s.levels[u] = walked
	}
	return false
}

// explainTuple describes a breach of rule 3 or 4, or returns nil.
func (s *search) explainTuple(b *breaches) error {
	rule, i, err := b.first(RuleLevel, RuleSpan)
	if err != nil || rule == 0 {
		return err
	}
	tuple := make([]graph.Edge, 1)
	if s.source != nil {
		_ = s.source.Generate(context.Background(), tuple, i, 1) // its only error is that of the context
	} else {
		tuple[0] = s.edges[i]
	}
	a, z := tuple[0].Ends()
	return brokenTuple(s.root, rule, i, a, z, s.levels[a], s.levels[z])
}

// explainPending describes a breach of rule 5 by the lowest vertex whose tree edge is not a tuple, or returns nil.
func (s *search) explainPending(context.Context) error {
	child := lowestBit(s.pending)
	if child == math.MaxInt64 {
		return nil
	}
	return brokenEdge(s.root, graph.Vertex(child), s.parent[child], s.levels[child])
}

// lowestBit returns the first bit of a bitmap that is set, or math.MaxInt64.
func lowestBit(bitmap []uint64) int64 {
	i := slices.IndexFunc(bitmap, func(word uint64) bool { return word != 0 })
	if i < 0 {
		return math.MaxInt64
	}
	return int64(i*64 + bits.TrailingZeros64(bitmap[i]))
}
