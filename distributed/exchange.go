// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/parents"
)

// The exchanges of a search. Partitions differ in the ranks that take part.

// edgesToRank bounds the edges of a frontier that is sent only to the ranks concerned, for each vertex and each rank.
// To look at an edge costs less than to receive a vertex in vain.
const edgesToRank = 4

// fewEdges is the largest degree of vertices that are not hubs, where frontiers are sent to the ranks concerned.
const fewEdges = 64

// expandFrontierAndAddUp sends the frontier to the ranks inColumn and adds up sums over all, in one exchange. In graphs
// without hubs, as roads and grids, a frontier that few edges lead to is sent only to the ranks that own a neighbor of
// it; the own unvisited neighbors become candidates.
func (s *Rank) expandFrontierAndAddUp(sums []int64, p *graph.SwitchState, m *Measure) {
	s.candidates, s.looked, s.addressed = s.candidates[:0], 0, false
	if s.hasHubs || p.FrontierEdges >= p.Vertices/32 { // all ranks decide the same
		s.sendToAll(s.inColumn, &s.frontier, sums, m)
		return
	}
	n, ranks := len(s.frontier.list), s.inColumn.Size()
	lists, send := s.inColumn.nextOutbox()
	s.addressed = s.frontier.listed && sums[1] <= int64(edgesToRank*n*ranks) && !s.form.isBitmap(n, len(s.frontier.bits))
	if s.addressed {
		s.addressFrontier(lists, uint32(s.inColumn.Rank()))
		copy(send, lists)
	} else {
		message := s.messageOf(&s.frontier, &lists[0])
		for k := range send {
			send[k] = message
		}
	}
	s.exchange(s.inColumn, send, sums, nil, m)
}

// addressFrontier writes a message for each other rank with the vertices of the frontier that have a neighbor there.
// The message to this rank has the whole frontier.
func (s *Rank) addressFrontier(messages [][]uint32, own uint32) {
	for k := range messages {
		messages[k] = messages[k][:0]
	}
	messages[own] = append(messages[own], s.frontier.list...)
	width, x := uint32(s.width), &s.workers[0]
	first := own * width
	for part := range slices.Chunk(s.frontier.list, touchAhead) {
		for _, v := range part { // fetch some lists at once: each is somewhere else in memory
			x.touched += s.up.targets[s.up.at[v]]
		}
		for _, v := range part {
			for _, u := range s.up.of(int(v)) {
				if row := u - first; row < width {
					s.looked++
					if !s.visited.has(row) {
						s.candidates = append(s.candidates, candidate{row, first + v})
					}
					continue
				}
				message := &messages[u/width]
				if n := len(*message); n == 0 || (*message)[n-1] != v { // otherwise through another neighbor
					*message = append(*message, v)
				}
			}
		}
	}
}

// sendToAll sends a set to all ranks of a group and returns the messages of all.
func (s *Rank) sendToAll(ranks *peers, own *set, sums []int64, m *Measure) (received [][]uint32) {
	return s.gather(ranks, s.messageOf(own, ranks.nextList()), sums, nil, m)
}

// gather sends, counts and times a message to all ranks of a group and returns the messages of all.
func (s *Rank) gather(ranks *peers, message []uint32, sums, minima []int64, m *Measure) (received [][]uint32) {
	m.sent(ranks.Allgather(message, ranks.received, sums, minima))
	s.watch.lap(m)
	return ranks.received
}

// exchange sends, counts and times messages and returns those received.
func (s *Rank) exchange(ranks *peers, send [][]uint32, sums, minima []int64, m *Measure) (received [][]uint32) {
	m.sent(ranks.Alltoallv(send, ranks.received, sums, minima))
	s.watch.lap(m)
	return ranks.received
}

// replaceExpanded makes expanded the frontiers that the ranks inColumn have sent.
func (s *Rank) replaceExpanded() {
	s.eachPart(s.inColumn.Size(), len(s.expanded), manyWords, (*Rank).replaceParts)
}

func (s *Rank) replaceParts(_, from, to int) {
	for k := from; k < to; k++ {
		block := s.words(s.expanded, k/s.cuts)
		list, words := s.form.decode(s.inColumn.received[k/s.cuts], len(block))
		if words != nil {
			copy(cut(block, k%s.cuts, s.cuts), cut(words, k%s.cuts, s.cuts))
		} else if k%s.cuts == 0 {
			block.replace(list, nil)
		}
	}
}

