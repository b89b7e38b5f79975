package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// Output: the parent array in original labels, written inside the clock.
//
// Writing 8 bytes at a random place for every vertex would cost more than the search. But most vertices end up with
// their first neighbour as parent, and that is known from the graph alone: kernel 1 prepares the template, an array
// with every label's first neighbour, as part of the graph. A search ends with one pass over the labels, region by
// region: it copies the template, which is sequential, then writes the parents of vertices that were found through
// another neighbour and clears those that were not reached, while the region is still in a cache. So every entry is
// confirmed or replaced by each search, and nothing of one search is used in another.

// finish completes the output of a search that reached so many vertices, leaves not counted.
func (s *search[P]) finish(root graph.Vertex, reached int64) {
	s.taken.deal(s.team, len(s.parent), 1<<s.workers[0].corrections.shift)
	if reached*8 < int64(s.g.searched) {
		s.team.run(s.steps.erase)
		s.writeReached()
	} else {
		s.team.run(s.steps.forget)
		s.team.run(s.steps.output)
	}
	if int64(root) < int64(len(s.parent)) {
		s.parent[root] = P(root)
	}
	s.parent = nil
}

// erase makes regions of the parents unreached until there are none.
func (s *search[P]) erase(worker int) {
	for {
		from, to, ok := s.taken.take(worker, 1<<s.workers[0].corrections.shift)
		if !ok {
			return
		}
		s.fillParents(s.parent[from:to], nil, from)
	}
}

// writeReached writes the parents of what a search in a small component reached, into parents that are erased.
func (s *search[P]) writeReached() {
	g := s.g
	for w, word := range s.unvisited {
		for word = all(w, g.searched) &^ word; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			label := g.original[v]
			s.parent[label] = P(g.template[label])
			if int(v) < g.hubs {
				for leaf := g.leaves[v]; leaf < g.leaves[v+1]; leaf++ {
					s.parent[g.original[leaf]] = P(label)
				}
			}
		}
	}
	for w := range s.workers {
		c := &s.workers[w].corrections
		for region := range c.ends {
			apply(c, region, s.parent)
		}
	}
}

// forget notes that vertices left over have no parent, and neither have leaves of hubs left over.
func (s *search[P]) forget(worker int) {
	g, fix := s.g, &s.workers[worker].corrections
	from, to := s.team.share(worker, len(s.unvisited), 8)
	for w := from; w < to; w++ {
		for word := s.unvisited[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			fix.add(g.original[v], none)
			if int(v) < g.hubs {
				for leaf := g.leaves[v]; leaf < g.leaves[v+1]; leaf++ {
					fix.add(g.original[leaf], none)
				}
			}
		}
	}
}

// output writes regions of the parents until there are none.
func (s *search[P]) output(worker int) {
	shift := s.workers[0].corrections.shift
	for {
		from, to, ok := s.taken.take(worker, 1<<shift)
		if !ok {
			return
		}
		s.fillParents(s.parent[from:to], s.g.template, from)
		if from < s.g.labels {
			for w := range s.workers {
				apply(&s.workers[w].corrections, from>>shift, s.parent)
			}
		}
	}
}

// apply writes the corrections of a region.
func apply[P parents](c *chains, region int, parent []P) {
	for end := c.ends[region]; end != 0; {
		var entries []uint64
		entries, end = c.block(end)
		for _, e := range entries {
			parent[e>>32] = P(uint32(e)+1) - 1 // none + 1 is 0
		}
	}
}

// fillParents writes parent, which stands for the labels from `from` on: what above says, and Unreached where it has
// ended.
func (s *search[P]) fillParents(parent []P, above []uint32, from int) {
	known := 0
	if from < len(above) {
		above = above[from:min(from+len(parent), len(above))]
		known = len(above)
		s.widen(parent[:known], above)
	}
	for i := range parent[known:] {
		parent[known+i] = ^P(0)
	}
}

// widenBelow writes labels, all below 2^31 or none, as parents. The sign of none as a 32-bit number is all that it takes, and one
// instruction reads a label with its sign.
func widenBelow(into []graph.Vertex, labels []uint32) {
	for len(into) >= 8 && len(labels) >= 8 {
		into[0] = graph.Vertex(int32(labels[0]))
		into[1] = graph.Vertex(int32(labels[1]))
		into[2] = graph.Vertex(int32(labels[2]))
		into[3] = graph.Vertex(int32(labels[3]))
		into[4] = graph.Vertex(int32(labels[4]))
		into[5] = graph.Vertex(int32(labels[5]))
		into[6] = graph.Vertex(int32(labels[6]))
		into[7] = graph.Vertex(int32(labels[7]))
		into, labels = into[8:], labels[8:]
	}
	for i, label := range labels {
		into[i] = graph.Vertex(int32(label))
	}
}

// widen writes labels or none as parents.
func widen(into []graph.Vertex, labels []uint32) {
	into = into[:len(labels)]
	for i, label := range labels {
		into[i] = graph.Vertex(label+1) - 1 // none + 1 is 0
	}
}

// narrowly writes labels or none as 32-bit parents.
func narrowly(into, labels []uint32) { copy(into, labels) }
