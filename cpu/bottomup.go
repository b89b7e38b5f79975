package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// Bottom-up: every unvisited vertex looks for a parent in the frontier, which is a bitmap. A vertex belongs to one
// worker, 64 vertices at a time, so nothing is shared and nothing is atomic. Nearly every vertex that finds a parent
// finds it at its first neighbour, the largest hub: first neighbours stand in an array of their own, and such a vertex
// has its parent from the template already.

// bottomUpGrain is how many words of 64 vertices a worker takes at a time.
const bottomUpGrain = 64

// contract finds the next frontier bottom-up, as a bitmap, and updates p.
func (s *search[P]) contract(p *graph.Progress) {
	s.taken.reset()
	s.team.run(s.steps.bottomUp)
	s.frontier, s.next = s.next, s.frontier
	p.Frontier, p.FrontierEdges = 0, 0
	for w := range s.workers {
		p.Frontier += int64(s.workers[w].found)
		s.workers[w].found = 0
	}
}

func (s *search[P]) bottomUp(worker int) {
	found := 0
	for {
		from, to, ok := s.taken.take(len(s.unvisited), bottomUpGrain)
		if !ok {
			break
		}
		for w := from; w < to; w++ {
			word := s.unvisited[w]
			if word != 0 {
				word = s.bottomUpWord(w, word)
				s.unvisited[w] &^= word
				found += bits.OnesCount64(word)
			}
			s.next[w] = word
		}
	}
	s.workers[worker].found = found
}

// bottomUpWord returns those of the 64 vertices of word w that have a neighbour in the frontier.
func (s *search[P]) bottomUpWord(w int, unvisited uint64) (found uint64) {
	g, frontier := s.g, s.frontier
	first := g.first[w<<6 : min(w<<6+64, len(g.first))]
	for word := unvisited; word != 0; word &= word - 1 {
		bit := bits.TrailingZeros64(word)
		f := first[bit]
		found |= frontier[f>>6] >> (f & 63) & 1 << bit
	}
	for word := unvisited &^ found; word != 0; word &= word - 1 {
		v := uint32(w<<6 + bits.TrailingZeros64(word))
		for _, u := range g.lists.list(v)[1:] {
			if frontier.has(u) {
				found |= word & -word
				s.parent[g.original[v]] = P(g.original[u])
				break
			}
		}
	}
	return found
}
