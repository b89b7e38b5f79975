// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// The first pass goes through one class after the other, so that the neighbors that matter to a vertex are usually
// final when it looks: ranks send the distances of a class before the next one begins. Most vertices of a class are
// final after one entry, and are taken without a branch that the processor cannot predict (lookFirst). Those that are
// not look again with the next class, and note their open entries.

// pulling is the scratch of pull.
type pulling struct {
	t0      float32     // distance of the nearest hub
	limit   uint32      // T: hubs nearer than that are final after push
	low     float32     // t0, rounded down
	source  []uint32    // rows that workers share out
	waiting []uint32    // rows that were not final when they had looked, and look again
	crowded []uint32    // rows whose open entries had no room: they look in every pass
	open    []openEntry // of the other ones
	unsure  []uint32    // own rows that were not final when they had looked again
	class   int         // of rows that look for the first time; numClasses later
	changed []uint32    // pairs of an own vertex and its distance, as in known
	into    []uint32    // known or rows, in which the messages of a group are stored
	from    *peers      // that have sent them
	cuts    int         // parts of each message that workers share out
}

// openEntry is an entry that can matter to a row, and whose neighbor, a column, was not final.
type openEntry struct {
	row, column uint32
	weight      float32
}

const (
	pullPiece  = 1 << 12 // rows that a worker takes at a time
	pullPasses = 8       // over open entries; then the rest is pushed over whole lists
	openShare  = 4       // rows for each open entry that has room
)

// pullAll makes all vertices final that can be reached.
func (p *paths) pullAll() error {
	p.low, p.class = p.t0*slack, hubClass
	p.open, p.unsure, p.crowded = p.open[:0], p.unsure[:0], p.crowded[:0]
	p.do(int(p.borders[p.world.Rank()][leafClass]), pullPiece, (*paths).finalizePushed)
	p.publish()
	p.waiting = p.choose(p.waiting[:0], p.listed[:p.starts[hubClass+1]])
	for p.class = hubClass + 1; p.class < leafClass; p.class++ {
		if p.sizes[p.class] == 0 {
			continue
		}
		rows := p.listed[p.starts[p.class]:p.starts[p.class+1]]
		p.lookAtLists(rows, p.waiting)
		p.eachRow(rows, (*paths).finalizeClass)
		p.finalizeWaiting()
		p.publish()
		p.waiting = p.choose(p.waiting[:0], rows)
		p.endLevel(p.sizes[p.class])
	}
	p.class = numClasses
	for pass := 0; ; pass++ {
		if err := p.pullPass(); err != nil {
			return err
		}
		switch {
		case p.lowest() >= infinity:
			return nil
		case pass == pullPasses:
			return p.finish()
		}
	}
}

// lookAtLists lets rows of the class and others look at this part of their lists. After the last class, distances pass
// over the open entries. In two dimensions, it sends what they have found to the owners.
func (p *paths) lookAtLists(class, others []uint32) {
	l := &p.level
	l.Direction, p.count = graph.BottomUp, 0
	p.eachRow(class, (*paths).lookFirst)
	p.eachRow(others, (*paths).lookAgain)
	if p.class == numClasses {
		p.eachRow(p.crowded, (*paths).lookAgain)
		p.do(len(p.open), pullPiece, (*paths).passOpen)
		p.count, p.crowded = int64(len(p.open)), p.crowded[:0]
	}
	p.watch.lap(&l.Phases[Scan])
	if p.grid.C > 1 {
		p.foldLooks()
	} else if p.shared && p.class != leafClass { // no rank reads what the next step writes
		p.world.Alltoallv(nil, nil, nil, nil)
		p.watch.lap(&l.Phases[Reduce])
	}
	for k := range p.workers {
		x := &p.workers[k]
		p.count += int64(x.looked)
		l.Edges += x.entries
		p.open, p.crowded = append(p.open, x.open...), append(p.crowded, x.list...)
		x.entries, x.looked, x.open, x.list = 0, 0, x.open[:0], x.list[:0]
	}
}

// pullPass is one pass:
//  1. Scan: the last waiting rows look at this part of their lists, and distances pass over open entries.
//  2. Fold: in two dimensions, send smaller distances and doubts to the owners, which take them.
//  3. Update: owners find what has changed.
//  4. Expand: send changes to all that know the vertex.
func (p *paths) pullPass() error {
	p.lookAtLists(nil, p.waiting)
	p.eachRow(p.unsure, (*paths).update)
	p.finalizeWaiting()
	p.waiting = p.waiting[:0]
	nearest := p.publish()
	if p.watch.lap(&p.level.Phases[Update]); p.grid.C > 1 {
		p.countVotes(nearest)
	}
	return p.endRound()
}

