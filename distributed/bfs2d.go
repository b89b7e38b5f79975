// SPDX-License-Identifier: Apache-2.0

package distributed

import "github.com/tepsbench/teps/graph"

// The same search without any of this: serial/bfs.go.
//
// Direction-optimizing breadth-first search over a graph partitioned in two dimensions.
//
// The processor grid, here 2x3, and the two exchanges of a rank, here rank 2, in row 0 and column 1:
//
//	0   2   4        expand: the frontier, from rank 2 to its grid column    2 -> 3
//	1   3   5        fold: discovered vertices, from rank 2 to their owners  2 -> 0, 2 -> 4
//
// Method:
//   - Top-down levels are algorithm 1 (section 2.2) of Bisson, Bernaschi, Mastrostefano, "Parallel Distributed Breadth
//     First Search on the Kepler Architecture", IEEE TPDS 2016: expand, scan, fold, update.
//   - Bottom-up levels and the choice of direction (graph.Switch) follow Beamer, Buluç, Asanović, Patterson,
//     "Distributed Memory Breadth-First Search Revisited", MTAAP 2013. There the visited vertices of a grid row are
//     passed around in C steps; here they are exchanged at once, as in Checconi et al., "Breaking the Speed and
//     Scalability Barriers for Graph Exploration on Distributed-Memory Machines", SC 2012.
//   - A grid of one column is a partition in one dimension by destination (partition=1d-dest): every rank has the
//     lists of its own vertices in both directions and receives all frontiers, and there is nothing to fold.
//   - Only the rank that discovered a vertex knows its parent. Owners fetch parents once at the end (Satish et al.,
//     "Large-Scale Energy-Efficient Graph Traversal", IPDPS 2012).
//
// Data: top-down reads the columns of the rank's part of the matrix (Part.down), bottom-up its rows (Part.up, hubs
// first) and groups (groups.go). Sets are bitmaps; discovered and frontier are lists while they are small (message.go).
//
// Invariants between two levels, on every rank:
//   - visited is exact for the rank's own vertices. For other rows it holds those that this rank has sent, or has
//     received from their owners. So a rank sends a vertex to its owner at most once (Bisson et al., section 5).
//   - frontier holds the own vertices that were first visited in the last level.
//   - The predecessor of a row that this rank discovered is column parent[v] if the row is in corrected. Otherwise it
//     is the one in the template or, if another rank owns the row, the row's first column.
//   - finder, block m, holds the own vertices that rank m of the grid row discovered and this rank did not. The blocks
//     are disjoint, unless fold=prefix (prefix.go).
//   - unsent holds the own vertices visited since the grid row last received this rank's visited vertices.
type search2D struct{ *Rank }

// share also sends the frontier in grids of one column, where all ranks take part in both, and to transposed ranks.
func (s *search2D) share(sums []int64, p *graph.SwitchState, l *Level) {
	switch {
	case s.grid.C == 1:
		s.expandFrontierAndAddUp(sums, p, &l.Phases[Expand])
	case s.transposed:
		s.exchangeWithTransposed(sums, p.Frontier == 0, &l.Phases[Expand])
	default:
		s.reduce(sums, nil, &l.Phases[Reduce])
	}
}

func (s *search2D) expand(l *Level) {
	if s.grid.C > 1 && !s.transposed {
		s.sendToAll(s.inColumn, &s.frontier, nil, &l.Phases[Expand])
	}
}

// topDownStep:
//  1. Expand: send the frontier down the grid column; each rank now has the frontier among its columns.
//  2. Scan: discover the unvisited rows of these columns; in grids of one column, large groups of its hubs first.
//  3. Fold: send discovered rows along the grid row to their owners.
//  4. Update: owners make the unvisited ones the next frontier.
func (s *search2D) topDownStep(l *Level) {
	s.expand(l)
	s.discoverCandidates()
	s.visitGroups()
	s.blocks = s.blocks[:0]
	for i, message := range s.inColumn.received {
		if i == s.i && s.addressed {
			message = nil // discoverCandidates has discovered the neighbors of the own frontier
		}
		list, words := s.form.decode(message, s.width/32)
		s.blocks = append(s.blocks, block{list, words, uint32(i * s.width)})
	}
	s.scanTopDown()
	s.watch.lap(&l.Phases[Scan])
	s.foldAndUpdate(l)
}

// bottomUpStep:
//  1. Expand: as above. Also send newly visited vertices along the grid row, so that no rank looks for their parents,
//     and the hubs in the frontiers of the grid column, which discover their groups on all ranks of the grid row.
//  2. Scan: discover unvisited rows with an entry in a column of the frontier, or a hub there.
//  3. Fold and 4. update: as above.
func (s *search2D) bottomUpStep(l *Level) {
	s.expand(l)
	s.replaceExpanded()
	s.exchangeVisited(&l.Phases[Expand])
	s.scanBottomUp()
	s.watch.lap(&l.Phases[Scan])
	s.foldAndUpdate(l)
}

func (s *search2D) foldAndUpdate(l *Level) {
	if s.union != nil {
		s.foldByPrefix(&l.Phases[Fold]) // then the grid row knows all visited vertices
		return
	}
	s.foldDiscovered(&l.Phases[Fold])
	s.updateFrontier()
	if s.inRow.Size() > 1 {
		s.unsent.includeSet(&s.frontier)
	}
}

// visits are the messages along the grid row before bottom-up steps: own block, and behind it the hubs in the frontiers
// of the grid column. 2D only.
type visits struct {
	unsent     bitmap // the next message
	sentVisits bitmap // the previous message, which other ranks may be reading
}

func (s *search2D) exchangeVisited(m *Measure) {
	if s.inRow.Size() > 1 {
		own, hubs := s.width/32, (len(s.unsent)-s.width/32)/s.grid.R
		for i := range s.grid.R {
			copy(s.unsent[own+i*hubs:], s.words(s.expanded, i)[:hubs])
		}
		for k, other := range s.sendToAll(s.inRow, &set{bits: s.unsent}, nil, m) {
			list, words := s.form.decode(other, len(s.unsent))
			if words == nil {
				words = s.sentVisits
				words.replace(list, nil)
			}
			s.words(s.visited, k).includeSet(&set{bits: words[:own]})
			s.takeHubs(k, words[own:], hubs)
		}
		s.unsent, s.sentVisits = s.sentVisits, s.unsent
		clear(s.unsent)
	}
	s.watch.lap(m)
}
