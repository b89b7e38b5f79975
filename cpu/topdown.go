package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Top-down: every frontier vertex offers itself as parent to its unvisited neighbours. Hubs take the unvisited
// vertices of their groups first, as words of 64, without looking at edges; the rest of a hub's list ends where its group
// begins (layout).
//
// Nearly all edges of a frontier belong to its few widest vertices, whose lists are cut into segments. Workers take
// blocks of vertices, and look at the segments of all wide vertices in a block: it belongs to one worker then, so
// nothing is atomic and nothing is found twice. What is left, the short lists of many vertices, is shared out by
// edges; there a worker claims what it finds with an atomic operation, after a look that needs none.

const (
	fetchAhead  = 32   // segments that are fetched together
	fetchLinks  = 128  // links of each: what follows is seen coming
	narrowGrain = 8192 // links of the vertices that are not wide that a worker takes at a time, at most
	narrowShare = 4    // pieces of them that there should be for each worker
	leastNarrow = 128  // links in such a piece
)

// expand finds the next frontier top-down and updates p. It takes the frontier from s.queue or from s.frontier, and says in which
// the next one is.
func (s *search[P]) expand(p *graph.Progress, queued bool) (queues bool) {
	if queued {
		s.weighQueue()
	} else {
		s.listFrontier()
	}
	narrow := s.edges[len(s.queue)]
	total := narrow + s.listWide()
	p.UnexploredEdges -= int64(total) // links alone: entries between hubs and their groups stay in it, and alpha was chosen so
	if total <= s.serial && total+s.grouped() <= s.serial {
		s.expandAlone(p)
		return true
	}
	if queued {
		s.frontier.set(s.queue)
	}
	s.taken.deal(s.team, s.g.segments.blocks(), 1)
	s.team.run(s.steps.topDown)
	if narrow > 0 {
		s.narrow = min(max(narrow/(narrowShare*s.team.size), leastNarrow), narrowGrain)
		s.taken.deal(s.team, narrow, s.narrow)
		s.team.run(s.steps.offerNarrow)
	}
	p.Frontier, p.FrontierEdges = s.collect()
	s.frontier, s.next = s.next, s.frontier
	return false
}

