// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/plugins"
)

// The same distances without any of this: graph.CSR.ShortestPaths.
//
// Kernel 3: shortest paths from one root, in one and in two dimensions. The distances are the unique ones of
// plugins.PathFinder, bit for bit.
//
// Method: the rounds of push are delta-stepping on ranks (Chakaravarthy, Checconi, Petrini, Sabharwal, "Scalable single
// source shortest path algorithms for massively parallel systems", IPDPS 2014), whose long phases pull; here nearly all
// vertices pull, with the bounds and certificates of the engine cpu (cpu/sssp.go).
//
//	start   push whole lists until no vertex is queued that is nearer than the nearest hub, which is at distance t0
//	push    push the entries that can lie on a shortest path to a hub below T = t0 + reach, until all of these hubs are
//	        right
//	pull    every other vertex looks at its list in ascending order of bounds while they are less than its distance,
//	        in classes of falling degree. It is final if each neighbor looked at is final, or no path over it can be
//	        shorter. Ranks send the distances of a class, and vertices that are not final look again with the next one.
//	        Those that are still not final note their open entries, those with neighbors that are not final. Distances
//	        pass over open entries, and ranks send those that change, until nothing changes
//	finish  what a few passes have left, in deep graphs, is pushed over whole lists
//	leaves  vertices with a single tuple take the distance over it
//
// A round of push goes through the vertices that are at most some width further than the nearest one (sssp_push.go).
// Exchanges:
//
//	        one dimension                            two dimensions
//	push    offers to the owners of the neighbors    frontier down the grid column, offers along the grid row
//	pull    new distances to all ranks               offers along the grid row, new distances along both
//
// In one dimension a rank has the lists of its vertices, which lead to and from all others, so that both partitions are
// the same here. There, ranks of one process have one array known: each writes its block while no other reads that, and
// others read it once it has been sent. In two dimensions each rank of a grid row looks at its part of a list, and the
// owner combines them.
//
// Invariants:
//
//  1. A distance is always the sum of a real path, so it is never too small. known has distances that the vertex has
//     had, and rows those that this rank has offered to its owner, too, so they are not too small either.
//  2. After start, vertices below t0 are final and have pushed their whole lists. Of the vertices reached from them,
//     those that are not hubs push whole lists, too. Any other path to v over u is at least t0 plus the entry's bound.
//  3. After push, hubs below T are final. Hubs that are not final are at T or more.
//  4. An entry over which a distance can fall later is open: when the vertex looked, its neighbor was not final, and
//     its bound less than the distance. All that a pass reads was sent before it, so a pass without change is the last.
//  5. A parent is written with a strictly smaller distance, in one word, and a distance is read after it was written.
//     So parents form a tree, also over edges of weight 0, or too light to change a sum: in a cycle all distances would
//     be equal, and each vertex would have got its distance after the one before it.

// The state of an own vertex is one word, so that a distance and its parent change together.
const (
	distanceBit0 = 32 // the distance as in known; below it the parent's name
	certain      = final << distanceBit0

	// The distance of a vertex in known or a message is a float32 in bits, which have the order of the numbers.
	final    = 1 << 31 // it is right
	infinity = 0x7f800000
)

func distanceOf(state uint64) uint32 { return uint32(state>>distanceBit0) &^ final }

// paths is kernel 3 on one rank.
type paths struct {
	*Rank
	pathGraph
	distances
	pathPeers
	workers []pathWorker
	task    pathStep
	ctx     context.Context
	level   Level // this round
	count   int64 // own part of its frontier
	ballot
	hub   uint32   // least distance of a hub and, when there is one, of the landmark
	queue []uint32 // pairs of an own vertex and a distance that it has got
	block frontierBlock
	pushing
	pulling
}

// distances are those of a search, as far as this rank knows them.
type distances struct {
	state []uint64 // [width+1] of each Local, and of isolated labels
	known []uint32 // [Column] that their owners have sent
	rows  []uint32 // [Row] as in known; in one dimension its own block
}

