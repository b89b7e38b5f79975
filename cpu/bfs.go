// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The same search without any of this: serial/bfs.go.
//
// Kernel 2: a breadth-first search from one root. It returns the parent of every vertex, in original labels, and the
// size, direction and time of every level.
//
// Method: the direction-optimizing search of Beamer, Asanović and Patterson, "Direction-Optimizing Breadth-First
// Search" (SC 2012). A top-down step looks at every edge out of the frontier; in a bottom-up step (section 4) every
// unvisited vertex looks for a parent in the frontier and stops at the first. graph.Switch chooses between them
// (section 5). Vertices are numbered by descending degree (Kolganov 2018, section 2), so lists begin with the likeliest
// parents. Roads, grids and meshes are numbered and searched in another way (layout/local.go, local.go), unless
// direction=bottomup. Other graphs without hubs keep their order.
//
// Data, in the vertex numbers of package layout:
//
//	unvisited   a bitmap, in both directions
//	top-down    narrow: the frontier is the end of one array of vertices in the order of their discovery; one worker
//	            expands it, or the team (narrow.go)
//	            wide: the frontier is a bitmap and a queue; the step goes through the unvisited vertices block by block,
//	            for the long lists of hubs, and then through the short lists link by link (topdown.go)
//	bottom-up   the frontier and the next one are bitmaps; a vertex looks at its first neighbor, at three more in
//	            columns, then at its list (bottomup.go)
//	parents     the layout's template has the first neighbor of each vertex; other parents are corrections, which
//	            finish merges with the template into the caller's array (output.go). Narrow steps keep parents with the
//	            vertices in order; they become corrections before a wide step and at the end. In the given order a
//	            vertex is its label: steps and correctOrder write parents at once, and finish marks unreached vertices
//
// Invariants between two levels:
//
//   - unvisited holds exactly the vertices that have not been discovered, without leaves;
//   - the frontier holds exactly the vertices that the last step discovered;
//   - every discovered vertex has its first neighbor as parent, or a correction with its parent in original labels, or
//     is in narrow.order[done:end] with its parent; in the given order it is there, or its parent is written.
//
// Leaves, whose only neighbor is a hub, take no part in the steps: the template has their parents. They are only
// counted, in the level after that of their hub: s.leaves is the number of leaves in the frontier's level.

// A top-down step is narrow unless its frontier has long lists, or hubs whose groups have more than 1/groupedShare of
// all vertices, which a wide step takes 64 at a time.
const groupedShare = 16

// run searches from root, a label of the graph, and fills parent, which has one entry for each label. It returns the
// levels, valid until the next run, or none if there are more than maxLevels. It allocates nothing once there is room
// for all levels.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex) ([]plugins.Level, error) {
	s.levels.start()
	s.ctx, s.parent = ctx, parent
	s.state = graph.SwitchState{Direction: s.rule.First(),
		Vertices: int64(s.g.Searched), UnexploredEdges: int64(s.g.Lists.Entries())}
	s.frontier.counts, s.leaves, s.reached = counts{}, 0, 0
	steps, finish := s.steps, s.finish
	if s.local != nil {
		steps, finish = s.local.steps, s.local.finish
	} else {
		s.output.Begin(parent, 0, 1)
	}
	s.do(len(s.workers), 1, (*search).clear)
	s.levels.endBegin()
	if err := steps(root); err != nil {
		s.team.EndIdle() // it writes to parent, which the caller owns from now on
		return nil, err
	}
	s.levels.endSteps()
	finish()
	s.parent[root] = root
	s.parent = nil
	return s.levels.end(), nil
}

func (s *search) clear(_, share, _ int) {
	if s.local != nil {
		from, to := s.team.Share(share, len(s.local.seen), 64)
		clear(s.local.seen[from:to])
		return
	}
	from, to := s.team.Share(share, len(s.unvisited), 8)
	s.unvisited[from:to].fill(s.g.Searched - from<<6)
	s.output.BeginWorker(share)
}

