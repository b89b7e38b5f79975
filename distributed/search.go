package distributed

import (
	"context"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/graph"
)

// search is kernel 2 on one rank: a direction-optimising breadth-first search (Beamer, Asanović, Patterson, SC 2012; in
// two dimensions: Beamer, Buluç, Asanović, Patterson, "Distributed Memory Breadth-First Search Revisited", MTAAP 2013).
// The two cuts differ in a level alone (bfs1d.go, bfs2d.go); what surrounds the levels is here.
//
// What holds between two levels, on every rank:
//   - of its own vertices, seen has exactly those that have been found;
//   - of other ranks' vertices, seen has some of those that have been found: those that this rank has sent, or has heard
//     of. So a vertex is sent to its owner at most once by each rank (Bisson et al., section 3.4);
//   - frontier has its own vertices that the last level found;
//   - above[v] of a row v that this rank found itself is a parent's label + 1;
//   - block m of finder has its own vertices that rank m of the fold found, and this rank did not. Only m knows their parents,
//     until they are fetched at the end (late predecessors), unless they are sent along (early).
type search struct {
	*part
	world Comm
	reach Comm // those a frontier is expanded to: the grid column, or everybody
	folds Comm // those who own what is found: the grid row, or everybody
	self  int  // own block among the rows
	cut   cut
	form  Form
	early bool
	rule  graph.Switch

	seen     bitmap   // [row blocks]
	fresh    bitmap   // [row blocks] found by this level's scan
	front    bitmap   // [column blocks] the expanded frontier
	frontier bitmap   // own block
	unshared bitmap   // own block: found, and not yet told to the grid row (2D)
	above    []uint32 // [row blocks]
	parents  []uint32 // own block, and a 0 behind it; for the output
	finder   bitmap   // [size of folds blocks]

	message []uint32   // of expand
	shared  []uint32   // of share
	send    [][]uint32 // of fold, by receiver
	receive [][]uint32 // of any call
	replies [][]uint32

	scratch scratch
	watch   stopwatch
	record  SearchRecord
}

// cut is what the partition makes of a level: it turns the frontier into what the scan found, with its messages, and
// leaves the next frontier.
type cut interface {
	topDown(l *LevelRecord)
	bottomUp(l *LevelRecord)
}

func newSearch(p *part, world Comm, c Configuration) *search {
	s := &search{part: p, world: world, form: c.Form, early: c.Early, rule: c.Rule}
	rowBlocks, columnBlocks := p.grid.C, p.grid.R
	if c.OneD {
		s.reach, s.folds, s.self = world, world, world.Rank()
		s.cut = &oneD{s}
		rowBlocks = world.Size()
	} else {
		s.reach, s.folds, s.self = world.Split(p.j, p.i), world.Split(p.i, p.j), p.j
		s.cut = &twoD{s}
		s.unshared = make(bitmap, p.width/32)
	}
	words := p.width / 32
	s.seen, s.fresh = make(bitmap, rowBlocks*words), make(bitmap, rowBlocks*words)
	s.front, s.frontier = make(bitmap, columnBlocks*words), make(bitmap, words)
	s.above, s.parents = make([]uint32, rowBlocks*p.width), make([]uint32, p.width+1)
	s.message = make([]uint32, 0, s.form.room(words, false))
	s.send = make([][]uint32, s.folds.Size())
	s.finder = make(bitmap, s.folds.Size()*words)
	s.replies = make([][]uint32, s.folds.Size())
	for m := range s.send {
		if len(s.send) <= mostPrepared && m != s.self {
			s.send[m] = make([]uint32, 0, s.form.room(words, s.early))
			s.replies[m] = make([]uint32, 0, p.width)
		}
	}
	s.receive = make([][]uint32, max(s.folds.Size(), s.reach.Size()))
	s.record.Levels = make([]LevelRecord, 0, 64)
	return s
}

// mostPrepared is up to how many receivers have the room that their longest message takes from the beginning; with more,
// messages are short, and make room when they come.
const mostPrepared = 64

// bytes is what the search takes beside the part of the graph, messages left out.
func (s *search) bytes() int64 {
	n := len(s.seen) + len(s.fresh) + len(s.front) + 2*len(s.frontier) + len(s.above) + len(s.parents) + len(s.finder)
	return 4 * int64(n)
}

