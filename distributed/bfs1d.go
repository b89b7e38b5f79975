package distributed

import "math/bits"

// oneD is a level in one dimension: a rank has its own vertices with all their edges, and may have to talk to all others.
// The graph is undirected, so one set of lists serves both directions.
type oneD struct{ *search }

// topDown: the rank scans the lists of its own frontier vertices, whose neighbours may be anybody's; what is fresh goes
// to its owners, all to all; the owners take what is new to them. There is nothing to expand.
func (s *oneD) topDown(l *LevelRecord) {
	labels := s.label[s.self*s.width:]
	for w, word := range s.frontier {
		for ; word != 0; word &= word - 1 {
			u := w<<5 + bits.TrailingZeros32(word)
			neighbours := s.up.of(u)
			l.Edges += int64(len(neighbours))
			scanDown(&s.scratch, neighbours, labels[u], s.seen, s.fresh, s.above)
		}
	}
	s.watch.lap(&l.Phases[Scan])
	s.fold(&l.Phases[Fold])
	s.update()
	s.watch.lap(&l.Phases[Update])
}

// bottomUp: every rank gets the frontier of all, and its own unseen vertices look for a neighbour there. What it finds is
// its own, so there is nothing to fold.
func (s *oneD) bottomUp(l *LevelRecord) {
	s.expand(&l.Phases[Expand])
	for w, word := range s.front { // frontiers of others need not be sent to them again
		s.seen[w] |= word
	}
	own := s.block(s.fresh, s.self)
	l.Edges = s.scanUp(&s.scratch, s.front, s.block(s.seen, s.self), own, s.above[s.self*s.width:])
	s.watch.lap(&l.Phases[Scan])
	copy(s.frontier, own)
	clear(own)
	s.watch.lap(&l.Phases[Update])
}
