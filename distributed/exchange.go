package distributed

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/distributed/comm"
)

// The exchanges of a search. They are the same for all partitions, which differ in the ranks that take part.

// addUp replaces sums by their sums over all ranks.
func (s *Rank) addUp(sums []int64, m *Measure) {
	s.world.Allreduce(sums)
	s.watch.lap(m)
}

// expandFrontier sends the frontier to the ranks inColumn and receives theirs.
func (s *Rank) expandFrontier(m *Measure) {
	s.sendToAll(s.inColumn, &s.frontier, &s.message, m)
	s.watch.lap(m)
}

// outbox holds the messages of a frontier to all ranks. Two take turns: others read one while the next is written.
type outbox struct {
	all  []uint32   // the whole frontier, if it is sent as a list
	some [][]uint32 // [rank] the vertices with a neighbour that the rank owns
	send [][]uint32 // [rank] all or some[rank]
}

// edgesToRank bounds the edges of a frontier that is sent only to the ranks concerned: for each of its vertices, as
// many for each rank. To look at an edge costs less than a vertex that a rank receives in vain.
const edgesToRank = 4

// expandFrontierAndAddUp is expandFrontier and addUp in one exchange, which is all that a level of a deep graph costs.
// A small frontier with few edges, as roads and grids have them, is sent only to the ranks that own a neighbour of it;
// the unvisited neighbours that this rank owns become candidates.
func (s *Rank) expandFrontierAndAddUp(sums []int64, m *Measure) {
	s.outbox[0], s.outbox[1] = s.outbox[1], s.outbox[0]
	o, own := &s.outbox[0], s.inColumn.Rank()
	s.candidates, s.looked = s.candidates[:0], 0
	few := sums[1] <= int64(edgesToRank*len(s.frontier.list)*len(o.send))
	if s.addressed = few && s.frontier.listed && s.form != "bitmaps"; s.addressed {
		s.addressFrontier(o.some, uint32(own))
		copy(o.send, o.some)
	} else {
		message := s.messageOf(&s.frontier, &o.all)
		for k := range o.send {
			o.send[k] = message
		}
	}
	m.sent(o.send, own)
	s.inColumn.Alltoallv(o.send, s.receive[:len(o.send)], sums)
	s.watch.lap(m)
}

// addressFrontier writes a message for each rank with the vertices of the frontier that have a neighbour among the
// rank's own. The message to this rank itself has the whole frontier.
func (s *Rank) addressFrontier(messages [][]uint32, own uint32) {
	for k := range messages {
		messages[k] = messages[k][:0]
	}
	messages[own] = s.form.encode(messages[own], &s.frontier)
	width, x := uint32(s.width), &s.workers[0]
	first := own * width
	for part := range slices.Chunk(s.frontier.list, touchAhead) {
		for _, v := range part { // fetch some lists at once: each is somewhere else in memory
			x.touched += uint32(s.up.targets[s.up.at[v]])
		}
		for _, v := range part {
			for _, u := range s.up.of(int(v)) {
				if row := uint32(u) - first; row < width {
					s.looked++
					if !s.visited.has(row) {
						s.candidates = append(s.candidates, candidate{Row(row), s.label[first+v]})
					}
					continue
				}
				message := &messages[uint32(u)/width]
				if len(*message) == 0 {
					*message = append(*message, 0) // a list
				} else if (*message)[len(*message)-1] == v && len(*message) > 1 {
					continue // through another neighbour
				}
				*message = append(*message, v)
			}
		}
	}
}

// sendToAll sends a set to all ranks of a group and returns the messages of all. It reuses buffer.
func (s *Rank) sendToAll(ranks comm.Group, own *set, buffer *[]uint32, m *Measure) (received [][]uint32) {
	message := s.messageOf(own, buffer)
	m.sentToAll(message, ranks.Size())
	received = s.receive[:ranks.Size()]
	ranks.Allgatherv(message, received)
	return received
}