// foldDiscovered sends discovered rows to their owners and receives the rank's own vertices that others have
// discovered.
func (s *Rank) foldDiscovered(m *Measure) {
	if s.inRow.Size() == 1 {
		return
	}
	lists, send := s.inRow.nextOutbox()
	d := &s.discovered
	if d.listed {
		for k := range lists {
			lists[k] = lists[k][:0]
		}
		for _, v := range d.list {
			k := v / uint32(s.width)
			lists[k] = append(lists[k], v-k*uint32(s.width))
		}
		copy(send, lists)
	} else {
		s.messagesOf(d.bits, lists, send)
	}
	s.exchange(s.inRow, send, nil, nil, m)
}

// messagesOf makes a message of each block of a bitmap but the rank's own.
func (s *Rank) messagesOf(blocks bitmap, lists, send [][]uint32) {
	for k := range send {
		if k != s.self {
			send[k] = s.messageOf(&set{bits: s.words(blocks, k)}, &lists[k])
		}
	}
}

// takeOwn makes the own vertices that this rank has discovered the frontier, and discovered empty. Other ranks may
// still read the last frontier and the last discovered set.
func (s *Rank) takeOwn() {
	if s.inRow.Size() == 1 {
		s.sent, s.frontier, s.discovered = s.frontier, s.discovered, s.sent
		s.reset(&s.discovered)
		return
	}
	s.sent, s.frontier = s.frontier, s.sent
	s.folded, s.discovered = s.discovered, s.folded
	s.reset(&s.frontier)
	s.reset(&s.discovered)
	d := &s.folded
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

// updateFrontier makes the next frontier of the own vertices that this rank has discovered, and of the unvisited ones
// received. If several ranks have discovered a vertex, one of them is its finder.
func (s *Rank) updateFrontier() {
	s.takeOwn()
	if s.inRow.Size() == 1 {
		return
	}
	next := &s.frontier
	for k, message := range s.inRow.received {
		if _, words := s.form.decode(message, s.width/32); words != nil && k != s.self {
			next.toBitmap()
		}
	}
	if !next.listed {
		s.do(s.width/32, manyWords, (*Rank).updateWords)
	}
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for k, message := range s.inRow.received {
		list, _ := s.form.decode(message, s.width/32)
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
}

// updateWords is the part of updateFrontier for words from..to-1 of bitmaps.
func (s *Rank) updateWords(_, from, to int) {
	visited, corrected := s.words(s.visited, s.self), s.words(s.corrected, s.self)
	for k, message := range s.inRow.received {
		_, words := s.form.decode(message, s.width/32)
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
func (s *Rank) fetchPredecessors(m *Measure) {
	lists, send := s.inRow.nextOutbox()
	s.messagesOf(s.finder, lists, send)
	received := s.exchange(s.inRow, send, nil, nil, m)
	lists, send = s.inRow.nextOutbox()
	for k, message := range received {
		if k != s.self {
			list, words := s.form.decode(message, s.width/32)
			s.asked = s.appendMembers(append(s.asked[:0], list...), words)
			lists[k] = s.appendPredecessors(lists[k][:0], s.asked, k)
			send[k] = lists[k]
		}
	}
	for k, reply := range s.exchange(s.inRow, send, nil, nil, m) {
		if k != s.self {
			s.asked = s.appendMembers(s.asked[:0], s.words(s.finder, k))
			s.takePredecessors(s.asked, reply)
		}
	}
}

// appendPredecessors appends the labels of the parents of vertices of a block of rows, which this rank has discovered:
// the low halves and, behind all of them, the high halves if labels have any.
func (s *Rank) appendPredecessors(list, vertices []uint32, block int) []uint32 {
	n, length := len(vertices), len(list)
	list = slices.Grow(list, 2*n)[:length+n*labelWords(&s.label)]
	own := list[length:]
	s.team.Pieces(n, manyWords, func(_, from, to int) {
		for k, v := range vertices[from:to] {
			row := uint32(block*s.width) + v
			column := s.parent[row]
			if !s.corrected.has(row) { // in two dimensions; in one, rows of others are found through lists of the frontier
				column = s.entry[0][row]
			}
			own[from+k] = s.label.Low[column]
			if s.label.High != nil {
				own[n+from+k] = uint32(s.label.High[column])
			}
		}
	})
	return list
}

func labelWords(l *parents.Labels) int {
	if l.High != nil {
		return 2
	}
	return 1
}

// takePredecessors takes the parents of own vertices, which are corrections of the template.
func (s *Rank) takePredecessors(vertices, labels []uint32) {
	corrected, n := s.words(s.corrected, s.self), len(vertices)
	s.team.Pieces(n, manyWords, func(worker, from, to int) {
		fix := &s.workers[worker].corrections
		for k, v := range vertices[from:to] {
			atomic.AndUint32(&corrected[v>>5], ^(1 << (v & 31)))
			label := parents.ToVertex(labels[from+k])
			if s.label.High != nil {
				label = parents.Join(labels[from+k], uint16(labels[n+from+k]))
			}
			fix.Add(s.slot[v], label)
		}
	})
}
