// SPDX-License-Identifier: Apache-2.0

package distributed

import "sync/atomic"

// publish sends distances to all ranks that know their vertices: those of the class in order and, as pairs, others that
// have changed; or, if that is shorter, those of all vertices. It returns the least one that a pass has changed.
func (p *paths) publish() (nearest uint32) {
	nearest, p.changed = p.nearestFound(), p.changed[:0]
	for k := range p.workers {
		x := &p.workers[k]
		p.changed = append(p.changed, x.pairs...)
		x.pairs, x.nearest = x.pairs[:0], infinity
	}
	from, to := p.classOf(p.world.Rank())
	own := p.rows[p.ownRow:][:p.width]
	message := own[:min(int(to-from)+len(p.changed), p.width)] // of that length
	if !p.shared {
		room := p.inColumn.nextList()
		if len(message) < p.width {
			message = append(append((*room)[:0], own[from:to]...), p.changed...)
		} else {
			message = append((*room)[:0], own...)
		}
		*room = message
	}
	p.watch.lap(&p.level.Phases[Update])
	if p.grid.C == 1 && p.class == numClasses {
		sums, minima := p.vote(nearest)
		p.sendDistances(p.inColumn, message, sums, minima, p.known)
	} else {
		p.sendDistances(p.inColumn, message, nil, nil, p.known)
	}
	if p.grid.C > 1 {
		p.sendDistances(p.owners, message, nil, nil, p.rows)
	}
	p.watch.lap(&p.level.Phases[Expand])
	return nearest
}

// classOf returns the first vertex of a rank in the class and the one after the last.
func (p *paths) classOf(rank int) (from, to uint32) {
	if p.class == numClasses {
		return 0, 0
	}
	return p.borders[rank][p.class], p.borders[rank][p.class+1]
}

// sendDistances sends a message to all ranks of a group, and stores those of all in into.
func (p *paths) sendDistances(to *peers, message []uint32, sums, minima []int64, into []uint32) {
	if p.gather(to, message, sums, minima, &p.level.Phases[Expand]); p.shared {
		return
	}
	p.from, p.into, p.cuts = to, into, max(piecesShare*p.team.Size()/to.Size(), 1)
	p.do(to.Size()*p.cuts, 1, (*paths).takeDistances)
}

// takeDistances stores parts from..to-1 of the distances received. Each message has p.cuts parts.
func (p *paths) takeDistances(_, from, to int) {
	for k := from; k < to; k++ {
		message, block := p.from.received[k/p.cuts], cut(p.into, k/p.cuts, p.from.Size())
		part := k % p.cuts
		if len(message) == p.width {
			copy(cut(block, part, p.cuts), cut(message, part, p.cuts))
			continue
		}
		rank := p.grid.Rank(k/p.cuts, p.j)
		if p.from != p.inColumn {
			rank = p.grid.Rank(p.i, k/p.cuts)
		}
		first, end := p.classOf(rank)
		copy(cut(block[first:end], part, p.cuts), cut(message[:end-first], part, p.cuts))
		message = message[end-first:]
		n := len(message) / 2
		for pairs := message[n*part/p.cuts*2 : n*(part+1)/p.cuts*2]; len(pairs) > 0; pairs = pairs[2:] {
			block[pairs[0]] = pairs[1]
		}
	}
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
			atomic.AndUint64(&p.state[v], ^uint64(certain))
		}
	}
}

// findSlots makes the own rows the slots of the parents. Ranks of the grid row that have these columns send them.
func (p *paths) findSlots(m *Measure) {
	columns := uint32(p.columns)
	lists, _ := p.owners.nextOutbox()
	for k := range lists {
		lists[k] = lists[k][:0]
	}
	for _, state := range p.state {
		if name := uint32(state); name != 0 {
			k := (name - 1) / columns // numbers of a grid column are consecutive
			lists[k] = append(lists[k], (name-1)%columns)
		}
	}
	asked := p.exchange(p.owners, lists, nil, nil, m)
	lists, _ = p.owners.nextOutbox()
	for k, columns := range asked {
		lists[k] = lists[k][:0]
		for _, column := range columns {
			lists[k] = append(lists[k], p.slots[column])
		}
	}
	slots := p.exchange(p.owners, lists, nil, nil, m)
	for v, state := range p.state {
		if name := uint32(state); name != 0 {
			k := (name - 1) / columns
			p.rows[p.ownRow+v], slots[k] = slots[k][0], slots[k][1:]
		}
	}
}