// pathPeers are groups of ranks, and where this rank is in them.
type pathPeers struct {
	owners    *peers // of the neighbors in down: the grid row; in one dimension all
	own       int    // in owners
	ownColumn int    // first column of the own block
	ownRow    int    // first row of the own block
	landmark  uint32 // column of the largest hub; maxUint32 if it is none here
	shared    bool   // known is one array of all ranks; each writes its block
}

// pathStep is a part of a search that workers share out. It does from..to-1.
type pathStep func(p *paths, worker, from, to int)

func (p *paths) do(n, piece int, step pathStep) {
	p.task = step
	p.team.Do(n, piece, p)
}

func (p *paths) Piece(worker, from, to int) { p.task(p, worker, from, to) }

// pathWorker is what one worker writes during a search. The padding keeps workers off each other's cache lines.
type pathWorker struct {
	entries int64       // looked at
	looked  int         // own vertices that have looked
	open    []openEntry // of rows that have looked
	list    []uint32    // the next queue, or rows that look again
	pairs   []uint32    // a vertex and its distance each: to push, or changed
	offers  []offer     // of a batch
	touched uint64      // not used; keeps the compiler from dropping reads
	out     [][]uint32  // [owner] offers: a vertex, a distance and the parent's name each
	doubts  [][]uint32  // [owner] vertices whose distance may be wrong
	nearest uint32      // least distance in list, sent, or that has changed
	hub     uint32      // least distance of a hub
	words   [batch]uint32
	rest    [batch]uint32 // rows to which more than their first entry matters
	_       [64]byte
}

const offerWords = 3

// makePaths allocates kernel 3 of a rank, and finds the reach of the hubs.
func (b *weigher) makePaths(s *Rank) error {
	p := &paths{Rank: s, pathGraph: b.pathGraph, pathPeers: pathPeers{landmark: maxUint32}}
	p.workers = make([]pathWorker, b.team.Size())
	p.ownColumn, p.ownRow = b.i*b.width, b.j*b.width
	p.state = memory.Allocate[uint64](b.memory, "states", b.width+1)
	if b.grid.C == 1 {
		p.shared, p.known = s.inColumn.Shares(), b.common("distances", b.columns)
		p.down, p.owners, p.own = p.up, s.inColumn, b.i
	} else {
		p.known, p.rows = b.allocate("distances", b.columns), b.allocate("distances", b.rows)
		p.owners, p.own = s.inRow, b.j
	}
	if err := b.agree(b.memory.Err()); err != nil {
		return err
	}
	if !b.column.Shares() || b.column.Rank() == 0 { // no rank reads relay weights any more
		memory.Release(b.memory, &b.relays)
	}
	if b.grid.C == 1 {
		p.rows = cut(p.known, b.i, b.grid.R)
	}
	for k := range p.workers {
		p.workers[k].out, p.workers[k].doubts = make([][]uint32, p.owners.Size()), make([][]uint32, p.owners.Size())
	}
	for c := range numClasses {
		for m := range p.grid.C {
			borders := p.borders[b.grid.Rank(b.i, m)]
			for v := m*p.width + int(borders[c]); v < m*p.width+int(borders[c+1]); v++ {
				if m == b.j || p.up.at[v] < p.up.at[v+1] {
					p.listed = append(p.listed, uint32(v))
				}
			}
		}
		p.starts[c+1] = len(p.listed)
		for _, borders := range p.borders {
			p.sizes[c] += int64(borders[c+1] - borders[c])
		}
	}
	samples := p.up.entries[:min(len(p.up.entries), 1<<16)]
	weights, degrees := 0.0, 0.0
	for _, entry := range samples {
		_, w := splitEntry(entry)
		weights += float64(w)
	}
	for _, d := range b.degree {
		degrees += float64(d)
	}
	p.farther = float32(8 * weights / float64(max(len(samples), 1)) * float64(b.vertices) / max(degrees, 1))
	if s.paths = p; b.memory.Err() != nil {
		return b.memory.Err()
	}
	return p.findReach(b.ctx)
}

