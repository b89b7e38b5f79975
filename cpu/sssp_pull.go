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
	low      float32 // t0 * Slack
	base     int     // first vertex of the class
	deferred shared[uint32]
	open     shared[openEntry]
}

// openEntry is an entry that can matter to a vertex, and whose neighbor was not final.
type openEntry struct {
	vertex, neighbor uint32
	weight, seen     float32 // distance of the neighbor when the entry was looked at last
}

// shared is a list that all workers write.
type shared[T any] struct {
	list []T
	end  atomic.Int64
}

// add appends what is in a worker's buffer, and returns the empty buffer. What does not fit is lost.
func (l *shared[T]) add(buffer []T) []T {
	if end := int(l.end.Add(int64(len(buffer)))); end <= len(l.list) {
		copy(l.list[end-len(buffer):end], buffer)
	}
	return buffer[:0]
}

// puller is the part of one worker.
type puller struct {
	all  [pullPiece]uint32     // vertices of a class
	rest [pullPiece + 1]uint32 // vertices that need more than their first entry
	hard [pullPiece + 1]uint32 // and whose first neighbor is not final, or that need more than two
	open []openEntry           // buffer for pull.open
}

const (
	pullPiece  = 4096 // vertices that a worker takes at a time
	visitPiece = 1024
	openBuffer = 1024
	lookahead  = 64 // vertices that are fetched while as many before them are worked on
	openPasses = 8  // then the rest is pushed over whole lists
)

// pullAll finds the distances of all vertices that can be reached.
func (s *paths) pullAll() error {
	p, g := &s.pull, s.g
	p.low = s.nearest * layout.Slack
	p.open.end.Store(0)
	s.do(g.Hubs, visitPiece, (*paths).pullHubs)
	s.endLevel(graph.BottomUp, g.Hubs, 0)
	for c := range layout.Pulled {
		p.base = g.Classes[c]
		n := g.Classes[c+1] - p.base
		p.deferred.end.Store(0)
		s.do(n, pullPiece, (*paths).pullFirst)
		s.do(int(p.deferred.end.Load()), visitPiece, (*paths).pullDeferred)
		s.endLevel(graph.BottomUp, n, 0)
	}
	for w := range s.workers {
		s.workers[w].open = p.open.add(s.workers[w].open)
	}
	return s.passOpen()
}

// passOpen passes distances over the open entries until none falls.
func (s *paths) passOpen() error {
	f, n := &s.push.frontier, int(s.pull.open.end.Load())
	if n > len(s.pull.open.list) { // some are missing: every vertex pushes
		*f = (*f)[:0]
		for v, x := range s.states[:s.g.Vertices] {
			if bitsOf(x) != infinity {
				*f = append(*f, uint64(bitsOf(x))<<32|uint64(v))
			}
		}
		return s.pushRounds((*paths).pushLists, s.g.Step)
	}
	for pass := 1; n > 0; pass++ {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.do(n, visitPiece, (*paths).passPiece)
		s.endLevel(graph.BottomUp, n, 0)
		*f = (*f)[:0]
		for w := range s.workers {
			x := &s.workers[w].pusher
			*f, x.frontier = append(*f, x.frontier...), x.frontier[:0]
		}
		switch {
		case len(*f) == 0:
			return nil
		case pass == openPasses:
			return s.pushRounds((*paths).pushLists, s.g.Step)
		}
	}
	return nil
}

// passPiece passes distances over the open entries from..to-1 whose neighbors have become nearer.
func (s *paths) passPiece(worker, from, to int) {
	mine := &s.workers[worker]
	list, n := s.pull.open.list[from:to], 0
	for i := range list { // without a branch that cannot be predicted
		mine.rest[n] = uint32(i)
		n += int(less(uint64(bitsOf(s.load(list[i].neighbor))), uint64(math.Float32bits(list[i].seen))))
	}
	for _, i := range mine.rest[:n] {
		e := &list[i]
		e.seen = distanceOf(s.load(e.neighbor))
		mine.offers = append(mine.offers, offer{stateOf(e.seen+e.weight, s.g.Label[e.neighbor]), e.vertex})
	}
	s.lower(mine, s.states)
}

// infinity is the distance of an unreached vertex in bits.
const infinity = 0x7f800000

func (s *paths) pullHubs(worker, from, to int) {
	for v := from; v < to; v++ {
		s.look(&s.workers[worker], uint32(v))
	}
}

// pullFirst takes the vertices from..to-1 of a class. It leaves those whose first neighbor is not final to
// pullDeferred.
func (s *paths) pullFirst(worker, from, to int) {
	mine := &s.workers[worker]
	all := mine.all[:to-from]
	for i := range all {
		all[i] = uint32(s.pull.base + from + i)
	}
	rest, deferred := s.lookFirst(mine, all)
	s.pull.deferred.add(mine.hard[:deferred])
	mine.entries += int64(len(all) - deferred)
	s.lookOn(mine, rest)
}