// finalizeWaiting makes the waiting rows final that have looked and are certain, and the other own ones unsure.
func (p *paths) finalizeWaiting() {
	p.eachRow(p.waiting, (*paths).finalize)
	for k := range p.workers {
		x := &p.workers[k]
		p.unsure, x.list = append(p.unsure, x.list...), x.list[:0]
	}
}

// finish pushes over whole lists from the vertices that the last pass has changed.
func (p *paths) finish() error {
	p.queue = p.queue[:0]
	for pairs := p.changed; len(pairs) > 0; pairs = pairs[2:] {
		p.queue = append(p.queue, pairs[0], pairs[1]&^final)
	}
	_, err := p.pushRounds(pushing{whole: true, below: infinity, ahead: p.farther})
	return err
}

// eachRow lets workers do a step for all of some rows.
func (p *paths) eachRow(rows []uint32, step pathStep) {
	p.source = rows
	p.do(len(rows), pullPiece, step)
}

// look lets rows from..to-1 look at their lists, and lookAgain lets them note open entries.
func (p *paths) look(worker, from, to int)      { p.lookAll(worker, from, to, false) }
func (p *paths) lookAgain(worker, from, to int) { p.lookAll(worker, from, to, true) }

func (p *paths) lookAll(worker, from, to int, again bool) {
	x := &p.workers[worker]
	for part := range slices.Chunk(p.source[from:to], batch) {
		p.fetch(x, part, 0)
		for _, v := range part {
			p.lookOn(x, v, again)
		}
	}
}

// lookFirst lets rows from..to-1 of a class look at their lists. In one dimension, those whose first neighbor is not
// final wait.
func (p *paths) lookFirst(worker, from, to int) {
	if p.grid.C > 1 {
		p.look(worker, from, to)
		return
	}
	x := &p.workers[worker]
	for part := range slices.Chunk(p.source[from:to], batch) {
		for k, v := range part { // the first neighbors
			x.words[k&(batch-1)] = p.known[p.heads[v].column]
		}
		n, looked := 0, uint64(0)
		for k, v := range part {
			h, y, state := &p.heads[v], x.words[k&(batch-1)], p.state[v]
			d := uint64(math.Float32bits(math.Float32frombits(y&^final) + h.weight))
			open := 1 - state>>63
			found := state ^ (state^(d<<distanceBit0|uint64(h.name)))&-(less(d, state>>distanceBit0)&open)
			ready := uint64(y>>31) & open
			p.state[v] = found | ready<<63
			x.rest[n&(batch-1)] = v
			n += int(ready & less(uint64(math.Float32bits(p.low+h.next)), found>>distanceBit0))
			looked += open
		}
		x.entries += int64(looked) - int64(n)
		p.fetch(x, x.rest[:n], 1)
		for _, v := range x.rest[:n] {
			p.lookOn(x, v, false)
		}
	}
}

// fetch fetches an entry of rows at once.
func (p *paths) fetch(x *pathWorker, rows []uint32, entry uint64) {
	for _, v := range rows {
		if at := p.up.at[v] + entry; at < p.up.at[v+1] {
			x.touched += uint64(p.known[uint32(p.up.entries[at])]) + uint64(math.Float32bits(p.up.bounds[at]))
		}
	}
}

// less is 1 if x < y, and 0 otherwise, for numbers below 1<<63. It has no branch.
func less(x, y uint64) uint64 { return (x - y) >> 63 }

