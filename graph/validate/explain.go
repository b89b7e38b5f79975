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
