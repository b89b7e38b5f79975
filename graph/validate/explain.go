// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// These methods describe a broken rule, on one thread and in order, so that the message does not depend on the division
// of work. If they find nothing wrong, the array has changed after the validation.

func (s *search) explainTree() error {
	if p := s.parent[s.root]; p != s.root {
		return brokenRoot(s.root, p, s.vertices)
	}
	cycle := s.lowestInCycle()
	for at, p := range s.parent {
		if u := graph.Vertex(at); u == cycle {
			return s.explainCycle(u)
		} else if p != graph.Unreached && !s.isVertex(p) {
			return brokenEntry(s.root, u, p, s.vertices)
		}
	}
	for at, p := range s.parent {
		if s.isVertex(p) && s.parent[p] == graph.Unreached {
			return brokenTreeLevel(s.root, graph.Vertex(at), p)
		}
	}
	return errParentsChanged(s.root)
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
	return brokenCycle(s.root, low, s.parent[low], n)
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
