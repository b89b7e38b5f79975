// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// search is kernel 2 of a graph; bfs.go explains it. Kernel 1 allocates everything for all searches.
type search struct {
	g       *layout.Graph
	team    *team.Team
	step    step // that the team is doing
	rule    graph.Switch
	average int // mean number of links of the vertices that are not hubs
	workers []worker
	output  *parents.Output // nil in the local order
	local   *local          // nil in other orders

	// Of one search.
	ctx       context.Context
	parent    []graph.Vertex // the caller's array
	state     graph.SwitchState
	unvisited bitmap
	frontier  frontier
	narrow    narrow
	wide      wide
	levels    levels
	leaves    int64 // in the frontier's level
	reached   int64 // vertices of all levels before it, without leaves

	templateShare int64 // a search that reaches fewer vertices writes their parents one by one, without the template
}

// step is a part of a search that workers share. It works on items from..to-1.
type step func(s *search, worker, from, to int)

// do lets the team share out 0..n-1 in pieces. It allocates nothing if step is a method expression.
func (s *search) do(n, size int, step step) {
	s.step = step
	s.team.Do(n, size, s)
}

func (s *search) Piece(worker, from, to int) { s.step(s, worker, from, to) }

// frontier is the frontier of a search that is not in local order: a queue, or a bitmap.
type frontier struct {
	counts
	queued bool     // it is queue; otherwise it is bits
	queue  []uint64 // its vertices, narrow.order[narrow.head:narrow.end]
	bits   bitmap
	next   bitmap // that a wide step discovers
}

// worker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type worker struct {
	neighbors   [pieceSize]uint32 // unvisited neighbors of a vertex
	discoveries []uint64          // top-down: vertex<<32 | parent; room for two pieces
	corrections parents.Corrections
	queue       []uint64      // narrow step: part of the next frontier
	begins      [stage]uint64 // of lists, in a narrow step
	candidates  candidates    // bottom-up
	hits        hits
	counts             // of what was discovered in this level
	entries     int    // looked at in this level
	touched     uint32 // not used; keeps the compiler from dropping the reads of Lists.Touch
	_           [64]byte
}

const (
	workerQueue = 1 << 14 // vertices that a worker collects before it adds them to order
	pieceSize   = 512     // entries of a list that a top-down step works on at a time, at most
)

// counts are numbers about a frontier, or about a worker's part of it. The choice of steps depends on them.
type counts struct {
	vertices int
	edges    int // links that leave them: exact for hubs, and the mean for other vertices
	grouped  int // vertices in the groups of its hubs
	leaves   int // of its hubs
	long     int // vertices with long lists
}

func (c *counts) addHub(g *layout.Graph, v uint32) {
	c.edges += int(g.HubLinks[v])
	c.grouped += int(g.Groups[v+1] - g.Groups[v])
	c.leaves += int(g.Leaves[v+1] - g.Leaves[v])
	c.long += int(less(uint64(v), uint64(g.Segments.Long)))
}

// addVertex adds a vertex to c, except to c.vertices.
func (s *search) addVertex(c *counts, v uint32) {
	if int(v) < s.g.Hubs {
		c.addHub(s.g, v)
	} else {
		c.edges += s.average
	}
}

// work returns about how many entries a narrow step looks at.
func (c *counts) work() int { return c.edges + c.grouped }

// count counts the vertices in word w that have been discovered.
func (s *search) count(mine *worker, w int, discovered uint64) {
	mine.vertices += bits.OnesCount64(discovered)
	hubs := discovered & wordBelow(w, s.g.Hubs)
	mine.edges += bits.OnesCount64(discovered&^hubs) * s.average
	for ; hubs != 0; hubs &= hubs - 1 {
		mine.addHub(s.g, uint32(w<<6+bits.TrailingZeros64(hubs)))
	}
}

// collect adds up what the workers counted and resets their counts.
func (s *search) collect() (sum counts, entries int) {
	for w := range s.workers {
		mine := &s.workers[w]
		sum.vertices += mine.vertices
		sum.edges += mine.edges
		sum.grouped += mine.grouped
		sum.leaves += mine.leaves
		sum.long += mine.long
		entries += mine.entries
		mine.counts, mine.entries = counts{}, 0
	}
	return sum, entries
}

// newSearch allocates a search. It is part of kernel 1.
func newSearch(g *layout.Graph, t *team.Team, m *memory.Arena, options plugins.Settings) (*search, error) {
	s := &search{
		g: g, team: t, rule: options.Switch(), workers: make([]worker, t.Size()),
		templateShare: int64(g.Searched)/8 + 1,
	}
	s.levels.list = make([]plugins.Level, 0, 64)
	s.levels.phases = []plugins.Phase{{Name: "begin"}, {Name: "output"}}
	s.narrow.limit = options.Int("sequential")
	if rest := g.Searched - g.Hubs; rest > 0 {
		links := g.Lists.Entries()
		for _, n := range g.HubLinks {
			links -= int(n)
		}
		s.average = links / rest
	}
	if g.Order == layout.Local && s.rule.First() == graph.TopDown {
		s.local = newLocal(s, m)
		return s, m.Err()
	}
	words := (g.Searched + 63) >> 6
	for _, b := range []*bitmap{&s.unvisited, &s.frontier.bits, &s.frontier.next} {
		*b = memory.Allocate[uint64](m, "bitmap", words)
	}
	s.narrow.order = memory.Allocate[uint64](m, "order of discovery", g.Searched+1)
	s.wide = wide{
		edges:  memory.Allocate[int](m, "links before each queued vertex", g.Searched+1),
		chunks: memory.Allocate[chunk](m, "chunks of the frontier", (words+chunkWords-1)/chunkWords),
		long:   memory.Allocate[uint32](m, "frontier vertices with long lists", g.Segments.Long),
	}
	corrections := make([]*parents.Corrections, len(s.workers))
	for w := range s.workers {
		x := &s.workers[w]
		x.discoveries = memory.Allocate[uint64](m, "discoveries", 2*pieceSize)[:0]
		x.queue = memory.Allocate[uint64](m, "queue of a worker", workerQueue)[:0]
		x.corrections = parents.NewCorrections(m, g.Labels, len(g.Label), int64(g.Labels))
		corrections[w] = &x.corrections
	}
	s.output = parents.NewOutput(t, parents.Labels{Low: g.Template}, int64(g.Labels), corrections)
	return s, m.Err()
}

// bitmap is a set of vertices. Bit v&63 of word v>>6 stands for vertex v.
type bitmap []uint64

func (b bitmap) has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }

func (b bitmap) remove(v uint32) { b[v>>6] &^= 1 << (v & 63) }

// fill makes the bitmap the set of all vertices below n, which has room for them and no more words.
func (b bitmap) fill(n int) {
	for w := range b {
		b[w] = wordBelow(w, n)
	}
}

// wordBelow returns word w of the bitmap of all vertices below n.
func wordBelow(w, n int) uint64 {
	if left := n - w<<6; left < 64 {
		return 1<<max(left, 0) - 1
	}
	return ^uint64(0)
}

// set makes the bitmap the set of the vertices in queue, the lower halves.
func (b bitmap) set(queue []uint64) {
	clear(b)
	for _, e := range queue {
		v := uint32(e)
		b[v>>6] |= 1 << (v & 63)
	}
}
