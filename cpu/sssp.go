// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// The same distances without any of this: graph.CSR.ShortestPaths.
//
// Kernel 3: shortest paths from one root. The distances are the unique ones of plugins.PathFinder, bit for bit.
//
// Method: push to the hubs, pull with certificates. Nearly every vertex of a Kronecker graph gets its distance from a
// vertex of large degree, over the first entry of its list. So the search settles the hubs, and then each other vertex
// looks at its list until no other entry can matter: little more than one entry a vertex, where delta-stepping (Meyer,
// Sanders, "Δ-stepping: a parallelizable shortest path algorithm", 2003) looks at every entry in both directions.
//
//	start    Dijkstra's algorithm until the nearest vertex in the queue is a hub, at distance t0 (sssp_dijkstra.go)
//	push     label correcting in the core, the entries that can lie on a shortest path between hubs (layout.Core),
//	         until all hubs below T = t0 + Core.Reach are right (sssp_push.go)
//	pull     every other vertex looks at its list, in ascending order of bounds (layout.Weighted): first hubs, then
//	         classes of falling degree. It is final if each entry looked at has a final neighbor or a bound that is not
//	         less than its distance. One that is not notes its open entries, those with other neighbors. Distances pass
//	         over open entries until none falls (sssp_pull.go)
//	finish   what a few passes have left, in deep graphs, is pushed over whole lists, from the vertices that the last
//	         pass has changed
//	output   writes the result, and gives leaves, vertices with a single tuple, the distance over it (sssp_output.go)
//
// In a graph without hubs all vertices push over whole lists, in rounds that go through the vertices nearest to the
// root, as in the near-far method of Davidson, Baxter, Garland, Owens, "Work-efficient parallel GPU methods for
// single-source shortest paths" (IPDPS 2014).
//
// Invariants:
//
//  1. A distance is always the sum of a real path, so it is never too small. If every vertex is at most its neighbor's
//     distance plus the weight, no distance is too large either.
//  2. After start, vertices below t0 are final and have looked at their whole lists.
//  3. A vertex u that is not a hub is reached from a final vertex below t0, and then has pushed its whole list too, or
//     over an edge from a vertex at t0 or more: a path that goes on from u to v costs at least t0 plus the entry's
//     bound.
//  4. After push, hubs below T are final. Hubs that are not final are at T or more.
//  5. In pull, an entry over which a distance can fall later is open: when the vertex looked, its neighbor was not
//     final, and its bound less than the distance. So a pass over the open entries without change is the last.
//  6. A parent is written with a strictly smaller distance, in one word. So parents form a tree, also over edges of
//     weight 0, or too light to change a sum: in a cycle all distances would be equal, and each vertex would have got
//     its distance after the one before it.
//
// Bounds are rounded down by layout.Slack, because they add weights in another order than a path does.
//
// A vertex is written by one worker at a time, atomically in push. In pull a vertex belongs to one worker while others
// read it: a benign race, because its state is one aligned word and every value it has had is the sum of a real path.
// These reads and writes are in functions with go:norace, the only ones.

// The state of a vertex is one word, so a distance and its parent change together. The parent is a label, so the output
// need not look it up.
const (
	final        = 1 << 63 // the distance is right
	distanceBit0 = 32      // the distance has 31 bits: a float32 without its sign
)

func distanceOf(state uint64) float32 { return math.Float32frombits(bitsOf(state)) }

// bitsOf returns the distance as bits, which have the order of the distances.
func bitsOf(state uint64) uint32 { return uint32(state>>distanceBit0) & (1<<31 - 1) }

func stateOf(distance float32, parent uint32) uint64 {
	return uint64(math.Float32bits(distance))<<distanceBit0 | uint64(parent)
}

// paths is kernel 3 of a graph. Kernel 1 allocates everything for all searches.
type paths struct {
	g       *layout.Weighted
	core    *layout.Core // nil for a graph without hubs, and until kernel 1 has made it
	team    *team.Team
	step    pathStep // that the team is doing
	workers []pathWorker
	states  []uint64 // [Vertices+1]; the last stands for no vertex
	none    uint64   // the state of an unreached vertex
	blank   blank
	queue   radixQueue
	levels  levels

	// Of one search.
	barriers [1]plugins.Counter // steps in which workers waited for others
	ctx      context.Context
	parent   []graph.Vertex // the caller's arrays
	distance []float32
	nearest  float32 // t0
	below    float32 // T: hubs nearer than that are final after push
	touched  []uint32
	push     push
	pull     pull
}

// blank has the values of unreached vertices and labels. Copies of it are several times as fast as a loop.
type blank struct {
	states   []uint64
	parent   []graph.Vertex
	distance []float32
	numbers  []uint32 // 0, 1, 2, ...
}

// pathStep is a part of a search that workers share. It works on items from..to-1.
type pathStep func(s *paths, worker, from, to int)

