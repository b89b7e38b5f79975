// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// The first pass goes through one class after the other, so that the neighbors that matter to a vertex are usually
// final when it looks: ranks send the distances of a class before the next one begins. Most vertices of a class are
// final after one entry, and are taken without a branch that the processor cannot predict (lookFirst). Those that are
// not final look again after the last class.

// pulling is the scratch of passes of pull.
type pulling struct {
	t0      float32  // distance of the nearest hub
	limit   uint32   // T: hubs nearer than that are final after push
	low     float32  // t0, rounded down
	floor   float32  // no vertex that is wrong gets a smaller distance than a neighbor of it at that distance gives it
	source  []uint32 // rows that workers share out
	active  []uint32 // rows that are not final and look in the next pass; in the first pass those of the classes so far
	class   int      // of the active rows in the first pass; numClasses later
	changed []uint32 // pairs of an own vertex and its distance, as in known
	into    []uint32 // known or rows, in which the messages of a group are stored
	from    *peers   // that have sent them
	cuts    int      // parts of each message that workers share out
}

const (
	pullPiece  = 1 << 12 // rows that a worker takes at a time
	pullPasses = 8       // then the rest is pushed over whole lists
)

// pullAll makes all vertices final that can be reached.
func (p *paths) pullAll() error {
	p.low = p.t0 * slack
	p.floor, p.class = p.low, hubClass
	p.do(int(p.borders[p.world.Rank()][leafClass]), pullPiece, (*paths).finalizePushed)
	p.publish()
	p.active = p.choose(p.active[:0], p.listed[:p.starts[hubClass+1]])
	for p.class = hubClass + 1; p.class < leafClass; p.class++ {
		if p.sizes[p.class] == 0 {
			continue
		}
		rows := p.listed[p.starts[p.class]:p.starts[p.class+1]]
		p.lookAtLists(rows, nil)
		p.eachRow(rows, (*paths).finalizeClass)
		p.publish()
		p.active = p.choose(p.active, rows)
		p.endLevel(p.sizes[p.class])
	}
	p.class = numClasses
	for pass := 2; ; pass++ {
		if err := p.pullPass(); err != nil {
			return err
		}
		if p.lowest() >= infinity {
			return nil
		}
		if pass == pullPasses {
			return p.finish()
		}
		p.floor = max(p.t0, math.Float32frombits(p.lowest())) * slack
	}
}

// lookAtLists lets rows of the class and others look at this part of their lists. In two dimensions, it sends what they
// have found to the owners.
func (p *paths) lookAtLists(class, others []uint32) {
	l := &p.level
	l.Direction, p.count = graph.BottomUp, 0
	p.eachRow(class, (*paths).lookFirst)
	p.eachRow(others, (*paths).look)
	p.watch.lap(&l.Phases[Scan])
	if p.grid.C > 1 {
		p.foldLooks()
	} else if p.shared { // no rank reads what the next step writes
		p.world.Alltoallv(nil, nil, nil, nil)
		p.watch.lap(&l.Phases[Reduce])
	}
	for k := range p.workers {
		x := &p.workers[k]
		p.count += int64(x.looked)
		l.Edges += x.entries
		x.entries, x.looked = 0, 0
	}
}

