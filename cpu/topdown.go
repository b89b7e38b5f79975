package cpu

import (
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
)

// The parts of a top-down step. They look at links only: visitGroups discovers the groups of hubs (frontier.go).
//
// Nearly all edges of a frontier belong to its few vertices with long lists, which are cut into segments. Workers take
// blocks of vertices and look at the segments of all these vertices in a block: the block belongs to one worker then,
// so nothing is atomic and nothing is discovered twice. The remaining links, in the short lists of many vertices, are
// shared out evenly. There a worker checks first whether a neighbor is unvisited, and only then removes it from the
// unvisited vertices, atomically.

const (
	fetchAhead     = 32   // segments that are fetched together
	fetchLinks     = 128  // links of each; the processor prefetches what follows
	maxShortPiece  = 8192 // links of short lists that a worker takes at a time
	minShortPiece  = 128
	piecesPerShare = 4 // pieces of short lists that there should be for each worker
)

// selectLong collects the vertices of the queue that have long lists and returns the number of their links.
func (s *search) selectLong() (links int) {
	s.long = s.long[:0]
	for _, e := range s.queue {
		if u := uint32(e); int(u) < s.g.Segments.Long {
			s.long = append(s.long, u)
			links += int(s.g.HubLinks[u])
		}
	}
	return links
}

// topDownBlock discovers the vertices of block b that are in groups or at the end of a long list's link.
func (s *search) topDownBlock(worker, b, _ int) {
	mine := &s.workers[worker]
	borders := s.g.Segments.Borders[b:]
	from, to := int(borders[0])>>6, (int(borders[1])+63)>>6
	copy(s.next[from:to], s.unvisited[from:to]) // what was unvisited, until the end of the function
	s.visitGroups(from, to)
	mine.discoveries = mine.discoveries[:0]
	for i := 0; i < len(s.long); i += fetchAhead {
		s.topDownSegments(mine, s.long[i:min(i+fetchAhead, len(s.long))], b)
	}
	s.record(mine)
	for w := from; w < to; w++ {
		s.next[w] &^= s.unvisited[w]
		s.count(mine, w, s.next[w])
	}
}

// topDownSegments discovers the unvisited neighbors in block b of the vertices us, at most fetchAhead, which all have
// long lists. It fetches all segments before it looks at the first one: each is somewhere else in memory, and too short
// for the processor to foresee the next.
func (s *search) topDownSegments(mine *worker, us []uint32, b int) {
	for _, u := range us {
		begin, end := s.g.Segments.Of(u, b)
		mine.touched += s.g.Lists.Touch(u, begin, min(end, begin+fetchLinks))
	}
	for _, u := range us {
		for begin, end := s.g.Segments.Of(u, b); begin < end; begin += pieceSize {
			s.discover(mine, u, begin, min(end, begin+pieceSize))
			if len(mine.discoveries) >= pieceSize {
				s.record(mine)
			}
		}
	}
}

// topDownShort looks at links from..to-1 of the short lists of the queue's vertices.
func (s *search) topDownShort(worker, from, to int) {
	mine := &s.workers[worker]
	i, _ := slices.BinarySearch(s.edges[:len(s.queue)+1], from+1)
	for i--; i < len(s.queue) && s.edges[i] < to; i++ {
		begin, end := max(from-s.edges[i], 0), min(to, s.edges[i+1])-s.edges[i]
		for ; begin < end; begin += pieceSize {
			s.discoverShared(mine, uint32(s.queue[i]), begin, min(end, begin+pieceSize))
			if len(mine.discoveries) >= pieceSize {
				s.record(mine)
			}
		}
	}
	s.record(mine)
}

// discover makes u the parent of its unvisited neighbors among the entries [from, to) of its list, at most pieceSize,
// removes them from the unvisited vertices, and adds them to the worker's discoveries.
func (s *search) discover(mine *worker, u uint32, from, to int) {
	unvisited, found, at := s.unvisited, s.unvisitedNeighbors(mine, u, from, to), len(mine.discoveries)
	discoveries := mine.discoveries[at : at+len(found)][:len(found)]
	for i, v := range found {
		unvisited.remove(v)
		discoveries[i] = uint64(v)<<32 | uint64(u)
	}
	mine.discoveries = mine.discoveries[:at+len(found)]
}

// discoverShared is discover while other workers remove vertices too: one of those that discover a vertex gets it. It
// adds what it gets to the next frontier.
func (s *search) discoverShared(mine *worker, u uint32, from, to int) {
	for _, v := range s.unvisitedNeighbors(mine, u, from, to) {
		w, bit := int(v>>6), uint64(1)<<(v&63)
		if atomic.AndUint64(&s.unvisited[w], ^bit)&bit != 0 {
			atomic.OrUint64(&s.next[w], bit)
			s.count(mine, w, bit)
			mine.discoveries = append(mine.discoveries, uint64(v)<<32|uint64(u))
		}
	}
}

// unvisitedNeighbors returns the unvisited neighbors among the entries [from, to) of u's list, until its next call.
func (s *search) unvisitedNeighbors(mine *worker, u uint32, from, to int) []uint32 {
	l, found := &s.g.Lists, &mine.neighbors
	if !l.Packed {
		return found[:members(s.unvisited, l.Plain(u, from, to), found, 0)]
	}
	near, far := l.Split(u, from, to)
	n := members(s.unvisited, near, found, 0)
	return found[:membersFar(s.unvisited, &l.Far, far, uint64(to-from-len(near)), found, n)]
}

// record turns the discoveries into corrections.
func (s *search) record(mine *worker) {
	// Translating does nothing else, so that as many cache misses as possible overlap.
	for i, d := range mine.discoveries {
		mine.discoveries[i] = uint64(s.g.Label[d>>32])<<32 | uint64(s.g.Label[uint32(d)])
	}
	for _, d := range mine.discoveries {
		mine.corrections.Add(uint32(d>>32), uint32(d))
	}
	mine.discoveries = mine.discoveries[:0]
}

// members writes those vertices of list that are in the bitmap to found[n:] and returns how many found holds then, at
// most pieceSize. Whether a neighbor is unvisited cannot be predicted, so a branch on it would be mispredicted all the
// time. Instead every neighbor is written behind the ones found so far, and stays there if it is a member. A list has
// no vertex twice, so members can be removed from the bitmap later, which keeps stores out of the way of loads here.
//
// Other workers may remove vertices from the bitmap meanwhile; on amd64 an atomic read costs no more than another.
func members[E uint16 | uint32](b bitmap, list []E, found *[pieceSize]uint32, n int) int {
	for _, u := range list {
		v := uint32(u)
		found[n&(pieceSize-1)] = v
		n += int(atomic.LoadUint64(&b[v>>6]) >> (v & 63) & 1)
	}
	return n
}

// membersFar is members for count far entries from first on.
func membersFar(b bitmap, entries *layout.Fields, first, count uint64, found *[pieceSize]uint32, n int) int {
	words, width, mask := entries.Words, entries.Width, entries.Mask
	bit := first * width
	for range count {
		w, shift := bit>>6, bit&63
		v := uint32((words[w]>>shift | words[w+1]<<1<<(63-shift)) & mask)
		bit += width
		found[n&(pieceSize-1)] = v
		n += int(atomic.LoadUint64(&b[v>>6]) >> (v & 63) & 1)
	}
	return n
}
