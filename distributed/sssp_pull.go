// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// pulling is the scratch of passes of pull.
type pulling struct {
	t0      float32  // distance of the nearest hub
	limit   uint32   // T: hubs nearer than that are final after push
	low     float32  // t0, rounded down
	floor   float32  // no vertex that is wrong gets a smaller distance than a neighbor of it at that distance gives it
	active  []uint32 // rows that are not final
	source  []uint32 // rows to choose them from
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
	passes := 0
	p.low = p.t0 * slack
	p.do(p.vertices, pullPiece, (*paths).finalizePushed)
	p.publish()
	p.chooseActive(p.listed)
	for p.floor = p.low; ; {
		if err := p.pullPass(); err != nil || p.lowest() >= infinity {
			return err
		}
		if passes++; passes == pullPasses {
			return p.finish()
		}
		p.floor = max(p.t0, math.Float32frombits(p.lowest())) * slack
	}
}

// pullPass is one pass:
//  1. Scan: active rows look at this part of their lists.
//  2. Fold: in two dimensions, send smaller distances and doubts to the owners, which take them.
//  3. Update: owners make those final that no rank doubts.
//  4. Expand: send changes to all that know the vertex.
func (p *paths) pullPass() error {
	l := &p.level
	l.Direction, p.count = graph.BottomUp, 0
	p.do(len(p.active), pullPiece, (*paths).look)
	p.watch.lap(&l.Phases[Scan])
	if p.grid.C > 1 {
		p.foldLooks()
	}
	p.do(len(p.active), pullPiece, (*paths).finalize)
	for k := range p.workers {
		x := &p.workers[k]
		p.count += int64(x.looked)
		l.Edges += x.entries
		x.entries, x.looked = 0, 0
	}
	nearest := p.publish()
	p.chooseActive(p.active)
	if p.watch.lap(&l.Phases[Update]); p.grid.C > 1 {
		p.countVotes(nearest)
	}
	return p.endRound()
}

// finish pushes over whole lists from the vertices that the last pass has changed.
func (p *paths) finish() error {
	p.queue = p.queue[:0]
	for pairs := p.changed; len(pairs) > 0; pairs = pairs[2:] {
		p.queue = append(p.queue, pairs[0])
	}
	_, err := p.pushRounds(pushing{whole: true, below: infinity, ahead: p.farther})
	return err
}

// look lets active rows from..to-1 look at their lists. First it fetches what their first entries need.
func (p *paths) look(worker, from, to int) {
	x := &p.workers[worker]
	for part := range slices.Chunk(p.active[from:to], batch) {
		for k, v := range part {
			x.words[k&(batch-1)] = p.known[p.heads[v].column]
		}
		for k, v := range part {
			p.lookOn(x, v, x.words[k&(batch-1)])
		}
	}
}

