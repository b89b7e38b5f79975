package cpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// Top-down: every frontier vertex offers itself as parent to its unvisited neighbours. A hub takes the unvisited
// vertices of its group first, as words of 64, without looking at edges; the rest of its list ends where its group
// begins (layout).
//
// Workers share nothing while they expand. Each has a copy of the unvisited vertices, takes what it finds out of it, and
// writes down who offered itself. Afterwards what any of them found is the next frontier, and of several workers that
// found the same vertex the first one has it and notes its parent. Claiming vertices one by one with atomic operations
// would send the lines of one bitmap to and fro between the caches.

// What a worker takes at a time: edges of the frontier, and words of the bitmaps to merge.
const (
	topDownGrain = 8192
	mergeGrain   = 128
)

// expand finds the next frontier top-down and updates p. It says whether the frontier is in s.queue or in s.frontier.
func (s *search[P]) expand(p *graph.Progress) (queued bool) {
	total := s.edges[len(s.queue)]
	p.UnexploredEdges -= int64(total)
	if total <= s.serial && total+s.grouped() <= s.serial {
		s.expandAlone(p)
		return true
	}
	s.active = s.expanders(total)
	s.taken.deal(s.team, total, topDownGrain)
	s.team.run(s.steps.topDown)
	s.taken.deal(s.team, len(s.unvisited), mergeGrain)
	s.team.run(s.steps.merge)
	s.team.run(s.steps.settle)
	p.Frontier, p.FrontierEdges = s.collect()
	s.frontier, s.next = s.next, s.frontier
	return false
}

// expanders says how many workers should expand a frontier of so many edges. Each one more takes its part of the edges,
// and adds a copy of the unvisited vertices that the whole team has to merge. Their sum edges*cost/k + words*k*cost'/team
// is least at the root of edges*team/words*(cost/cost'); merging a word of another worker costs about four edges.
func (s *search[P]) expanders(edges int) int {
	k := math.Sqrt(float64(edges) * float64(s.team.size) / (4 * float64(len(s.unvisited))))
	return max(1, min(int(k+0.5), s.team.size))
}

// grouped returns how many vertices the groups of the queue have.
func (s *search[P]) grouped() int {
	n := 0
	for _, u := range s.queue {
		if int(u) < s.g.hubs {
			n += int(s.g.groups[u+1] - s.g.groups[u])
		}
	}
	return n
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
	g, mine := s.g, &s.workers[0]
	frontier := len(s.queue)
	edges := 0
	for i := range frontier {
		u := s.queue[i]
		if int(u) < g.hubs {
			for v := g.groups[u]; v < g.groups[u+1]; v++ {
				if s.unvisited.has(v) {
					s.unvisited.remove(v)
					s.queue = append(s.queue, v)
				}
			}
		}
		mine.finds = s.offer(mine, mine.finds[:0], u, 0, s.edges[i+1]-s.edges[i]-1, s.unvisited)
		for _, find := range mine.finds {
			v := uint32(find >> 32)
			mine.corrections.add(g.original[v], g.original[u])
			s.queue = append(s.queue, v)
		}
	}
	for _, v := range s.queue[frontier:] {
		if int(v) < g.hubs {
			edges += int(g.linked[v])
			s.leaves += int64(g.leavesOf(v))
		} else {
			edges += s.average
		}
	}
	n := copy(s.queue, s.queue[frontier:])
	s.queue = s.queue[:n]
	p.Frontier, p.FrontierEdges = int64(n), int64(edges)
}

// topDown expands pieces of the frontier until there are none. A piece is a range of edges, so that the list of a large
// hub is work for all.
func (s *search[P]) topDown(worker int) {
	if worker >= s.active {
		return
	}
	g, mine := s.g, &s.workers[worker]
	copy(mine.open, s.unvisited)
	mine.finds = mine.finds[:0]
	for {
		from, to, ok := s.taken.take(worker, topDownGrain)
		if !ok {
			return
		}
		i, found := slices.BinarySearch(s.edges[:len(s.queue)+1], from)
		if !found {
			i--
		}
		for ; i < len(s.queue) && s.edges[i] < to; i++ {
			u := s.queue[i]
			// Step 0 is the group, step 1 the first link.
			low, high := max(from-s.edges[i], 0), min(to-s.edges[i], s.edges[i+1]-s.edges[i])
			if low == 0 && int(u) < g.hubs {
				mine.open.cut(int(g.groups[u]), int(g.groups[u+1]))
			}
			mine.finds = s.offer(mine, mine.finds, u, max(low-1, 0), high-1, mine.open)
		}
	}
}