// run searches from root, and writes the parents of the labels that the rank owns: of slot k to parent[first+k*stride].
// All ranks call it with the same root. When ctx ends on any rank, all return an error. The record is valid until the
// next run.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex, first, stride int64) (*SearchRecord, error) {
	start := time.Now()
	s.watch.last = start
	r := &s.record
	r.Levels, r.Deeper, r.Beside = r.Levels[:0], LevelRecord{}, [phases - levelPhases]Measure{}
	s.clear()
	own, here := s.begin(root)
	edges := [2]int64{0, int64(len(s.up.targets))} // of root, and of all vertices
	if here {
		edges[0] = int64(s.degree[own])
	}
	s.world.Allreduce(Sum, edges[:])
	s.watch.lap(&r.Beside[Clear-levelPhases])
	p := graph.Progress{Frontier: 1, FrontierEdges: edges[0], UnexploredEdges: edges[1], Vertices: int64(s.width) * int64(s.world.Size())}
	for p.Frontier > 0 {
		l := r.next()
		l.BottomUp, l.Frontier = p.Direction == graph.BottomUp, p.Frontier
		if l.BottomUp {
			s.cut.bottomUp(l)
		} else {
			s.cut.topDown(l)
		}
		found := [3]int64{int64(s.frontier.count()), 0, 0}
		if !l.BottomUp {
			found[1] = s.edgesOf(s.frontier)
		}
		if ctx.Err() != nil {
			found[2] = 1
		}
		s.watch.lap(&l.Phases[Update])
		s.world.Allreduce(Sum, found[:])
		s.watch.lap(&l.Phases[Reduce])
		if found[2] > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, errElsewhere
		}
		p.Previous, p.Frontier = p.Frontier, found[0]
		p.UnexploredEdges -= p.FrontierEdges
		p.FrontierEdges = found[1]
		p.Direction = s.rule.Next(p)
	}
	s.fetchPredecessors(&r.Beside[Predecessors-levelPhases])
	s.watch.lap(&r.Beside[Predecessors-levelPhases])
	s.output(root, parent, first, stride)
	s.watch.lap(&r.Beside[Output-levelPhases])
	r.Elapsed = s.watch.last.Sub(start)
	return r, nil
}

func (s *search) clear() {
	clear(s.seen)
	clear(s.fresh)
	clear(s.frontier)
	clear(s.unshared)
	clear(s.finder)
	copy(s.above[s.ownRows():], s.template)
}

// ownRows is where the rows of the part begin among the rows of the search: in one dimension the part has the rank's own
// rows only, and the search has those of all.
func (s *search) ownRows() int {
	if len(s.above) == s.rows {
		return 0
	}
	return s.self * s.width
}

// begin makes root the frontier, on the rank that owns it; it says whether that is this rank, and the root's number.
func (s *search) begin(root graph.Vertex) (own Own, here bool) {
	if int64(root) >= s.partition.Labels {
		return 0, false
	}
	owner, slot := s.partition.Owner(Label(root))
	if owner != s.world.Rank() || int(s.number[slot]) == s.width {
		return 0, false
	}
	own = s.number[slot]
	s.frontier[own>>5] |= 1 << (own & 31)
	s.block(s.seen, s.self)[own>>5] |= 1 << (own & 31)
	if s.unshared != nil {
		s.unshared[own>>5] |= 1 << (own & 31)
	}
	return own, true
}

// columnOf is the column of a vertex of a block.
func (p *part) columnOf(block int, own Own) Column { return Column(block*p.width) + Column(own) }

// block is the words of one block of a bitmap.
func (s *search) block(b bitmap, k int) bitmap {
	words := s.width / 32
	return b[k*words : (k+1)*words]
}

// edgesOf adds up the degrees of own vertices.
func (s *search) edgesOf(set bitmap) (edges int64) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			edges += int64(s.degree[w<<5+bits.TrailingZeros32(word)])
		}
	}
	return edges
}

// output writes the parents of the labels that the rank owns. Every vertex that was found has its parent in above, every
// other one is unreached, and so is an isolated one, whose number is the width of a block: the entry behind the last
// vertex.
func (s *search) output(root graph.Vertex, parent []graph.Vertex, first, stride int64) {
	copy(s.parents, s.above[s.self*s.width:][:s.width])
	for w, word := range s.block(s.seen, s.self) {
		for word = ^word; word != 0; word &= word - 1 {
			s.parents[w<<5+bits.TrailingZeros32(word)] = 0
		}
	}
	n, _, _ := s.partition.Slots(s.world.Rank())
	if n == 0 {
		return // and first is no label: there are fewer shares than ranks
	}
	if stride == 1 {
		gather(parent[first:first+int64(n)], s.parents, s.number)
	} else {
		for slot, own := range s.number[:n] {
			parent[first+int64(slot)*stride] = graph.Vertex(s.parents[own]) - 1
		}
	}
	if int64(root) < s.partition.Labels {
		if owner, slot := s.partition.Owner(Label(root)); owner == s.world.Rank() {
			parent[first+int64(slot)*stride] = root
		}
	}
}

// gather writes parents[number[k]] - 1 to parent[k].
func gather(parent []graph.Vertex, parents []uint32, number []Own) {
	number = number[:len(parent)]
	for k, own := range number {
		parent[k] = graph.Vertex(parents[own]) - 1
	}
}