// do lets the team share out 0..n-1 in pieces, without allocating.
func (s *paths) do(n, size int, step pathStep) {
	if n > size && s.team.Size() > 1 {
		s.barriers[0].Value++
	}
	s.step = step
	s.team.Do(n, size, s)
}

func (s *paths) Piece(worker, from, to int) { s.step(s, worker, from, to) }

// pathWorker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type pathWorker struct {
	entries int64 // looked at in this level
	pusher
	puller
	_ [64]byte
}

// newPaths allocates kernel 3 and makes the core. It is part of kernel 1.
func newPaths(ctx context.Context, g *layout.Weighted, t *team.Team, m *memory.Arena) (*paths, error) {
	s := &paths{
		g: g, team: t, workers: make([]pathWorker, t.Size()), none: stateOf(graph.Infinity(), layout.None),
	}
	const region = 1 << layout.RegionBits
	s.blank.states = slices.Repeat([]uint64{s.none}, region)
	s.blank.parent = slices.Repeat([]graph.Vertex{graph.Unreached}, region)
	s.blank.distance = slices.Repeat([]float32{graph.Infinity()}, region)
	s.blank.numbers = make([]uint32, region)
	for i := range s.blank.numbers {
		s.blank.numbers[i] = uint32(i)
	}
	s.levels.list = make([]plugins.Level, 0, 64)
	s.levels.phases = []plugins.Phase{{Name: "begin"}, {Name: "output"}}
	s.states = memory.Allocate[uint64](m, "states", g.Vertices+1)
	s.touched = memory.Allocate[uint32](m, "touched vertices", g.Vertices)
	s.push.frontier = memory.Allocate[uint64](m, "frontier", g.Vertices)
	s.pull.deferred.list = memory.Allocate[uint32](m, "deferred vertices", g.Vertices)
	s.pull.open.list = memory.Allocate[openEntry](m, "open entries", g.Vertices)
	for w := range s.workers {
		s.workers[w].open = make([]openEntry, 0, 2*openBuffer)
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	if g.Hubs == 0 {
		return s, nil
	}
	// The core needs the distances from the largest hub. A search without a core finds them.
	s.ctx = ctx
	s.do(len(s.states), clearPiece, (*paths).clear)
	if err := s.search(0); err != nil {
		return nil, err
	}
	s.core = layout.NewCore(t, m, g, func(v uint32) (float32, uint32) {
		if s.states[v] == s.none {
			return graph.Infinity(), v
		}
		return distanceOf(s.states[v]), g.Vertex[uint32(s.states[v])]
	})
	if s.core != nil {
		s.push.states = memory.Allocate[uint64](m, "states in the core", len(s.core.Vertices)-1)
	}
	return s, m.Err()
}

const clearPiece = 1 << 15 // states

// run searches from root, a label of the graph, and fills parent and distance, which have one entry for each label. It
// returns the levels, valid until the next run: a level is a step of the search, and its edges are the entries that the
// step looked at. The last level counts the barriers of the search.
func (s *paths) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex, distance []float32) (
	[]plugins.Level, error) {
	s.levels.start()
	s.ctx, s.parent, s.distance = ctx, parent, distance
	s.barriers[0] = plugins.Counter{Name: "barriers"}
	s.do(len(s.states), clearPiece, (*paths).clear)
	s.levels.endBegin()
	if v := s.g.Vertex[root]; v != layout.None {
		if err := s.search(v); err != nil {
			return nil, err
		}
	}
	s.levels.endSteps()
	s.do(s.g.Regions.Len(), 1, (*paths).write)
	parent[root], distance[root] = root, 0
	s.parent, s.distance = nil, nil
	levels := s.levels.end()
	if n := len(levels); n > 0 {
		levels[n-1].Counters = s.barriers[:]
	}
	return levels, nil
}

func (s *paths) clear(_, from, to int) {
	for from < to {
		from += copy(s.states[from:to], s.blank.states)
	}
}

// search finds the distances of all vertices from root.
func (s *paths) search(root uint32) error {
	s.states[root] = stateOf(0, s.g.Label[root])
	if s.g.Hubs == 0 {
		s.push.frontier = append(s.push.frontier[:0], uint64(root))
		return s.pushRounds((*paths).pushLists, s.g.Step)
	}
	s.queue.reset()
	s.queue.push(uint64(root))
	s.touched = s.touched[:0]
	hub, err := s.dijkstra()
	if !hub || err != nil {
		return err
	}
	if err := s.pushToHubs(); err != nil {
		return err
	}
	return s.pullAll()
}

// endLevel records a step that worked on a frontier.
func (s *paths) endLevel(direction graph.Direction, frontier int, entries int64) {
	for w := range s.workers {
		entries += s.workers[w].entries
		s.workers[w].entries = 0
	}
	if frontier > 0 {
		s.levels.add(plugins.Level{Direction: direction, Frontier: int64(frontier), Edges: plugins.Counted(entries)})
	}
}

// load reads a state that another worker may be writing.
func (s *paths) load(v uint32) uint64 { return atomic.LoadUint64(&s.states[v]) }