// messageOf returns the message of a set, without a copy if the set is one. Otherwise it reuses buffer.
func (s *Rank) messageOf(own *set, buffer *[]uint32) []uint32 {
	if own.listed || len(own.bits) <= manyWords {
		*buffer = s.form.encode(*buffer, own)
		return *buffer
	}
	n := own.counted
	if n == 0 {
		n = s.countMembers(own.bits)
	}
	switch bitmap := s.form.isBitmap(n, own); {
	case n == 0:
		*buffer = (*buffer)[:0]
	case bitmap && own.message != nil:
		return own.message
	case bitmap:
		*buffer = slices.Grow((*buffer)[:0], 1+len(own.bits))[:1+len(own.bits)]
		(*buffer)[0] = 1
		s.unpacked.bits, s.unpacked.list = own.bits, (*buffer)[1:]
		s.team.Pieces(len(own.bits), manyWords, s.tasks.copyPart)
	default:
		*buffer = s.appendMembers(append((*buffer)[:0], 0), own.bits)
	}
	return *buffer
}

// copyPart copies words from..to-1 of unpacked.bits to unpacked.list.
func (s *Rank) copyPart(_, from, to int) { copy(s.unpacked.list[from:to], s.unpacked.bits[from:to]) }

// countMembers counts the members of a bitmap in parts, one for each worker.
func (s *Rank) countMembers(b bitmap) (n int) {
	s.unpacked.bits = b
	s.team.Pieces(s.team.Size(), 1, s.tasks.countPart)
	for k := range s.workers {
		x := &s.workers[k]
		x.members, n = n, n+x.members
	}
	return n
}

// appendMembers appends the members of a bitmap to a list.
func (s *Rank) appendMembers(list []uint32, b bitmap) []uint32 {
	at, n := len(list), s.countMembers(b)
	list = slices.Grow(list, n)[:at+n]
	s.unpacked.list = list[at:]
	s.team.Pieces(s.team.Size(), 1, s.tasks.listPart)
	return list
}

// countPart counts the members in parts from..to-1 of unpacked.bits, one for each worker.
func (s *Rank) countPart(_, from, to int) {
	for k := from; k < to; k++ {
		s.workers[k].members = bitmap(cut(s.unpacked.bits, k, len(s.workers))).count()
	}
}

// listPart writes the members in parts from..to-1 of unpacked.bits to unpacked.list, behind those of earlier parts.
func (s *Rank) listPart(_, from, to int) {
	for k := from; k < to; k++ {
		words, at := cut(s.unpacked.bits, k, len(s.workers)), s.workers[k].members
		first := uint32(len(s.unpacked.bits)*k/len(s.workers)) << 5
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				s.unpacked.list[at] = first + uint32(w<<5+bits.TrailingZeros32(word))
				at++
			}
		}
	}
}

// replaceExpanded makes expanded the frontiers that the ranks inColumn have sent.
func (s *Rank) replaceExpanded() {
	s.eachPart(s.inColumn.Size(), len(s.expanded), manyWords, s.tasks.replacePart)
}

// replacePart replaces parts from..to-1 of expanded's blocks.
func (s *Rank) replacePart(_, from, to int) {
	for k := from; k < to; k++ {
		message, block := s.receive[k/s.cuts], s.words(s.expanded, k/s.cuts)
		_, words := decode(message)
		if k/s.cuts == s.inColumn.Rank() && !s.frontier.listed {
			words = s.frontier.bits // whatever its message is
		}
		if words != nil {
			copy(cut(block, k%s.cuts, s.cuts), cut(words, k%s.cuts, s.cuts))
		} else if k%s.cuts == 0 {
			block.replace(message)
		}
	}
}

// foldDiscovered sends discovered rows to their owners and receives the rank's own vertices that others have
// discovered.
func (s *Rank) foldDiscovered(m *Measure) {
	if s.inRow.Size() == 1 {
		return
	}
	d := &s.discovered
	if d.listed {
		for k := range s.send {
			s.send[k] = s.send[k][:0]
		}
		for _, v := range d.list {
			k := v / uint32(s.width)
			if len(s.send[k]) == 0 {
				s.send[k] = append(s.send[k], 0) // a list
			}
			s.send[k] = append(s.send[k], v-k*uint32(s.width))
		}
	} else {
		for k := range s.send {
			if k != s.self {
				s.messageOf(&set{bits: s.words(d.bits, k)}, &s.send[k])
			}
		}
	}
	m.sent(s.send, s.self)
	s.inRow.Alltoallv(s.send, s.receive[:s.inRow.Size()], nil)
	s.watch.lap(m)
}

