package distributed

import (
	"context"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
)

// Rank is one rank with its part of the graph and what a search needs, except for what depends on the partition.
// bfs2d.go lists the invariants that hold between two levels.
type Rank struct {
	*Part
	// steps are those of bfs1d.go or bfs2d.go.
	steps interface {
		topDownStep(*Level)
		bottomUpStep(*Level)
	}
	form     Form
	rule     graph.Switch
	world    comm.Group
	inColumn comm.Group // ranks that get this rank's frontier: its grid column; in 1D all
	inRow    comm.Group // ranks that own this rank's rows: its grid row; in 1D all
	self     int        // own block among the rows
	firstRow int        // of the part, among the rows of the state: 0; in 1D that of the own block

	visited    bitmap   // [row blocks]
	discovered bitmap   // [row blocks] by the scan of this level
	expanded   bitmap   // [column blocks] frontiers of the ranks inColumn
	frontier   bitmap   // own block
	parent     []uint32 // [row blocks] label + 1
	finder     bitmap   // [ranks inRow] own block: vertices discovered by that rank and not by this one
	unsent     bitmap   // own block; 2D only

	own     []uint32   // parents of the own block, and a 0 at the end for isolated vertices
	message []uint32   // of the frontier
	visits  []uint32   // message of unsent
	send    [][]uint32 // [ranks inRow]
	replies [][]uint32 // [ranks inRow]
	receive [][]uint32

	scratch scratch
	started time.Time
	watch   stopwatch
	record  Record
}

func newRank(p *Part, world comm.Group, c Configuration) *Rank {
	s := &Rank{Part: p, form: c.Form, rule: c.Rule, world: world, inColumn: world, inRow: world, self: world.Rank()}
	words := p.width / 32
	if c.OneD {
		s.steps, s.firstRow = &search1D{s}, s.self*p.width
	} else {
		s.steps, s.unsent = &search2D{s}, make(bitmap, words)
		s.inColumn, s.inRow, s.self = world.Split(p.j, p.i), world.Split(p.i, p.j), p.j
	}
	blocks := s.inRow.Size()
	s.visited, s.discovered = make(bitmap, blocks*words), make(bitmap, blocks*words)
	s.expanded, s.frontier = make(bitmap, p.grid.R*words), make(bitmap, words)
	s.parent, s.own = make([]uint32, blocks*p.width), make([]uint32, p.width+1)
	s.finder = make(bitmap, blocks*words)
	s.send, s.replies = make([][]uint32, blocks), make([][]uint32, blocks)
	s.receive = make([][]uint32, max(blocks, s.inColumn.Size()))
	s.record.Levels = make([]Level, 0, 64)
	return s
}

// Search is a breadth-first search. It writes the parent of the rank's label in slot k to parent[first+k*stride]: root
// for root, and graph.Unreached for vertices of other components. All ranks call it with the same root. If ctx ends on
// any rank, all return an error. The record is valid until the next search.
func (s *Rank) Search(
	ctx context.Context, root graph.Vertex, parent []graph.Vertex, first, stride int64,
) (*Record, error) {
	next := s.begin(root)
	for next.Frontier > 0 {
		level := s.record.beginLevel(next)
		if level.Direction == graph.BottomUp {
			s.steps.bottomUpStep(level)
		} else {
			s.steps.topDownStep(level)
		}
		if err := s.endLevel(ctx, level, &next); err != nil {
			return nil, err
		}
	}
	s.fetchPredecessors()
	return s.writeParents(root, parent, first, stride), nil
}

// bytes returns the size of the part and of the state, without messages.
func (s *Rank) bytes() int64 {
	n := len(s.visited) + len(s.discovered) + len(s.expanded) + 2*len(s.frontier) + len(s.parent) + len(s.own) +
		len(s.finder)
	n += len(s.number) + len(s.degree) + len(s.label) + len(s.nonEmpty) + len(s.first) + len(s.template) +
		len(s.up.at) + len(s.up.targets) + len(s.down.at) + len(s.down.targets)
	return 4 * int64(n)
}

