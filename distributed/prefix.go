// SPDX-License-Identifier: Apache-2.0

package distributed

// The other fold (fold=prefix) is that of Checconi et al., "Breaking the Speed and Scalability Barriers for Graph
// Exploration on Distributed-Memory Machines", SC 2012, which the thesis on the cluster ROMEO uses (algorithm 2). Each
// level takes as many exchanges as the grid has columns, one after the other, and a rank has one or two partners in all
// but the last:
//
//   - Rank j of a grid row receives from rank j-1 the rows that the ranks before it have discovered, the prefix. Rows
//     that it has discovered and that are not in the prefix are assigned to it. It sends the union to rank j+1.
//   - The last rank sends the union of all back along the row. So visited is exact for all rows of a rank, and the own
//     vertices that are newly visited are the frontier.
//   - At the end each rank sends the parents of the vertices assigned to it to their owners, without being asked.
//
// There the grid is square, and a rank sends its part of the union to the transposed rank. Here the frontier is
// expanded as with the other fold, in any grid.

// foldByPrefix is foldDiscovered and updateFrontier. In finder, block m holds the vertices of rank m of the grid row
// that are assigned to this rank.
func (s *Rank) foldByPrefix(m *Measure) {
	self, ranks, d := s.inRow.Rank(), s.inRow.Size(), &s.discovered
	d.toBitmap()
	clear(s.union)
	for k := range ranks { // the prefix of rank k arrives; that of the first one is empty
		if k > 0 {
			lists, send := s.inRow.nextOutbox()
			if self == k-1 {
				send[k] = s.messageOf(&set{bits: s.union}, &lists[0])
			}
			if received := s.exchange(s.inRow, send, nil, nil, m); self == k {
				s.union.replace(s.form.decode(received[k-1], len(s.union)))
			}
		}
		if self == k {
			for w, word := range d.bits {
				s.finder[w] |= word &^ s.union[w]
				s.union[w] |= word
			}
		}
	}
	lists, send := s.inRow.nextOutbox()
	if self == ranks-1 {
		message := s.messageOf(&set{bits: s.union}, &lists[0])
		for k := range send {
			send[k] = message
		}
	}
	if received := s.exchange(s.inRow, send, nil, nil, m); self < ranks-1 {
		s.union.replace(s.form.decode(received[ranks-1], len(s.union)))
	}
	s.watch.lap(m)
	s.takeOwn()
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for w, word := range s.words(s.union, s.self) {
		word &^= visited[w]
		s.frontier.bits[w] |= word
		corrected[w] |= word // its parent comes at the end
	}
	s.visited.includeSet(&set{bits: s.union})
}

// sendPredecessors sends the parents of the vertices assigned to this rank to their owners, in one message each: the
// vertices, and behind them the labels + 1 of their parents. An owner that has discovered such a vertex itself may take
// either parent.
func (s *Rank) sendPredecessors(m *Measure) {
	lists, send := s.inRow.nextOutbox()
	for k := range send {
		if k != s.self {
			list := s.appendMembers(lists[k][:0], s.words(s.finder, k))
			n := len(list)
			list = append(list, list...)
			s.findPredecessors(list[n:], k)
			lists[k], send[k] = list, list
		}
	}
	for _, message := range s.exchange(s.inRow, send, nil, nil, m) {
		n := len(message) / 2
		s.takePredecessors(message[:n], message[n:])
	}
}
