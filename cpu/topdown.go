package cpu

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// Top-down: every frontier vertex offers itself as parent to its unvisited neighbours. A hub takes the unvisited
// vertices of its group first, as words of 64, without looking at edges; the rest of its list ends where its group
// begins (layout).
//
// Workers share nothing while they expand. Each has a copy of the unvisited vertices and takes what it finds out of it;
// afterwards what any of them found is the next frontier. Two workers may find a vertex at the same level with
// different parents: both parents are right, and one of the two corrections is written last.

// topDownGrain is how many edges a worker takes at a time.
const topDownGrain = 8192

// expand finds the next frontier top-down and updates p. It says whether the frontier is in s.queue or in s.frontier.
func (s *search[P]) expand(p *graph.Progress) (queued bool) {
	total := 0
	s.edges = append(s.edges[:0], 0)
	for _, u := range s.queue {
		total += s.g.lists.degree(u)
		s.edges = append(s.edges, total)
	}
	p.UnexploredEdges -= int64(total)
	if total <= s.serial {
		s.expandAlone(p)
		return true
	}
	s.taken.reset()
	s.team.run(s.steps.topDown)
	s.taken.reset()
	s.team.run(s.steps.merge)
	p.Frontier, p.FrontierEdges = s.collect()
	s.frontier, s.next = s.next, s.frontier
	return false
}

// collect adds up what the workers found and starts them from 0; the leaves go to s.leaves.
func (s *search[P]) collect() (found, edges int64) {
	for w := range s.workers {
		mine := &s.workers[w]
		found += int64(mine.found)
		edges += int64(mine.edges)
		s.leaves += int64(mine.leaves)
		mine.found, mine.edges, mine.leaves = 0, 0, 0
	}
	return found, edges
}

// expandAlone expands s.queue by one worker and leaves the next frontier there.
func (s *search[P]) expandAlone(p *graph.Progress) {
	g, open, fix := s.g, s.unvisited, &s.workers[0].corrections
	frontier := len(s.queue)
	edges := 0
	for i := range frontier {
		u := s.queue[i]
		end := uint32(g.searched)
		if int(u) < g.hubs {
			from, to := g.groups[u], g.groups[u+1]
			for v := from; v < to; v++ {
				if open.has(v) {
					open.remove(v)
					s.queue = append(s.queue, v)
					edges += g.lists.degree(v) // no hub is in a group
				}
			}
			end = from
		}
		label := g.original[u]
		for _, v := range g.lists.list(u) {
			if v >= end {
				break
			}
			if open.has(v) {
				open.remove(v)
				fix.add(g.original[v], label)
				s.queue = append(s.queue, v)
				edges += g.lists.degree(v)
				s.leaves += int64(g.leavesOf(v))
			}
		}
	}
	n := copy(s.queue, s.queue[frontier:])
	s.queue = s.queue[:n]
	p.Frontier, p.FrontierEdges = int64(n), int64(edges)
}

// topDown expands pieces of the frontier until there are none. A piece is a range of edges, so that the list of a large
// hub is work for all.
func (s *search[P]) topDown(worker int) {
	g, mine := s.g, &s.workers[worker]
	copy(mine.open, s.unvisited)
	total := s.edges[len(s.queue)]
	for {
		from, to, ok := s.taken.take(total, topDownGrain)
		if !ok {
			return
		}
		i, found := slices.BinarySearch(s.edges[:len(s.queue)+1], from)
		if !found {
			i--
		}
		for ; i < len(s.queue) && s.edges[i] < to; i++ {
			u := s.queue[i]
			low, high := max(from-s.edges[i], 0), min(to-s.edges[i], s.edges[i+1]-s.edges[i])
			end := uint32(g.searched)
			if int(u) < g.hubs {
				end = g.groups[u]
				if low == 0 {
					mine.open.cut(int(end), int(g.groups[u+1]))
				}
			}
			mine.offer(g.lists.list(u)[low:high], end, g.original, g.original[u])
		}
	}
}

// offer gives the label as parent to the unvisited vertices below end in list, which is ascending.
//
// Whether a neighbour is unvisited is as good as random, so a branch on it would be mispredicted all the time. Instead
// every neighbour is written behind the ones found so far, and stays there if it was unvisited.
func (mine *worker) offer(list []uint32, end uint32, original []uint32, label uint32) {
	if len(list) > 0 && list[len(list)-1] >= end {
		n, _ := slices.BinarySearch(list, end)
		list = list[:n]
	}
	var room [512]uint32
	for len(list) > 0 {
		piece := list[:min(len(list), len(room))]
		list = list[len(piece):]
		for _, v := range room[:mine.open.take(piece, &room)] {
			mine.corrections.add(original[v], label)
		}
	}
}

// take takes the vertices of list, at most 512, out of the bitmap and writes those that were there into found. It
// returns their number.
func (b bitmap) take(list []uint32, found *[512]uint32) int {
	n := 0
	for _, v := range list {
		word := b[v>>6]
		b[v>>6] = word &^ (1 << (v & 63))
		found[n&511] = v
		n += int(word >> (v & 63) & 1)
	}
	return n
}

// merge makes what the workers found the next frontier. It weighs the frontier for the direction of the next level: the
// degrees of hubs are added up, and the others, which are many and have few edges, count with their average.
func (s *search[P]) merge(worker int) {
	found, hubs, edges, leaves := 0, 0, 0, 0
	from, to := s.team.share(worker, len(s.unvisited), 8)
	for w := from; w < to; w++ {
		open := s.unvisited[w]
		for i := range s.workers {
			open &= s.workers[i].open[w]
		}
		now := s.unvisited[w] &^ open
		s.next[w] = now
		found += bits.OnesCount64(now)
		s.unvisited[w] = open
		if w<<6 < s.g.hubs {
			hubs += bits.OnesCount64(now)
			for ; now != 0; now &= now - 1 {
				v := uint32(w<<6 + bits.TrailingZeros64(now))
				edges += s.g.lists.degree(v)
				leaves += s.g.leavesOf(v)
			}
		}
	}
	s.workers[worker].found = found
	s.workers[worker].leaves = leaves
	s.workers[worker].edges = edges + (found-hubs)*s.average
}
