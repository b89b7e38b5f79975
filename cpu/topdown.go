// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/hubs"
)

// The wide top-down step. It looks at links only; a hub discovers its group without them (package hubs).
//
// Nearly all edges of a frontier belong to its few vertices with long lists, which are cut into segments. Workers take
// blocks of vertices, and each looks at all segments in its block: nothing is atomic, and nothing is discovered twice.
// The remaining links, in the short lists of many vertices, are divided evenly; there workers remove the unvisited
// neighbors from the unvisited vertices atomically.

const (
	fetchAhead     = 32   // segments that are fetched together
	fetchLinks     = 128  // links of each; the processor prefetches what follows
	maxShortPiece  = 8192 // links of short lists that a worker takes at a time
	minShortPiece  = 128
	piecesPerShare = 4 // pieces of short lists that there should be for each worker
)

// wide is the scratch of a wide step.
type wide struct {
	begun  bool     // the search has left narrow steps once, and workers copy the template while they wait
	edges  []int    // [len(queue)+1] links of queue[:i], without those of long lists
	long   []uint32 // vertices of the frontier whose lists are long (layout.Segments)
	chunks []chunk  // of the bitmap frontier, to make a queue of it
}

// selectLong collects the vertices of the queue that have long lists and returns the number of their links.
func (s *search) selectLong() (links int) {
	s.wide.long = s.wide.long[:0]
	for _, e := range s.frontier.queue {
		if u := uint32(e); int(u) < s.g.Segments.Long {
			s.wide.long = append(s.wide.long, u)
			links += int(s.g.HubLinks[u])
		}
	}
	return links
}

// longLists discovers the vertices of block b in groups of the frontier's hubs and in its long lists.
func (s *search) longLists(worker, b, _ int) {
	mine, next, long := &s.workers[worker], s.frontier.next, s.wide.long
	borders := s.g.Segments.Borders[b:]
	from, to := int(borders[0])>>6, (int(borders[1])+63)>>6
	copy(next[from:to], s.unvisited[from:to]) // what was unvisited, until the end of the function
	s.visitGroups(from, to)
	mine.discoveries = mine.discoveries[:0]
	for i := 0; i < len(long); i += fetchAhead {
		s.topDownSegments(mine, long[i:min(i+fetchAhead, len(long))], b)
	}
	s.record(mine)
	for w := from; w < to; w++ {
		next[w] &^= s.unvisited[w]
		s.count(mine, w, next[w])
	}
}

// topDownSegments discovers the unvisited neighbors in block b of at most fetchAhead vertices with long lists. It
// fetches all segments first: each is somewhere else in memory, and too short for the processor to foresee the next.
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

// shortLists looks at links from..to-1 of the short lists of the queue's vertices.
func (s *search) shortLists(worker, from, to int) {
	mine, queue, edges := &s.workers[worker], s.frontier.queue, s.wide.edges
	i, _ := slices.BinarySearch(edges[:len(queue)+1], from+1)
	for i--; i < len(queue) && edges[i] < to; i++ {
		begin, end := max(from-edges[i], 0), min(to, edges[i+1])-edges[i]
		for ; begin < end; begin += pieceSize {
			s.discoverShared(mine, uint32(queue[i]), begin, min(end, begin+pieceSize))
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
			atomic.OrUint64(&s.frontier.next[w], bit)
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
	// Translation is a separate loop, so that as many cache misses as possible overlap.
	for i, d := range mine.discoveries {
		mine.discoveries[i] = uint64(s.g.Label[d>>32])<<32 | uint64(s.g.Label[uint32(d)])
	}
	for _, d := range mine.discoveries {
		mine.corrections.Add(uint32(d>>32), graph.Vertex(uint32(d)))
	}
	mine.discoveries = mine.discoveries[:0]
}

// members writes the vertices of list that are in the bitmap to found[n:] and returns how many found holds then, at
// most pieceSize. Whether a neighbor is unvisited cannot be predicted, so there is no branch on it: every neighbor is
// written behind the ones found so far, and stays there if it is a member. A list has no vertex twice, so members can
// be removed from the bitmap later, which keeps stores out of the way of loads here.
//
// Other workers may remove vertices at the same time; on amd64 an atomic read costs no more than another.
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

// visitGroups removes the groups of the frontier's hubs from words from..to-1 of the unvisited vertices.
func (s *search) visitGroups(from, to int) {
	var room [bottomUpWords]uint64
	for ; from < to; from += len(room) {
		now := room[:min(len(room), to-from)]
		clear(now)
		hubs.Add(s.g.Groups, now, from, s.frontier.bits)
		for i, word := range now {
			s.unvisited[from+i] &^= word
		}
	}
}

// A bitmap frontier becomes a queue in two passes over chunks of words: the first counts vertices and links of each
// chunk, the second writes each chunk's vertices to their places.

// chunkWords is the number of words of the frontier in a chunk.
const chunkWords = 128

// chunk is the number of vertices and links in a chunk, and then in all chunks before it.
type chunk struct{ vertices, edges int }

// shortLinks returns the number of links of a vertex whose list is short, and 0 for others.
func (s *search) shortLinks(u uint32) int {
	if int(u) < s.g.Segments.Long {
		return 0
	}
	return s.g.Links(u)
}

func (s *search) countQueue() {
	total := 0
	s.wide.edges = append(s.wide.edges[:0], 0)
	for _, e := range s.frontier.queue {
		total += s.shortLinks(uint32(e))
		s.wide.edges = append(s.wide.edges, total)
	}
}

// queueFrontier makes the queue of the frontier's bitmap, in ascending order, and fills edges.
func (s *search) queueFrontier() {
	f := &s.frontier
	s.do(len(f.bits), chunkWords, (*search).countChunk)
	var before chunk
	for i, c := range s.wide.chunks {
		s.wide.chunks[i] = before
		before.vertices += c.vertices
		before.edges += c.edges
	}
	n := &s.narrow
	n.head, n.done = 0, before.vertices
	n.end.Store(int64(before.vertices))
	f.queued, f.queue, s.wide.edges = true, n.order[:before.vertices], s.wide.edges[:before.vertices+1]
	s.wide.edges[before.vertices] = before.edges
	s.do(len(f.bits), chunkWords, (*search).queueChunk)
}

// countChunk counts the vertices and links in words from..to-1 of the frontier.
func (s *search) countChunk(_, from, to int) {
	var sum chunk
	for w := from; w < to; w++ {
		for word := s.frontier.bits[w]; word != 0; word &= word - 1 {
			sum.vertices++
			sum.edges += s.shortLinks(uint32(w<<6 + bits.TrailingZeros64(word)))
		}
	}
	s.wide.chunks[from/chunkWords] = sum
}

// queueChunk writes the vertices in words from..to-1 of the frontier to their places in the queue.
func (s *search) queueChunk(_, from, to int) {
	at, queue, edges := s.wide.chunks[from/chunkWords], s.frontier.queue, s.wide.edges
	for w := from; w < to; w++ {
		for word := s.frontier.bits[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			queue[at.vertices], edges[at.vertices] = uint64(v), at.edges
			at.vertices++
			at.edges += s.shortLinks(v)
		}
	}
}
