package cpu

import (
	"math/bits"
	"slices"
)

// The queue of a top-down step holds the frontier's vertices, and edges holds the number of links before each of them,
// so that workers can share the links out evenly. A frontier that is a bitmap becomes a queue in two passes over chunks
// of words: the first counts what each chunk has, the second knows from that where each chunk's vertices belong.

// chunkWords is the number of words of the frontier in a chunk.
const chunkWords = 128

// chunk is the number of vertices and links in a chunk, and then in all chunks before it.
type chunk struct{ vertices, edges int }

// shortLinks returns the links of a vertex whose list is short, and 0 for the others, which are shared out by segments.
func (s *search) shortLinks(u uint32) int {
	if int(u) < s.g.Segments.Long {
		return 0
	}
	return s.g.Links(u)
}

// countQueue fills edges for a queue that a narrow step has made.
func (s *search) countQueue() {
	total := 0
	s.edges = append(s.edges[:0], 0)
	for _, e := range s.queue {
		total += s.shortLinks(uint32(e))
		s.edges = append(s.edges, total)
	}
}

// queueFrontier makes the queue of the frontier's bitmap, in ascending order, and fills edges.
func (s *search) queueFrontier() {
	s.team.Pieces(len(s.frontier), chunkWords, s.tasks.countChunk)
	var before chunk
	for i, c := range s.chunks {
		s.chunks[i] = before
		before.vertices += c.vertices
		before.edges += c.edges
	}
	s.head, s.done, s.queued = 0, before.vertices, true
	s.end.Store(int64(before.vertices))
	s.queue, s.edges = s.order[:before.vertices], s.edges[:before.vertices+1]
	s.edges[before.vertices] = before.edges
	s.team.Pieces(len(s.frontier), chunkWords, s.tasks.queueChunk)
}

// countChunk counts the vertices and links in words from..to-1 of the frontier.
func (s *search) countChunk(_, from, to int) {
	var sum chunk
	for w := from; w < to; w++ {
		for word := s.frontier[w]; word != 0; word &= word - 1 {
			sum.vertices++
			sum.edges += s.shortLinks(uint32(w<<6 + bits.TrailingZeros64(word)))
		}
	}
	s.chunks[from/chunkWords] = sum
}

// queueChunk writes the vertices in words from..to-1 of the frontier to their places in the queue.
func (s *search) queueChunk(_, from, to int) {
	at := s.chunks[from/chunkWords]
	for w := from; w < to; w++ {
		for word := s.frontier[w]; word != 0; word &= word - 1 {
			v := uint32(w<<6 + bits.TrailingZeros64(word))
			s.queue[at.vertices], s.edges[at.vertices] = uint64(v), at.edges
			at.vertices++
			at.edges += s.shortLinks(v)
		}
	}
}

// Groups (package layout) let a hub discover all vertices that have it as their first neighbor without looking at an
// edge. Their parent needs no correction: the template of the output has it already.

// addGroups makes into, which stands for the vertices of words from, from+1, ..., the set of those whose first
// neighbor is a hub in the frontier.
func (s *search) addGroups(into bitmap, from int) {
	clear(into)
	g := s.g
	low, high := max(from<<6, g.Hubs), min((from+len(into))<<6, g.Ungrouped)
	if low >= high {
		return
	}
	// The first group that ends beyond low.
	hub, _ := slices.BinarySearch(g.Groups, uint32(low+1))
	hub--
	base := from << 6
	word := s.frontier[hub>>6] &^ (1<<(hub&63) - 1)
	for w := hub >> 6; ; {
		for ; word != 0; word &= word - 1 {
			h := w<<6 + bits.TrailingZeros64(word)
			if h >= g.Hubs {
				return
			}
			begin, end := int(g.Groups[h]), int(g.Groups[h+1])
			if begin >= high {
				return
			}
			into.addRange(max(begin, low)-base, min(end, high)-base)
		}
		if w++; w<<6 >= g.Hubs || int(g.Groups[w<<6]) >= high {
			return
		}
		word = s.frontier[w]
	}
}

// visitGroups removes the groups of the frontier's hubs from words from..to-1 of the unvisited vertices.
func (s *search) visitGroups(from, to int) {
	var room [bottomUpWords]uint64
	for ; from < to; from += len(room) {
		now := room[:min(len(room), to-from)]
		s.addGroups(now, from)
		for i, word := range now {
			s.unvisited[from+i] &^= word
		}
	}
}