// listWide lists the wide vertices of the queue and returns their links.
func (s *search[P]) listWide() (links int) {
	s.wide = s.wide[:0]
	for _, u := range s.queue {
		if int(u) < s.g.segments.wide {
			s.wide = append(s.wide, u)
			links += int(s.g.linked[u])
		}
	}
	return links
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
		for begin, end := 0, g.links(u); begin < end; begin += pieceSize {
			s.offer(mine, u, begin, min(end, begin+pieceSize))
			for _, find := range mine.finds {
				s.queue = append(s.queue, uint32(find>>32))
			}
			s.settle(mine)
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

// topDown goes through blocks until there are none.
func (s *search[P]) topDown(worker int) {
	mine := &s.workers[worker]
	for {
		b, _, ok := s.taken.take(worker, 1)
		if !ok {
			return
		}
		borders := s.g.segments.borders[b:]
		from, to := int(borders[0])>>6, (int(borders[1])+63)>>6
		// The words of next say first what was unvisited.
		copy(s.next[from:to], s.unvisited[from:to])
		s.cutGroups(from, to)
		mine.finds = mine.finds[:0]
		for i := 0; i < len(s.wide); i += fetchAhead {
			s.offerSegments(mine, s.wide[i:min(i+fetchAhead, len(s.wide))], b)
		}
		s.settle(mine)
		for w := from; w < to; w++ {
			s.next[w] &^= s.unvisited[w]
			s.weighFound(mine, w, s.next[w])
		}
	}
}

// offerSegments offers the vertices us, at most fetchAhead and all wide, to their neighbours in block b. All segments are
// fetched before the first is looked at: each lies somewhere else, and is too short for the processor to see the next one coming.
func (s *search[P]) offerSegments(mine *worker, us []uint32, b int) {
	for _, u := range us {
		begin, end := s.g.segments.of(u, b)
		mine.touched += s.g.lists.touch(u, begin, min(end, begin+fetchLinks))
	}
	for _, u := range us {
		begin, end := s.g.segments.of(u, b)
		for begin < end {
			most := min(end, begin+pieceSize)
			s.offer(mine, u, begin, most)
			if begin = most; len(mine.finds) >= pieceSize {
				s.settle(mine)
			}
		}
	}
}

// cutGroups takes the groups of the frontier's hubs out of words from..to-1 of the unvisited vertices.
func (s *search[P]) cutGroups(from, to int) {
	var room [bottomUpGrain]uint64
	for ; from < to; from += len(room) {
		now := room[:min(len(room), to-from)]
		s.findGroups(now, from)
		for i, word := range now {
			s.unvisited[from+i] &^= word
		}
	}
}

// settle notes the parents of the finds and forgets them.
func (s *search[P]) settle(mine *worker) {
	// Translating does nothing else, so that as many look-ups as possible are on their way at the same time.
	for i, find := range mine.finds {
		mine.finds[i] = uint64(s.g.original[find>>32])<<32 | uint64(s.g.original[uint32(find)])
	}
	for _, correction := range mine.finds {
		mine.corrections.add(uint32(correction>>32), uint32(correction))
	}
	mine.finds = mine.finds[:0]
}

// weighFound counts vertices of word w that have been found, and weighs them for the direction of the next level: the degrees
// of hubs are added up, and the others, which are many and have few edges, count with their average.
func (s *search[P]) weighFound(mine *worker, w int, found uint64) {
	mine.found += bits.OnesCount64(found)
	hubs := found & all(w, s.g.hubs)
	mine.edges += bits.OnesCount64(found&^hubs) * s.average
	for ; hubs != 0; hubs &= hubs - 1 {
		v := uint32(w<<6 + bits.TrailingZeros64(hubs))
		mine.edges += int(s.g.linked[v])
		mine.leaves += s.g.leavesOf(v)
	}
}

// offerNarrow expands pieces of the frontier's vertices that are not wide until there are none. A piece is a range of links.
func (s *search[P]) offerNarrow(worker int) {
	mine := &s.workers[worker]
	for {
		from, to, ok := s.taken.take(worker, s.narrow)
		if !ok {
			break
		}
		i, _ := slices.BinarySearch(s.edges[:len(s.queue)+1], from+1)
		for i--; i < len(s.queue) && s.edges[i] < to; i++ {
			begin, end := max(from-s.edges[i], 0), min(to, s.edges[i+1])-s.edges[i]
			for begin < end {
				most := min(end, begin+pieceSize)
				s.claim(mine, s.queue[i], begin, most)
				if begin = most; len(mine.finds) >= pieceSize {
					s.settle(mine)
				}
			}
		}
	}
	s.settle(mine)
}

// offer gives u as parent to those neighbours among the entries [from, to) of its list, at most pieceSize, that are
// unvisited, takes them out of the unvisited vertices, and notes them as finds.
func (s *search[P]) offer(mine *worker, u uint32, from, to int) {
	l, found := &s.g.lists, &mine.members
	n := 0
	if l.packed {
		near, far := l.split(u, from, to)
		n = members(s.unvisited, near, found, 0)
		n = membersFar(s.unvisited, &l.far, far, uint64(to-from-len(near)), found, n)
	} else {
		n = members(s.unvisited, l.plain(u, from, to), found, 0)
	}
	at := len(mine.finds)
	mine.finds = mine.finds[:at+n]
	take(s.unvisited, found[:n], u, mine.finds[at:])
}

// claim is offer while other workers take vertices out too: of several that find a vertex one has it. What it takes out
// it adds to the next frontier.
func (s *search[P]) claim(mine *worker, u uint32, from, to int) {
	l, found := &s.g.lists, &mine.members
	n := 0
	if l.packed {
		near, far := l.split(u, from, to)
		n = membersShared(s.unvisited, near, found, 0)
		rest := mine.decoded[:to-from-len(near)]
		for i := range rest {
			rest[i] = l.far.get(far + uint64(i))
		}
		n = membersShared(s.unvisited, rest, found, n)
	} else {
		n = membersShared(s.unvisited, l.plain(u, from, to), found, 0)
	}
	for _, v := range found[:n] {
		w, bit := int(v>>6), uint64(1)<<(v&63)
		if atomic.AndUint64(&s.unvisited[w], ^bit)&bit != 0 {
			atomic.OrUint64(&s.next[w], bit)
			s.weighFound(mine, w, bit)
			mine.finds = append(mine.finds, uint64(v)<<32|uint64(u))
		}
	}
}

// take takes the vertices found out of the bitmap and writes them to finds with u.
func take(b bitmap, found []uint32, u uint32, finds []uint64) {
	finds = finds[:len(found)]
	for i, v := range found {
		b.remove(v)
		finds[i] = uint64(v)<<32 | uint64(u)
	}
}

// members writes those of the vertices of list that are in the bitmap into found behind the n there, and returns their
// number; with those there the list has at most pieceSize vertices. Whether a neighbour is unvisited is as good as random, so a branch on it
// would be mispredicted all the time. Instead every neighbour is written behind the ones found so far, and stays there
// if it is a member. A list has no vertex twice, so members can be taken out of the bitmap later, which keeps stores
// out of the way of loads here.
func members[E uint16 | uint32](b bitmap, list []E, found *[pieceSize]uint32, n int) int {
	for _, u := range list {
		v := uint32(u)
		found[n&(pieceSize-1)] = v
		n += int(b[v>>6] >> (v & 63) & 1)
	}
	return n
}

// membersShared is members of a bitmap that other workers change.
func membersShared[E uint16 | uint32](b bitmap, list []E, found *[pieceSize]uint32, n int) int {
	for _, u := range list {
		v := uint32(u)
		found[n&(pieceSize-1)] = v
		n += int(atomic.LoadUint64(&b[v>>6]) >> (v & 63) & 1)
	}
	return n
}

// membersFar is members over so many packed entries from first on.
func membersFar(b bitmap, entries *fields, first, count uint64, found *[pieceSize]uint32, n int) int {
	words, width, mask := entries.words, entries.width, entries.mask
	bit := first * width
	for range count {
		w, shift := bit>>6, bit&63
		v := uint32((words[w]>>shift | words[w+1]<<1<<(63-shift)) & mask)
		bit += width
		found[n&(pieceSize-1)] = v
		n += int(b[v>>6] >> (v & 63) & 1)
	}
	return n
}
