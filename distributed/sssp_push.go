// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// pushing says which vertices push what in a round.
type pushing struct {
	near     uint32  // vertices further away wait
	below    uint32  // and so do those at that distance or more
	ahead    float32 // near is so much further than the nearest vertex
	whole    bool    // push whole lists, else only entries that can lead to a hub below
	untilHub bool    // below is the distance of the nearest hub
	skipHubs bool    // hubs wait
	pruned   bool    // push entries of the core only
}

// frontierBlock is a part of the frontier: pairs of a vertex and its distance. Vertex v has list first+v and name
// names[v].
type frontierBlock struct {
	pairs []uint32
	first int
	names []uint32
}

const (
	nearShare = 0.5 // of the reach that a round goes through: more takes fewer rounds and more vertices again
	pushPiece = 64  // vertices of a frontier that a worker takes at a time
	takePiece = 1 << 10
)

// core is lists as in weighted.
type core struct {
	at      []uint64
	entries []coreEntry // of a list by ascending key
}

type coreEntry struct {
	neighbor           uint32
	weight, bound, key float32
}

// makeCore keeps the entries that can lie on a shortest path between hubs (as in cpu/layout/core.go): those that are
// longer than the way over the landmark by no more than margin. That way has at most two edges for each level of the
// search from the landmark. These additions change distances below safe by less than margin.
//
// The radius of a vertex is its distance from the landmark, and the key of an entry to u is its weight less the radius
// of u. If it is larger than the landmark's distance in a search, less that of v, by more than margin, the entry (v, u)
// is not on a shortest path: the way over the landmark is shorter.
func (p *paths) makeCore() {
	levels := len(p.record.Levels)
	if levels == 0 || levels > maxLevels {
		return // safe is 0
	}
	p.margin = p.reach / 512
	p.safe = p.margin * (1 << 20) / float32(levels)
	radii, targets := p.known, p.rows
	if p.grid.C == 1 {
		radii, targets = p.rows, p.known
	}
	p.core.at = make([]uint64, len(p.down.at))
	for v := range p.core.at[1:] {
		radius, first := math.Float32frombits(radii[v]&^final)+p.margin, len(p.core.entries)
		for at := p.down.at[v]; at < p.down.at[v+1] && p.down.bounds[at] < p.reach; at++ {
			u, w := splitEntry(p.down.entries[at])
			if key := w - math.Float32frombits(targets[u]&^final); key <= radius {
				p.core.entries = append(p.core.entries, coreEntry{u, w, p.down.bounds[at], key})
			}
		}
		slices.SortFunc(p.core.entries[first:], func(x, y coreEntry) int { return cmp.Compare(x.key, y.key) })
		p.core.at[v+1] = uint64(len(p.core.entries))
	}
}

// pushRounds pushes until all queued vertices of all ranks are at the distance below or more. It returns that distance.
func (p *paths) pushRounds(how pushing) (below uint32, err error) {
	for {
		if how.untilHub {
			how.below = p.nearHub()
		}
		if p.lowest() >= how.below {
			return how.below, nil
		}
		how.near = math.Float32bits(math.Float32frombits(p.lowest()) + how.ahead)
		if err := p.pushRound(how); err != nil {
			return 0, err
		}
	}
}

