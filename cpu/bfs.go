package cpu

import (
	"context"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 2: a breadth-first search from one root.
//
// What is returned: the parent of every vertex, in original labels, and the size, direction and time of every level.
//
// Method: the direction-optimizing search of Beamer, Asanović and Patterson, "Direction-Optimizing Breadth-First
// Search" (SC 2012). A top-down step looks at every edge out of the frontier; a bottom-up step (section 4) lets every
// unvisited vertex look for a parent in the frontier and stop at the first. graph.Switch chooses between them (section
// 5). Vertices are numbered by descending degree (Kolganov 2018, section 2), so that lists begin with the likeliest
// parents. Roads, grids and meshes are numbered in breadth-first order instead (layout/local.go), and are searched in
// another way (local.go), unless direction=bottomup. Other graphs without hubs keep their order.
//
// Data structures of all other graphs, all in the vertex numbers of package layout:
//
//	unvisited   a bitmap, in both directions
//	top-down    narrow: the frontier is the end of one array of vertices in the order of their discovery, and one
//	            worker expands it, or the team (narrow.go)
//	            wide: the frontier is a bitmap and a queue. The step goes through the unvisited vertices block by block,
//	            for the long lists of hubs, and then through the short lists link by link (topdown.go)
//	bottom-up   the frontier and the next one are bitmaps; a vertex looks at its first neighbor, at three more in
//	            columns, then at its list (bottomup.go)
//	parents     a vertex whose parent is its first neighbor has it in the layout's template; the parents of all others
//	            are corrections, which finish merges with the template into the caller's array (output.go). Narrow steps
//	            keep parents with the vertices in order; they become corrections before a wide step and at the end. In
//	            the given order a vertex is its label, so steps and correctOrder write parents at once, without template
//	            and corrections, and finish marks the vertices that were not reached
//
// Invariants between two levels:
//
//   - unvisited holds exactly the vertices that have not been discovered, without leaves;
//   - the frontier holds exactly the vertices that the last step discovered;
//   - every discovered vertex has its first neighbor as parent, or a correction with its parent in original labels, or
//     is in order[done:end] with its parent; in the given order it is in order[done:end], or its parent is written.
//
// Leaves, whose only neighbor is a hub, take no part in the steps: a leaf is discovered when its hub is expanded, and
// its parent is its hub, which the template has. They are only counted, so that the levels have the right sizes:
// s.leaves is the number of leaves of the frontier's hubs, and they belong to the level after it.

// maxLevels is the maximum number of levels that a search reports. A path has as many levels as vertices, and the
// report of a level takes more memory than a vertex.
const maxLevels = 1 << 14

// A top-down step is narrow unless its frontier has long lists, or hubs whose groups have more than 1/groupedShare of
// all vertices, which a wide step takes 64 at a time.
const groupedShare = 16

// run searches from root, which is a label of the graph, and fills parent, which has one entry for each label. It
// returns the levels, valid until the next run, or none if there are more than maxLevels. It allocates nothing once
// s.levels has grown to the depth of the graph.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex) ([]plugins.Level, error) {
	s.parent, s.levels = parent, s.levels[:0]
	s.started = time.Now()
	s.team.Pieces(len(s.workers), 1, s.tasks.beginShare)
	s.ctx, s.state = ctx, graph.SwitchState{Direction: s.rule.First(),
		Vertices: int64(s.g.Searched), UnexploredEdges: int64(s.g.Lists.Entries())}
	s.front, s.leaves, s.reached = counts{}, 0, 0
	s.timed, s.untimed, s.waiting = time.Since(s.started), 0, 0
	s.phases[0].Elapsed = s.timed
	steps, finish := s.steps, s.finish
	if s.inLocalOrder {
		steps, finish = s.stepsLocally, s.finishLocally
	}
	if err := steps(root, &s.state); err != nil {
		s.team.EndMeanwhile() // it writes to parent, which is the caller's again
		return nil, err
	}
	if s.untimed < len(s.levels) {
		s.timeLevels()
	}
	finish()
	s.parent[root] = root
	s.parent = nil
	s.phases[1].Elapsed = time.Since(s.started) - s.timed
	if len(s.levels) > maxLevels {
		s.levels = s.levels[:0]
	}
	return s.levels, nil
}

// steps takes all steps of a search.
func (s *search) steps(root graph.Vertex, p *graph.SwitchState) error {
	s.begin(root, p)
	s.untimed, s.timed = len(s.levels), time.Since(s.started)
	s.phases[0].Elapsed = s.timed
	for p.Frontier+s.leaves > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		switch {
		case p.Frontier == 0: // the level has only leaves, which discover nothing
			s.endLevel(p, counts{}, 0)
		case p.Direction == graph.BottomUp:
			s.bottomUpStep(p)
		default:
			if !s.queued {
				s.queueFrontier()
			}
			switch {
			case s.front.work() <= s.serial:
				s.topDownSerial()
			case s.front.long == 0 && s.front.grouped <= s.g.Searched/groupedShare:
				s.topDownShared(p)
			default:
				s.topDownStep(p)
			}
		}
		p.Direction = s.rule.Next(*p)
	}
	return nil
}

