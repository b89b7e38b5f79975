package cpu

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// parents is an output array: 64-bit labels as the contract wants them, or 32-bit ones to be widened after the clock.
type parents interface{ ~int64 | ~uint32 }

// search is kernel 2: a direction-optimising breadth-first search (Beamer, Asanović, Patterson, SC 2012) over a layout.
//
// What holds between two levels:
//   - unvisited has exactly the vertices that no level has found, without leaves;
//   - the frontier is the vertices that the level before found, as a queue or as a bitmap;
//   - every vertex found so far whose parent is not its first neighbour has that parent in a worker's corrections.
//
// Leaves take no part in the search: a leaf is reached when its hub is expanded, and its parent is its hub (layout). They
// are counted, hub by hub, for the sizes of the levels.
type search[P parents] struct {
	g       *layout
	team    *team
	rule    graph.Switch
	serial  int // frontiers of at most this many edges are expanded by one worker
	average int // links of a vertex that is not a hub, about: what hubs have in their own groups counts with it

	unvisited bitmap
	frontier  bitmap
	next      bitmap
	queue     []uint32 // the frontier top-down
	edges     []int    // edges of queue[:i]; len(queue)+1
	workers   []worker
	levels    []plugins.Level
	parent    []P // the caller's, during run
	widen     func(into []P, labels []uint32)

	leaves int64 // that the frontier's hubs have

	wide   []uint32  // wide vertices of the frontier
	narrow int       // links of the others that a worker takes at a time
	chunks []listing // what the chunks of the frontier hold, to make a queue of it

	taken chunks
	steps struct {
		begin, weigh, list, topDown, offerNarrow, bottomUp, forget, output, erase func(worker int)
	}
}

// worker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type worker struct {
	members     [pieceSize]uint32
	decoded     [pieceSize]uint32
	finds       []uint64 // top-down: vertex<<32 | parent; room for two pieces
	corrections corrections
	candidates  candidates // bottom-up
	hits        hits
	found       int    // vertices found in this level
	leaves      int    // leaves of those
	edges       int    // about so many edges leave them; top-down only
	touched     uint32 // nothing; reads that the compiler must not drop end here
	_           [64]byte
}

func newSearch[P parents](g *layout, t *team, m *memory, c configuration, widen func([]P, []uint32)) (*search[P], error) {
	s := &search[P]{g: g, widen: widen, team: t, rule: c.rule, serial: c.sequential}
	if rest := g.searched - g.hubs; rest > 0 {
		edges := g.lists.entries()
		for hub := range g.hubs {
			edges -= int(g.linked[hub])
		}
		s.average = edges / rest
	}
	var err error
	for _, b := range []*bitmap{&s.unvisited, &s.frontier, &s.next} {
		if *b, err = allocate[uint64](m, "bitmap", bitmapWords(g.searched)); err != nil {
			return nil, err
		}
	}
	if s.queue, err = allocate[uint32](m, "queue", g.searched); err != nil {
		return nil, err
	}
	if s.edges, err = allocate[int](m, "edges before each queued vertex", g.searched+1); err != nil {
		return nil, err
	}
	if s.chunks, err = allocate[listing](m, "chunks of the frontier", (bitmapWords(g.searched)+listGrain-1)/listGrain); err != nil {
		return nil, err
	}
	if s.wide, err = allocate[uint32](m, "wide vertices of the frontier", g.segments.wide); err != nil {
		return nil, err
	}
	s.workers = make([]worker, t.size)
	for w := range s.workers {
		mine := &s.workers[w]
		if mine.finds, err = allocate[uint64](m, "finds", 2*pieceSize); err != nil {
			return nil, err
		}
		mine.finds = mine.finds[:0]
		if err = mine.corrections.allocate(m, g.labels, len(g.original)); err != nil {
			return nil, err
		}
	}
	s.levels = make([]plugins.Level, 0, 64)
	s.steps.begin, s.steps.weigh, s.steps.list = s.beginShare, s.weigh, s.list
	s.steps.topDown, s.steps.offerNarrow = s.topDown, s.offerNarrow
	s.steps.bottomUp = s.bottomUp
	s.steps.forget, s.steps.output, s.steps.erase = s.forget, s.output, s.erase
	return s, nil
}

// run searches from root and fills parent, which has an entry for each label of the graph at least; root may be a label
// beyond. It returns the levels, or none of a search with more than mostLevels. The result is valid until the next run. It allocates nothing once s.levels has grown to the depth of the graph.
func (s *search[P]) run(ctx context.Context, root graph.Vertex, parent []P) ([]plugins.Level, error) {
	g := s.g
	s.parent, s.levels = parent, s.levels[:0]
	s.team.run(s.steps.begin)
	p := graph.Progress{Frontier: 1, Vertices: int64(g.searched), UnexploredEdges: int64(g.lists.entries())}
	queued := true // the frontier is in s.queue, else in s.frontier
	s.begin(root)
	reached := int64(0)
	for leaves := int64(0); p.Frontier+leaves > 0; { // leaves belong to the same level as the frontier
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		level := plugins.Level{Direction: p.Direction, Frontier: p.Frontier + leaves}
		leaves, s.leaves = s.leaves, 0
		p.Previous = p.Frontier
		reached += p.Frontier
		switch {
		case p.Frontier == 0: // leaves alone have nothing to expand
		case p.Direction == graph.TopDown:
			queued = s.expand(&p, queued)
		default:
			if queued {
				s.frontier.set(s.queue)
				queued = false
			}
			s.contract(&p)
		}
		level.Elapsed = time.Since(began)
		if len(s.levels) <= mostLevels {
			s.levels = append(s.levels, level)
		}
		p.Direction = s.rule.Next(p)
	}
	s.finish(root, reached)
	if len(s.levels) > mostLevels {
		s.levels = s.levels[:0]
	}
	return s.levels, nil
}

// mostLevels is how many levels a search may have of which it says something. A path has as many levels as vertices, and what is
// said of one takes more memory than a vertex.
const mostLevels = 1 << 16

// beginShare makes all vertices unvisited, and forgets the worker's corrections.
func (s *search[P]) beginShare(worker int) {
	from, to := s.team.share(worker, len(s.unvisited), 8)
	s.unvisited[from:to].fill(s.g.searched - from<<6)
	s.workers[worker].corrections.reset()
}

// begin makes root the frontier. If it is a leaf, it has been expanded already, and its hub is the frontier.
func (s *search[P]) begin(root graph.Vertex) {
	g := s.g
	s.queue, s.leaves = s.queue[:0], 0
	if int64(root) >= int64(g.labels) || g.vertex[root] == none {
		return // the frontier has no edges
	}
	v := g.vertex[root]
	if int(v) >= g.searched {
		s.levels = append(s.levels, plugins.Level{Direction: graph.TopDown, Frontier: 1})
		v = g.hubOf(v)
		s.workers[0].corrections.add(g.original[v], uint32(root))
		s.leaves = -1
	}
	s.leaves += int64(g.leavesOf(v))
	s.unvisited.remove(v)
	s.queue = append(s.queue, v)
}
