// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
)

// Output: the parents of a rank's labels, written inside the clock by package parents.

// fewReached: a search that reaches fewer than 1/fewReached of the vertices does without the template.
const fewReached = 8

// beginOutput lets workers copy the template while they wait for others of their rank or other ranks, until endIdle.
func (s *Rank) beginOutput(parent []graph.Vertex, first, stride int64) {
	s.output.Begin(parent, int(first), int(stride))
	for k := range s.workers {
		s.output.BeginWorker(k)
	}
	s.team.WhileIdle(s.output.Ahead())
	s.whileIdle(s.output.Ahead())
}

func (s *Rank) endIdle() {
	s.team.EndIdle()
	s.whileIdle(nil)
}

func (s *Rank) whileIdle(work team.Idler) {
	for _, g := range []comm.Group{s.world, s.inColumn, s.inRow} {
		g.WhileIdle(work)
	}
}

// writeParents writes the parents of the rank's labels and stops the clock.
func (s *Rank) writeParents(root graph.Vertex) {
	s.endIdle()
	if s.words(s.visited, s.self).count()*fewReached < s.vertices {
		s.output.Erase()
		s.do(s.width/32, wordsPiece, (*Rank).writeReached)
		s.output.Correct()
	} else {
		s.do(s.width/32, wordsPiece, (*Rank).correct)
		s.output.Write()
	}
	if owner, slot := s.Partition.Owner(root); owner == s.world.Rank() {
		s.output.Set(int(slot), root)
	}
	s.output.End()
	s.watch.lap(&s.record.Phases[Output])
	s.record.Elapsed = s.watch.last.Sub(s.watch.started)
}

// correct records the parents of the own vertices in words from..to-1 for which the template is wrong. Those that other
// ranks have found are recorded already.
func (s *Rank) correct(worker, from, to int) {
	fix, visited, corrected := &s.workers[worker].corrections, s.words(s.visited, s.self), s.words(s.corrected, s.self)
	parent := s.parent[s.self*s.width:]
	for w := from; w < to; w++ {
		for word := visited[w] & corrected[w]; word != 0; word &= word - 1 {
			v := w<<5 + bits.TrailingZeros32(word)
			fix.Add(s.slot[v], s.label.At(parent[v]))
		}
		for word := ^visited[w]; word != 0; word &= word - 1 {
			v := w<<5 + bits.TrailingZeros32(word)
			if v >= s.vertices {
				break
			}
			fix.Add(s.slot[v], graph.Unreached)
		}
	}
}

// writeReached writes the parents of the visited own vertices in words from..to-1.
func (s *Rank) writeReached(_, from, to int) {
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for w := from; w < to; w++ {
		for word := visited[w]; word != 0; word &= word - 1 {
			k := bits.TrailingZeros32(word)
			v := w<<5 + k
			label := s.template.At(s.slot[v])
			if corrected[w]>>k&1 != 0 {
				label = s.label.At(s.parent[s.self*s.width+v])
			}
			s.output.Set(int(s.slot[v]), label)
		}
	}
}
