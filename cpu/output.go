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
// is their first neighbor, which is known from the graph alone: kernel 1 prepares the template, an array with every
// label's first neighbor, as part of the graph. package parents copies it and corrects the parents of vertices that
// were discovered through another neighbor or not at all. The template does not depend on the root, so from the first
// wide step on workers copy it while they wait for others: small levels leave most of them idle.
//
// A search that reached few vertices writes only those, after clearing the array. In the given order parents are
// written as they are found, and finish writes those of the vertices that were not reached.

// forgetWords is the number of words of the unvisited vertices that a worker takes at a time.
const forgetWords = 256

// finish writes the parents.
func (s *search) finish() {
	s.correctOrder()
	s.team.EndIdle()
	if s.g.Order != layout.Given && s.reached < s.templateShare {
		s.output.Erase()
		s.team.Do(len(s.unvisited), forgetWords, (*writeReached)(s))
		s.output.Correct()
	} else {
		s.team.Do(len(s.unvisited), forgetWords, (*forget)(s))
		s.output.Write() // nothing in the given order, which has no template
	}
	s.output.End()
}

// writeReached writes the template's parents of the vertices that a search has reached.
type writeReached search

// Piece writes those of the vertices in words from..to-1.
func (r *writeReached) Piece(_, from, to int) {
	g := r.g
	for w := from; w < to; w++ {
		for word := wordBelow(w, g.Searched) &^ r.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			label := g.Label[v]
			r.parent[label] = parents.ToVertex(g.Template[label])
			for _, leaf := range g.LeavesOf(v) {
				r.parent[leaf] = graph.Vertex(label)
			}
		}
	}
}

// forget records that the vertices that are unvisited at the end have no parent, nor have their leaves. In the given
// order it writes that.
type forget search

// Piece works on the vertices in words from..to-1.
func (f *forget) Piece(worker, from, to int) {
	g, fix := f.g, &f.workers[worker].corrections
	for w := from; w < to; w++ {
		for word := f.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			if g.Order == layout.Given {
				f.parent[v] = graph.Unreached
				continue
			}
			fix.Add(g.Label[v], parents.None)
			for _, label := range g.LeavesOf(v) {
				fix.Add(label, parents.None)
			}
		}
	}
}
