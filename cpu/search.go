package cpu

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// search is the state of kernel 2; the header of bfs.go explains it. Everything is allocated by kernel 1 and used by
// all searches of a graph.
type search struct {
	g       *layout.Graph
	team    *team.Team
	rule    graph.Switch
	serial  int // a frontier with at most this many edges is expanded top-down by one worker
	average int // mean number of links of the vertices that are not hubs

	unvisited bitmap
	queued    bool     // the frontier is queue; otherwise it is the bitmap frontier
	queue     []uint64 // the frontier's vertices, order[head:end]
	frontier  bitmap
	next      bitmap // what a parallel step discovers
	front     counts // of the frontier
	leaves    int64  // in the frontier's level
	reached   int64  // vertices of all levels before it, without leaves
	levels    []plugins.Level
	parent    []graph.Vertex // the caller's array, during run
	workers   []worker

	// Of narrow steps.
	order []uint64        // [Searched+1] vertices in the order of their discovery: parent<<32 | vertex
	head  int             // where the frontier begins in order
	done  int             // the parents of order[:done] are in the corrections or in the template
	wide  bool            // the search has taken a wide step, and workers copy the template while they wait
	ctx   context.Context // of run
	state graph.SwitchState
	_     [64]byte
	end   atomic.Int64 // how many vertices order has
	_     [56]byte

	inLocalOrder bool // and searched top-down
	local        local

	// Of the times of levels.
	started time.Time
	timed   time.Duration   // when the last level with a time ended, after started
	phases  []plugins.Phase // outside levels: begin, output
	untimed int             // levels[untimed:] have no time yet
	waiting int64           // vertices in their frontiers

	// Of a wide top-down step.
	edges  []int    // [len(queue)+1] links of queue[:i], without those of long lists
	long   []uint32 // vertices of the frontier whose lists are long (layout.Segments)
	chunks []chunk  // of the bitmap frontier, to make a queue of it

	widen         func(into []graph.Vertex, labels []uint32)
	templateShare int64 // a search that reaches fewer vertices writes their parents one by one, without the template
	tasks         tasks
}

// tasks are the functions that the team runs. They are method values made once, because making one allocates.
type tasks struct {
	beginShare, countChunk, queueChunk, topDownBlock, topDownShort func(worker, from, to int)
	topDownPiece, correctPiece, expandPart, writeRest, eraseUnseen func(worker, from, to int)
	eraseIsolated                                                  func(worker, from, to int)
	bottomUpPiece, forget, outputRegion, erase, writeReached       func(worker, from, to int)
	copyAhead, writeAhead                                          func(worker int) (did, more bool)
}

// worker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type worker struct {
	neighbors   [pieceSize]uint32 // unvisited neighbors of a vertex
	discoveries []uint64          // top-down: vertex<<32 | parent; room for two pieces
	corrections parents.Corrections
	copied      copied
	queue       []uint64      // narrow step: part of the next frontier
	begins      [stage]uint64 // of lists, in a narrow step
	candidates  candidates    // bottom-up
	hits        hits
	counts               // of what was discovered in this level
	entries     int      // looked at in this level
	list        []uint32 // of a vertex, unpacked
	touched     uint32   // not used; keeps the compiler from dropping the reads of Lists.Touch
	_           [64]byte
}

// workerQueue is the number of vertices that a worker collects before it adds them to order.
const workerQueue = 1 << 14

// pieceSize is the largest part of a list that a top-down step works on at a time.
const pieceSize = 512

// counts are the numbers that steps are chosen by: of a frontier, or of a worker's part of it.
type counts struct {
	vertices int
	edges    int // about how many links leave them: those of hubs, and the mean for other vertices, which have few each
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

// newSearch allocates the state of kernel 2, on an arena that keeps it until the end. It is part of kernel 1.
func newSearch(g *layout.Graph, t *team.Team, m *memory.Arena, options plugins.Settings) (*search, error) {
	s := &search{
		g: g, team: t, widen: parents.Widen(int64(g.Labels)),
		rule:          options.Switch(),
		serial:        options.Int("sequential"),
		templateShare: int64(g.Searched)/8 + 1,
	}
	if rest := g.Searched - g.Hubs; rest > 0 {
		links := g.Lists.Entries()
		for _, n := range g.HubLinks {
			links -= int(n)
		}
		s.average = links / rest
	}
	s.workers = make([]worker, t.Size())
	s.levels = make([]plugins.Level, 0, 64)
	s.phases = []plugins.Phase{{Name: "begin"}, {Name: "output"}}
	s.tasks = tasks{
		beginShare: s.beginShare,
		countChunk: s.countChunk, queueChunk: s.queueChunk, topDownBlock: s.topDownBlock, topDownShort: s.topDownShort,
		topDownPiece: s.topDownPiece, correctPiece: s.correctPiece, expandPart: s.expandPart, writeRest: s.writeRest,
		eraseUnseen: s.eraseUnseen, eraseIsolated: s.eraseIsolated, writeAhead: s.writeAhead,
		bottomUpPiece: s.bottomUpPiece, forget: s.forget, outputRegion: s.outputRegion, erase: s.erase,
		writeReached: s.writeReached, copyAhead: s.copyAhead,
	}
	s.inLocalOrder = g.Order == layout.Local && s.rule.First() == graph.TopDown
	if s.inLocalOrder {
		s.prepareLocal(m)
		return s, m.Err()
	}
	words := bitmapWords(g.Searched)
	for _, b := range []*bitmap{&s.unvisited, &s.frontier, &s.next} {
		*b = memory.Allocate[uint64](m, "bitmap", words)
	}
	s.order = memory.Allocate[uint64](m, "order of discovery", g.Searched+1)
	s.edges = memory.Allocate[int](m, "links before each queued vertex", g.Searched+1)
	s.chunks = memory.Allocate[chunk](m, "chunks of the frontier", (words+chunkWords-1)/chunkWords)
	s.long = memory.Allocate[uint32](m, "frontier vertices with long lists", g.Segments.Long)
	for w := range s.workers {
		s.workers[w].discoveries = memory.Allocate[uint64](m, "discoveries", 2*pieceSize)[:0]
		s.workers[w].queue = memory.Allocate[uint64](m, "queue of a worker", workerQueue)[:0]
		s.workers[w].corrections = parents.NewCorrections(m, g.Labels, len(g.Label))
	}
	return s, m.Err()
}