// offer gives u as parent to those neighbours among the entries [from, to) of its list that are in open, takes them out,
// and appends them to finds as neighbour<<32 | u.
func (s *search[P]) offer(mine *worker, finds []uint64, u uint32, from, to int, open bitmap) []uint64 {
	l, found := &s.g.lists, &mine.members
	for from < to {
		most := uint64(min(to-from, pieceSize))
		var n int
		if l.packed {
			begin, end := l.nearAt.get(u)+uint64(from), l.nearAt.get(u+1)
			if begin < end {
				most = min(most, end-begin)
				n = members(open, l.near[begin:begin+most], found)
			} else {
				n = membersFar(open, &l.far, l.farAt.get(u)+begin-end, most, found)
			}
		} else {
			begin := l.at.get(u) + uint64(from)
			n = members(open, l.targets[begin:begin+most], found)
		}
		from += int(most)
		at := len(finds)
		finds = finds[:at+n]
		take(open, found[:n], u, finds[at:])
	}
	return finds
}

// take takes the vertices found out of the bitmap and writes them to finds with u.
func take(b bitmap, found []uint32, u uint32, finds []uint64) {
	finds = finds[:len(found)]
	for i, v := range found {
		b.remove(v)
		finds[i] = uint64(v)<<32 | uint64(u)
	}
}

// members writes those of the vertices of list, at most pieceSize, that are in the bitmap into found and returns their
// number. Whether a neighbour is unvisited is as good as random, so a branch on it would be mispredicted all the time.
// Instead every neighbour is written behind the ones found so far, and stays there if it is a member. A list has no
// vertex twice, so members can be taken out of the bitmap later, which keeps stores out of the way of loads here.
func members[E uint16 | uint32](b bitmap, list []E, found *[pieceSize]uint32) int {
	n := 0
	for _, u := range list {
		v := uint32(u)
		found[n&(pieceSize-1)] = v
		n += int(b[v>>6] >> (v & 63) & 1)
	}
	return n
}

// membersFar is members over n packed entries from first on.
func membersFar(b bitmap, entries *fields, first, n uint64, found *[pieceSize]uint32) int {
	words, width, mask := entries.words, entries.width, entries.mask
	bit, k := first*width, 0
	for range n {
		w, shift := bit>>6, bit&63
		v := uint32((words[w]>>shift | words[w+1]<<1<<(63-shift)) & mask)
		bit += width
		found[k&(pieceSize-1)] = v
		k += int(b[v>>6] >> (v & 63) & 1)
	}
	return k
}

// merge makes what the workers found the next frontier and leaves in every worker's copy what that worker has. It weighs
// the frontier for the direction of the next level: the degrees of hubs are added up, and the others, which are many and
// have few edges, count with their average.
func (s *search[P]) merge(worker int) {
	found, hubs, edges, leaves := 0, 0, 0, 0
	for {
		from, to, ok := s.taken.take(worker, mergeGrain)
		if !ok {
			break
		}
		for w := from; w < to; w++ {
			open := s.unvisited[w]
			for i := range s.workers[:s.active] {
				mine := s.workers[i].open
				mine[w], open = open&^mine[w], open&mine[w]
			}
			now := s.unvisited[w] &^ open
			s.next[w] = now
			found += bits.OnesCount64(now)
			s.unvisited[w] = open
			if w<<6 < s.g.hubs {
				now &= all(w, s.g.hubs)
				hubs += bits.OnesCount64(now)
				for ; now != 0; now &= now - 1 {
					v := uint32(w<<6 + bits.TrailingZeros64(now))
					edges += int(s.g.linked[v])
					leaves += s.g.leavesOf(v)
				}
			}
		}
	}
	s.workers[worker].found, s.workers[worker].leaves = found, leaves
	s.workers[worker].edges = edges + (found-hubs)*s.average
}

// settle notes the parents of the vertices that the worker has. Labels are looked up for those alone: with many workers
// most of the finds were somebody else's first.
func (s *search[P]) settle(worker int) {
	if worker >= s.active {
		return
	}
	g, mine := s.g, &s.workers[worker]
	var room [pieceSize]uint64
	for finds := mine.finds; len(finds) > 0; {
		piece := finds[:min(len(finds), pieceSize)]
		finds = finds[len(piece):]
		n := kept(piece, mine.open, &room)
		translateFinds(room[:n], g.original)
		for _, correction := range room[:n] {
			mine.corrections.add(uint32(correction>>32), uint32(correction))
		}
	}
}

// translateFinds replaces vertices by their labels. It does nothing else, so that as many look-ups as possible are on
// their way at the same time.
func translateFinds(finds []uint64, original []uint32) {
	for i, find := range finds {
		finds[i] = uint64(original[find>>32])<<32 | uint64(original[uint32(find)])
	}
}

// kept writes those finds, at most pieceSize, whose vertices are in the bitmap into room, and returns their number.
func kept(finds []uint64, b bitmap, room *[pieceSize]uint64) int {
	n := 0
	for _, find := range finds {
		v := uint32(find >> 32)
		room[n&(pieceSize-1)] = find
		n += int(b[v>>6] >> (v & 63) & 1)
	}
	return n
}
