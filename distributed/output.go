package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/parents"
)

// Output: the parents of a rank's labels, written inside the clock.
//
// The parent of most vertices is the first neighbor in their list, which is known from the graph alone. Kernel 1 keeps
// it for every label (Part.template). A search copies this template, which is sequential, and corrects the parents of
// the vertices that were discovered through another neighbor, or not at all, region by region (internal/parents). So
// every search confirms or replaces every entry.

// The template does not depend on the root, so workers copy it while they wait, for others of their rank or for other
// ranks (copyAhead). Each copies the share of the slots that it would begin with, and the output goes on where it has
// stopped.

// output is where a search writes the parents of a rank: that of slot k to parent[first+k*stride].
type output struct {
	parent        []graph.Vertex
	first, stride int64
}

// copied is what a worker has copied of the template ahead of the output, slots [from, to), and where its share ends.
type copied struct{ from, to, end int }

const (
	slotsAhead = 1 << 7 // slots that a worker copies between two looks whether it still has to wait
	fewReached = 8      // fewer than 1/fewReached of the vertices: the template is not worth copying
)

// beginCopying lets workers copy the template while they wait, until endCopying.
func (s *Rank) beginCopying(out output) {
	s.parents = out
	n, _, _ := s.Partition.Slots(s.world.Rank())
	for k := range s.workers {
		from, to := s.team.First(k, n, s.region())
		s.workers[k].copied = copied{from, from, to}
	}
	s.team.Meanwhile(s.tasks.copyAhead)
	s.meanwhile(s.tasks.copyFirst)
}

func (s *Rank) endCopying() {
	s.team.EndMeanwhile()
	s.meanwhile(nil)
}

// meanwhile says what the rank does while it waits for others.
func (s *Rank) meanwhile(task func() (more bool)) {
	for _, g := range []comm.Group{s.world, s.inColumn, s.inRow} {
		g.Meanwhile(task)
	}
}

// copyAhead copies a little of the template in the worker's share of the slots.
func (s *Rank) copyAhead(worker int) (did, more bool) {
	c := &s.workers[worker].copied
	from := c.to
	c.to = min(from+slotsAhead, c.end)
	s.copySlots(from, c.to)
	return true, c.to < c.end
}

// copyFirst is copyAhead of the worker that exchanges messages.
func (s *Rank) copyFirst() (more bool) {
	_, more = s.copyAhead(0)
	return more
}

// region is the number of slots that a worker takes at a time.
func (s *Rank) region() int { return s.workers[0].corrections.Region() }

// writeParents writes the parents of the rank's labels and stops the clock.
func (s *Rank) writeParents(root graph.Vertex) {
	s.endCopying()
	out := s.parents
	n, _, _ := s.Partition.Slots(s.world.Rank())
	if s.words(s.visited, s.self).count()*fewReached < s.vertices {
		s.team.Pieces(n, s.region(), s.tasks.erase)
		s.team.Pieces(s.width/32, wordsPiece, s.tasks.writeReached)
	} else {
		s.team.Pieces(s.width/32, wordsPiece, s.tasks.correct)
		s.team.Pieces(n, s.region(), s.tasks.outputRegion)
	}
	if owner, slot := s.Partition.Owner(Label(root)); owner == s.world.Rank() {
		out.parent[out.first+int64(slot)*out.stride] = root
	}
	s.parents.parent = nil
	s.watch.lap(&s.record.Phases[Output])
	s.record.Elapsed = s.watch.last.Sub(s.started)
}

// outputRegion writes the parents of slots from..to-1, which are a region.
func (s *Rank) outputRegion(_, from, to int) {
	begin := from // of what has not been copied
	for k := range s.workers {
		if c := &s.workers[k].copied; c.from <= from {
			begin = max(begin, min(c.to, to))
		}
	}
	s.copySlots(begin, to)
	o := s.parents
	for k := range s.workers {
		s.workers[k].corrections.Apply(from, o.parent[o.first:], int(o.stride))
	}
}

// copySlots writes the first neighbors of slots from..to-1 as parents.
func (s *Rank) copySlots(from, to int) {
	if from == to {
		return // perhaps because there are more ranks than shares; then first is not a label
	}
	o := s.parents
	if o.stride == 1 {
		s.widen(o.parent[o.first+int64(from):o.first+int64(to)], s.template[from:to])
		return
	}
	for slot, label := range s.template[from:to] {
		o.parent[o.first+int64(from+slot)*o.stride] = parents.ToVertex(label)
	}
}

// erase makes slots from..to-1 unreached.
func (s *Rank) erase(_, from, to int) {
	for slot := from; slot < to; slot++ {
		s.parents.parent[s.parents.first+int64(slot)*s.parents.stride] = graph.Unreached
	}
}

// correct records the parents of the own vertices of words from..to-1 for which the template is wrong.
func (s *Rank) correct(worker, from, to int) {
	fix, visited, corrected := &s.workers[worker].corrections, s.words(s.visited, s.self), s.words(s.corrected, s.self)
	parent := s.parent[s.self*s.width:]
	for w := from; w < to; w++ {
		for word := visited[w] & corrected[w]; word != 0; word &= word - 1 {
			v := w<<5 + bits.TrailingZeros32(word)
			fix.Add(s.slot[v], parent[v]-1)
		}
		for word := ^visited[w]; word != 0; word &= word - 1 {
			v := w<<5 + bits.TrailingZeros32(word)
			if v >= s.vertices {
				break
			}
			fix.Add(s.slot[v], parents.None)
		}
	}
}

// writeReached writes the parents of the visited own vertices of words from..to-1.
func (s *Rank) writeReached(_, from, to int) {
	o, visited, corrected := s.parents, s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for w := from; w < to; w++ {
		for word := visited[w]; word != 0; word &= word - 1 {
			k := bits.TrailingZeros32(word)
			v := w<<5 + k
			label := s.template[s.slot[v]]
			if corrected[w]>>k&1 != 0 {
				label = s.parent[s.self*s.width+v] - 1
			}
			o.parent[o.first+int64(s.slot[v])*o.stride] = graph.Vertex(label)
		}
	}
}
