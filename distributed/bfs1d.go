// SPDX-License-Identifier: Apache-2.0

package distributed

import "github.com/tepsbench/teps/graph"

// The same search without any of this: serial/bfs.go.
//
// Direction-optimizing breadth-first search over a graph partitioned in one dimension: rank k owns the vertices of
// block k and stores all their edges, row k of the matrix. The matrix is symmetric, so the same lists lead from its own
// vertices to all others (Part.up). For 3 ranks:
//
//	           from u:  block 0  block 1  block 2
//	to v:     block 0      0        0        0        expand: the frontier, from every rank to all others
//	          block 1      1        1        1        fold: discovered vertices, from every rank to their owners
//	          block 2      2        2        2
//
// Method:
//   - Top-down levels send discovered vertices to their owners: the 1D algorithm of Buluç and Madduri, "Parallel
//     Breadth-First Search on Distributed Memory Systems", SC 2011, and the first implementation of Bisson, Bernaschi,
//     Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler Architecture", IEEE TPDS 2016, section
//     2.1. With owner=modulo vertices are assigned to ranks as there.
//   - Bottom-up levels (Beamer, Asanović, Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, section IV)
//     send the frontier to all ranks. Each rank searches the lists of its own unvisited vertices.
//   - Owners fetch parents once at the end, as in bfs2d.go.
//
// The invariants are those of bfs2d.go, where the grid row and the grid column are all ranks; a Column is also a Row.
// There is no unsent set: every rank receives the frontier of a bottom-up level.
type search1D struct{ *Rank }

func (s *search1D) share(sums []int64, _ *graph.SwitchState, l *Level) {
	s.reduce(sums, nil, &l.Phases[Reduce])
}

// topDownStep:
//  1. Scan: discover the unvisited neighbors of the own frontier. There is nothing to expand.
//  2. Fold: send discovered vertices to their owners.
//  3. Update: owners make the unvisited ones the next frontier.
func (s *search1D) topDownStep(l *Level) {
	list, words := s.frontier.members()
	s.blocks = append(s.blocks[:0], block{list, words, uint32(s.self * s.width)})
	s.scanTopDown()
	s.watch.lap(&l.Phases[Scan])
	s.foldDiscovered(&l.Phases[Fold])
	s.updateFrontier()
}

// bottomUpStep:
//  1. Expand: send the frontier to all ranks.
//  2. Scan: discover own unvisited vertices with a neighbor in the frontier. There is nothing to fold.
//  3. Update: they are the next frontier.
func (s *search1D) bottomUpStep(l *Level) {
	s.sendToAll(s.inColumn, &s.frontier, nil, &l.Phases[Expand])
	s.replaceExpanded()
	s.do(len(s.expanded), manyWords, (*Rank).visitExpanded)
	s.scanBottomUp()
	s.watch.lap(&l.Phases[Scan])
	s.takeOwn()
}

// visitExpanded makes words from..to-1 of the frontier visited: these vertices are not sent to their owners again.
func (s *Rank) visitExpanded(_, from, to int) {
	for w := from; w < to; w++ {
		s.visited[w] |= s.expanded[w]
	}
}