// pushRound is one round:
//  1. Take the vertices that push from the queue and, in two dimensions, send them down the grid column.
//  2. Scan: offer distances to the neighbors. Those of this rank take them at once.
//  3. Fold: send the other offers to the owners.
//  4. Update: owners take those that are smaller.
func (p *paths) pushRound(how pushing) error {
	p.pushing = how
	l := &p.level
	l.Direction = graph.TopDown
	p.do(len(p.queue)/2, takePiece, (*paths).take)
	if p.grid.C == 1 {
		p.changed = p.takePairs(p.changed[:0])
		p.pushBlock(frontierBlock{p.changed, 0, p.names[p.ownColumn:]})
	} else {
		room := p.inColumn.nextList()
		*room = p.takePairs((*room)[:0])
		for k, pairs := range p.gather(p.inColumn, *room, nil, nil, &l.Phases[Expand]) {
			p.pushBlock(frontierBlock{pairs, k * p.width, p.names[k*p.width:]})
		}
	}
	p.watch.lap(&l.Phases[Scan])
	lists, send := p.owners.nextOutbox()
	first, others := &p.workers[0], p.workers[1:]
	for k, room := range lists {
		list := first.out[k]
		first.out[k] = room[:0]
		for w := range others {
			x := &others[w]
			list, x.out[k] = append(list, x.out[k]...), x.out[k][:0]
		}
		lists[k], send[k] = list, list
	}
	if p.grid.C == 1 {
		sums, minima := p.vote(p.nearestFound()) // with the offers that are being sent
		p.exchange(p.owners, send, sums, minima, &l.Phases[Fold])
	} else {
		p.exchange(p.owners, send, nil, nil, &l.Phases[Fold])
	}
	p.do(len(p.owners.received), 1, (*paths).takeOffers)
	nearest := p.nearestFound()
	p.queue = p.queue[:0]
	for k := range p.workers {
		x := &p.workers[k]
		p.queue, l.Edges = append(p.queue, x.list...), l.Edges+x.entries
		x.list, x.nearest, x.entries = x.list[:0], infinity, 0
	}
	if p.watch.lap(&l.Phases[Update]); p.grid.C > 1 {
		p.countVotes(nearest)
	}
	return p.endRound()
}

// nearestFound returns the least distance that workers have found, and takes over that of hubs.
func (p *paths) nearestFound() uint32 {
	nearest := uint32(infinity)
	for k := range p.workers {
		x := &p.workers[k]
		nearest, p.hub, x.hub = min(nearest, x.nearest), min(p.hub, x.hub), infinity
	}
	return nearest
}

// takePairs appends what the workers have taken to pairs.
func (p *paths) takePairs(pairs []uint32) []uint32 {
	for k := range p.workers {
		x := &p.workers[k]
		pairs, x.pairs = append(pairs, x.pairs...), x.pairs[:0]
	}
	p.count = int64(len(pairs) / 2)
	return pairs
}

func (p *paths) pushBlock(b frontierBlock) {
	p.block = b
	p.do(len(b.pairs)/2, pushPiece, (*paths).pushPairs)
}

// take divides pairs from..to-1 of the queue into those that push in this round and those that wait. It drops a pair
// whose vertex has a smaller distance by now, because there is another pair for that distance.
func (p *paths) take(worker, from, to int) {
	x := &p.workers[worker]
	for pairs := p.queue[2*from : 2*to]; len(pairs) > 0; pairs = pairs[2:] {
		v, d := pairs[0], pairs[1]
		if d > p.near || d >= p.below || p.skipHubs && p.isHub.has(uint32(p.ownColumn)+v) {
			if d < p.below || p.untilHub {
				x.list, x.nearest = append(x.list, v, d), min(x.nearest, d)
			}
		} else if distanceOf(p.state[v]) == d {
			x.pairs = append(x.pairs, v, d)
		}
	}
}

// offer is a distance for the vertex to, which is a row, or a column in one dimension, with its parent's name.
type offer struct{ to, distance, name uint32 }

