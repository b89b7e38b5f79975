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
// Method: the direction-optimising search of Beamer, Asanović and Patterson, "Direction-Optimizing Breadth-First
// Search" (SC 2012). A top-down step looks at every edge out of the frontier; a bottom-up step (section 4) lets every
// unvisited vertex look for a parent in the frontier and stop at the first. graph.Switch chooses between them (section
// 5). Vertices are numbered by descending degree (Kolganov 2018, section 2), so that lists begin with the likeliest
// parents.
//
// Data structures, all in the vertex numbers of package layout:
//
//	unvisited   a bitmap, in both directions
//	top-down    the frontier is a queue if one worker made it, and a bitmap if the team did (then it becomes a queue
//	            first). A large step goes through the unvisited vertices block by block, for the long lists of hubs, and
//	            then through the short lists link by link (topdown.go)
//	bottom-up   the frontier and the next one are bitmaps; a vertex looks at its first neighbour, at three more in
//	            columns, then at its list (bottomup.go)
//	parents     a vertex whose parent is its first neighbour has it in the layout's template; the parents of all others
//	            are corrections, which finish merges with the template into the caller's array (output.go)
//
// Invariants between two levels:
//
//   - unvisited holds exactly the vertices that have not been discovered, without leaves;
//   - the frontier holds exactly the vertices that the last step discovered;
//   - every discovered vertex has its first neighbour as parent, or a correction with its parent in original labels.
//
// Leaves, whose only neighbour is a hub, take no part in the steps: a leaf is discovered when its hub is expanded, and
// its parent is its hub, which the template has. They are only counted, so that the levels have the right sizes:
// s.leaves is the number of leaves of the frontier's hubs, and they belong to the level after it.

// maxLevels is the maximum number of levels that a search reports. A path has as many levels as vertices, and the
// report of a level takes more memory than a vertex.
const maxLevels = 1 << 16

// run searches from root, which is a label of the graph, and fills parent, which has one entry for each label. It
// returns the levels, valid until the next run, or none if there are more than maxLevels. It allocates nothing once
// s.levels has grown to the depth of the graph.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex) ([]plugins.Level, error) {
	s.parent, s.levels = parent, s.levels[:0]
	s.team.Pieces(len(s.workers), 1, s.tasks.beginShare)
	p := graph.SwitchState{Direction: s.rule.First(), Frontier: 1,
		Vertices: int64(s.g.Searched), UnexploredEdges: int64(s.g.Lists.Entries())}
	s.begin(root)
	reached := int64(0)
	for leaves := int64(0); p.Frontier+leaves > 0; { // leaves of the frontier's level
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		level := plugins.Level{Direction: p.Direction, Frontier: p.Frontier + leaves}
		leaves, s.leaves = s.leaves, 0
		p.Previous = p.Frontier
		reached += p.Frontier
		switch {
		case p.Frontier == 0: // the level has only leaves, which discover nothing
		case p.Direction == graph.TopDown:
			s.topDownStep(&p)
		default:
			s.bottomUpStep(&p)
		}
		level.Elapsed = time.Since(start)
		if len(s.levels) <= maxLevels {
			s.levels = append(s.levels, level)
		}
		p.Direction = s.rule.Next(p)
	}
	s.finish(root, reached)
	if len(s.levels) > maxLevels {
		s.levels = s.levels[:0]
	}
	return s.levels, nil
}

// topDownStep makes every frontier vertex the parent of its unvisited neighbours, which become the frontier.
func (s *search) topDownStep(p *graph.SwitchState) {
	if s.queued {
		s.countQueue()
	} else {
		s.queueFrontier()
	}
	short := s.edges[len(s.queue)]
	links := short + s.selectLong()
	p.UnexploredEdges -= int64(links) // entries between hubs and their groups stay in it: alpha was chosen with them
	if links <= s.serial && links+s.grouped() <= s.serial {
		p.Frontier, p.FrontierEdges = s.topDownSerial()
		s.queued = true
		return
	}
	if s.queued {
		s.frontier.set(s.queue)
	}
	s.team.Pieces(s.g.Segments.Blocks(), 1, s.tasks.topDownBlock)
	if short > 0 {
		size := min(max(short/(piecesPerShare*s.team.Size()), minShortPiece), maxShortPiece)
		s.team.Pieces(short, size, s.tasks.topDownShort)
	}
	p.Frontier, p.FrontierEdges = s.collect()
	s.frontier, s.next, s.queued = s.next, s.frontier, false
}

// bottomUpStep gives every unvisited vertex with a neighbour in the frontier that neighbour as parent. These vertices
// become the frontier.
func (s *search) bottomUpStep(p *graph.SwitchState) {
	if s.queued {
		s.frontier.set(s.queue)
	}
	s.team.Pieces(len(s.unvisited), bottomUpWords, s.tasks.bottomUpPiece)
	p.Frontier, _ = s.collect()
	s.frontier, s.next, s.queued = s.next, s.frontier, false
}

// begin makes root the frontier. A root that is a leaf is a level of its own, and its hub is the frontier of the next.
func (s *search) begin(root graph.Vertex) {
	g := s.g
	s.queue, s.queued, s.leaves = s.queue[:0], true, 0
	v := g.Vertex[root]
	if v == layout.None {
		return // isolated: the frontier is only the root, which has no edges
	}
	if int(v) >= g.Searched {
		s.levels = append(s.levels, plugins.Level{Direction: s.rule.First(), Frontier: 1})
		v = g.HubOf(v)
		s.workers[0].corrections.add(g.Label[v], uint32(root))
		s.leaves-- // the root, which is not discovered again
	}
	s.leaves += int64(len(g.LeavesOf(v)))
	s.unvisited.remove(v)
	s.queue = append(s.queue, v)
}

// beginShare makes a worker's share of the vertices unvisited and drops the worker's corrections of the last search.
func (s *search) beginShare(_, share, _ int) {
	from, to := s.team.Share(share, len(s.unvisited), 8)
	s.unvisited[from:to].fill(s.g.Searched - from<<6)
	s.workers[share].corrections.reset()
}
