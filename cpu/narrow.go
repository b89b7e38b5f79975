// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// The steps of narrow frontiers, of graphs that are not in local order.
//
// A graph with hubs may have thousands of levels whose frontiers have a few edges. There a step must cost only its
// edges: no pass over a bitmap, and at best no barrier. So narrow steps append the discovered vertices to one array,
// order, and the frontier is its end.
//
// A frontier with few edges is expanded sequentially: by one worker, level after level, without waiting for the others
// (expandSequentially). The team shares a larger one (narrowStep). Frontiers with long lists are for wide steps.

type narrow struct {
	limit int      // a frontier with at most this many edges is expanded sequentially
	order []uint64 // [Searched+1] vertices in the order of their discovery: parent<<32 | vertex
	head  int      // where the frontier begins in order
	done  int      // the parents of order[:done] are in the corrections or in the template
	_     [64]byte
	end   atomic.Int64 // how many vertices order has
	_     [56]byte
}

// expansions is the number of vertices that are expanded sequentially between two looks for a canceled search.
const expansions = 1 << 16

// expandSequentially expands the frontier, which is queued, and those that follow, until one has too many edges for one
// worker or is for a bottom-up step, or until the search ends.
func (s *search) expandSequentially() {
	f := &s.frontier
	head := s.narrow.head
	end := head + len(f.queue)
	for looked := head; ; {
		tail, entries := s.expandMany(&s.workers[0], head, end)
		s.recordLevel(entries)
		head, end = end, tail
		s.enter(head, end)
		if f.work() > s.narrow.limit || f.vertices == 0 || s.rule.Next(s.state) == graph.BottomUp {
			break
		}
		if head-looked >= expansions {
			if looked = head; s.ctx.Err() != nil {
				break
			}
		}
	}
	s.narrow.head, f.queue = head, s.narrow.order[head:end]
	s.narrow.end.Store(int64(end))
}

// enter makes order[head:end] the frontier.
func (s *search) enter(head, end int) {
	c := &s.frontier.counts
	*c = counts{vertices: end - head}
	for _, e := range s.narrow.order[head:end] {
		s.addVertex(c, uint32(e))
	}
	s.state.Frontier, s.state.FrontierEdges = int64(c.vertices), int64(c.edges)
}

// expandMany makes the vertices order[head:end] the parents of their unvisited neighbors, which it appends to order.
// It returns the new length of order and the number of entries that it looked at.
func (s *search) expandMany(mine *worker, head, end int) (tail, entries int) {
	l, order := &s.g.Lists, s.narrow.order
	tail = end
	for ; head < end; head += stage {
		us := order[head:min(head+stage, end)]
		mine.fetch(l, us)
		for _, e := range us {
			n := l.Degree(uint32(e))
			entries += n
			for from := 0; from < n; from += pieceSize {
				for _, v := range s.unvisitedNeighbors(mine, uint32(e), from, min(from+pieceSize, n)) {
					s.unvisited.remove(v)
					order[tail] = e<<32 | uint64(v)
					tail++
				}
			}
		}
	}
	return tail, entries
}

// stage is the number of frontier vertices whose lists are fetched together.
const stage = 64

// fetch finds where the lists of us begin, and reads their first entries.
func (w *worker) fetch(l *layout.Lists, us []uint64) {
	if l.Packed {
		return
	}
	for i, e := range us {
		w.begins[i&(stage-1)] = l.At.Get(uint32(e))
	}
	for i := range us {
		if at := w.begins[i&(stage-1)]; at < uint64(len(l.Targets)) { // a list may be empty: a hub has only leaves
			w.touched += l.Targets[at]
		}
	}
}

// narrowStep expands the frontier, which is queued, with the whole team. Each worker takes some of its vertices at a
// time.
func (s *search) narrowStep() {
	const maxPiece = 16 * stage
	f := &s.frontier
	size := min(max(len(f.queue)/(piecesPerShare*s.team.Size()), stage), maxPiece)
	s.do(len(f.queue), size, (*search).expandShared)
	for w := range s.workers { // the discoveries of a worker stay together, because they are in its cache
		s.flush(&s.workers[w])
	}
	s.narrow.head += len(f.queue)
	f.queue = s.narrow.order[s.narrow.head:s.narrow.end.Load()]
	c, entries := s.collect()
	s.endLevel(c, entries)
}

// expandShared expands vertices from..to-1 of the queue. It collects the unvisited neighbors of some vertices, and then
// removes them from the unvisited vertices atomically: if several workers discover a vertex, one gets it.
func (s *search) expandShared(worker, from, to int) {
	mine := &s.workers[worker]
	mine.discoveries = mine.discoveries[:0]
	for ; from < to; from += stage {
		us := s.frontier.queue[from:min(from+stage, to)]
		mine.fetch(&s.g.Lists, us)
		for _, e := range us {
			u := uint32(e)
			n := s.g.Lists.Degree(u)
			mine.entries += n
			for begin := 0; begin < n; begin += pieceSize {
				found := s.unvisitedNeighbors(mine, u, begin, min(n, begin+pieceSize))
				for _, v := range found {
					mine.discoveries = append(mine.discoveries, e<<32|uint64(v))
				}
				if len(mine.discoveries) >= pieceSize {
					s.enqueue(mine)
				}
			}
		}
		s.enqueue(mine)
	}
}

// enqueue adds the discoveries that the worker gets to its part of the next frontier.
func (s *search) enqueue(mine *worker) {
	if len(mine.queue)+len(mine.discoveries) > cap(mine.queue) {
		s.flush(mine)
	}
	for _, e := range mine.discoveries {
		v, bit := uint32(e), uint64(1)<<(e&63)
		if word := &s.unvisited[v>>6]; atomic.LoadUint64(word)&bit != 0 && atomic.AndUint64(word, ^bit)&bit != 0 {
			s.addVertex(&mine.counts, v)
			mine.vertices++
			mine.queue = append(mine.queue, e)
		}
	}
	mine.discoveries = mine.discoveries[:0]
}

// flush appends the worker's part of the next frontier to order.
func (s *search) flush(mine *worker) {
	end := int(s.narrow.end.Add(int64(len(mine.queue))))
	copy(s.narrow.order[end-len(mine.queue):end], mine.queue)
	mine.queue = mine.queue[:0]
}

// correctOrder makes corrections of the parents of order[done:], or writes them if vertices are in the given order.
func (s *search) correctOrder() {
	const piece = 4096
	n := &s.narrow
	s.do(int(n.end.Load())-n.done, piece, (*search).correctPiece)
	n.done = int(n.end.Load())
}

func (s *search) correctPiece(worker, from, to int) {
	g, fix := s.g, &s.workers[worker].corrections
	order := s.narrow.order[s.narrow.done+from : s.narrow.done+to]
	if g.Order == layout.Given {
		for _, e := range order {
			s.parent[uint32(e)] = graph.Vertex(e >> 32)
		}
		return
	}
	for _, e := range order {
		v, u := uint32(e), uint32(e>>32)
		if int(u) >= g.Hubs || v < g.Groups[u] || v >= g.Groups[u+1] { // the template has a hub for its group
			fix.Add(g.Label[v], graph.Vertex(g.Label[u]))
		}
	}
}