// lookOn goes through the list of row v while the bound of the next entry is less than the distance found.
func (p *paths) lookOn(x *pathWorker, v uint32, again bool) {
	own := v - uint32(p.ownRow)
	isOwn := own < uint32(p.width)
	before := p.rows[v] &^ final
	if isOwn {
		before = distanceOf(p.state[own])
		x.looked++
	}
	best, parent, floor := math.Float32frombits(before), uint32(0), graph.Infinity()
	opened := len(x.open)
	for at, end := p.up.at[v], p.up.at[v+1]; at < end; at++ {
		length := p.low + p.up.bounds[at]
		if length >= best {
			break
		}
		x.entries++
		u, w := splitEntry(p.up.entries[at])
		y := p.known[u]
		if d := math.Float32frombits(y&^final) + w; d < best {
			best, parent = d, p.names[u]
		}
		if y&final != 0 {
			continue
		}
		if p.isHub.has(u) {
			length = max(length, math.Float32frombits(p.limit)+w)
		}
		if floor = min(floor, length); again && length < best {
			x.open = append(x.open, openEntry{v, u, w})
		}
	}
	sure := floor >= best
	if sure {
		x.open = x.open[:opened]
	} else if again && len(x.open) > p.width/openShare/len(p.workers) {
		x.open, x.list = x.open[:opened], append(x.list, v)
	}
	if isOwn {
		state := p.state[own] &^ certain
		if parent != 0 {
			x.nearest = min(x.nearest, math.Float32bits(best))
			state = uint64(math.Float32bits(best))<<distanceBit0 | uint64(parent)
		}
		if sure && best < graph.Infinity() {
			state |= certain
		}
		p.state[own] = state
		return
	}
	m := v / uint32(p.width)
	if parent != 0 {
		x.out[m] = append(x.out[m], v-m*uint32(p.width), math.Float32bits(best), parent)
	}
	if !sure {
		x.doubts[m] = append(x.doubts[m], v-m*uint32(p.width))
	}
}

// passOpen passes distances over the open entries from..to-1.
func (p *paths) passOpen(worker, from, to int) {
	x := &p.workers[worker]
	x.entries += int64(to - from)
	for _, e := range p.open[from:to] {
		d := math.Float32bits(math.Float32frombits(p.known[e.column]&^final) + e.weight)
		m := e.row / uint32(p.width)
		switch v := e.row - m*uint32(p.width); {
		case int(m)*p.width == p.ownRow:
			if p.accept(v, d, p.names[e.column]) {
				x.nearest = min(x.nearest, d)
			}
		case d < p.rows[e.row]&^final:
			x.out[m] = append(x.out[m], v, d, p.names[e.column])
		}
	}
}

// finalizePushed marks the own vertices from..to-1 whose distances are right after push as final. It records only those
// that are not hubs, because all hubs are sent.
func (p *paths) finalizePushed(worker, from, to int) {
	x, t0, hubs := &p.workers[worker], math.Float32bits(p.t0), p.hubsOf(p.world.Rank())
	for v := from; v < to; v++ {
		d := distanceOf(p.state[v])
		if d < t0 || d < p.limit && v < hubs {
			d |= final
			p.state[v] |= certain
		}
		if p.rows[p.ownRow+v] = d; v >= hubs && d != infinity {
			x.pairs = append(x.pairs, uint32(v), d)
		}
	}
}

// finalize makes those of the own vertices among rows from..to-1 final that are certain, and records changes.
func (p *paths) finalize(worker, from, to int) {
	x := &p.workers[worker]
	for _, row := range p.source[from:to] {
		if v := row - uint32(p.ownRow); v < uint32(p.width) {
			d := uint32(p.state[v] >> distanceBit0)
			if d&final == 0 {
				x.list = append(x.list, row)
			}
			p.change(x, v, d)
		}
	}
}

// update records the changes of the own rows from..to-1.
func (p *paths) update(worker, from, to int) {
	for _, row := range p.source[from:to] {
		v := row - uint32(p.ownRow)
		p.change(&p.workers[worker], v, distanceOf(p.state[v]))
	}
}

// change sets the distance of an own vertex that others know, and sends it if it is another one.
func (p *paths) change(x *pathWorker, v, d uint32) {
	if row := p.ownRow + int(v); d != p.rows[row] {
		p.rows[row] = d
		x.pairs = append(x.pairs, v, d)
	}
}

// finalizeClass is finalize for rows of a class: all of these are sent.
func (p *paths) finalizeClass(_, from, to int) {
	for _, row := range p.source[from:to] {
		if v := row - uint32(p.ownRow); v < uint32(p.width) {
			p.rows[row] = uint32(p.state[v] >> distanceBit0)
		}
	}
}

// choose appends those of some rows to a list that are not final.
func (p *paths) choose(list, from []uint32) []uint32 {
	p.eachRow(from, (*paths).chooseRows)
	for k := range p.workers {
		x := &p.workers[k]
		list, x.list = append(list, x.list...), x.list[:0]
	}
	return list
}

func (p *paths) chooseRows(worker, from, to int) {
	x := &p.workers[worker]
	for _, v := range p.source[from:to] {
		if p.rows[v]&final == 0 {
			x.list = append(x.list, v)
		}
	}
}
