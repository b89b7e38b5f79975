package cpu

import (
	"context"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// The steps of narrow frontiers.
//
// Roads, meshes and grids have thousands of levels whose frontiers have a few edges for each processor. There a step
// must cost nothing but its edges: no pass over a bitmap, and at best no barrier. So narrow steps append what they
// discover to one array, order, as in a search with a single queue, and the frontier is its end. The parent of v is
// parentOf[v] until the search ends; then all parents are written in the order of the labels (output.go). If a wide
// step follows, they become corrections first.
//
// A frontier with few edges is expanded by one worker, level after level, without waiting for the others
// (topDownSerial); the team shares a larger one (topDownShared). Frontiers with long lists are for wide steps.

// looksAtContext is the number of vertices that one worker expands between two looks at the context.
const looksAtContext = 1 << 16

// topDownSerial expands the frontier, which is queued, and those that follow, until one has too many edges for a
// worker alone, or until the search ends.
func (s *search) topDownSerial(ctx context.Context, p *graph.SwitchState) {
	head, end := s.head, s.head+len(s.queue)
	for looked := head; ; { // at the context
		if !s.g.Lists.Packed && len(s.levels) > maxLevels && end-head < minStage && s.leaves == 0 && s.front.leaves == 0 {
			head, end = s.expandUnreported(p, head, end)
		}
		var tail, entries int
		switch {
		case s.g.Lists.Packed:
			tail, entries = s.expandPacked(head, end)
		case end-head < minStage:
			tail, entries = s.expandFew(head, end)
		default:
			tail, entries = s.expandMany(head, end)
		}
		s.recordLevel(p, entries)
		head, end = end, tail
		s.enter(p, head, end)
		if s.front.work() > s.serial || s.front.vertices == 0 {
			break
		}
		if head-looked >= looksAtContext {
			if looked = head; ctx.Err() != nil {
				break
			}
		}
	}
	s.head, s.queue = head, s.order[head:end]
	s.end.Store(int64(end))
}

// expandFew makes the vertices order[head:end] the parents of their unvisited neighbours, which it appends to order. It
// returns the new length of order and the number of entries that it looked at.
func (s *search) expandFew(head, end int) (tail, entries int) {
	l, unvisited, order, parentOf := &s.g.Lists, s.unvisited, s.order, s.parentOf
	tail = end
	for _, u := range order[head:end] {
		list := l.Targets[l.At.Get(u):l.At.Get(u+1)]
		entries += len(list)
		for _, v := range list {
			if word, bit := unvisited[v>>6], uint64(1)<<(v&63); word&bit != 0 {
				unvisited[v>>6] = word &^ bit
				parentOf[v] = u
				order[tail] = v
				tail++
			}
		}
	}
	return tail, entries
}

// expandUnreported expands the frontier order[head:end] and those that follow while they have few vertices and no hubs.
// It returns the next frontier. It is for searches of more levels than are reported, and so for long paths: there a
// level of one vertex should cost no more than looking at its list.
func (s *search) expandUnreported(p *graph.SwitchState, head, end int) (int, int) {
	g, unvisited, order, parentOf := s.g, s.unvisited, s.order, s.parentOf
	first, previous, entries := head, head, 0
	for head < end && end-head < minStage && head-first < looksAtContext {
		tail, hubs := end, false
		for _, u := range order[head:end] {
			list := g.Lists.Targets[g.Lists.At.Get(u):g.Lists.At.Get(u+1)]
			entries += len(list)
			for _, v := range list {
				if word, bit := unvisited[v>>6], uint64(1)<<(v&63); word&bit != 0 {
					unvisited[v>>6] = word &^ bit
					parentOf[v] = u
					order[tail] = v
					tail++
					hubs = hubs || int(v) < g.Hubs
				}
			}
		}
		previous, head, end = head, end, tail
		if hubs {
			break
		}
	}
	s.reached += int64(head - first)
	p.UnexploredEdges -= int64(entries - s.front.grouped)
	p.Previous = int64(head - previous)
	s.enter(p, head, end)
	return head, end
}

// enter makes order[head:end] the frontier.
func (s *search) enter(p *graph.SwitchState, head, end int) {
	c := &s.front
	*c = counts{vertices: end - head}
	for _, v := range s.order[head:end] {
		s.addVertex(c, v)
	}
	p.Frontier, p.FrontierEdges = int64(c.vertices), int64(c.edges)
}

// expandMany is expandFew for a frontier whose lists are worth fetching together.
func (s *search) expandMany(head, end int) (tail, entries int) {
	targets, unvisited, order, parentOf := s.g.Lists.Targets, s.unvisited, s.order, s.parentOf
	mine := &s.workers[0]
	tail = end
	for ; head < end; head += stage {
		us := order[head:min(head+stage, end)]
		mine.fetch(&s.g.Lists, us)
		for i, u := range us {
			list := targets[mine.begins[i&(stage-1)]:mine.ends[i&(stage-1)]]
			entries += len(list)
			for _, v := range list {
				if word, bit := unvisited[v>>6], uint64(1)<<(v&63); word&bit != 0 {
					unvisited[v>>6] = word &^ bit
					parentOf[v] = u
					order[tail] = v
					tail++
				}
			}
		}
	}
	return tail, entries
}

// expandPacked is expandFew for packed lists.
func (s *search) expandPacked(head, end int) (tail, entries int) {
	tail = end
	for _, u := range s.order[head:end] {
		n := s.g.Lists.Degree(u)
		entries += n
		for begin := 0; begin < n; begin += pieceSize {
			for _, v := range s.unvisitedNeighbours(&s.workers[0], u, begin, min(n, begin+pieceSize)) {
				s.unvisited.remove(v)
				s.parentOf[v] = u
				s.order[tail] = v
				tail++
			}
		}
	}
	return tail, entries
}

// stage is the number of frontier vertices whose lists are fetched together. Each is somewhere else in memory, and the
// processor does not look far enough ahead to fetch many of them at a time.
const (
	stage    = 64
	minStage = 4
)

// fetch finds where the lists of us begin and end, and reads their first entries.
func (w *worker) fetch(l *layout.Lists, us []uint32) {
	for i, u := range us {
		w.begins[i&(stage-1)], w.ends[i&(stage-1)] = l.At.Get(u), l.At.Get(u+1)
	}
	if l.Packed {
		return
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

// topDownPiece expands vertices from..to-1 of the queue. It collects the unvisited neighbours of some vertices, and
// then removes them from the unvisited vertices atomically: one of the workers that discover a vertex gets it.
func (s *search) topDownPiece(worker, from, to int) {
	mine := &s.workers[worker]
	mine.discoveries = mine.discoveries[:0]
	for ; from < to; from += stage {
		us := s.queue[from:min(from+stage, to)]
		mine.fetch(&s.g.Lists, us)
		for _, u := range us {
			n := s.g.Lists.Degree(u)
			mine.entries += n
			for begin := 0; begin < n; begin += pieceSize {
				found := s.unvisitedNeighbours(mine, u, begin, min(n, begin+pieceSize))
				for _, v := range found {
					mine.discoveries = append(mine.discoveries, uint64(v)<<32|uint64(u))
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
	for _, d := range mine.discoveries {
		v, bit := uint32(d>>32), uint64(1)<<(d>>32&63)
		if word := &s.unvisited[v>>6]; atomic.LoadUint64(word)&bit != 0 && atomic.AndUint64(word, ^bit)&bit != 0 {
			s.parentOf[v] = uint32(d)
			s.addVertex(&mine.counts, v)
			mine.vertices++
			mine.queue = append(mine.queue, v)
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

// correctOrder makes corrections of the parents of order[done:], for the wide step that follows.
func (s *search) correctOrder() {
	s.team.Pieces(int(s.end.Load())-s.done, orderPiece, s.tasks.correctPiece)
	s.done, s.wide = int(s.end.Load()), true
}

const orderPiece = 4096

func (s *search) correctPiece(worker, from, to int) {
	g, fix := s.g, &s.workers[worker].corrections
	for _, v := range s.order[s.done+from : s.done+to] {
		u := s.parentOf[v]
		if int(u) >= g.Hubs || v < g.Groups[u] || v >= g.Groups[u+1] { // the template has a hub for its group
			fix.add(g.Label[v], g.Label[u])
		}
	}
}
