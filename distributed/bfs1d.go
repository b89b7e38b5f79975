package distributed

// Direction-optimizing breadth-first search over a graph partitioned in one dimension. The same search without any of
// this: serial/bfs.go.
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
//   - Top-down levels send discovered vertices to their owners, which may be any rank: the 1D algorithm of Buluç and
//     Madduri, "Parallel Breadth-First Search on Distributed Memory Systems", SC 2011, and the first implementation of
//     Bisson, Bernaschi, Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler Architecture", IEEE
//     TPDS 2016, section 2.1. With owner=modulo vertices are assigned to ranks as there.
//   - Bottom-up levels (Beamer, Asanović, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, section IV)
//     send the frontier to all ranks. Each rank searches the lists of its own unvisited vertices.
//   - Owners fetch parents once at the end, as in bfs2d.go.
//
// Data: the graph is undirected, so one set of lists (Part.up, the neighbors of each own vertex) serves both
// directions. Neighbors are Columns, and the blocks of visited, discovered and parent are those of all ranks, so a
// Column is also an index of these.
//
// The invariants are those of bfs2d.go, where the grid row and the grid column are all ranks. An unsent set is not
// needed: the frontier of a bottom-up level, which every rank receives, is all that others need to know.
type search1D struct{ *Rank }

func (s *search1D) share(sums []int64, l *Level) { s.addUp(sums, &l.Phases[Reduce]) }

// topDownStep:
//  1. Scan: discover the unvisited neighbors of the own frontier. There is nothing to expand.
//  2. Fold: send discovered vertices to their owners.
//  3. Update: owners make the unvisited ones the next frontier.
func (s *search1D) topDownStep(l *Level) {
	list, words := s.frontier.members()
	s.scanTopDown(1, len(list)+len(words), (*topDown1D)(s.Rank), (*longLists1D)(s.Rank))
	s.watch.lap(&l.Phases[Scan])
	s.foldDiscovered(&l.Phases[Fold])
	s.updateFrontier()
}

// topDown1D scans the lists of the own frontier.
type topDown1D Rank

// Piece scans those of parts from..to-1. Any of them may lead to any row.
func (t *topDown1D) Piece(worker, from, to int) {
	s := (*Rank)(t)
	list, words := s.frontier.members()
	for k := from; k < to; k++ {
		scanPart(s, &s.workers[worker], &s.up, list, words, k, s.label[s.self*s.width:], 0, 1)
	}
}

// longLists1D scans the long lists of the own frontier.
type longLists1D Rank

func (l *longLists1D) Piece(worker, from, to int) {
	scanLong((*Rank)(l), &l.workers[worker], &l.up, from, to)
}

// bottomUpStep:
//  1. Expand: send the frontier to all ranks.
//  2. Scan: discover own unvisited vertices with a neighbor in the frontier. There is nothing to fold.
//  3. Update: they are the next frontier.
func (s *search1D) bottomUpStep(l *Level) {
	s.expandFrontier(&l.Phases[Expand])
	s.replaceExpanded()
	s.team.Do(len(s.expanded), manyWords, (*visitExpanded)(s.Rank))
	s.scanBottomUp()
	s.watch.lap(&l.Phases[Scan])
	s.takeOwn()
}

// visitExpanded makes the frontier visited: later levels need not send these vertices to their owners.
type visitExpanded Rank

// Piece works on words from..to-1.
func (s *visitExpanded) Piece(_, from, to int) {
	for w := from; w < to; w++ {
		s.visited[w] |= s.expanded[w]
	}
}
