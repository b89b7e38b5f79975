package cpu

import "math/bits"

// Output: the parent array in original labels, written inside the clock.
//
// Writing 8 bytes at a random place for every vertex would cost more than the search. But nearly every vertex ends up
// with its first neighbour as parent, and that is known from the graph alone: kernel 1 prepares the template, an array
// with every label's first neighbour, as part of the graph. A search copies it front to back, which is sequential,
// then replaces the parents of vertices found through another neighbour, and finally clears what it did not reach. So
// every entry is confirmed or replaced by each search, and nothing of one search is used in another.

// prepare copies the template to the output and makes every vertex unvisited.
func (s *search[P]) prepare(worker int) {
	from, to := s.team.share(worker, len(s.parent), 8)
	fillParents(s.parent, s.g.template, from, to)
	n := len(s.g.original)
	from, to = s.team.share(worker, bitmapWords(n), 1)
	s.unvisited.fill(n, from, to)
}

// fillParents writes entries [from, to) of parent: labels from narrow, widened, and Unreached where narrow has none or
// has ended.
func fillParents[P parents](parent []P, narrow []uint32, from, to int) {
	end := min(to, len(narrow))
	if from < end {
		to, from := parent[from:end], narrow[from:end]
		for i, label := range from {
			to[i] = P(label+1) - 1 // without a branch: none + 1 is 0
		}
	}
	for i := max(from, end); i < to; i++ {
		parent[i] = ^P(0)
	}
}

// finish clears the parents of vertices that the search did not reach.
func (s *search[P]) finish(worker int) {
	from, to := s.team.share(worker, len(s.unvisited), 1)
	for w := from; w < to; w++ {
		for word := s.unvisited[w]; word != 0; word &= word - 1 {
			v := w<<6 + bits.TrailingZeros64(word)
			s.parent[s.g.original[v]] = ^P(0)
		}
	}
}