// findReach searches from the largest hub, the landmark, and sets the reach to 1.2 times the distance within which 99 %
// of the hubs are. A longer one lets more vertices push more entries, and a shorter one leaves more hubs to pull.
func (p *paths) findReach(ctx context.Context) error {
	const share, radii = 99, 1.2
	degree, ownHubs := uint32(0), p.hubsOf(p.world.Rank())
	if ownHubs > 0 {
		degree = p.degree[0] // the largest one
	}
	landmark, largest := -1, uint32(0)
	for rank, other := range comm.Allgather(p.world, []uint32{degree}) {
		if other[0] > largest {
			landmark, largest = rank, other[0]
		}
	}
	if landmark < 0 {
		return nil
	}
	if i, j := p.grid.Place(landmark); j == p.j {
		p.landmark = uint32(i * p.width)
	}
	p.begin(ctx, landmark == p.world.Rank(), 0)
	if err := p.search(); err != nil {
		return err
	}
	var own, all []uint32
	for _, state := range p.state[:ownHubs] {
		if d := distanceOf(state); d < infinity {
			own = append(own, d)
		}
	}
	for _, other := range comm.Allgather(p.world, own) {
		all = append(all, other...)
	}
	slices.Sort(all)
	p.reach = radii * math.Float32frombits(all[(len(all)-1)*share/100])
	p.makeCore()
	return nil
}

// shortestPaths is kernel 3.
func (s *Rank) shortestPaths(ctx context.Context, root graph.Vertex, out plugins.Output, first, stride int64) (
	*Record, error) {
	p := s.paths
	owner, slot := p.Partition.Owner(root)
	v := int(p.numbers[slot])
	p.begin(ctx, owner == p.world.Rank() && v < p.width, v)
	if err := p.search(); err != nil {
		return nil, err
	}
	if p.slots != nil && p.grid.C > 1 {
		p.findSlots(&p.record.Phases[Predecessors])
	}
	p.write(out, int(first), int(stride))
	if owner == p.world.Rank() { // it may be isolated
		at := first + int64(slot)*stride
		out.Parent[at], out.Distance[at] = root, 0
	}
	p.record.addLast(&p.level)
	p.watch.lap(&p.record.Phases[Output])
	p.record.Elapsed = p.watch.last.Sub(p.watch.started)
	return &p.record, nil
}

// write writes the parent and the distance of the label in slot k to element first+k*stride.
func (p *paths) write(out plugins.Output, first, stride int) {
	n, _, _ := p.Partition.Slots(p.world.Rank())
	p.team.Pieces(n, clearWords, func(_, from, to int) {
		for slot := from; slot < to; slot++ {
			at, v := first+slot*stride, int(p.numbers[slot])
			parent := parents.ToVertex(uint32(p.state[v]) - 1)
			if p.slots != nil && parent != graph.Unreached { // it is a number
				slot := p.rows[p.ownRow+v]
				if p.grid.C == 1 {
					slot = p.slots[parent]
				}
				parent = p.Partition.Label(int(parent)/p.width, slot)
			}
			out.Parent[at], out.Distance[at] = parent, math.Float32frombits(distanceOf(p.state[v]))
		}
	})
}

