package cpu

import (
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// The steps of narrow frontiers, of graphs that are not in local order.
//
// A graph with hubs may have thousands of levels whose frontiers have a few edges. There a step must cost nothing but
// its edges: no pass over a bitmap, and at best no barrier. So narrow steps append what they discover to one array,
// order, as in a search with a single queue, and the frontier is its end. An element of order is parent<<32 | vertex.
// The parents become corrections (output.go).
//
// A frontier with few edges is expanded by one worker, level after level, without waiting for the others
// (topDownSerial); the team shares a larger one (topDownShared). Frontiers with long lists are for wide steps.

// topDownSerial expands the frontier, which is queued, and those that follow, until one has too many edges for a
// worker alone or is for a bottom-up step, or until the search ends.
func (s *search) topDownSerial() {
	p := &s.state
	head, end := s.head, s.head+len(s.queue)
	for looked := head; ; {
		tail, entries := s.expandMany(&s.workers[0], head, end)
		s.recordLevel(p, entries)
		head, end = end, tail
		s.enter(p, head, end)
		if s.front.work() > s.serial || s.front.vertices == 0 || s.rule.Next(*p) == graph.BottomUp {
			break
		}
		if head-looked >= expansions {
			if looked = head; s.ctx.Err() != nil {
				break
			}
		}
	}
	s.head, s.queue = head, s.order[head:end]
	s.end.Store(int64(end))
}

// enter makes order[head:end] the frontier.
func (s *search) enter(p *graph.SwitchState, head, end int) {
	c := &s.front
	*c = counts{vertices: end - head}
	for _, e := range s.order[head:end] {
		s.addVertex(c, uint32(e))
	}
	p.Frontier, p.FrontierEdges = int64(c.vertices), int64(c.edges)
}

// expandMany makes the vertices order[head:end] the parents of their unvisited neighbors, which it appends to order.
// It returns the new length of order and the number of entries that it looked at.
func (s *search) expandMany(mine *worker, head, end int) (tail, entries int) {
	l, order := &s.g.Lists, s.order
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

// stage is the number of frontier vertices whose lists are fetched together. Each is somewhere else in memory, and the
// processor does not look far enough ahead to fetch many of them at a time.
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

// topDownShared expands the frontier, which is queued, with the whole team. Each worker takes some of its vertices at a
// time.
func (s *search) topDownShared(p *graph.SwitchState) {
	const maxPiece = 16 * stage
	size := min(max(len(s.queue)/(piecesPerShare*s.team.Size()), stage), maxPiece)
	s.team.Pieces(len(s.queue), size, s.tasks.topDownPiece)
	for w := range s.workers { // what a worker has discovered stays together, because it is in that worker's cache
		s.flush(&s.workers[w])
	}
	s.head += len(s.queue)
	s.queue = s.order[s.head:s.end.Load()]
	c, entries := s.collect()
	s.endLevel(p, c, entries)
}

// topDownPiece expands vertices from..to-1 of the queue. It collects the unvisited neighbors of some vertices, and
// then removes them from the unvisited vertices atomically: one of the workers that discover a vertex gets it.
func (s *search) topDownPiece(worker, from, to int) {
	mine := &s.workers[worker]
	mine.discoveries = mine.discoveries[:0]
	for ; from < to; from += stage {
		us := s.queue[from:min(from+stage, to)]
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

// enqueue adds those of the worker's discoveries that it gets to its part of the next frontier.
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
	end := int(s.end.Add(int64(len(mine.queue))))
	copy(s.order[end-len(mine.queue):end], mine.queue)
	mine.queue = mine.queue[:0]
}

// correctOrder makes corrections of the parents of order[done:], or writes them if vertices are in the given order.
func (s *search) correctOrder() {
	s.team.Pieces(int(s.end.Load())-s.done, orderPiece, s.tasks.correctPiece)
	s.done = int(s.end.Load())
}

const orderPiece = 4096

func (s *search) correctPiece(worker, from, to int) {
	g, fix := s.g, &s.workers[worker].corrections
	if g.Order == layout.Given {
		for _, e := range s.order[s.done+from : s.done+to] {
			s.parent[uint32(e)] = graph.Vertex(e >> 32)
		}
		return
	}
	for _, e := range s.order[s.done+from : s.done+to] {
		v, u := uint32(e), uint32(e>>32)
		if int(u) >= g.Hubs || v < g.Groups[u] || v >= g.Groups[u+1] { // the template has a hub for its group
			fix.Add(g.Label[v], g.Label[u])
		}
	}
}
