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
//   - unvisited has exactly the vertices that no level has found;
//   - the frontier is the vertices that the level before found, as a queue, a bitmap or both;
//   - parent[label] is right for every vertex found so far. It began as a copy of the template, in which every vertex
//     has its first neighbour as parent; whoever finds a vertex through another neighbour writes that one.
type search[P parents] struct {
	g      *layout
	team   *team
	rule   graph.Switch
	serial int // frontiers of at most this many edges are expanded by one worker

	parent    []P
	unvisited bitmap
	frontier  bitmap
	next      bitmap
	queue     []uint32 // frontier as a queue
	workers   []scratch
	levels    []plugins.Level

	taken chunks
	steps struct{ prepare, topDown, bottomUp, gather, finish func(worker int) }
}

// scratch is what one worker writes during a level. The padding keeps workers off each other's cache lines.
type scratch struct {
	queue []uint32
	found int // vertices found
	edges int // adjacency entries of found vertices
	_     [64]byte
}

func newSearch[P parents](g *layout, t *team, m *memory, c configuration) (*search[P], error) {
	s := &search[P]{g: g, team: t, rule: c.rule, serial: c.sequential}
	n := len(g.original)
	var err error
	for _, b := range []*bitmap{&s.unvisited, &s.frontier, &s.next} {
		if *b, err = allocate[uint64](m, "bitmap", bitmapWords(n)); err != nil {
			return nil, err
		}
	}
	if s.queue, err = allocate[uint32](m, "queue", n); err != nil {
		return nil, err
	}
	s.workers = make([]scratch, t.size)
	for w := range s.workers {
		if s.workers[w].queue, err = allocate[uint32](m, "worker's queue", n); err != nil {
			return nil, err
		}
	}
	s.levels = make([]plugins.Level, 0, 64)
	s.steps.prepare, s.steps.topDown, s.steps.bottomUp = s.prepare, s.topDown, s.bottomUp
	s.steps.gather, s.steps.finish = s.gather, s.finish
	return s, nil
}

// run searches from root and fills parent, which has an entry for each label of the graph at least; root may be a label
// beyond. The result is valid until the next run. It allocates nothing once s.levels has grown to the depth of the graph.
func (s *search[P]) run(ctx context.Context, root graph.Vertex, parent []P) ([]plugins.Level, error) {
	g := s.g
	s.parent, s.levels = parent, s.levels[:0]
	s.team.run(s.steps.prepare)
	start := none
	if int(root) < g.labels {
		start = g.vertex[root]
	}
	p := graph.Progress{Frontier: 1, Vertices: int64(len(g.original)), UnexploredEdges: int64(len(g.lists.targets))}
	queue := s.queue[:0]
	if start != none {
		s.unvisited.remove(start)
		queue = append(queue, start)
		p.FrontierEdges = int64(g.lists.degree(start))
	}
	inQueue := true
	for p.Frontier > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		began := time.Now()
		p.Previous = p.Frontier
		if p.Direction == graph.TopDown {
			if !inQueue {
				queue = s.frontier.list(queue[:0], 0, len(s.frontier))
				inQueue = true
			}
			s.queue = s.queue[:len(queue)]
			queue = s.expand(&p)
		} else {
			if inQueue {
				clear(s.frontier)
				for _, v := range queue {
					s.frontier.add(v)
				}
				inQueue = false
			}
			s.contract(&p)
		}
		s.levels = append(s.levels, plugins.Level{Direction: p.Direction, Frontier: p.Previous, Elapsed: time.Since(began)})
		p.UnexploredEdges -= p.FrontierEdges
		p.Direction = s.rule.Next(p)
	}
	s.team.run(s.steps.finish)
	if int64(root) < int64(len(parent)) {
		parent[root] = P(root)
	}
	return s.levels, nil
}
