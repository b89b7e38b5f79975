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

// corrections are the parents that are not the template's, of one worker, as label<<32 | parent. They are collected by
// region in chains of blocks that all lie in one array: the first word of a block is the block before it in the chain.
type corrections struct {
	entries []uint64
	ends    []int // [regions] where the next correction goes; a multiple of blockWords: nowhere yet, or a full block
	blocks  int   // in use
	shift   int   // region of a label is label>>shift
}

const (
	regionBits = 15      // labels of a region, as a power of two: 256 KiB of parents
	maxRegions = 1 << 12 // larger graphs have larger regions
	chainBlock = 64      // words in a block
)

// regions says how many regions a number of labels has and how far to shift a label to find its own.
func regions(labels int) (n, shift int) {
	shift = regionBits
	for labels>>shift >= maxRegions {
		shift++
	}
	return (labels + 1<<shift - 1) >> shift, shift
}

// allocate makes room for a correction of each vertex.
func (c *corrections) allocate(m *memory, labels, vertices int) (err error) {
	n, shift := regions(labels)
	c.shift = shift
	if c.ends, err = allocate[int](m, "regions", n); err != nil {
		return err
	}
	blocks := 1 + n + vertices/(chainBlock-1)
	c.entries, err = allocate[uint64](m, "corrections", blocks*chainBlock)
	return err
}

func (c *corrections) reset() {
	clear(c.ends)
	c.blocks = 1 // block 0 ends every chain
}

// add notes that the vertex with this label has the given parent, a label or none.
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

// finish completes the output of a search that reached so many vertices, leaves not counted.
func (s *search[P]) finish(root graph.Vertex, reached int64) {
	if reached*8 < int64(s.g.searched) {
		s.taken.deal(s.team, len(s.parent), 1<<s.workers[0].corrections.shift)
		s.team.run(s.steps.erase)
		s.writeReached()
	} else {
		s.taken.deal(s.team, len(s.unvisited), forgetGrain)
		s.team.run(s.steps.forget)
		s.taken.deal(s.team, len(s.parent), 1<<s.workers[0].corrections.shift)
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

// forgetGrain is how many words of the unvisited vertices a worker takes at a time.
const forgetGrain = 256

// forget notes that vertices left over have no parent, and neither have leaves of hubs left over, until there are no more.
func (s *search[P]) forget(worker int) {
	g, fix := s.g, &s.workers[worker].corrections
	for {
		from, to, ok := s.taken.take(worker, forgetGrain)
		if !ok {
			return
		}
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
func apply[P parents](c *corrections, region int, parent []P) {
	for end := c.ends[region]; end != 0; {
		begin := (end - 1) &^ (chainBlock - 1)
		for _, e := range c.entries[begin+1 : end] {
			parent[e>>32] = P(uint32(e)+1) - 1 // none + 1 is 0
		}
		if end = int(c.entries[begin]); end != 0 {
			end += chainBlock
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