// begin starts the clock, clears everything and, if the root is own vertex v, queues it.
func (p *paths) begin(ctx context.Context, own bool, v int) {
	now := time.Now()
	p.watch = stopwatch{now, now}
	p.record = Record{Levels: p.record.Levels[:0]}
	p.ctx, p.level, p.count, p.hub = ctx, Level{}, 0, infinity
	for k := range p.workers {
		p.workers[k].nearest, p.workers[k].hub = infinity, infinity
	}
	p.queue = p.queue[:0]
	p.do(len(p.state), clearWords, (*paths).clearOwn)
	p.do(len(p.rows), clearWords, (*paths).clearRows)
	if !p.shared {
		p.do(len(p.known), clearWords, (*paths).clearColumns)
	}
	if own {
		p.state[v] = uint64(p.names[p.ownColumn+v])
		p.queue = append(p.queue, uint32(v), 0)
		if p.isHub.has(uint32(p.ownColumn + v)) {
			p.hub = 0
		}
	}
	p.watch.lap(&p.record.Phases[Clear])
}

func (p *paths) clearColumns(_, from, to int) { fill(p.known[from:to], infinity) }
func (p *paths) clearRows(_, from, to int)    { fill(p.rows[from:to], infinity) }
func (p *paths) clearOwn(_, from, to int)     { fill(p.state[from:to], infinity<<distanceBit0) }

// fill sets all elements. It copies a first part that stays in a cache, which is faster than a loop.
func fill[E any](all []E, with E) {
	part := all[:min(len(all), 256)]
	for k := range part {
		part[k] = with
	}
	for n := len(part); n < len(all); n += copy(all[n:], part) {
	}
}

// search finds the distances of all vertices.
func (p *paths) search() error {
	nearest := uint32(infinity)
	if len(p.queue) > 0 {
		nearest = 0 // the root
	}
	p.countVotes(nearest)
	t0, err := p.pushRounds(pushing{whole: true, untilHub: true, ahead: p.farther})
	if err != nil || t0 >= infinity {
		return err
	}
	p.t0 = math.Float32frombits(t0)
	p.limit = max(t0, math.Float32bits((p.t0+p.reach)*slack))
	if p.hub = infinity; p.landmark == uint32(p.ownColumn) {
		p.hub = distanceOf(p.state[0])
	}
	if err := p.pushRound(pushing{whole: true, near: infinity, below: infinity, skipHubs: true}); err != nil {
		return err
	}
	if _, err := p.pushRounds(pushing{
		below: p.limit, ahead: nearShare * p.reach, pruned: p.t0+2*p.reach < p.safe,
	}); err != nil {
		return err
	}
	if err := p.pullAll(); err != nil {
		return err
	}
	p.class = leafClass
	p.lookAtLists(p.listed[p.starts[leafClass]:], nil)
	p.endLevel(p.sizes[leafClass])
	return nil
}

// ballot is what all ranks combine at the end of a round. In one dimension they exchange it with messages of the round.
type ballot struct {
	sums   [2]int64 // vertices of the frontier, ranks whose context has ended
	minima [2]int64 // least distance of a queued or changed vertex, and hub
}

func (b *ballot) lowest() uint32  { return uint32(b.minima[0]) }
func (b *ballot) nearHub() uint32 { return uint32(b.minima[1]) }

// vote fills the ballot of this rank.
func (p *paths) vote(nearest uint32) (sums, minima []int64) {
	p.ballot = ballot{[2]int64{p.count, 0}, [2]int64{int64(nearest), int64(p.hub)}}
	if p.ctx.Err() != nil {
		p.sums[1] = 1
	}
	return p.sums[:], p.minima[:]
}

// countVotes combines the ballots without messages.
func (p *paths) countVotes(nearest uint32) {
	sums, minima := p.vote(nearest)
	p.reduce(sums, minima, &p.level.Phases[Reduce])
}

// endLevel records a step of a number of vertices. If there are none, the next level has the time of this one.
func (p *paths) endLevel(frontier int64) {
	if frontier > 0 {
		p.level.Frontier = frontier
		p.record.add(&p.level)
		p.level = Level{}
	}
}

// endRound records a round after its ballot. All ranks return an error if the context of any has ended.
func (p *paths) endRound() error {
	p.endLevel(p.sums[0])
	if p.sums[1] == 0 {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	return ErrOtherRank
}
