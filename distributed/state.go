// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/plugins"
)

// Rank is one rank with its part of the graph and its search. bfs2d.go lists the invariants between two levels.
type Rank struct {
	*Part
	world comm.Group
	// steps are those of bfs1d.go or bfs2d.go. share adds up numbers over all ranks before a step, in the same exchange
	// as the frontier where a step begins with one.
	steps interface {
		share(sums []int64, p *graph.SwitchState, l *Level)
		topDownStep(*Level)
		bottomUpStep(*Level)
	}
	memory  *memory.Arena
	step    step
	workers []worker
	rule
	neighborhood
	form Form
	packer

	visited bitmap // [row blocks]
	frontiers
	discoveries
	prefix
	visits
	scan
	asked  []uint32 // vertices whose predecessors another rank has
	output *parents.Output
	paths  *paths // kernel 3; nil: kernel 1 was not asked for it
	recorder
}

// rule chooses the direction of a level.
type rule struct {
	graph.Switch
	total   int64 // adjacency entries of all ranks
	average int64 // degree of the own vertices that are not hubs
	hasHubs bool  // a vertex has a degree above fewEdges
}

// neighborhood is the rank's place among those it exchanges with.
type neighborhood struct {
	inColumn *peers // ranks that get this rank's frontier: its grid column; in 1D all
	inRow    *peers // ranks that own this rank's rows: its grid row; in 1D all
	self     int    // own block among the rows
	firstRow int    // of the part, among the rows of the state: 0; in 1D that of the own block
}

// frontiers are the rank's own frontier and the received ones.
type frontiers struct {
	frontier set    // own block
	sent     set    // own block: the previous frontier, which other ranks may be reading
	expanded bitmap // [column blocks] bottom-up: frontiers of the ranks inColumn
	hubs     bitmap // those in the frontier, 32 of each rank in turn

	// In grids of one column.
	addressed  bool        // the frontier was sent only to the ranks concerned
	candidates []candidate // and these are the rank's own unvisited neighbors of it, some more than once
	looked     int64       // own neighbors of it, visited or not
}

// discoveries are the rows that a rank has discovered, and their parents.
type discoveries struct {
	discovered set      // [row blocks] by the scan of this level
	folded     set      // [row blocks] by the previous scan, which other ranks may be reading; grids of several columns
	parent     []uint32 // [row blocks] Column, of corrected rows
	corrected  bitmap   // [row blocks] rows that this rank discovered through another column than their first one
	finder     bitmap   // [ranks inRow] own block: vertices discovered by that rank and not by this one
}

// newRank allocates a search. It is part of kernel 1.
func (b *builder) newRank(world comm.Group) (*Rank, error) {
	p, m := b.Part, b.memory
	s := &Rank{
		Part: p, world: world, rule: rule{Switch: b.Rule}, form: b.Form, memory: m, workers: make([]worker, b.team.Size()),
		packer: packer{team: b.team, members: make([]int, b.team.Size())}, scan: scan{blocks: make([]block, 0, p.grid.R)},
	}
	words := p.width / 32
	allocate := func(n int) bitmap { // with all pages present, so that the first searches have no page faults
		words := bitmap(b.allocate("state", n))
		b.team.Do(len(words), clearWords, words)
		return words
	}
	s.hubs = allocate(max(len(p.groupsOf(0)), 1) / 32)
	s.inColumn = newPeers(world)
	if b.OneD {
		s.steps, s.self, s.firstRow, s.inRow = &search1D{s}, world.Rank(), world.Rank()*p.width, s.inColumn
	} else {
		s.steps, s.self = &search2D{s}, p.j
		s.inRow = newPeers(world.Split(p.i, p.j))
		if p.grid.C > 1 {
			s.inColumn = newPeers(world.Split(p.j, p.i))
		}
		s.unsent, s.sentVisits = allocate(words+len(s.hubs)/p.grid.C), allocate(words+len(s.hubs)/p.grid.C)
	}
	rows := s.inRow.Size() * words
	if b.Prefix && s.inRow.Size() > 1 {
		s.union, s.before, s.passed = allocate(rows), allocate(rows), [2]bitmap{allocate(rows), allocate(rows)}
		s.across = newPeers(world)
	}
	s.visited, s.corrected, s.finder = allocate(rows), allocate(rows), allocate(rows)
	s.discovered.bits, s.folded.bits = allocate(rows), allocate(rows)
	s.frontier.bits, s.sent.bits, s.expanded = allocate(words), allocate(words), allocate(p.grid.R*words)
	s.parent = allocate(32 * rows)
	corrections := make([]*parents.Corrections, len(s.workers))
	for k := range s.workers {
		s.workers[k].corrections = parents.NewCorrections(m, int(p.Partition.Share), p.vertices, p.Partition.Labels)
		corrections[k] = &s.workers[k].corrections
	}
	slots, _, _ := p.Partition.Slots(world.Rank())
	s.output = parents.NewOutput(b.team, p.template.Part(0, slots), p.Partition.Labels, corrections)
	s.record.Levels = make([]Level, 0, 64)
	sum, minimum := []int64{int64(len(p.up.targets))}, []int64{0}
	if p.vertices > 0 {
		minimum[0] = -int64(p.degree[0]) // the largest one comes first
	}
	world.Alltoallv(nil, nil, sum, minimum)
	s.total, s.hasHubs = sum[0], -minimum[0] > fewEdges
	for _, d := range p.degree[p.hubsPerRank():] {
		s.average += int64(d)
	}
	s.average /= int64(max(p.vertices-p.hubsPerRank(), 1))
	return s, m.Err()
}

