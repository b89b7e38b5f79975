package cpu

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// Bottom-up: every unvisited vertex looks for a parent in the frontier, which is a bitmap. A vertex belongs to one
// worker, 64 vertices at a time, so nothing is shared and nothing is atomic.
//
// Nearly every vertex that finds a parent finds it at its first neighbour. Grouped vertices with the same first
// neighbour have consecutive numbers, so that question is asked once for each hub in the frontier and answered for its
// whole group, in words of 64 vertices. Only what is left then looks at its list, from the second neighbour on.

// bottomUpGrain is how many words of 64 vertices a worker takes at a time.
const bottomUpGrain = 64

// contract finds the next frontier bottom-up and updates p.
func (s *search[P]) contract(p *graph.Progress) {
	s.taken.reset()
	s.team.run(s.steps.bottomUp)
	s.frontier, s.next = s.next, s.frontier
	p.Frontier, _ = s.collect()
}

func (s *search[P]) bottomUp(worker int) {
	var groups [bottomUpGrain]uint64
	found, leaves := 0, 0
	for {
		from, to, ok := s.taken.take(len(s.unvisited), bottomUpGrain)
		if !ok {
			break
		}
		s.findGroups(groups[:to-from], from)
		for w := from; w < to; w++ {
			unvisited := s.unvisited[w]
			now := groups[w-from] & unvisited
			if left := unvisited &^ now; left != 0 {
				now |= s.findOthers(&s.workers[worker].corrections, w, left)
			}
			s.next[w] = now
			s.unvisited[w] = unvisited &^ now
			found += bits.OnesCount64(now)
			if w<<6 < s.g.hubs {
				for ; now != 0; now &= now - 1 {
					leaves += s.g.leavesOf(uint32(w<<6 + bits.TrailingZeros64(now)))
				}
			}
		}
	}
	s.workers[worker].found, s.workers[worker].leaves = found, leaves
}

// findGroups sets in into, which stands for the vertices of words from, from+1, ..., those whose first neighbour is a
// hub of the frontier.
func (s *search[P]) findGroups(into bitmap, from int) {
	clear(into)
	g := s.g
	low, high := max(from<<6, g.hubs), min((from+len(into))<<6, g.strays)
	if low >= high {
		return
	}
	// The first group that ends beyond low.
	hub, _ := slices.BinarySearch(g.groups, uint32(low+1))
	hub--
	base := from << 6
	word := s.frontier[hub>>6] &^ (1<<(hub&63) - 1)
	for w := hub >> 6; ; {
		for ; word != 0; word &= word - 1 {
			h := w<<6 + bits.TrailingZeros64(word)
			if h >= g.hubs {
				return
			}
			begin, end := int(g.groups[h]), int(g.groups[h+1])
			if begin >= high {
				return
			}
			into.add(max(begin, low)-base, min(end, high)-base)
		}
		if w++; w<<6 >= g.hubs || int(g.groups[w<<6]) >= high {
			return
		}
		word = s.frontier[w]
	}
}

// findOthers returns those of the vertices `left` of word w that have a neighbour in the frontier, and notes which.
func (s *search[P]) findOthers(fix *corrections, w int, left uint64) (found uint64) {
	g, frontier := s.g, s.frontier
	skip := 0
	if w<<6 >= g.hubs && w<<6+64 <= g.strays {
		skip = 1 // all are grouped: the first neighbour is not in the frontier
	}
	for ; left != 0; left &= left - 1 {
		v := uint32(w<<6 + bits.TrailingZeros64(left))
		list := g.lists.list(v)
		for i := skip; i < len(list); i++ {
			u := list[i]
			if int(u) < g.searched && frontier.has(u) {
				found |= left & -left
				if i > 0 {
					fix.add(g.original[v], g.original[u])
				}
				break
			}
		}
	}
	return found
}