// pullPass is one pass:
//  1. Scan: active rows look at this part of their lists.
//  2. Fold: in two dimensions, send smaller distances and doubts to the owners, which take them.
//  3. Update: owners make those final that no rank doubts.
//  4. Expand: send changes to all that know the vertex.
func (p *paths) pullPass() error {
	p.lookAtLists(nil, p.active)
	p.eachRow(p.active, (*paths).finalize)
	nearest := p.publish()
	p.active = p.choose(p.active[:0], p.active)
	if p.watch.lap(&p.level.Phases[Update]); p.grid.C > 1 {
		p.countVotes(nearest)
	}
	return p.endRound()
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

// look lets rows from..to-1 look at their lists.
func (p *paths) look(worker, from, to int) {
	x := &p.workers[worker]
	for part := range slices.Chunk(p.source[from:to], batch) {
		p.fetchFirst(x, part)
		for _, v := range part { // and what their first bounds need
			if via := p.relays[relayWords*int(p.heads[v].column)]; via != maxUint32 {
				x.touched += uint64(p.known[via])
			}
		}
		for _, v := range part {
			p.lookOn(x, v)
		}
	}
}

// fetchFirst reads the distances of the first neighbors of at most a batch of rows.
func (p *paths) fetchFirst(x *pathWorker, rows []uint32) {
	for k, v := range rows {
		x.words[k&(batch-1)] = p.known[p.heads[v].column]
	}
}

// lookFirst lets rows from..to-1 of a class look at their lists. In one dimension, those whose first neighbor is not
// final wait, and have a distance in doubt.
func (p *paths) lookFirst(worker, from, to int) {
	if p.grid.C > 1 {
		p.look(worker, from, to)
		return
	}
	x := &p.workers[worker]
	for part := range slices.Chunk(p.source[from:to], batch) {
		p.fetchFirst(x, part)
		n, looked := 0, uint64(0)
		for k, v := range part {
			h, y, state := &p.heads[v], x.words[k&(batch-1)], p.state[v]
			d := uint64(math.Float32bits(math.Float32frombits(y&^final) + h.weight))
			found := state ^ (state^(d<<distanceBit0|uint64(h.name)))&-less(d, state>>distanceBit0)
			open := uint64(1 - p.rows[v]>>31)
			ready := uint64(y>>31) & open
			p.state[v] = found | (open&^ready)<<63
			x.rest[n&(batch-1)] = v
			n += int(ready & less(uint64(math.Float32bits(p.low+h.next)), found>>distanceBit0))
			looked += open
		}
		x.entries += int64(looked) - int64(n)
		for _, v := range x.rest[:n] { // fetch the second entries at once
			at := p.up.at[v] + 1
			x.touched += uint64(p.known[uint32(p.up.entries[at])]) + uint64(math.Float32bits(p.up.bounds[at]))
		}
		for _, v := range x.rest[:n] {
			p.lookOn(x, v)
		}
	}
}

// less is 1 if x < y, and 0 otherwise, for numbers below 1<<63. It has no branch.
func less(x, y uint64) uint64 { return (x - y) >> 63 }

// lookOn goes through the list of row v while the bound of the next entry is less than the distance found.
func (p *paths) lookOn(x *pathWorker, v uint32) {
	h, own := &p.heads[v], v-uint32(p.ownRow)
	isOwn := own < uint32(p.width)
	before := p.rows[v] &^ final
	column := uint32(maxUint32 - 1) // of v, if it is one
	if isOwn {
		column = uint32(p.ownColumn) + own
		before = distanceOf(p.state[own])
		x.looked++
	}
	best, parent, first := math.Float32frombits(before), uint32(0), p.known[h.column]
	if d := math.Float32frombits(first&^final) + h.weight; d < best {
		best, parent = d, h.name
	}
	x.entries++
	floor := graph.Infinity()
	if first&final == 0 {
		floor = p.floorOf(x, column, h.column, h.weight, best)
	}
	if p.low+h.next < best {
		for at, end := p.up.at[v]+1, p.up.at[v+1]; at < end; at++ {
			bound := p.up.bounds[at]
			if p.low+bound >= best {
				break
			}
			u, w := splitEntry(p.up.entries[at])
			y := p.known[u]
			if d := math.Float32frombits(y&^final) + w; d < best {
				best, parent = d, p.names[u]
			}
			if x.entries++; y&final == 0 {
				floor = min(floor, p.floorOf(x, column, u, w, best))
			}
		}
	}
	certain, bits := floor >= best, math.Float32bits(best)
	if isOwn {
		if parent != 0 {
			x.nearest = min(x.nearest, bits)
			p.state[own] = uint64(bits)<<distanceBit0 | uint64(parent)
		}
		if !certain {
			p.state[own] |= doubtful
		}
		return
	}
	m := v / uint32(p.width)
	if parent != 0 {
		x.out[m] = append(x.out[m], v-m*uint32(p.width), bits, parent)
	}
	if !certain {
		x.doubts[m] = append(x.doubts[m], v-m*uint32(p.width))
	}
}

// floorOf returns a lower bound of the paths to v, a column, over an entry, with neighbor u and weight w, that are
// shorter than the distance of u gives. It is exact only below best.
func (p *paths) floorOf(x *pathWorker, v, u uint32, w, best float32) float32 {
	if p.isHub.has(u) {
		return math.Float32frombits(p.limit) + w
	}
	r := p.relayOf(u)
	if r.via == v {
		return p.floor + (w+r.second)*slack
	}
	length := p.floor + (w+r.first)*slack
	if length < best && r.via != maxUint32 {
		x.entries++
		if z := p.known[r.via]; z&final != 0 {
			length = max(length, min(math.Float32frombits(z&^final)+r.first, p.low+r.second)+w)
		}
	}
	return length
}

// foldLooks sends what this rank has found for rows of others to their owners: the number of offers, the offers, and
// the vertices in doubt.
func (p *paths) foldLooks() {
	lists, send := p.owners.nextOutbox()
	for m := range send {
		list := append(lists[m][:0], 0)
		for k := range p.workers {
			list = append(list, p.workers[k].out[m]...)
		}
		list[0] = uint32(len(list) / offerWords)
		for k := range p.workers {
			x := &p.workers[k]
			list = append(list, x.doubts[m]...)
			x.out[m], x.doubts[m] = x.out[m][:0], x.doubts[m][:0]
		}
		if lists[m] = list; len(list) > 1 {
			send[m] = list
		}
	}
	p.exchange(p.owners, send, nil, nil, &p.level.Phases[Fold])
	p.do(len(p.owners.received), 1, (*paths).takeLooks)
}

// takeLooks takes what ranks from..to-1 of the grid row have found.
func (p *paths) takeLooks(worker, from, to int) {
	x := &p.workers[worker]
	for k := from; k < to; k++ {
		message := p.owners.received[k]
		if k == p.own || len(message) == 0 {
			continue
		}
		offers, doubts := message[1:1+offerWords*message[0]], message[1+offerWords*message[0]:]
		for ; len(offers) > 0; offers = offers[offerWords:] {
			if p.accept(offers[0], offers[1], offers[2]) {
				x.nearest = min(x.nearest, offers[1])
			}
		}
		for _, v := range doubts {
			atomic.OrUint64(&p.state[v], doubtful)
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
			if d := p.decide(v); d != p.rows[row] {
				p.rows[row] = d
				x.pairs = append(x.pairs, v, d)
			}
		}
	}
}

// finalizeClass is finalize for rows of a class: all of these are sent.
func (p *paths) finalizeClass(_, from, to int) {
	for _, row := range p.source[from:to] {
		if v := row - uint32(p.ownRow); v < uint32(p.width) {
			p.rows[row] = p.decide(v)
		}
	}
}

// decide returns the distance of an own vertex, as in known, after all ranks have looked.
func (p *paths) decide(v uint32) uint32 {
	state := p.state[v]
	p.state[v] = state &^ doubtful
	d := distanceOf(state)
	if state&doubtful == 0 && d < infinity {
		d |= final
	}
	return d
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
