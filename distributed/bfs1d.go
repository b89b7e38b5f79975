package distributed

import "math/bits"

// Direction-optimising breadth-first search over a graph partitioned in one dimension.
//
// The processors form a single column: rank k owns the vertices of block k and stores the edges to them, row k of the
// matrix. The matrix is symmetric, so the same lists lead from its own vertices to all others. For 3 ranks:
//
//	           from u:  block 0  block 1  block 2
//	                    -------------------------
//	to v:     block 0      0        0        0        expand: the frontier, from every rank to all others
//	          block 1      1        1        1        fold: discovered vertices, from every rank to their owners, which
//	          block 2      2        2        2        may be any rank
//
// Method:
//   - Top-down levels send discovered vertices to their owners, which may be any rank: the first implementation of
//     Bisson, Bernaschi, Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler Architecture", IEEE
//     TPDS 2016, section 2.1. With owner=modulo vertices are assigned to ranks as there.
//   - Bottom-up levels (Beamer, Asanović, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, section IV)
//     send the frontier to all ranks. Each rank searches the lists of its own unvisited vertices.
//   - Owners fetch parents once at the end, as in bfs2d.go.
//
// Data: the graph is undirected, so one set of lists (Part.up, the neighbours of each own vertex) serves both
// directions. Neighbours are Columns, and the blocks of visited, discovered and parent are those of all ranks, so a
// Column is also an index of these.
//
// The invariants are those of bfs2d.go, where the grid row and the grid column are all ranks. An unsent set is not
// needed: the frontier of a bottom-up level, which every rank receives, is all that others need to know.
type search1D struct{ *Rank }

func (s *search1D) share(sums []int64, l *Level) { s.addUp(sums, &l.Phases[Reduce]) }

// topDownStep:
//  1. Scan: discover the unvisited neighbours of the own frontier. There is nothing to expand.
//  2. Fold: send discovered vertices to their owners.
//  3. Update: owners keep those that were not visited as the next frontier.
func (s *search1D) topDownStep(l *Level) {
	s.addOwnSources()
	s.scan()
	s.takeDiscovered()
	s.watch.lap(&l.Phases[Scan])
	s.foldDiscovered(&l.Phases[Fold])
	s.updateFrontier()
}

// addOwnSources adds the lists of the frontier.
func (s *search1D) addOwnSources() {
	labels := s.label[s.self*s.width:]
	add := func(u uint32) {
		if !s.addSource(u, labels[u], s.up.at[u+1]-s.up.at[u]) {
			s.scan()
		}
	}
	for _, u := range s.frontier.list {
		add(u)
	}
	if s.frontier.listed {
		return
	}
	for w, word := range s.frontier.bits {
		for ; word != 0; word &= word - 1 {
			add(uint32(w<<5 + bits.TrailingZeros32(word)))
		}
	}
}

func (s *search1D) scan() { s.scanSources(len(s.sources), sourcesPiece) }

// topDownPiece scans the lists of sources from..to-1. Any of them may lead to any row, so workers discover rows
// atomically.
func (s *search1D) topDownPiece(worker, from, to int) {
	discover := s.discover
	if s.team.Size() > 1 {
		discover = s.discoverShared
	}
	scanTopDown(&s.workers[worker], &s.up, s.sources[from:to], s.visited, discover)
}

// bottomUpStep:
//  1. Expand: send the frontier to all ranks.
//  2. Scan: discover own unvisited vertices with a neighbour in the frontier. There is nothing to fold.
//  3. Update: they are the next frontier.
func (s *search1D) bottomUpStep(l *Level) {
	s.expandFrontier(&l.Phases[Expand])
	s.replaceExpanded()
	for w, word := range s.expanded { // later levels need not send these vertices to their owners
		s.visited[w] |= word
	}
	s.scanBottomUp()
	s.watch.lap(&l.Phases[Scan])
	s.takeOwn()
	s.discovered.reset()
}
