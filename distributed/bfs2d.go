package distributed

import "math/bits"

// twoD is a level in two dimensions (Bisson et al., algorithm 1; bottom-up after Beamer et al. 2013, with the visited
// vertices of a grid row exchanged at once, as Checconi et al., "Breaking the Speed and Scalability Barriers for Graph
// Exploration on Distributed-Memory Machines", SC 2012, exchange theirs, instead of passing them round in C steps).
type twoD struct{ *search }

// topDown:
//  1. expand: the frontier goes down the grid column; now each rank has the frontier among its columns
//  2. scan: the rows in the lists of those columns, as far as they are unseen, are fresh
//  3. fold: fresh rows go along the grid row to their owners
//  4. update: what the owners have not seen is the next frontier
func (s *twoD) topDown(l *LevelRecord) {
	s.expand(&l.Phases[Expand])
	for block := range s.grid.R {
		for w, word := range s.block(s.front, block) {
			for ; word != 0; word &= word - 1 {
				own := Own(w<<5 + bits.TrailingZeros32(word))
				rows := s.down.of(int(s.key(block, own)))
				l.Edges += int64(len(rows))
				scanDown(&s.scratch, rows, s.label[s.columnOf(block, own)], s.seen, s.fresh, s.above)
			}
		}
	}
	s.watch.lap(&l.Phases[Scan])
	s.fold(&l.Phases[Fold])
	s.update()
	s.watch.lap(&l.Phases[Update])
}

// bottomUp:
//  1. expand: as top-down; and what has been found since the last time goes along the grid row, so that nobody looks for
//     a row that somebody has found in an earlier level
//  2. scan: unseen rows with an entry in a column of the frontier are fresh
//  3. fold and 4. update: as top-down
func (s *twoD) bottomUp(l *LevelRecord) {
	s.expand(&l.Phases[Expand])
	s.share(&l.Phases[Expand])
	l.Edges = s.scanUp(&s.scratch, s.front, s.seen, s.fresh, s.above)
	s.watch.lap(&l.Phases[Scan])
	s.fold(&l.Phases[Fold])
	s.update()
	s.watch.lap(&l.Phases[Update])
}

// expand fills front with the frontiers of the grid column.
func (s *search) expand(m *Measure) {
	s.message = s.form.encode(s.message[:0], s.frontier, s.frontier.count(), nil)
	m.sentToAll(s.message, s.reach.Size())
	received := s.receive[:s.reach.Size()]
	s.reach.Allgatherv(s.message, received)
	for k, message := range received {
		replace(s.block(s.front, k), message)
	}
	s.watch.lap(m)
}

// share tells the grid row what this rank's vertices have been found since the last time.
func (s *twoD) share(m *Measure) {
	if s.folds.Size() > 1 {
		s.shared = s.form.encode(s.shared[:0], s.unshared, s.unshared.count(), nil)
		m.sentToAll(s.shared, s.folds.Size())
		received := s.receive[:s.folds.Size()]
		s.folds.Allgatherv(s.shared, received)
		for k, message := range received {
			include(s.block(s.seen, k), message)
		}
	}
	clear(s.unshared)
	s.watch.lap(m)
}
