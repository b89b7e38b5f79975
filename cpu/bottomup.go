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

// Pieces of work, in words of 64 vertices: what a worker takes at a time, and how much of that looks at lists at once.
const (
	bottomUpGrain = 64
	batchWords    = 16
)

// contract finds the next frontier bottom-up and updates p.
func (s *search[P]) contract(p *graph.Progress) {
	s.taken.deal(s.team, len(s.unvisited), bottomUpGrain)
	s.team.run(s.steps.bottomUp)
	s.frontier, s.next = s.next, s.frontier
	p.Frontier, _ = s.collect()
}

func (s *search[P]) bottomUp(worker int) {
	mine := &s.workers[worker]
	var room [bottomUpGrain]uint64
	found, leaves := 0, 0
	for {
		from, to, ok := s.taken.take(worker, bottomUpGrain)
		if !ok {
			break
		}
		now := bitmap(room[:to-from])
		s.findGroups(now, from)
		for i := range now {
			now[i] &= s.unvisited[from+i]
		}
		s.findFirst(now, from)
		for i := 0; i < len(now); i += batchWords {
			s.findOthers(mine, now[i:min(i+batchWords, len(now))], from+i)
		}
		for i, word := range now {
			s.next[from+i] = word
			s.unvisited[from+i] &^= word
			found += bits.OnesCount64(word)
			if (from+i)<<6 < s.g.hubs {
				for ; word != 0; word &= word - 1 {
					leaves += s.g.leavesOf(uint32((from+i)<<6 + bits.TrailingZeros64(word)))
				}
			}
		}
	}
	mine.found, mine.leaves = found, leaves
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

// findFirst adds to now the unvisited vertices without a group, hubs and strays, whose first neighbour is in the
// frontier.
func (s *search[P]) findFirst(now bitmap, from int) {
	g := s.g
	for i, found := range now {
		w := from + i
		left := s.unvisited[w] &^ found
		if hubs := left & all(w, g.hubs); hubs != 0 {
			now[i] |= s.frontier.among(g.first[w<<6:g.hubs], hubs)
		}
		if strays := left &^ all(w, g.strays); strays != 0 {
			// The first stray of the graph may lie inside the word.
			skip := max(g.strays-w<<6, 0)
			now[i] |= s.frontier.among(g.first[g.hubs+w<<6+skip-g.strays:], strays>>skip) << skip
		}
	}
}

// findOthers adds to now, which stands for the vertices of words from, from+1, ..., the other unvisited vertices that
// have a neighbour in the frontier. First neighbours have been looked at; columns come next, then what is left of the
// lists.
func (s *search[P]) findOthers(mine *worker, now bitmap, from int) {
	l, c, h := &s.g.lists, &mine.candidates, &mine.hits
	c.n, h.found, h.spent = 0, 0, 0
	for i, found := range now {
		w := from + i
		left := s.unvisited[w] &^ found
		for k := 0; k < columns && left != 0; k++ {
			column := &l.columns[k]
			hit := s.frontier.among(column.entry[w<<6:], left)
			now[i] |= hit
			left &^= hit
			left &= column.more[w]
			h.add(hit, w<<6, column.entry)
		}
		if left != 0 {
			c.begin(l, left, w<<6, h)
		}
	}
	inColumns := h.found
	switch {
	case c.n+h.spent == 0:
	case l.packed:
		look(l.near, s.frontier, c, h)
		c.beginFar(l, h)
		lookFar(&l.far, s.frontier, c, h)
	default:
		look(l.targets, s.frontier, c, h)
	}
	for _, v := range h.vertex[inColumns:h.found] {
		now[int(v>>6)-from] |= 1 << (v & 63)
	}
	h.translate(s.g.original)
	for i, label := range h.vertex[:h.found] {
		mine.corrections.add(label, h.parent[i])
	}
}

// among returns those bits i of which for which entry i is in the bitmap. It is a function of its own because its loop
// needs all registers.
//
//go:noinline
func (b bitmap) among(entry []uint32, which uint64) (hit uint64) {
	for ; which != 0; which &= which - 1 {
		i := bits.TrailingZeros64(which)
		u := entry[i]
		hit |= b[u>>6] >> (u & 63) & 1 << (i & 63)
	}
	return hit
}
