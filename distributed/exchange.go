package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/distributed/comm"
)

// The exchanges of a search. They are the same for both partitions, which differ in the ranks that take part.

// expandFrontier sends the frontier to the ranks inColumn and fills expanded with theirs.
func (s *Rank) expandFrontier(m *Measure) {
	clear(s.expanded)
	s.message = s.sendToAll(s.inColumn, s.frontier, s.message, s.expanded, m)
	s.watch.lap(m)
}

// sendToAll sends a set to all ranks of a group, and adds the sets of the ranks to blocks. It returns the message,
// which reuses buffer.
func (s *Rank) sendToAll(ranks comm.Group, set bitmap, buffer []uint32, blocks bitmap, m *Measure) []uint32 {
	message := s.form.encode(buffer, set)
	m.sentToAll(message, ranks.Size())
	received := s.receive[:ranks.Size()]
	ranks.Allgatherv(message, received)
	for k, other := range received {
		include(s.words(blocks, k), other)
	}
	return message
}

// foldDiscovered sends discovered rows to their owners and receives the rank's own vertices that others have
// discovered.
func (s *Rank) foldDiscovered(m *Measure) {
	for k := range s.send {
		if k == s.self {
			continue
		}
		discovered := s.words(s.discovered, k)
		s.send[k] = s.form.encode(s.send[k], discovered)
		clear(discovered)
	}
	m.sent(s.send, s.self)
	s.inRow.Alltoallv(s.send, s.receive[:s.inRow.Size()])
	s.watch.lap(m)
}

// updateFrontier makes the next frontier of the own vertices that this rank has discovered, and of those received that
// were not visited. If several ranks have discovered a vertex, it goes to the first in the order of ranks.
func (s *Rank) updateFrontier() {
	visited, discovered := s.words(s.visited, s.self), s.words(s.discovered, s.self)
	copy(s.frontier, discovered)
	clear(discovered)
	for k, message := range s.receive[:s.inRow.Size()] {
		if k == s.self {
			continue
		}
		finder := s.words(s.finder, k)
		list, words := decode(message)
		for w, word := range words {
			word &^= visited[w]
			visited[w] |= word
			s.frontier[w] |= word
			finder[w] |= word
		}
		for _, v := range list {
			bit := uint32(1) << (v & 31) &^ visited[v>>5]
			visited[v>>5] |= bit
			s.frontier[v>>5] |= bit
			finder[v>>5] |= bit
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
		if finder := s.words(s.finder, k); k != s.self {
			s.send[k] = s.form.encode(s.send[k], finder)
		}
	}
	m.sent(s.send, s.self)
	received := s.receive[:s.inRow.Size()]
	s.inRow.Alltoallv(s.send, received)
	for k, message := range received {
		if k == s.self {
			continue
		}
		parent, reply := s.parent[k*s.width:], s.replies[k][:0]
		list, words := decode(message)
		for _, v := range list {
			reply = append(reply, parent[v])
		}
		s.replies[k] = appendValues(reply, words, parent)
	}
	m.sent(s.replies, s.self)
	s.inRow.Alltoallv(s.replies, received)
	parent := s.parent[s.self*s.width:]
	for k, reply := range received {
		if k == s.self {
			continue
		}
		for w, word := range s.words(s.finder, k) {
			for ; word != 0; word &= word - 1 {
				parent[w<<5+bits.TrailingZeros32(word)] = reply[0]
				reply = reply[1:]
			}
		}
	}
}