func (s *paths) pullDeferred(worker, from, to int) {
	mine := &s.workers[worker]
	rest, hard := s.lookFirst(mine, s.pull.deferred.list[from:to])
	mine.entries += int64(to - from - hard)
	s.lookAll(mine, mine.hard[:hard])
	s.lookOn(mine, rest)
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
func (s *paths) lookFirst(mine *pathWorker, us []uint32) (rest, hard int) {
	states, heads, low := s.states, s.g.Heads, s.pull.low
	n, rest, hard := s.lookFirstVector(mine, us)
	us = us[n:]
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetchFirst(us, k)
		}
		h, x := &heads[u], states[u]
		y := states[h.Neighbor]
		found := nearer(x, y, h)
		open := 1 - x>>63
		ready := y >> 63 & open
		enough := 1 - less(uint64(math.Float32bits(low+h.Next)), found>>distanceBit0)
		states[u] = x ^ (x^(found|final))&-(ready&enough)
		mine.rest[rest], mine.hard[hard] = u, u
		rest += int(ready &^ enough)
		hard += int(open &^ ready)
	}
	return rest, hard
}

// fetchFirst asks for what lookFirst needs after us[k:k+lookahead]: the states of neighbors, and further on, where
// vertices follow each other, heads and states, because a processor does not fetch beyond a page by itself.
func (s *paths) fetchFirst(us []uint32, k int) {
	s.fetch(us, k+lookahead, &s.g.Heads[0], headSize)
	const far = 4 * lookahead
	if k += far; k+lookahead <= len(us) && us[k] == us[k-far]+far {
		fetchLines(s.g.Heads[us[k]:][:lookahead])
		fetchLines(s.states[us[k]:][:lookahead])
	}
}

// nearer returns the state x of a vertex, or if that is nearer the one over entry h, whose neighbor has state y.
func nearer(x, y uint64, h *layout.Head) uint64 {
	d := uint64(math.Float32bits(distanceOf(y) + h.Weight))
	return x ^ (x^(d<<distanceBit0|uint64(h.Label)))&-less(d, x>>distanceBit0)
}

// lookSecond looks at the second entry of vertices that are not final and have a final first neighbor. It returns the
// number of vertices in hard, which are not final.
//
//go:norace
func (s *paths) lookSecond(mine *pathWorker, us []uint32) (hard int) {
	states, heads, seconds, low := s.states, s.g.Heads, s.g.Seconds, s.pull.low
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetch(us, k+lookahead, &seconds[0][0], 2*headSize)
		}
		h, e, x := &heads[u], &seconds[u][0], states[u]
		y := states[e.Neighbor]
		found := nearer(nearer(x, states[h.Neighbor], h), y, e)
		ok := (y >> 63) &^ less(uint64(math.Float32bits(low+e.Next)), found>>distanceBit0)
		states[u] = x ^ (x^(found|final))&-ok
		mine.hard[hard] = u
		hard += int(1 - ok)
	}
	return hard
}

// lookAll lets vertices look at their lists.
func (s *paths) lookAll(mine *pathWorker, us []uint32) {
	for k, u := range us {
		if k%lookahead == 0 {
			s.fetch(us, k+lookahead, &s.g.Heads[0], headSize)
			s.fetch(us, k+lookahead, &s.g.Seconds[0][0], 2*headSize)
			s.fetch(us, k, &s.g.Seconds[0][1], 2*headSize)
		}
		s.look(mine, u)
	}
}

const headSize = 16 // bytes

// fetch asks for the states of the neighbors in an entry of the vertices us[k:], at most as many as are fetched
// together.
func (s *paths) fetch(us []uint32, k int, heads *layout.Head, size int) {
	if k < len(us) {
		prefetchNeighbors(&s.states[0], heads, size, &us[k], min(lookahead, len(us)-k))
	}
}

// look goes through the list of v while the bound of the next entry is less than the distance found.
//
//go:norace
func (s *paths) look(mine *pathWorker, v uint32) {
	g, low := s.g, s.pull.low
	x := s.states[v]
	if x&final != 0 {
		return
	}
	l := looking{best: distanceOf(x), parent: uint32(x), floor: graph.Infinity()}
	opened := len(mine.open)
	i, bound, h := 0, float32(0), &g.Heads[v]
	for ; i < layout.Columns && low+bound < l.best; i++ {
		if i > 0 {
			h = &g.Seconds[v][i-1]
		}
		s.see(mine, &l, v, h, bound)
		bound = h.Next
	}
	if low+bound < l.best {
		for list := g.List(v); i < len(list); i++ {
			u, w := layout.Split(list[i])
			if bound = g.Bound(v, u, w); low+bound >= l.best {
				if i < int(g.Sorted[v]) {
					break
				}
				continue
			}
			s.see(mine, &l, v, &layout.Head{Neighbor: u, Weight: w, Label: g.Label[u]}, bound)
		}
	}
	mine.entries += int64(i)
	state := x
	if l.best < distanceOf(x) {
		state = stateOf(l.best, l.parent)
	}
	switch {
	case l.floor >= l.best:
		mine.open = mine.open[:opened]
		if l.best < graph.Infinity() {
			state |= final
		}
	case len(mine.open) >= openBuffer:
		mine.open = s.pull.open.add(mine.open)
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
}

// see looks at an entry of the list of v with a bound.
//
//go:norace
func (s *paths) see(mine *pathWorker, l *looking, v uint32, h *layout.Head, bound float32) {
	y := s.states[h.Neighbor]
	if d := distanceOf(y) + h.Weight; d < l.best {
		l.best, l.parent = d, h.Label
	}
	if y&final != 0 {
		return
	}
	length := s.pull.low + bound
	if int(h.Neighbor) < s.g.Hubs {
		length = max(length, s.below+h.Weight)
	}
	if length < l.best {
		l.floor = min(l.floor, length)
		mine.open = append(mine.open, openEntry{v, h.Neighbor, h.Weight, distanceOf(y)})
	}
}