// pushPairs offers distances to the neighbors of vertices from..to-1 of the block.
func (p *paths) pushPairs(worker, from, to int) {
	x, b, below := &p.workers[worker], &p.block, math.Float32frombits(p.below)
	lists, core, far := &p.down, &p.core, math.Float32frombits(p.nearHub())+p.margin
	for part := range slices.Chunk(b.pairs[2*from:2*to], 2*touchAhead) {
		for k := 0; k < len(part); k += 2 { // fetch the lists at once: each is somewhere else in memory
			if v := b.first + int(part[k]); p.pruned {
				if at := core.at[v]; at < uint64(len(core.entries)) {
					x.touched += uint64(core.entries[at].neighbor)
				}
			} else if at := lists.at[v]; at < uint64(len(lists.entries)) {
				x.touched += lists.entries[at] + uint64(math.Float32bits(lists.bounds[at]))
			}
		}
		for ; len(part) > 0; part = part[2:] {
			v, d, name := b.first+int(part[0]), math.Float32frombits(part[1]), b.names[part[0]]
			low := d * slack
			if p.pruned {
				for _, e := range core.entries[core.at[v]:core.at[v+1]] {
					if e.key > far-d {
						break
					}
					if low+e.bound < below {
						x.offers = append(x.offers, offer{e.neighbor, math.Float32bits(d + e.weight), name})
					}
				}
				continue
			}
			for at, end := lists.at[v], lists.at[v+1]; at < end; at++ {
				if !p.whole && low+lists.bounds[at] >= below {
					break
				}
				u, w := splitEntry(lists.entries[at])
				x.offers = append(x.offers, offer{u, math.Float32bits(d + w), name})
			}
		}
		p.makeOffers(x)
	}
}

// makeOffers makes the offers of a batch that are less than the distances known to this rank. It applies those to own
// vertices at once and adds the others to out. It selects them without unpredictable branches, so that cache misses
// overlap.
func (p *paths) makeOffers(x *pathWorker) {
	x.entries += int64(len(x.offers))
	n, width := 0, uint32(p.width)
	for _, o := range x.offers {
		x.offers[n] = o
		known := uint64(infinity)
		if p.grid.C > 1 {
			known = uint64(atomic.LoadUint32(&p.rows[o.to]) &^ final)
		} else if v := o.to - uint32(p.ownColumn); v < width {
			known = uint64(distanceOf(atomic.LoadUint64(&p.state[v])))
		}
		n += int(less(uint64(o.distance), known))
	}
	for _, o := range x.offers[:n] {
		k := o.to / width
		v := o.to - k*width
		switch {
		case p.grid.C > 1 && !lessen(&p.rows[o.to], o.distance):
		case int(k) == p.own:
			p.lower(x, v, o.distance, o.name)
		default:
			x.out[k] = append(x.out[k], v, o.distance, o.name)
			if p.grid.C == 1 { // its owner takes it after the ballot
				p.see(x, o.distance, o.to)
			}
		}
	}
	x.offers = x.offers[:0]
}

// lessen stores a distance if it is less than the one at known, and reports whether it is.
func lessen(known *uint32, sum uint32) bool {
	for {
		old := atomic.LoadUint32(known)
		if sum >= old&^final {
			return false
		}
		if atomic.CompareAndSwapUint32(known, old, sum) {
			return true
		}
	}
}

// lower gives an own vertex a distance and a parent, if the distance is smaller, and queues it.
func (p *paths) lower(x *pathWorker, v, distance, parent uint32) {
	if p.accept(v, distance, parent) && (distance < p.below || p.untilHub) {
		x.list = append(x.list, v, distance)
		p.see(x, distance, uint32(p.ownColumn)+v)
	}
}

// see counts a distance of a column for the ballot.
func (p *paths) see(x *pathWorker, distance, column uint32) {
	if x.nearest = min(x.nearest, distance); p.untilHub && p.isHub.has(column) || column == p.landmark {
		x.hub = min(x.hub, distance)
	}
}

func (p *paths) accept(v, distance, parent uint32) bool {
	state := uint64(distance)<<distanceBit0 | uint64(parent)
	for {
		old := atomic.LoadUint64(&p.state[v])
		if distance >= distanceOf(old) {
			return false
		}
		if atomic.CompareAndSwapUint64(&p.state[v], old, state|old&certain) {
			return true
		}
	}
}

// takeOffers takes the offers of the owners' ranks from..to-1.
func (p *paths) takeOffers(worker, from, to int) {
	x := &p.workers[worker]
	for k := from; k < to; k++ {
		if k != p.own {
			for list := p.owners.received[k]; len(list) >= offerWords; list = list[offerWords:] {
				p.lower(x, list[0], list[1], list[2])
			}
		}
	}
}