// begin starts the clock, clears everything and makes root the frontier of its owner.
func (s *Rank) begin(root graph.Vertex) graph.SwitchState {
	s.started = time.Now()
	s.watch.last = s.started
	s.record = Record{Levels: s.record.Levels[:0]}
	clear(s.visited)
	clear(s.discovered)
	clear(s.frontier)
	clear(s.finder)
	copy(s.parent[s.firstRow:], s.template)
	edges := [2]int64{0, int64(len(s.up.targets))} // of root, and of all vertices
	owner, slot := s.Partition.Owner(Label(root))
	if owner == s.world.Rank() && int(s.number[slot]) < s.width {
		v := s.number[slot]
		s.frontier.add(uint32(v))
		s.words(s.visited, s.self).add(uint32(v))
		edges[0] = int64(s.degree[v])
	}
	copy(s.unsent, s.frontier)
	s.world.Allreduce(edges[:])
	s.watch.lap(&s.record.Phases[Clear])
	return graph.SwitchState{
		Frontier: 1, FrontierEdges: edges[0], UnexploredEdges: edges[1], Vertices: int64(s.width) * int64(s.world.Size()),
	}
}

// endLevel adds up the next frontier over all ranks and chooses the direction of the next level. If ctx has ended on
// any rank, all ranks return an error.
func (s *Rank) endLevel(ctx context.Context, l *Level, p *graph.SwitchState) error {
	sums := [3]int64{int64(s.frontier.count()), 0, 0}
	if l.Direction == graph.TopDown { // the rule needs no edges after a bottom-up level
		sums[1] = s.edgesOf(s.frontier)
	}
	if ctx.Err() != nil {
		sums[2] = 1
	}
	s.watch.lap(&l.Phases[Update])
	s.world.Allreduce(sums[:])
	s.watch.lap(&l.Phases[Reduce])
	for p, m := range l.Phases {
		s.record.Phases[p].add(m)
	}
	if sums[2] > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrOtherRank
	}
	p.Previous, p.Frontier = p.Frontier, sums[0]
	p.UnexploredEdges -= p.FrontierEdges
	p.FrontierEdges = sums[1]
	p.Direction = s.rule.Next(*p)
	return nil
}

// edgesOf adds up the degrees of own vertices.
func (s *Rank) edgesOf(set bitmap) (edges int64) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			edges += int64(s.degree[w<<5+bits.TrailingZeros32(word)])
		}
	}
	return edges
}

// writeParents writes the parents of the rank's labels and stops the clock: the parent of slot k goes to
// out[first+k*stride]. Visited vertices have theirs in s.parent. All others are unreached, and so are isolated
// vertices, whose number is the width of a block, the index of the 0 at the end of s.own.
func (s *Rank) writeParents(root graph.Vertex, out []graph.Vertex, first, stride int64) *Record {
	copy(s.own, s.parent[s.self*s.width:][:s.width])
	for w, word := range s.words(s.visited, s.self) {
		for word = ^word; word != 0; word &= word - 1 {
			s.own[w<<5+bits.TrailingZeros32(word)] = 0
		}
	}
	n, _, _ := s.Partition.Slots(s.world.Rank()) // 0 if there are more ranks than shares; then first is not a label
	if stride == 1 && n > 0 {
		gather(out[first:first+int64(n)], s.own, s.number)
	} else {
		for slot, v := range s.number[:n] {
			out[first+int64(slot)*stride] = graph.Vertex(s.own[v]) - 1
		}
	}
	if owner, slot := s.Partition.Owner(Label(root)); owner == s.world.Rank() {
		out[first+int64(slot)*stride] = root
	}
	s.watch.lap(&s.record.Phases[Output])
	s.record.Elapsed = s.watch.last.Sub(s.started)
	return &s.record
}

// gather sets out[k] = parent[number[k]] - 1.
func gather(out []graph.Vertex, parent []uint32, number []uint32) {
	number = number[:len(out)]
	for k, v := range number {
		out[k] = graph.Vertex(parent[v]) - 1
	}
}
