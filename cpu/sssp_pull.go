// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// The first pass goes through the hubs and then through one class of degrees after the other, so that the neighbors
// that matter to a vertex are usually final before it. Nearly all vertices of a class are final after one entry. They
// are taken without a branch that the processor cannot predict (lookFirst), and so are those that need a second entry
// (lookSecond). Those whose first neighbor is not final are left until the others of the class are done. The rest go
// through their lists entry by entry (look).

// pull is the scratch of this step.
type pull struct {
	low     float32 // t0 * Slack
	changed float32 // least distance that the last pass has changed, times Slack; 0 in the first two passes
	record  bool    // changes are recorded
	base    int     // first vertex of the class
	active  *visits // for this pass, or deferred in the first pass
	next    *visits // for the next one
}

// visits is a list that all workers write, of vertices, the lower halves, with the first entry in the list of each
// whose neighbor is not final.
type visits struct {
	list []uint64
	end  atomic.Int64
}

// add appends the visits in a worker's buffer, and returns the empty buffer.
func (v *visits) add(buffer []uint64) []uint64 {
	end := int(v.end.Add(int64(len(buffer))))
	copy(v.list[end-len(buffer):end], buffer)
	return buffer[:0]
}

// puller is the part of one worker.
type puller struct {
	all     [pullPiece]uint64     // vertices of a class
	rest    [pullPiece + 1]uint64 // vertices that need more than their first entry
	hard    [pullPiece + 1]uint64 // and whose first neighbor is not final, or that need more than two
	next    []uint64              // buffer for pull.next
	changed []uint32              // vertices that the last pass has changed
	lowest  uint32                // distance of them, in bits
}

const (
	pullPiece   = 4096 // vertices that a worker takes at a time
	visitPiece  = 1024
	visitBuffer = 1024
	lookahead   = 64 // vertices that are fetched while as many before them are worked on
	pullPasses  = 4  // then the rest is pushed over whole lists
)

// pullAll makes all vertices final that can be reached.
func (s *paths) pullAll() error {
	p, g := &s.pull, s.g
	p.low, p.changed, p.record = s.nearest*layout.Slack, 0, false
	p.active.end.Store(0)
	p.next.end.Store(0)
	s.do(g.Hubs, visitPiece, (*paths).pullHubs)
	s.endLevel(graph.BottomUp, g.Hubs, 0)
	for c := range layout.Pulled {
		p.base = g.Classes[c]
		n := g.Classes[c+1] - p.base
		s.do(n, pullPiece, (*paths).pullFirst)
		s.do(int(p.active.end.Load()), visitPiece, (*paths).pullDeferred)
		p.active.end.Store(0)
		s.endLevel(graph.BottomUp, n, 0)
	}
	for pass := 2; ; pass++ {
		lowest := uint32(infinity)
		for w := range s.workers {
			x := &s.workers[w]
			x.next = p.next.add(x.next)
			lowest = min(lowest, x.lowest)
			x.lowest = infinity
		}
		p.active, p.next = p.next, p.active
		n := int(p.active.end.Load())
		switch err := s.ctx.Err(); {
		case err != nil:
			return err
		case n == 0, pass > 2 && lowest == infinity:
			return nil
		case pass > pullPasses:
			return s.finish()
		}
		if pass > 2 {
			p.changed = math.Float32frombits(lowest) * layout.Slack
		}
		for w := range s.workers {
			s.workers[w].changed = s.workers[w].changed[:0]
		}
		p.record = true
		p.next.end.Store(0)
		s.do(n, visitPiece, (*paths).pullActive)
		s.endLevel(graph.BottomUp, n, 0)
	}
}

// infinity is the distance of an unreached vertex in bits.
const infinity = 0x7f800000

// finish pushes over whole lists from the vertices that the last pass has changed.
func (s *paths) finish() error {
	p := &s.push
	p.frontier = p.frontier[:0]
	for w := range s.workers {
		p.frontier = append(p.frontier, s.workers[w].changed...)
	}
	for _, v := range p.frontier {
		s.states[v] |= queued
	}
	return s.pushRounds((*paths).pushLists, s.g.Step)
}

func (s *paths) pullHubs(worker, from, to int) {
	for v := from; v < to; v++ {
		s.look(&s.workers[worker], uint32(v), 0)
	}
}

// pullFirst takes the vertices from..to-1 of a class. It leaves those whose first neighbor is not final to
// pullDeferred.
func (s *paths) pullFirst(worker, from, to int) {
	mine := &s.workers[worker]
	all := mine.all[:to-from]
	for i := range all {
		all[i] = uint64(s.pull.base + from + i)
	}
	rest, deferred := s.lookFirst(mine, all)
	s.pull.active.add(mine.hard[:deferred])
	mine.entries += int64(len(all) - deferred)
	s.lookOn(mine, rest)
}

func (s *paths) pullDeferred(worker, from, to int) {
	mine := &s.workers[worker]
	rest, hard := s.lookFirst(mine, s.pull.active.list[from:to])
	mine.entries += int64(to - from - hard)
	s.lookAll(mine, mine.hard[:hard])
	s.lookOn(mine, rest)
}

func (s *paths) pullActive(worker, from, to int) {
	s.lookAll(&s.workers[worker], s.pull.active.list[from:to])
}

// lookOn goes on with the vertices in mine.rest[:n].
func (s *paths) lookOn(mine *pathWorker, n int) {
	hard := s.lookSecond(mine, mine.rest[:n])
	mine.entries += int64(n)
	s.lookAll(mine, mine.hard[:hard])
}

