package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
)

// Output: the parent array in original labels, written inside the clock.
//
// Writing 8 bytes at a random place for every vertex would cost more than the search. But the parent of most vertices
// is their first neighbour, which is known from the graph alone: kernel 1 prepares the template, an array with every
// label's first neighbour, as part of the graph. A search ends with one pass over the labels, region by region: it
// copies the template, which is sequential, then writes the parents of vertices that were discovered through another
// neighbour and clears those that were not reached, while the region is still in a cache. So every search confirms or
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
			c := &s.workers[w].corrections
			for region := range c.ends {
				c.apply(region, s.parent)
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
			s.parent[label] = toVertex(g.Template[label])
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
			fix.add(g.Label[v], layout.None)
			for _, label := range g.LeavesOf(v) {
				fix.add(label, layout.None)
			}
		}
	}
}

// region is the number of labels in a region.
func (s *search) region() int { return 1 << s.workers[0].corrections.shift }

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
		c := &s.workers[w].corrections
		c.apply(from>>c.shift, s.parent)
	}
}

// widen31 writes labels, all below 2^31 or None, as parents. Extending the sign of 32-bit numbers turns None into
// Unreached, and one instruction reads a label with its sign.
func widen31(into []graph.Vertex, labels []uint32) {
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

// widen32 writes labels or None as parents.
func widen32(into []graph.Vertex, labels []uint32) {
	into = into[:len(labels)]
	for i, label := range labels {
		into[i] = toVertex(label)
	}
}

// corrections are the parents that one worker found and that differ from the template (output.go), as label<<32 |
// parent. They are collected by region of labels, in chains of blocks that share one array: the first word of a block
// is where the block before it in the chain begins.
type corrections struct {
	entries []uint64
	ends    []int // [regions] where the next correction goes; a multiple of chainBlock: no block yet, or a full one
	blocks  int   // in use
	shift   int   // the region of a label is label>>shift
}

const (
	regionBits = 15      // labels of a region, as a power of two: 256 KiB of parents
	maxRegions = 1 << 12 // larger graphs have larger regions
	chainBlock = 64      // words in a block
)

// newCorrections returns room for a correction of each vertex.
func newCorrections(m *memory.Arena, labels, vertices int) corrections {
	shift := regionBits
	for labels>>shift >= maxRegions {
		shift++
	}
	regions := (labels + 1<<shift - 1) >> shift
	blocks := 1 + regions + vertices/(chainBlock-1)
	return corrections{
		shift:   shift,
		ends:    memory.Allocate[int](m, "regions", regions),
		entries: memory.Allocate[uint64](m, "corrections", blocks*chainBlock),
	}
}

func (c *corrections) reset() {
	clear(c.ends)
	c.blocks = 1 // block 0 ends every chain
}

// add records the parent, a label or layout.None, of the vertex with this label.
func (c *corrections) add(label, parent uint32) {
	region := label >> c.shift
	at := c.ends[region]
	if at&(chainBlock-1) == 0 {
		begin := c.blocks * chainBlock
		c.blocks++
		c.entries[begin] = uint64(max(at-chainBlock, 0)) // the full block before, or block 0
		at = begin + 1
	}
	c.entries[at] = uint64(label)<<32 | uint64(parent)
	c.ends[region] = at + 1
}

// apply writes the corrections of a region to parent.
func (c *corrections) apply(region int, parent []graph.Vertex) {
	for end := c.ends[region]; end != 0; {
		begin := (end - 1) &^ (chainBlock - 1)
		for _, e := range c.entries[begin+1 : end] {
			parent[e>>32] = toVertex(uint32(e))
		}
		if end = int(c.entries[begin]); end != 0 {
			end += chainBlock
		}
	}
}

// toVertex returns a label as a parent, and layout.None as graph.Unreached.
func toVertex(label uint32) graph.Vertex { return graph.Vertex(label+1) - 1 } // None + 1 is 0
