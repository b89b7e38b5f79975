package graph

import (
	"fmt"
	"strings"
)

// What is broken, in words. These run after something was found wrong, on one thread, and search all of the parents
// again in order, so that the same breach is named however the work was split. Where they find nothing wrong any more,
// the array changed in the meantime, and they say that.

// explainTree names the breach of rule 1 or 2: the root's parent, then the lowest vertex that has a parent it may not
// have or that is in a cycle, then the lowest vertex with an unreached parent.
func (v *Validator) explainTree(root Vertex, parent []Vertex) error {
	if p := parent[root]; p != root {
		return violation(RuleTree, root, []Vertex{root}, "the root %d must be its own parent, but %s", root, v.sayParent(p))
	}
	cycle := v.lowestCycle(root, parent)
	for at, p := range parent {
		u := Vertex(at)
		switch {
		case len(cycle) > 0 && cycle[0] == u:
			return explainCycle(root, cycle)
		case p != Unreached && !v.isVertex(p):
			return violation(RuleTree, root, []Vertex{u}, "vertex %d has no usable parent: %s", u, v.sayParent(p))
		case p == u && u != root:
			return violation(RuleTree, root, []Vertex{u}, "vertex %d is its own parent, but the root is %d", u, root)
		}
	}
	for at, p := range parent {
		if v.isVertex(p) && parent[p] == Unreached {
			return violation(RuleTreeLevel, root, []Vertex{Vertex(at), p},
				"vertex %d has parent %d, which is unreached, so neither has a level", at, p)
		}
	}
	return fmt.Errorf("graph: validating a search from root %d: the parents changed while they were read; nothing may write to them after the search returns", root)
}

func (v *Validator) isVertex(p Vertex) bool { return p >= 0 && int64(p) < v.vertices }

// sayParent says what a wrong entry of a parent array is.
func (v *Validator) sayParent(p Vertex) string {
	switch {
	case p == Unreached:
		return "it is marked unreached"
	case p == Unwritten:
		return "its entry was never written"
	case v.isVertex(p):
		return fmt.Sprintf("its parent is %d", p)
	}
	return fmt.Sprintf("its parent is %d, and vertices are 0 to %d", p, v.vertices-1)
}

// lowestCycle returns the cycle with the lowest member, from that member on along the parents, cut at maxNamed+1
// vertices; nil without one. It uses the levels as scratch.
func (v *Validator) lowestCycle(root Vertex, parent []Vertex) (cycle []Vertex) {
	const unknown, walking, done = 0, 1, 2
	state := v.levels
	clear(state)
	state[root] = done
	for at := range parent {
		u := Vertex(at)
		for v.isVertex(u) && state[u] == unknown {
			state[u] = walking
			u = parent[u]
		}
		if v.isVertex(u) && state[u] == walking && u != parent[u] {
			if found := membersOf(u, parent); len(cycle) == 0 || found[0] < cycle[0] {
				cycle = found
			}
		}
		for u = Vertex(at); v.isVertex(u) && state[u] == walking; u = parent[u] {
			state[u] = done
		}
	}
	return cycle
}

// membersOf returns the cycle that u is in, as lowestCycle does.
func membersOf(u Vertex, parent []Vertex) []Vertex {
	low := u
	for w, steps := parent[u], 0; w != u && w >= 0 && int(w) < len(parent) && steps < len(parent); w, steps = parent[w], steps+1 {
		low = min(low, w)
	}
	members := []Vertex{low}
	for w := parent[low]; w != low && w >= 0 && int(w) < len(parent) && len(members) <= maxNamed; w = parent[w] {
		members = append(members, w)
	}
	return members
}

func explainCycle(root Vertex, cycle []Vertex) error {
	var chain strings.Builder
	for _, u := range cycle[:min(maxNamed, len(cycle))] {
		fmt.Fprintf(&chain, "%d -> ", u)
	}
	if len(cycle) > maxNamed {
		return violation(RuleTree, root, cycle[:maxNamed], "the parents run in a cycle of more than %d vertices: %s...", maxNamed, chain.String())
	}
	return violation(RuleTree, root, cycle, "the parents run in a cycle of %d vertices: %s%d", len(cycle), chain.String(), cycle[0])
}

// explainTuple names the breach of rule 3 or 4 by the number of a tuple; none stands for no breach. A tuple in changed
// is one that is not what it was when the validator was made.
func (v *Validator) explainTuple(root Vertex, far, unspanned, changed int64) error {
	switch {
	case changed != none:
		return fmt.Errorf("graph: validating: tuples changed in or after number %d since the validator was made; nothing may write to them", changed)
	case far != none:
		a, b := v.edges[far].Ends()
		return violation(RuleLevel, root, []Vertex{a, b}, "tuple %d (%d,%d) joins vertex %d on level %d to vertex %d on level %d",
			far, a, b, a, v.levels[a], b, v.levels[b])
	case unspanned != none:
		a, b := v.edges[unspanned].Ends()
		in, out := a, b
		if v.levels[a] < 0 {
			in, out = b, a
		}
		return violation(RuleSpan, root, []Vertex{in, out}, "tuple %d (%d,%d) joins vertex %d on level %d to vertex %d, which is unreached",
			unspanned, a, b, in, v.levels[in], out)
	}
	return nil
}

// explainEdge names the breach of rule 5 by the child of an edge that no tuple is.
func (v *Validator) explainEdge(root, child Vertex, parent []Vertex) error {
	p := parent[child]
	return violation(RuleTuple, root, []Vertex{child, p}, "vertex %d on level %d has parent %d, but neither (%d,%d) nor (%d,%d) is a tuple",
		child, v.levels[child], p, child, p, p, child)
}

func violation(rule Rule, root Vertex, vertices []Vertex, format string, args ...any) error {
	return &Violation{rule, root, vertices, fmt.Sprintf(format, args...)}
}
