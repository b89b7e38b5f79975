package cpu

import "math/bits"

// The queue of a top-down level: the frontier's vertices, and before each of them the links of those that are not wide,
// by which workers share these out. A frontier that is a bitmap becomes a queue in two passes over chunks of words: the first weighs every
// chunk, the second knows from that where each chunk's vertices belong.

// listGrain is how many words of the frontier a worker takes at a time.
const listGrain = 128

// listing is what comes before a chunk in the queue, and during weigh what the chunk holds.
type listing struct{ vertices, edges int }

// weighQueue adds up the links of a queue that one worker has made.
func (s *search[P]) weighQueue() {
	total := 0
	s.edges = append(s.edges[:0], 0)
	for _, u := range s.queue {
		total += s.narrowLinks(u)
		s.edges = append(s.edges, total)
	}
}

// narrowLinks returns the links of a vertex that is not wide, and 0 for those that are.
func (s *search[P]) narrowLinks(u uint32) int {
	if int(u) < s.g.segments.wide {
		return 0
	}
	return s.g.links(u)
}

// listFrontier makes the queue of the frontier's bitmap, in ascending order.
func (s *search[P]) listFrontier() {
	s.taken.deal(s.team, len(s.frontier), listGrain)
	s.team.run(s.steps.weigh)
	var before listing
	for i, chunk := range s.chunks {
		s.chunks[i] = before
		before.vertices += chunk.vertices
		before.edges += chunk.edges
	}
	s.queue, s.edges = s.queue[:before.vertices], s.edges[:before.vertices+1]
	s.edges[before.vertices] = before.edges
	s.taken.deal(s.team, len(s.frontier), listGrain)
	s.team.run(s.steps.list)
}

// weigh weighs chunks of the frontier until there are none.
func (s *search[P]) weigh(worker int) {
	for {
		from, to, ok := s.taken.take(worker, listGrain)
		if !ok {
			return
		}
		var sum listing
		for w := from; w < to; w++ {
			for word := s.frontier[w]; word != 0; word &= word - 1 {
				sum.vertices++
				sum.edges += s.narrowLinks(uint32(w<<6 + bits.TrailingZeros64(word)))
			}
		}
		s.chunks[from/listGrain] = sum
	}
}

// list writes chunks of the frontier to their places in the queue until there are none.
func (s *search[P]) list(worker int) {
	for {
		from, to, ok := s.taken.take(worker, listGrain)
		if !ok {
			return
		}
		at := s.chunks[from/listGrain]
		for w := from; w < to; w++ {
			for word := s.frontier[w]; word != 0; word &= word - 1 {
				v := uint32(w<<6 + bits.TrailingZeros64(word))
				s.queue[at.vertices], s.edges[at.vertices] = v, at.edges
				at.vertices++
				at.edges += s.narrowLinks(v)
			}
		}
	}
}