// lookOn goes through the list of row v, whose first neighbor has the given distance, while the bound of the next entry
// is less than the distance found.
func (p *paths) lookOn(x *pathWorker, v, first uint32) {
	h, own := &p.heads[v], v-uint32(p.ownRow)
	isOwn := own < uint32(p.width)
	before := p.rows[v] &^ final
	if isOwn {
		before = distanceOf(p.state[own])
		x.looked++
	}
	best, parent := math.Float32frombits(before), uint32(0)
	if d := math.Float32frombits(first&^final) + h.weight; d < best {
		best, parent = d, h.label
	}
	x.entries++
	floor := graph.Infinity()
	if first&final == 0 {
		if at := p.up.at[v]; at < p.up.at[v+1] {
			floor = p.floorOf(h.column, h.weight, p.up.bounds[at])
		}
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
				best, parent = d, p.label[u]
			}
			if x.entries++; y&final == 0 {
				floor = min(floor, p.floorOf(u, w, bound))
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

// floorOf returns a lower bound of the paths over an entry, with neighbor u, weight w and a bound, that would be
// shorter than the distance of u gives.
func (p *paths) floorOf(u uint32, w, bound float32) float32 {
	length := p.floor + bound
	if p.isHub.has(u) {
		length = max(length, math.Float32frombits(p.limit)+w)
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

// finalizePushed makes those of the own vertices from..to-1 final that are right after push.
func (p *paths) finalizePushed(worker, from, to int) {
	x, t0 := &p.workers[worker], math.Float32bits(p.t0)
	for v := from; v < to; v++ {
		d := distanceOf(p.state[v])
		if d < t0 || d < p.limit && p.isHub.has(uint32(p.ownColumn+v)) {
			d |= final
		}
		if d != p.rows[p.ownRow+v] {
			x.pairs = append(x.pairs, uint32(v), d)
		}
	}
}

// finalize makes those of the own vertices among active rows from..to-1 final that are certain.
func (p *paths) finalize(worker, from, to int) {
	x := &p.workers[worker]
	for _, row := range p.active[from:to] {
		v := row - uint32(p.ownRow)
		if v >= uint32(p.width) {
			continue
		}
		d := distanceOf(p.state[v])
		if p.state[v]&doubtful == 0 && d < infinity {
			d |= final
		}
		if p.state[v] &^= doubtful; d != p.rows[row] {
			x.pairs = append(x.pairs, v, d)
		}
	}
}

// publish sends the distances that have changed to all ranks that know their vertices, as pairs or, if that is shorter,
// those of all vertices. It returns the least one that a pass has changed.
func (p *paths) publish() (nearest uint32) {
	nearest, p.changed = p.nearestFound(), p.changed[:0]
	for k := range p.workers {
		x := &p.workers[k]
		p.changed = append(p.changed, x.pairs...)
		x.pairs, x.nearest = x.pairs[:0], infinity
	}
	lists, _ := p.inColumn.nextOutbox()
	message := append(lists[0][:0], p.changed...)
	if len(message) >= p.width {
		message = append(message[:0], p.rows[p.ownRow:][:p.width]...)
		for pairs := p.changed; len(pairs) > 0; pairs = pairs[2:] {
			message[pairs[0]] = pairs[1]
		}
	}
	lists[0] = message
	p.watch.lap(&p.level.Phases[Update])
	if p.grid.C == 1 {
		sums, minima := p.vote(nearest)
		p.sendDistances(p.inColumn, message, sums, minima, p.known)
	} else {
		p.sendDistances(p.inColumn, message, nil, nil, p.known)
		p.sendDistances(p.owners, message, nil, nil, p.rows)
	}
	p.watch.lap(&p.level.Phases[Expand])
	return nearest
}

// sendDistances sends a message to all ranks of a group, and stores those of all in into.
func (p *paths) sendDistances(to *peers, message []uint32, sums, minima []int64, into []uint32) {
	p.gather(to, message, sums, minima, &p.level.Phases[Expand])
	p.from, p.into, p.cuts = to, into, max(piecesShare*p.team.Size()/to.Size(), 1)
	p.do(to.Size()*p.cuts, 1, (*paths).takeDistances)
}

// takeDistances stores parts from..to-1 of the distances received. Each message has p.cuts parts.
func (p *paths) takeDistances(_, from, to int) {
	for k := from; k < to; k++ {
		message, block := p.from.received[k/p.cuts], cut(p.into, k/p.cuts, p.from.Size())
		if len(message) == p.width {
			copy(cut(block, k%p.cuts, p.cuts), cut(message, k%p.cuts, p.cuts))
			continue
		}
		n, part := len(message)/2, k%p.cuts
		for pairs := message[n*part/p.cuts*2 : n*(part+1)/p.cuts*2]; len(pairs) > 0; pairs = pairs[2:] {
			block[pairs[0]] = pairs[1]
		}
	}
}

// chooseActive makes those of the rows in from active that are not final.
func (p *paths) chooseActive(from []uint32) {
	p.source = from
	p.do(len(from), pullPiece, (*paths).chooseRows)
	p.active = p.active[:0]
	for k := range p.workers {
		x := &p.workers[k]
		p.active, x.list = append(p.active, x.list...), x.list[:0]
	}
}

func (p *paths) chooseRows(worker, from, to int) {
	x := &p.workers[worker]
	for _, v := range p.source[from:to] {
		if p.rows[v]&final == 0 {
			x.list = append(x.list, v)
		}
	}
}
