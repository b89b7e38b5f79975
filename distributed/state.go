package distributed

import (
	"context"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
)

// Rank is one rank with its part of the graph and what a search needs, except for what depends on the partition.
// bfs2d.go lists the invariants that hold between two levels.
type Rank struct {
	*Part
	// steps are those of bfs1d.go or bfs2d.go. share adds up numbers over all ranks before a step, with what these send
	// each other in any case.
	steps interface {
		share(sums []int64, l *Level)
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
	team     *team.Team // the workers of the rank
	memory   *memory.Arena
	total    int64 // adjacency entries of all ranks
	average  int64 // degree of the own vertices that are not hubs

	visited    bitmap   // [row blocks]
	discovered set      // [row blocks] by the scan of this level
	folded     set      // [row blocks] by that of the level before, which others may still read; grids of several columns
	expanded   bitmap   // [column blocks] bottom-up: frontiers of the ranks inColumn
	frontier   set      // own block
	sent       set      // own block: the frontier before, which others may still read
	clearing   bitmap   // by clearPart
	unpacked   struct { // by countPart and listPart: the members of bits, in parts, that are written to list
		bits  bitmap
		parts int
		list  []uint32
	}
	parent     []uint32 // [row blocks] label + 1, of corrected rows
	corrected  bitmap   // [row blocks] rows that this rank discovered through another column than their first one
	finder     bitmap   // [ranks inRow] own block: vertices discovered by that rank and not by this one
	union      bitmap   // [row blocks] fold=prefix: what ranks inRow have discovered in this level; otherwise nil
	hubs       bitmap   // bottom-up: those in the frontier, 32 of each rank in turn
	unsent     bitmap   // own block, and behind it the hubs of the grid column; 2D only
	sentVisits bitmap   // unsent of the exchange before, which others may still read

	outbox    [3]outbox
	toRow     [2]outbox // by foldByPrefix
	exchanges int
	receive   [][]uint32
	asked     []uint32 // by fetchPredecessors
	pairs     struct { // of vertices and parents, by findPredecessors and takePredecessors
		into, from []uint32
		base       Row
	}

	// In grids of one column.
	addressed  bool        // the frontier was sent only to the ranks concerned
	candidates []candidate // and these are the rank's own unvisited neighbors of it, some more than once
	looked     int64       // own neighbors of it, visited or not

	cuts    int      // parts of each block of a frontier that workers share out
	long    []source // top-down: vertices with long lists
	workers []worker
	tasks   tasks

	parents output // of the caller
	widen   func(into []graph.Vertex, labels []uint32)
	started time.Time
	watch   stopwatch
	record  Record
}

// tasks are the functions that the team runs. They are method values made once, because making one allocates.
type tasks struct {
	topDown, long, visitGroups, addDiscovered, bottomUp, visitExpanded, replacePart func(worker, from, to int)
	addEdges, outputRegion, correct, erase, writeReached                            func(worker, from, to int)
	clearPart, countPart, listPart                                                  func(worker, from, to int)
	update, findPredecessors, takePredecessors                                      func(worker, from, to int)
	copyAhead                                                                       func(worker int) (did, more bool)
	copyFirst                                                                       func() (more bool)
}

// newRank allocates the state of searches. It is part of kernel 1.
func newRank(p *Part, world comm.Group, c Configuration, t *team.Team, m *memory.Arena) (*Rank, error) {
	s := &Rank{
		Part: p, form: c.Form, rule: c.Rule, world: world, inColumn: world, inRow: world, self: world.Rank(),
		team: t, memory: m, widen: parents.Widen(p.Partition.Labels),
	}
	words := p.width / 32
	s.hubs = memory.Allocate[uint32](m, "bitmap", max(len(p.groupsOf(0)), 1)/32)
	s.tasks = tasks{
		visitGroups: s.visitGroupsPiece, addDiscovered: s.addDiscovered, bottomUp: s.bottomUpPiece,
		replacePart: s.replacePart, addEdges: s.addEdges, clearPart: s.clearPart,
		countPart: s.countPart, listPart: s.listPart,
		copyAhead: s.copyAhead, copyFirst: s.copyFirst, update: s.updatePart,
		findPredecessors: s.findPredecessors, takePredecessors: s.takePredecessors,
		outputRegion: s.outputRegion, correct: s.correct, erase: s.erase, writeReached: s.writeReached,
	}
	if c.OneD {
		steps := &search1D{s}
		s.steps, s.firstRow = steps, s.self*p.width
		s.tasks.topDown, s.tasks.long, s.tasks.visitExpanded = steps.topDownPiece, steps.longPiece, steps.visitExpanded
	} else {
		steps := &search2D{s}
		s.steps = steps
		for _, b := range []*bitmap{&s.unsent, &s.sentVisits} {
			*b = memory.Allocate[uint32](m, "bitmap", words+len(s.hubs)/p.grid.C)
		}
		s.inColumn, s.inRow, s.self = world.Split(p.j, p.i), world.Split(p.i, p.j), p.j
		s.tasks.topDown, s.tasks.long = steps.topDownPiece, steps.longPiece
	}
	blocks := s.inRow.Size()
	for _, b := range []*bitmap{&s.visited, &s.corrected, &s.finder} {
		*b = memory.Allocate[uint32](m, "bitmap", blocks*words)
	}
	if c.Prefix && blocks > 1 {
		s.union = memory.Allocate[uint32](m, "bitmap", blocks*words)
		for k := range s.toRow {
			s.toRow[k] = outbox{lists: make([][]uint32, 1), send: make([][]uint32, blocks)}
		}
	}
	s.expanded = memory.Allocate[uint32](m, "bitmap", p.grid.R*words)
	for _, a := range []*set{&s.discovered, &s.folded} {
		a.bits = memory.Allocate[uint32](m, "bitmap", blocks*words)
	}
	for _, a := range []*set{&s.frontier, &s.sent} {
		a.bits = memory.Allocate[uint32](m, "bitmap", words)
	}
	s.parent = memory.Allocate[uint32](m, "parents", blocks*p.width)
	size := max(blocks, s.inColumn.Size())
	s.receive = make([][]uint32, size)
	for k := range s.outbox {
		s.outbox[k] = outbox{lists: make([][]uint32, size), send: make([][]uint32, size)}
	}
	s.workers = make([]worker, t.Size())
	for k := range s.workers {
		s.workers[k].corrections = parents.NewCorrections(m, int(p.Partition.Share), p.vertices)
	}
	s.record.Levels = make([]Level, 0, 64)
	sum := [1]int64{int64(len(p.up.targets))}
	comm.Allreduce(world, sum[:])
	s.total = sum[0]
	if rest := p.degree[p.hubsPerRank():]; p.vertices > p.hubsPerRank() {
		for _, d := range rest {
			s.average += int64(d)
		}
		s.average /= int64(p.vertices - p.hubsPerRank())
	}
	return s, m.Err()
}

// Wake makes the workers of the rank ready for a search, before its clock starts.
func (s *Rank) Wake() { s.team.Wake() }

// Free ends the workers of the rank and frees its memory.
func (s *Rank) Free() {
	s.team.Stop()
	s.memory.ReleaseAll()
}

// Search is a breadth-first search. It writes the parent of the rank's label in slot k to parent[first+k*stride]: root
// for root, and graph.Unreached for vertices of other components. All ranks call it with the same root. If ctx ends on
// any rank, all return an error. The record is valid until the next search.
func (s *Rank) Search(
	ctx context.Context, root graph.Vertex, parent []graph.Vertex, first, stride int64,
) (*Record, error) {
	defer s.team.Rest()
	state := s.begin(root)
	s.beginCopying(output{parent, first, stride})
	for {
		var begun Level
		if err := s.beginLevel(ctx, &begun, &state); err != nil {
			s.endCopying()
			return nil, err
		}
		if state.Frontier == 0 {
			s.record.addReduction(begun)
			break
		}
		level := s.record.add(begun)
		if level.Direction == graph.BottomUp {
			s.steps.bottomUpStep(level)
		} else {
			s.steps.topDownStep(level)
		}
		level.Edges = s.takeEdges()
		s.watch.lap(&level.Phases[Update])
		s.record.addPhases(level)
	}
	if s.union != nil {
		s.sendPredecessors()
	} else {
		s.fetchPredecessors()
	}
	s.writeParents(root)
	return &s.record, nil
}

// begin starts the clock, clears everything and makes root the frontier of its owner.
func (s *Rank) begin(root graph.Vertex) graph.SwitchState {
	s.started = time.Now()
	s.watch.last = s.started
	s.record = Record{Levels: s.record.Levels[:0]}
	for _, b := range []bitmap{s.visited, s.corrected, s.finder, s.unsent} {
		s.clear(b)
	}
	for _, set := range []*set{&s.discovered, &s.folded, &s.frontier, &s.sent} {
		s.reset(set)
	}
	owner, slot := s.Partition.Owner(Label(root))
	if owner == s.world.Rank() && int(s.number[slot]) < s.width {
		v := s.number[slot]
		s.frontier.add(v)
		s.words(s.visited, s.self).add(v)
		if s.unsent != nil {
			s.unsent.add(v)
		}
	}
	for k := range s.workers {
		s.workers[k].corrections.Reset()
	}
	s.watch.lap(&s.record.Phases[Clear])
	return graph.SwitchState{UnexploredEdges: s.total, Vertices: int64(s.width) * int64(s.world.Size())}
}

// clear empties a bitmap.
func (s *Rank) clear(b bitmap) {
	s.clearing = b
	s.team.Pieces(len(b), clearWords, s.tasks.clearPart)
}

func (s *Rank) clearPart(_, from, to int) { clear(s.clearing[from:to]) }

// reset makes a set an empty list.
func (s *Rank) reset(a *set) {
	if !a.listed {
		s.clear(a.bits)
		a.listed = true
	}
	a.reset()
}

// beginLevel adds up the frontier over all ranks and chooses the direction of the level. If ctx has ended on any rank,
// all ranks return an error.
func (s *Rank) beginLevel(ctx context.Context, l *Level, p *graph.SwitchState) error {
	list, words := s.frontier.members()
	sums := [3]int64{int64(s.count(&s.frontier)), 0, 0}
	if s.frontier.listed || p.Direction == graph.TopDown { // the rule needs no edges after a bottom-up level
		s.team.Pieces(len(list)+len(words), degreesPiece, s.tasks.addEdges)
		sums[1] = s.takeEdges()
	}
	if ctx.Err() != nil {
		sums[2] = 1
	}
	s.steps.share(sums[:], l)
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

// addEdges adds the degrees of the frontier's vertices in its list or words from..to-1 to the edges of a worker. In
// words only those of hubs are exact, which have most of the edges; the others get the mean.
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
