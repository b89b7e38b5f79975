package validate

import (
	"fmt"

	"github.com/tepsbench/teps/graph"
)

// These functions describe what is broken. They run on one thread after a pass has failed, and search all parents again
// in order, so that the message does not depend on how the work was divided. If they find nothing wrong, the array has
// changed in the meantime, and the error says so.

// explainTree describes a breach of rule 1 or 2: a wrong parent of the root, then the lowest vertex that has an
// unusable parent or is in a cycle, then the lowest vertex with an unreached parent.
func (v *Validator) explainTree(root graph.Vertex, parent []graph.Vertex) error {
	if p := parent[root]; p != root {
		return violation(RuleTree, root, []graph.Vertex{root},
			"the root %d must be its own parent, but %s", root, v.describe(p))
	}
	cycle := v.lowestInCycle(root, parent)
	for at, p := range parent {
		if u := graph.Vertex(at); u == cycle {
			return v.explainCycle(root, u, parent)
		} else if p != graph.Unreached && !v.isVertex(p) {
			return violation(RuleTree, root, []graph.Vertex{u}, "vertex %d has no usable parent: %s", u, v.describe(p))
		}
	}
	for at, p := range parent {
		if v.isVertex(p) && parent[p] == graph.Unreached {
			return violation(RuleTreeLevel, root, []graph.Vertex{graph.Vertex(at), p},
				"vertex %d has parent %d, which is unreached, so neither has a level", at, p)
		}
	}
	return fmt.Errorf("graph: validating a search from root %d: the parents changed while they were read, or the tree "+
		"has 2^31 levels or more; nothing may write to the parents after the search returns", root)
}

func (v *Validator) isVertex(p graph.Vertex) bool { return p >= 0 && int64(p) < v.vertices }

// describe describes a wrong entry of a parent array.
func (v *Validator) describe(p graph.Vertex) string {
	switch {
	case p == graph.Unreached:
		return "it is marked unreached"
	case p == graph.Unwritten:
		return "its entry was never written"
	case v.isVertex(p):
		return fmt.Sprintf("its parent is %d", p)
	}
	return fmt.Sprintf("its parent is %d, which is not one of the vertices 0 to %d", p, v.vertices-1)
}

// lowestInCycle returns the lowest vertex that is in a cycle, or -1. It ignores the root, and overwrites the levels.
func (v *Validator) lowestInCycle(root graph.Vertex, parent []graph.Vertex) graph.Vertex {
	const unknown, walking, done = 0, 1, 2
	state := v.levels
	clear(state)
	state[root] = done
	low := graph.Vertex(-1)
	for at := range parent {
		u := graph.Vertex(at)
		for ; v.isVertex(u) && state[u] == unknown; u = parent[u] {
			state[u] = walking
		}
		for ; v.isVertex(u) && state[u] == walking; u = parent[u] { // around the cycle
			state[u] = done
			if low < 0 || u < low {
				low = u
			}
		}
		for u = graph.Vertex(at); v.isVertex(u) && state[u] == walking; u = parent[u] {
			state[u] = done
		}
	}
	return low
}

// explainCycle describes the cycle that low is in.
func (v *Validator) explainCycle(root, low graph.Vertex, parent []graph.Vertex) error {
	n := int64(1)
	for u := parent[low]; u != low && v.isVertex(u) && n < v.vertices; u = parent[u] {
		n++
	}
	if n == 1 {
		return violation(RuleTree, root, []graph.Vertex{low}, "vertex %d is its own parent, but the root is %d", low, root)
	}
	return violation(RuleTree, root, []graph.Vertex{low, parent[low]},
		"the parents form a cycle of %d vertices: one is %d, with parent %d", n, low, parent[low])
}

// explainTuple describes a breach of rule 3 or 4, or returns nil if there is none.
func (v *Validator) explainTuple(root graph.Vertex, broken *breaches) error {
	if i := broken.changed.get(); i >= 0 {
		return fmt.Errorf("graph: validating: tuple %d or a later one changed since the validator was made; "+
			"nothing may write to the tuples", i)
	}
	if i := broken.far.get(); i >= 0 {
		a, b := v.tuple(i).Ends()
		return violation(RuleLevel, root, []graph.Vertex{a, b},
			"tuple %d (%d,%d) joins vertex %d on level %d to vertex %d on level %d",
			i, a, b, a, v.levels[a], b, v.levels[b])
	}
	if i := broken.unspanned.get(); i >= 0 {
		a, b := v.tuple(i).Ends()
		in, out := a, b
		if v.levels[a] < 0 {
			in, out = b, a
		}
		return violation(RuleSpan, root, []graph.Vertex{in, out},
			"tuple %d (%d,%d) joins vertex %d on level %d to vertex %d, which is unreached",
			i, a, b, in, v.levels[in], out)
	}
	return nil
}

// explainEdge describes a breach of rule 5 by the child of a tree edge that is not a tuple.
func (v *Validator) explainEdge(root, child graph.Vertex, parent []graph.Vertex) error {
	p := parent[child]
	return violation(RuleTuple, root, []graph.Vertex{child, p},
		"vertex %d on level %d has parent %d, but neither (%d,%d) nor (%d,%d) is a tuple",
		child, v.levels[child], p, child, p, p, child)
}

func violation(rule Rule, root graph.Vertex, vertices []graph.Vertex, format string, args ...any) error {
	return &Violation{rule, root, vertices, fmt.Sprintf(format, args...)}
}
