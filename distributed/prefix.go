// SPDX-License-Identifier: Apache-2.0

package distributed

// The other fold (fold=prefix) is that of Checconi et al., "Breaking the Speed and Scalability Barriers for Graph
// Exploration on Distributed-Memory Machines", SC 2012, which the thesis on the cluster ROMEO uses (algorithm 2):
//
//   - The prefix of rank j of a grid row is what the ranks before it have discovered. Rows that rank j has discovered
//     and that are not in the prefix are assigned to it.
//   - The last rank sends the union of all back along the row. So visited is exact for all rows of a rank, and the own
//     vertices that are newly visited are the frontier.
//   - At the end each rank sends the parents of the vertices assigned to it to their owners, without being asked.
//
// There the prefix goes from rank to rank. Here it takes log2 C steps (Hillis and Steele, "Data Parallel Algorithms",
// CACM 1986): in the step of distance d a rank sends what it and the d-1 ranks before it have discovered to the rank
// that comes d places later.
//
// There the grid is square, and the columns of grid column j are the vertices owned by grid row j. So a rank has all of
// the transposed rank's next frontier, and sends it in one message. Here the same is done in square grids, with the
// counts; in other grids, and with kernel 3, the frontier is expanded as with the other fold.

// prefix is the scratch of foldByPrefix.
type prefix struct {
	union  bitmap    // [row blocks] by all ranks inRow in this level; nil unless fold=prefix
	before bitmap    // [row blocks] by the ranks before this one
	passed [2]bitmap // [row blocks] messages of two steps; others may be reading the last one
	across *peers    // all ranks, one of them the transposed one
	packed []uint32  // a message of a block
}

// foldByPrefix is foldDiscovered and updateFrontier. In finder, block m holds the vertices of rank m of the grid row
// that are assigned to this rank.
func (s *Rank) foldByPrefix(m *Measure) {
	self, ranks, d := s.inRow.Rank(), s.inRow.Size(), &s.discovered
	d.toBitmap()
	clear(s.before)
	for distance, step := 1, 0; distance < ranks; distance, step = 2*distance, step^1 {
		room := s.inRow.nextList()
		passed := s.passed[step]
		for w, word := range d.bits {
			passed[w] = s.before[w] | word
		}
		received, sent := s.inRow.Shift(s.messageOf(&set{bits: passed}, room), distance)
		m.sent(sent)
		s.watch.lap(m)
		list, words := s.form.decode(received, len(passed))
		s.before.includeSet(&set{listed: words == nil, list: list, bits: words})
	}
	for w, word := range d.bits {
		s.finder[w] |= word &^ s.before[w]
		s.union[w] = word | s.before[w]
	}
	room := s.inRow.nextList()
	var message []uint32
	if self == ranks-1 {
		message = s.messageOf(&set{bits: s.union}, room)
	}
	received := s.gather(s.inRow, message, nil, nil, m)
	if self < ranks-1 {
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

// exchangeWithTransposed sends the frontier of the grid row to the transposed rank and adds up sums over all ranks. The
// message has the length of each block's part, and then the parts. Only the owner of the root knows the first frontier,
// and sends it to its grid row before.
func (s *search2D) exchangeWithTransposed(sums []int64, root bool, m *Measure) {
	if root {
		for k, message := range s.sendToAll(s.inRow, &set{bits: s.words(s.union, s.self)}, nil, m) {
			if k != s.self {
				s.words(s.union, k).replace(s.form.decode(message, s.width/32))
			}
		}
	}
	blocks, partner := s.grid.C, s.grid.Rank(s.j, s.i)
	_, send := s.across.nextOutbox()
	room := &s.across.outboxes[s.across.exchanges&1].list
	message := append((*room)[:0], make([]uint32, blocks)...)
	for k := range blocks {
		part := s.messageOf(&set{bits: s.words(s.union, k)}, &s.packed)
		message[k] = uint32(len(part))
		message = append(message, part...)
	}
	if *room = message; len(message) > blocks {
		send[partner] = message
	}
	clear(s.inColumn.received)
	if message := s.exchange(s.across, send, sums, nil, m)[partner]; len(message) > 0 {
		rest := message[blocks:]
		for k, words := range message[:blocks] {
			s.inColumn.received[k], rest = rest[:words], rest[words:]
		}
	}
}

// sendPredecessors sends the parents of the vertices assigned to this rank to their owners, in one message each: the
// vertices, and behind them the labels of their parents. An owner that has discovered such a vertex itself may take
// either parent.
func (s *Rank) sendPredecessors(m *Measure) {
	lists, send := s.inRow.nextOutbox()
	for k := range send {
		if k != s.self {
			s.asked = s.appendMembers(s.asked[:0], s.words(s.finder, k))
			lists[k] = s.appendPredecessors(append(lists[k][:0], s.asked...), s.asked, k)
			send[k] = lists[k]
		}
	}
	for _, message := range s.exchange(s.inRow, send, nil, nil, m) {
		n := len(message) / (1 + labelWords(&s.label))
		s.takePredecessors(message[:n], message[n:])
	}
}
