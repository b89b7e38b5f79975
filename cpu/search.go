package cpu

import (
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
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
	queue     []uint32 // vertices
	frontier  bitmap
	next      bitmap // what a parallel step discovers
	leaves    int64  // of the frontier's hubs; they are discovered together with next
	levels    []plugins.Level
	parent    []graph.Vertex // the caller's array, during run
	workers   []worker

	// Of a top-down step.
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
	bottomUpPiece, forget, outputRegion, erase, writeReached       func(worker, from, to int)
}

// worker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type worker struct {
	neighbours  [pieceSize]uint32 // unvisited neighbours of a vertex
	discoveries []uint64          // top-down: vertex<<32 | parent; room for two pieces
	corrections corrections
	candidates  candidates // bottom-up
	hits        hits
	vertices    int    // discovered in this level
	leaves      int    // of those that are hubs
	edges       int    // about how many edges leave them
	touched     uint32 // not used; keeps the compiler from dropping the reads of Lists.Touch
	_           [64]byte
}

// pieceSize is the largest part of a list that a top-down step works on at a time.
const pieceSize = 512

// count counts the vertices in word w that have been discovered, and estimates how many edges leave them, which decides
// the direction of the next step: it adds up the links of hubs, and takes the mean for the other vertices, which are
// many and have few each.
func (s *search) count(mine *worker, w int, discovered uint64) {
	mine.vertices += bits.OnesCount64(discovered)
	hubs := discovered & wordBelow(w, s.g.Hubs)
	mine.edges += bits.OnesCount64(discovered&^hubs) * s.average
	for ; hubs != 0; hubs &= hubs - 1 {
		v := uint32(w<<6 + bits.TrailingZeros64(hubs))
		mine.edges += int(s.g.HubLinks[v])
		mine.leaves += int(s.g.Leaves[v+1] - s.g.Leaves[v])
	}
}

// collect adds up what the workers discovered and resets their counters. The number of leaves goes to s.leaves.
func (s *search) collect() (vertices, edges int64) {
	for w := range s.workers {
		mine := &s.workers[w]
		vertices += int64(mine.vertices)
		edges += int64(mine.edges)
		s.leaves += int64(mine.leaves)
		mine.vertices, mine.edges, mine.leaves = 0, 0, 0
	}
	return vertices, edges
}

// newSearch allocates the state of kernel 2, on an arena that keeps it until the end. It is part of kernel 1.
func newSearch(g *layout.Graph, t *team.Team, m *memory.Arena, options plugins.Settings) (*search, error) {
	s := &search{
		g: g, team: t, widen: widen32,
		rule:          options.Switch(),
		serial:        options.Int("sequential"),
		templateShare: int64(g.Searched)/8 + 1,
	}
	if g.Labels <= 1<<31 {
		s.widen = widen31
	}
	if rest := g.Searched - g.Hubs; rest > 0 {
		links := g.Lists.Entries()
		for _, n := range g.HubLinks {
			links -= int(n)
		}
		s.average = links / rest
	}
	words := bitmapWords(g.Searched)
	for _, b := range []*bitmap{&s.unvisited, &s.frontier, &s.next} {
		*b = memory.Allocate[uint64](m, "bitmap", words)
	}
	s.queue = memory.Allocate[uint32](m, "queue", g.Searched)
	s.edges = memory.Allocate[int](m, "links before each queued vertex", g.Searched+1)
	s.chunks = memory.Allocate[chunk](m, "chunks of the frontier", (words+chunkWords-1)/chunkWords)
	s.long = memory.Allocate[uint32](m, "frontier vertices with long lists", g.Segments.Long)
	s.workers = make([]worker, t.Size())
	for w := range s.workers {
		s.workers[w].discoveries = memory.Allocate[uint64](m, "discoveries", 2*pieceSize)[:0]
		s.workers[w].corrections = newCorrections(m, g.Labels, len(g.Label))
	}
	s.levels = make([]plugins.Level, 0, 64)
	s.tasks = tasks{
		beginShare: s.beginShare,
		countChunk: s.countChunk, queueChunk: s.queueChunk, topDownBlock: s.topDownBlock, topDownShort: s.topDownShort,
		bottomUpPiece: s.bottomUpPiece, forget: s.forget, outputRegion: s.outputRegion, erase: s.erase,
		writeReached: s.writeReached,
	}
	return s, m.Err()
}