// Wake makes the workers of the rank ready for a search, before its clock starts. Free ends them and frees the memory.
func (s *Rank) Wake() { s.team.Wake() }
func (s *Rank) Free() {
	s.team.Stop()
	s.memory.ReleaseAll()
}

// Search is a breadth-first search or, if out has distances, kernel 3. It writes the parent of the rank's label in slot
// k to element first+k*stride, or graph.Unreached, and its distance. All ranks call it with the same root. If ctx ends
// on any rank, all return an error. The record is valid until the next search.
func (s *Rank) Search(ctx context.Context, root graph.Vertex, out plugins.Output, first, stride int64) (
	*Record, error) {
	defer s.team.Rest()
	if out.Distance != nil {
		return s.shortestPaths(ctx, root, out, first, stride)
	}
	state := s.begin(root)
	s.beginOutput(out.Parent, first, stride)
	for {
		level := &Level{}
		if err := s.beginLevel(ctx, level, &state); err != nil {
			s.endIdle()
			return nil, err
		}
		if state.Frontier == 0 {
			s.record.addReduction(level)
			break
		}
		if level.Direction == graph.BottomUp {
			s.steps.bottomUpStep(level)
		} else {
			s.steps.topDownStep(level)
		}
		level.Edges = s.takeEdges()
		s.watch.lap(&level.Phases[Update])
		s.record.add(level)
	}
	m := &s.record.Phases[Predecessors]
	if s.union != nil {
		s.sendPredecessors(m)
	} else if s.inRow.Size() > 1 {
		s.fetchPredecessors(m)
	}
	s.watch.lap(m)
	s.writeParents(root)
	return &s.record, nil
}

// begin starts the clock, clears everything and makes root the frontier of its owner.
func (s *Rank) begin(root graph.Vertex) graph.SwitchState {
	now := time.Now()
	s.watch = stopwatch{now, now}
	s.record = Record{Levels: s.record.Levels[:0]}
	for _, b := range []*bitmap{&s.visited, &s.corrected, &s.finder, &s.unsent, &s.union} {
		s.clear(b)
	}
	for _, set := range []*set{&s.discovered, &s.folded, &s.frontier, &s.sent} {
		s.reset(set)
	}
	owner, slot := s.Partition.Owner(root)
	if v, ok := s.local(slot); ok && owner == s.world.Rank() {
		s.frontier.add(v)
		s.words(s.visited, s.self).add(v)
		if s.unsent != nil {
			s.unsent.add(v)
		}
		if s.union != nil {
			s.words(s.union, s.self).add(v)
		}
	}
	s.watch.lap(&s.record.Phases[Clear])
	return graph.SwitchState{UnexploredEdges: s.total, Vertices: int64(s.width) * int64(s.world.Size())}
}

// reduce replaces sums and minima by those of all ranks.
func (s *Rank) reduce(sums, minima []int64, m *Measure) {
	m.sent(s.world.Alltoallv(nil, nil, sums, minima))
	s.watch.lap(m)
}

func (s *Rank) clear(b *bitmap) { s.team.Do(len(*b), clearWords, b) }

func (s *Rank) reset(a *set) {
	if !a.listed {
		s.clear(&a.bits)
	}
	a.listed, a.list, a.counted = true, a.list[:0], 0
}

// beginLevel adds up the frontier over all ranks and chooses the direction of the level. All ranks return an error if
// ctx has ended on any.
func (s *Rank) beginLevel(ctx context.Context, l *Level, p *graph.SwitchState) error {
	list, words := s.frontier.members()
	sums := [3]int64{int64(s.count(&s.frontier)), 0, 0}
	if s.frontier.listed || p.Direction == graph.TopDown { // the rule needs no edges after a bottom-up level
		s.do(len(list)+len(words), degreesPiece, (*Rank).addEdges)
		sums[1] = s.takeEdges()
	}
	if ctx.Err() != nil {
		sums[2] = 1
	}
	s.steps.share(sums[:], p, l)
	if sums[2] > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		return ErrOtherRank
	}
	p.UnexploredEdges -= p.FrontierEdges
	p.Previous, p.Frontier, p.FrontierEdges = p.Frontier, sums[0], sums[1]
	if p.Previous == 0 { // the root, which has no number if it is isolated
		p.Frontier, p.Direction = 1, s.rule.First()
	} else {
		p.Direction = s.rule.Next(*p)
	}
	l.Frontier, l.Direction = p.Frontier, p.Direction
	return nil
}

// addEdges adds the degrees in the frontier's list or words from..to-1 to the edges of a worker. In words only degrees
// of hubs are exact, which have most of the edges; other vertices count with the mean.
func (s *Rank) addEdges(worker, from, to int) {
	x := &s.workers[worker]
	if s.frontier.listed {
		for _, v := range s.frontier.list[from:to] {
			x.edges += int64(s.degree[v])
		}
		return
	}
	for w := from; w < to; w++ {
		word := s.frontier.bits[w]
		if w >= s.hubsPerRank()>>5 {
			x.edges += int64(bits.OnesCount32(word)) * s.average
			continue
		}
		for ; word != 0; word &= word - 1 {
			x.edges += int64(s.degree[w<<5+bits.TrailingZeros32(word)])
		}
	}
}
