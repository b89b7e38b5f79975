// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/parents"
)

// Output: the parent array in original labels, written inside the clock.
//
// Writing 8 bytes at a random place for every vertex would cost more than the search. But the parent of most vertices
// is their first neighbor. So kernel 1 prepares the template, an array with every label's first neighbor, and package
// parents copies it and corrects the parents of vertices that were discovered through another neighbor or not at all.
// From the first wide step on workers copy it while they wait for others.
//
// A search that reached few vertices writes only those, after clearing the array. In the given order parents are
// written as they are found, and finish marks the vertices that were not reached.

func (s *search) finish() {
	const words = 256 // of the unvisited vertices that a worker takes at a time
	s.correctOrder()
	s.team.EndIdle()
	if s.g.Order != layout.Given && s.reached < s.templateShare {
		s.output.Erase()
		s.do(len(s.unvisited), words, (*search).writeReached)
		s.output.Correct()
	} else {
		s.do(len(s.unvisited), words, (*search).forget)
		s.output.Write() // nothing in the given order, which has no template
	}
	s.output.End()
}

// writeReached writes the template's parents of the vertices in words from..to-1 that the search has reached.
func (s *search) writeReached(_, from, to int) {
	g := s.g
	for w := from; w < to; w++ {
		for word := wordBelow(w, g.Searched) &^ s.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			label := g.Label[v]
			s.parent[label] = parents.ToVertex(g.Template[label])
			for _, leaf := range g.LeavesOf(v) {
				s.parent[leaf] = graph.Vertex(label)
			}
		}
	}
}

// forget records that the unvisited vertices in words from..to-1, and their leaves, have no parent. In the given order
// it marks them in the caller's array.
func (s *search) forget(worker, from, to int) {
	g, fix := s.g, &s.workers[worker].corrections
	for w := from; w < to; w++ {
		for word := s.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			if g.Order == layout.Given {
				s.parent[v] = graph.Unreached
				continue
			}
			fix.Add(g.Label[v], graph.Unreached)
			for _, label := range g.LeavesOf(v) {
				fix.Add(label, graph.Unreached)
			}
		}
	}
}