func (s *search) steps(root graph.Vertex) error {
	s.begin(root)
	s.levels.endBegin()
	for s.state.Frontier+s.leaves > 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		f := &s.frontier
		switch {
		case s.state.Frontier == 0: // the level has only leaves, which discover nothing
			s.endLevel(counts{}, 0)
		case s.state.Direction == graph.BottomUp:
			s.bottomUpStep()
		default:
			if !f.queued {
				s.queueFrontier()
			}
			switch {
			case f.work() <= s.narrow.limit:
				s.expandSequentially()
			case f.long == 0 && f.grouped <= s.g.Searched/groupedShare:
				s.narrowStep()
			default:
				s.topDownStep()
			}
		}
		s.state.Direction = s.rule.Next(s.state)
	}
	return nil
}

// topDownStep makes every frontier vertex the parent of its unvisited neighbors, which become the frontier.
func (s *search) topDownStep() {
	if s.narrow.done < int(s.narrow.end.Load()) { // a narrow step has made the queue
		s.countQueue()
		s.leaveQueue()
	}
	short := s.wide.edges[len(s.frontier.queue)]
	links := short + s.selectLong()
	s.do(s.g.Segments.Blocks(), 1, (*search).longLists)
	if short > 0 {
		size := min(max(short/(piecesPerShare*s.team.Size()), minShortPiece), maxShortPiece)
		s.do(short, size, (*search).shortLists)
	}
	s.enterNext(links + s.frontier.grouped)
}

// leaveQueue prepares a wide step when the frontier is queued.
func (s *search) leaveQueue() {
	s.correctOrder()
	s.frontier.bits.set(s.frontier.queue)
	if !s.wide.begun && s.g.Order != layout.Given {
		s.wide.begun = true
		s.team.WhileIdle(s.output.Ahead())
	}
}

// bottomUpStep gives every unvisited vertex with a neighbor in the frontier that neighbor as parent. These vertices
// become the frontier.
func (s *search) bottomUpStep() {
	if s.frontier.queued {
		s.leaveQueue()
	}
	s.do(len(s.unvisited), bottomUpWords, (*search).bottomUp)
	s.enterNext(0) // entries are not counted
}

// enterNext ends the level of a wide step, which has looked at a number of entries, and makes the vertices that it
// discovered the frontier.
func (s *search) enterNext(entries int) {
	f := &s.frontier
	f.bits, f.next, f.queued = f.next, f.bits, false
	next, _ := s.collect()
	s.endLevel(next, entries)
}

// begin makes root the frontier. If it is a leaf, it is a level, and its hub is the next frontier.
func (s *search) begin(root graph.Vertex) {
	g, f, n := s.g, &s.frontier, &s.narrow
	s.state.Frontier, f.vertices = 1, 1
	f.queue, f.queued = n.order[:0], true
	n.head, n.done, s.wide.begun = 0, 0, false
	n.end.Store(0)
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
		s.levels.list = append(s.levels.list, level)
		v = g.HubOf(v)
		f.leaves-- // the root, which is not discovered again
	}
	if int(v) < g.Hubs {
		f.addHub(g, v)
	} else {
		f.edges = g.Links(v)
	}
	s.unvisited.remove(v)
	n.order[0] = uint64(parent)<<32 | uint64(v)
	f.queue = n.order[:1]
	n.end.Store(1)
}

// endLevel ends the level of the frontier, whose expansion has looked at a number of entries. next has the counts of
// the next frontier.
func (s *search) endLevel(next counts, entries int) {
	s.recordLevel(entries)
	s.frontier.counts = next
	s.state.Frontier, s.state.FrontierEdges = int64(next.vertices), int64(next.edges)
}

// recordLevel is endLevel for a caller that sets the next frontier itself.
func (s *search) recordLevel(entries int) {
	p := &s.state
	level := plugins.Level{Direction: p.Direction, Frontier: p.Frontier + s.leaves}
	if p.Direction == graph.TopDown { // counting them in bottom-up steps would cost some per cent of the search
		level.Edges = plugins.Counted(int64(entries + s.frontier.leaves))
		p.UnexploredEdges -= int64(entries - s.frontier.grouped) // those to groups stay in it: alpha was chosen with them
	}
	s.levels.add(level)
	s.reached += p.Frontier
	s.leaves = int64(s.frontier.leaves)
	p.Previous = p.Frontier
}