// topDownStep makes every frontier vertex the parent of its unvisited neighbors, which become the frontier.
func (s *search) topDownStep(p *graph.SwitchState) {
	if s.done < int(s.end.Load()) { // a narrow step has made the queue
		s.countQueue()
		s.leaveQueue()
	}
	short := s.edges[len(s.queue)]
	links := short + s.selectLong()
	s.team.Pieces(s.g.Segments.Blocks(), 1, s.tasks.topDownBlock)
	if short > 0 {
		size := min(max(short/(piecesPerShare*s.team.Size()), minShortPiece), maxShortPiece)
		s.team.Pieces(short, size, s.tasks.topDownShort)
	}
	s.frontier, s.next, s.queued = s.next, s.frontier, false
	c, _ := s.collect()
	s.endLevel(p, c, links+s.front.grouped)
}

// leaveQueue prepares a wide step when the frontier is queued.
func (s *search) leaveQueue() {
	s.correctOrder()
	s.frontier.set(s.queue)
	if !s.wide && s.g.Order != layout.Given {
		s.wide = true
		s.team.Meanwhile(s.tasks.copyAhead)
	}
}

// bottomUpStep gives every unvisited vertex with a neighbor in the frontier that neighbor as parent. These vertices
// become the frontier.
func (s *search) bottomUpStep(p *graph.SwitchState) {
	if s.queued {
		s.leaveQueue()
	}
	s.team.Pieces(len(s.unvisited), bottomUpWords, s.tasks.bottomUpPiece)
	s.frontier, s.next, s.queued = s.next, s.frontier, false
	c, entries := s.collect()
	s.endLevel(p, c, entries)
}

// begin makes root the frontier. A root that is a leaf is a level of its own, and its hub is the frontier of the next.
func (s *search) begin(root graph.Vertex, p *graph.SwitchState) {
	g := s.g
	p.Frontier = 1
	s.front.vertices = 1
	s.queue, s.queued, s.head, s.done, s.wide = s.order[:0], true, 0, 0, false
	s.end.Store(0)
	v := g.VertexOf(uint32(root))
	if v == layout.None {
		return // isolated: the frontier is only the root, which has no edges
	}
	parent := v
	if int(v) >= g.Searched {
		level := plugins.Level{Direction: s.rule.First(), Frontier: 1}
		if level.Direction == graph.TopDown {
			level.Edges = plugins.Counted(1)
		}
		s.levels = append(s.levels, level)
		v = g.HubOf(v)
		s.front.leaves-- // the root, which is not discovered again
	}
	if int(v) < g.Hubs {
		s.front.addHub(g, v)
	} else {
		s.front.edges = g.Links(v)
	}
	s.unvisited.remove(v)
	s.order[0] = uint64(parent)<<32 | uint64(v)
	s.queue = s.order[:1]
	s.end.Store(1)
}

// endLevel ends the level of the frontier, which has been expanded by looking at entries of lists. next has the counts
// of what that discovered, which becomes the frontier.
func (s *search) endLevel(p *graph.SwitchState, next counts, entries int) {
	s.recordLevel(p, entries)
	s.front = next
	p.Frontier, p.FrontierEdges = int64(next.vertices), int64(next.edges)
}

// recordLevel is endLevel for a caller that sets the next frontier itself.
func (s *search) recordLevel(p *graph.SwitchState, entries int) {
	if len(s.levels) <= maxLevels {
		level := plugins.Level{Direction: p.Direction, Frontier: p.Frontier + s.leaves}
		if p.Direction == graph.TopDown { // counting them in bottom-up steps would cost some per cent of the search
			level.Edges = plugins.Counted(int64(entries + s.front.leaves))
		}
		s.appendLevel(level)
	}
	if p.Direction == graph.TopDown {
		p.UnexploredEdges -= int64(entries - s.front.grouped) // those to groups stay in it: alpha was chosen with them
	}
	s.reached += p.Frontier
	s.leaves = int64(s.front.leaves)
	p.Previous = p.Frontier
}

func (s *search) appendLevel(level plugins.Level) {
	s.levels = append(s.levels, level)
	s.waiting += level.Frontier
	if len(s.levels) <= timedLevels || s.waiting >= timedVertices {
		s.timeLevels()
	}
}

// Reading the clock costs as much as expanding some vertices. So after the first levels, small ones are timed together,
// and each gets a part of the time in proportion to its frontier.
const (
	timedLevels   = 1024
	timedVertices = 256
)

// timeLevels divides the time since it was called last among the levels that have ended since then.
func (s *search) timeLevels() {
	now := time.Since(s.started)
	for i := s.untimed; i < len(s.levels); i++ {
		s.levels[i].Elapsed = (now - s.timed) * time.Duration(s.levels[i].Frontier) / time.Duration(s.waiting)
	}
	s.timed, s.untimed, s.waiting = now, len(s.levels), 0
}

// beginShare makes a worker's share of the vertices unvisited and drops the worker's corrections of the last search.
func (s *search) beginShare(_, share, _ int) {
	if s.inLocalOrder {
		from, to := s.team.Share(share, len(s.local.seen), 64)
		clear(s.local.seen[from:to])
		return
	}
	from, to := s.team.Share(share, len(s.unvisited), 8)
	s.unvisited[from:to].fill(s.g.Searched - from<<6)
	s.workers[share].corrections.Reset()
	s.workers[share].copied.begin(s.team.First(share, len(s.parent), s.region()))
}