// lookFirst looks at the first entry of vertices. One is final if its first neighbor is and no other entry matters. It
// returns the number of vertices in rest, for which others matter, and in hard, all others that are not final.
//
//go:norace
func (s *paths) lookFirst(mine *pathWorker, us []uint64) (rest, hard int) {
	states, heads, low := s.states, s.g.Heads, s.pull.low
	n, rest, hard := s.lookFirstVector(mine, us)
	us = us[n:]
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetch(us, k+lookahead, &heads[0], headSize)
		}
		v := uint32(u)
		h, x := &heads[v], states[v]
		y := states[h.Neighbor]
		found := nearer(x, y, h)
		open := 1 - x>>63
		ready := y >> 63 & open
		enough := 1 - less(uint64(math.Float32bits(low+h.Next)), found>>distanceBit0)
		states[v] = x ^ (x^(found|final))&-(ready&enough)
		mine.rest[rest], mine.hard[hard] = u, u
		rest += int(ready &^ enough)
		hard += int(open &^ ready)
	}
	return rest, hard
}

// nearer returns the state x of a vertex, or if that is nearer the one over entry h, whose neighbor has state y.
func nearer(x, y uint64, h *layout.Head) uint64 {
	d := uint64(math.Float32bits(distanceOf(y) + h.Weight))
	return x ^ (x^(d<<distanceBit0|uint64(h.Neighbor)))&-less(d, x>>distanceBit0)
}

// lookSecond looks at the second entry of vertices that are not final and have a final first neighbor. It returns the
// number of vertices in hard, which are not final.
//
//go:norace
func (s *paths) lookSecond(mine *pathWorker, us []uint64) (hard int) {
	states, heads, seconds, low := s.states, s.g.Heads, s.g.Seconds, s.pull.low
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetch(us, k+lookahead, &seconds[0][0], 2*headSize)
		}
		v := uint32(u)
		h, e, x := &heads[v], &seconds[v][0], states[v]
		y := states[e.Neighbor]
		found := nearer(nearer(x, states[h.Neighbor], h), y, e)
		ok := (y >> 63) &^ less(uint64(math.Float32bits(low+e.Next)), found>>distanceBit0)
		states[v] = x ^ (x^(found|final))&-ok
		mine.hard[hard] = u
		hard += int(1 - ok)
	}
	return hard
}

// lookAll lets vertices look at their lists.
func (s *paths) lookAll(mine *pathWorker, us []uint64) {
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetch(us, k+lookahead, &s.g.Heads[0], headSize)
			s.fetch(us, k+lookahead, &s.g.Seconds[0][0], 2*headSize)
			s.fetch(us, k, &s.g.Seconds[0][1], 2*headSize)
		}
		s.look(mine, uint32(u), int(u>>32))
	}
}

const headSize = 12 // bytes

// fetch asks for the states of the neighbors in an entry of the vertices us[k:], at most as many as are fetched
// together.
func (s *paths) fetch(us []uint64, k int, heads *layout.Head, size int) {
	if k < len(us) {
		prefetchNeighbors(&s.states[0], heads, size, &us[k], min(lookahead, len(us)-k))
	}
}

// look goes through the list of v from an entry on while the bound of the next one is less than the distance found.
//
//go:norace
func (s *paths) look(mine *pathWorker, v uint32, from int) {
	g, p := s.g, &s.pull
	x := s.states[v]
	if x&final != 0 {
		return
	}
	l := looking{best: distanceOf(x), parent: uint32(x), open: -1, floor: graph.Infinity()}
	i, bound := from, float32(0)
	if i < layout.Columns {
		h := &g.Heads[v]
		for k := 0; k < layout.Columns && p.low+bound < l.best; k++ {
			if k > 0 {
				h = &g.Seconds[v][k-1]
			}
			if k >= from {
				s.see(&l, h.Neighbor, h.Weight, bound, k)
				i = k + 1
			}
			bound = h.Next
		}
	}
	if i >= layout.Columns && p.low+bound < l.best {
		for list := g.List(v); i < len(list); i++ {
			u, w := layout.Split(list[i])
			if bound = g.Bound(v, u, w); p.low+bound >= l.best {
				if i < int(g.Sorted[v]) {
					break
				}
				continue
			}
			s.see(&l, u, w, bound, i)
		}
	}
	mine.entries += int64(i - from)
	state := x
	if l.best < distanceOf(x) {
		state = stateOf(l.best, l.parent)
		if p.record {
			mine.lowest = min(mine.lowest, math.Float32bits(l.best))
			mine.changed = append(mine.changed, v)
		}
	}
	if l.floor >= l.best && bitsOf(state) != infinity {
		state |= final
	} else {
		if len(mine.next) == visitBuffer {
			mine.next = p.next.add(mine.next)
		}
		mine.next = append(mine.next, uint64(max(l.open, 0))<<32|uint64(v))
	}
	if state != x {
		s.states[v] = state
	}
}

// looking is a vertex that looks at its list.
type looking struct {
	parent uint32
	best   float32 // distance so far
	floor  float32 // no path through a neighbor that is not final is shorter
	open   int     // the first entry whose neighbor is not final; -1: none so far
}

// see looks at entry i of the list, with neighbor u, weight w and a bound.
//
//go:norace
func (s *paths) see(l *looking, u uint32, w, bound float32, i int) {
	y := s.states[u]
	if d := distanceOf(y) + w; d < l.best {
		l.best, l.parent = d, u
	}
	if y&final != 0 {
		return
	}
	if l.open < 0 {
		l.open = i
	}
	length := max(s.pull.low, s.pull.changed) + bound
	if int(u) < s.g.Hubs {
		length = max(length, s.below+w)
	}
	l.floor = min(l.floor, length)
}
