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
// label's first neighbor, as part of the graph. A search ends with one pass over the labels, region by region: it
// copies the template, which is sequential, then writes the parents of vertices that were discovered through another
// neighbor and clears those that were not reached, while the region is still in a cache. So every search confirms or
// replaces every entry, and uses nothing of another search.
//
// The template does not depend on the root, so from the first wide step on workers copy it while they wait for others
// (copyAhead): small levels leave most of them idle. Each copies its own share of the regions from the front, and the
// output goes on where it stopped.
//
// A search that reached few vertices writes only those, after clearing the array. In the given order parents are
// written as they are found, and finish writes those of the vertices that were not reached.

// forgetWords is the number of words of the unvisited vertices that a worker takes at a time.
const forgetWords = 256

// finish writes the parents.
func (s *search) finish() {
	region := s.region()
	s.correctOrder()
	s.team.EndMeanwhile()
	switch {
	case s.g.Order == layout.Given:
		s.team.Pieces(len(s.unvisited), forgetWords, s.tasks.forget)
	case s.reached < s.templateShare:
		s.team.Pieces(len(s.parent), region, s.tasks.erase)
		s.team.Pieces(len(s.unvisited), forgetWords, s.tasks.writeReached)
		for w := range s.workers {
			for first := 0; first < len(s.parent); first += region {
				s.workers[w].corrections.Apply(first, s.parent, 1)
			}
		}
	default:
		s.team.Pieces(len(s.unvisited), forgetWords, s.tasks.forget)
		s.team.Pieces(len(s.parent), region, s.tasks.outputRegion)
	}
}

// erase makes labels from..to-1 unreached.
func (s *search) erase(_, from, to int) {
	for i := range s.parent[from:to] {
		s.parent[from+i] = graph.Unreached
	}
}

// writeReached writes the template's parents of the vertices in words from..to-1 that a search has reached.
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

// forget records that the vertices left in words from..to-1 of the unvisited ones have no parent, nor have their
// leaves. In the given order it writes that.
func (s *search) forget(worker, from, to int) {
	g, fix := s.g, &s.workers[worker].corrections
	for w := from; w < to; w++ {
		for word := s.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			if g.Order == layout.Given {
				s.parent[v] = graph.Unreached
				continue
			}
			fix.Add(g.Label[v], parents.None)
			for _, label := range g.LeavesOf(v) {
				fix.Add(label, parents.None)
			}
		}
	}
}

// region is the number of labels in a region.
func (s *search) region() int { return s.workers[0].corrections.Region() }

// copied is what a worker has copied of the template, labels [from, to), and where its share of the labels ends.
type copied struct{ from, to, end int }

func (c *copied) begin(from, end int) { *c = copied{from, from, end} }

// copyPart is the number of labels that a worker copies between two looks for a turn, in less than a microsecond.
const copyPart = 128

// copyAhead copies a part of the template in the worker's share of the labels.
func (s *search) copyAhead(worker int) (did, more bool) {
	c := &s.workers[worker].copied
	from, to := c.to, min(c.to+copyPart, c.end)
	s.widen(s.parent[from:to], s.g.Template[from:to])
	c.to = to
	return true, to < c.end
}

// outputRegion writes the parents of labels from..to-1, which are a region.
func (s *search) outputRegion(_, from, to int) {
	begin := from // of what has not been copied
	for w := range s.workers {
		if c := &s.workers[w].copied; c.from <= from {
			begin = max(begin, min(c.to, to))
		}
	}
	s.widen(s.parent[begin:to], s.g.Template[begin:to])
	for w := range s.workers {
		s.workers[w].corrections.Apply(from, s.parent, 1)
	}
}