// takeOwn makes the own vertices that this rank has discovered the frontier. Others may still read the last one, but
// not the one before.
func (s *Rank) takeOwn() {
	d := &s.discovered
	s.sent, s.frontier = s.frontier, s.sent
	if s.inRow.Size() == 1 {
		*d, s.frontier = s.frontier, *d
		return
	}
	s.reset(&s.frontier)
	if !d.listed {
		s.frontier.listed = false
		copy(s.frontier.bits, s.words(d.bits, s.self))
		return
	}
	first := uint32(s.self * s.width)
	for _, v := range d.list {
		if v-first < uint32(s.width) {
			s.frontier.add(v - first)
		}
	}
}

// updateFrontier makes the next frontier of the own vertices that this rank has discovered, and of those received that
// were not visited. If several ranks have discovered a vertex, it goes to one of them.
func (s *Rank) updateFrontier() {
	s.takeOwn()
	s.reset(&s.discovered)
	if s.inRow.Size() == 1 {
		return
	}
	next := &s.frontier
	for k, message := range s.receive[:s.inRow.Size()] {
		if _, words := decode(message); words != nil && k != s.self {
			next.toBitmap()
		}
	}
	if !next.listed {
		s.team.Pieces(s.width/32, manyWords, s.tasks.update)
	}
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for k, message := range s.receive[:s.inRow.Size()] {
		list, _ := decode(message)
		if k == s.self {
			continue
		}
		finder := s.words(s.finder, k)
		for _, v := range list {
			if !visited.has(v) {
				visited.add(v)
				corrected.add(v)
				finder.add(v)
				next.add(v)
			}
		}
	}
	if len(next.list) > len(next.bits) {
		next.toBitmap()
	}
}

// updatePart is updateFrontier for words from..to-1 of bitmaps.
func (s *Rank) updatePart(_, from, to int) {
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for k, message := range s.receive[:s.inRow.Size()] {
		_, words := decode(message)
		if words == nil || k == s.self {
			continue
		}
		finder := s.words(s.finder, k)
		for w := from; w < to; w++ {
			word := words[w] &^ visited[w]
			visited[w] |= word
			corrected[w] |= word
			finder[w] |= word
			s.frontier.bits[w] |= word
		}
	}
}

// fetchPredecessors asks the ranks that discovered this rank's vertices for their parents, once for all levels (Satish
// et al. 2012; Bisson et al., section 3): one message with the vertices, and one back with a parent for each.
func (s *Rank) fetchPredecessors() {
	m := &s.record.Phases[Predecessors]
	defer s.watch.lap(m)
	if s.inRow.Size() == 1 {
		return
	}
	for k := range s.send {
		if k != s.self {
			s.messageOf(&set{bits: s.words(s.finder, k)}, &s.send[k])
		}
	}
	m.sent(s.send, s.self)
	received := s.receive[:s.inRow.Size()]
	s.inRow.Alltoallv(s.send, received, nil)
	for k, message := range received {
		if k == s.self {
			continue
		}
		list, words := decode(message)
		s.replies[k] = s.appendMembers(append(s.replies[k][:0], list...), words)
		s.pairs.into, s.pairs.base = s.replies[k], Row(k*s.width)
		s.team.Pieces(len(s.replies[k]), manyWords, s.tasks.findPredecessors)
	}
	m.sent(s.replies, s.self)
	s.inRow.Alltoallv(s.replies, received, nil)
	for k, reply := range received {
		if k != s.self {
			s.message = s.appendMembers(s.message[:0], s.words(s.finder, k))
			s.pairs.into, s.pairs.from = s.message, reply
			s.team.Pieces(len(reply), manyWords, s.tasks.takePredecessors)
		}
	}
}

// findPredecessors replaces rows from..to-1 of pairs.into by the labels + 1 of their parents. This rank has discovered
// these rows. Blocks of rows begin at pairs.base.
func (s *Rank) findPredecessors(_, from, to int) {
	for k, v := range s.pairs.into[from:to] {
		row := s.pairs.base + Row(v)
		if s.corrected.has(uint32(row)) {
			s.pairs.into[from+k] = s.parent[row]
		} else {
			// In two dimensions; in one, rows of others are found through lists of the frontier.
			s.pairs.into[from+k] = s.label[s.entry[0][row]]
		}
	}
}

// takePredecessors takes the parents in pairs.from of the own vertices from..to-1 of pairs.into.
func (s *Rank) takePredecessors(_, from, to int) {
	parent := s.parent[s.self*s.width:]
	for k, v := range s.pairs.into[from:to] {
		parent[v] = s.pairs.from[from+k]
	}
}
