package distributed

import "math/bits"

// Fold, update and the fetching of late predecessors are the same in both cuts; they differ in who takes part (folds).

// fold sends what the scan found to its owners, and receives what others found of this rank's vertices.
func (s *search) fold(m *Measure) {
	for k := range s.send {
		if k == s.self {
			continue
		}
		found := s.block(s.fresh, k)
		var above []uint32
		if s.early {
			above = s.above[k*s.width : (k+1)*s.width]
		}
		s.send[k] = s.form.encode(s.send[k][:0], found, found.count(), above)
		clear(found)
	}
	m.sent(s.send, s.self)
	s.folds.Alltoallv(s.send, s.receive[:s.folds.Size()])
	s.watch.lap(m)
}

// update makes the next frontier of what this rank found of its own vertices, and of what others sent and it has not
// seen. Of several finders the first in the order of ranks has the vertex.
func (s *search) update() {
	seen, found := s.block(s.seen, s.self), s.block(s.fresh, s.self)
	copy(s.frontier, found)
	clear(found)
	above := s.above[s.self*s.width:]
	for k, message := range s.receive[:s.folds.Size()] {
		if k == s.self {
			continue
		}
		finder := s.block(s.finder, k)
		list, words, predecessors := parts(message, len(seen))
		switch {
		case s.early:
			s.takeEarly(list, words, predecessors, above)
		case words != nil:
			for w, word := range words {
				word &^= seen[w]
				seen[w] |= word
				s.frontier[w] |= word
				finder[w] |= word
			}
		default:
			for _, v := range list {
				bit := uint32(1) << (v & 31) &^ seen[v>>5]
				seen[v>>5] |= bit
				s.frontier[v>>5] |= bit
				finder[v>>5] |= bit
			}
		}
	}
	for w, word := range s.frontier {
		if s.unshared == nil {
			break
		}
		s.unshared[w] |= word
	}
}

// takeEarly takes vertices that come with their predecessors.
func (s *search) takeEarly(list []uint32, words bitmap, predecessors, above []uint32) {
	seen := s.block(s.seen, s.self)
	take := func(v uint32, predecessor uint32) {
		bit := uint32(1) << (v & 31)
		if seen[v>>5]&bit == 0 {
			seen[v>>5] |= bit
			s.frontier[v>>5] |= bit
			above[v] = predecessor
		}
	}
	for k, v := range list {
		take(v, predecessors[k])
	}
	k := 0
	for w, word := range words {
		for ; word != 0; word &= word - 1 {
			take(uint32(w<<5+bits.TrailingZeros32(word)), predecessors[k])
			k++
		}
	}
}

// fetchPredecessors asks those who found this rank's vertices for the parents, once for all levels (late predecessors:
// Satish et al. 2012; Bisson et al., section 3): a message with the vertices, and one back with a parent for each.
func (s *search) fetchPredecessors(m *Measure) {
	if s.early || s.folds.Size() == 1 {
		return
	}
	for k := range s.send {
		if finder := s.block(s.finder, k); k != s.self {
			s.send[k] = s.form.encode(s.send[k][:0], finder, finder.count(), nil)
		}
	}
	m.sent(s.send, s.self)
	asked := s.receive[:s.folds.Size()]
	s.folds.Alltoallv(s.send, asked)
	for k, message := range asked {
		if k == s.self {
			continue
		}
		above, reply := s.above[k*s.width:], s.replies[k][:0]
		list, words, _ := parts(message, s.width/32)
		for _, v := range list {
			reply = append(reply, above[v])
		}
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				reply = append(reply, above[w<<5+bits.TrailingZeros32(word)])
			}
		}
		s.replies[k] = reply
	}
	m.sent(s.replies, s.self)
	answers := s.receive[:s.folds.Size()]
	s.folds.Alltoallv(s.replies, answers)
	above := s.above[s.self*s.width:]
	for k, next := range answers {
		if k == s.self {
			continue
		}
		for w, word := range s.block(s.finder, k) {
			for ; word != 0; word &= word - 1 {
				above[w<<5+bits.TrailingZeros32(word)] = next[0]
				next = next[1:]
			}
		}
	}
}
