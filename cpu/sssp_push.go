// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// push is the scratch of the step that finds the distances of hubs.
type push struct {
	states   []uint64 // of the vertices of the core, by what was pushed there
	frontier []uint64 // vertices whose distance has fallen to this: distance<<32 | vertex
	near     float32  // a round leaves those beyond it for later
	far      float32  // in the core: vertex 0 is not further, with a margin
}

// pusher is the part of one worker.
type pusher struct {
	frontier []uint64           // its part of the next frontier
	nearest  float32            // distance in it
	far      float32            // as in push, by what the worker has found
	taken    [pushBatch]uint32  // vertices of a batch,
	at       [pushBatch]float32 // and their distances
	offers   []offer
	pushes   int // vertices pushed
}

// offer is a distance and a parent for a vertex.
type offer struct {
	state uint64
	to    uint32
}

const (
	pushBatch     = 64   // vertices of a frontier whose lists are fetched together
	checkedRounds = 256  // rounds between two looks for a canceled search
	soloPush      = 1024 // a frontier with fewer vertices is left to one worker
)

// pushToHubs makes all hubs below T final.
func (s *paths) pushToHubs() error {
	s.below = s.nearest
	if c := s.core; c != nil && s.nearest < c.Safe {
		s.below = (s.nearest + c.Reach) * layout.Slack
	}
	s.pushFromRoot()
	if len(s.push.frontier) == 0 {
		return nil
	}
	states := s.push.states
	for v := copy(states, s.states[:s.g.Hubs]); v < len(states); {
		v += copy(states[v:], s.blank.states)
	}
	s.push.far = s.farthest(graph.Infinity(), s.push.frontier)
	if err := s.pushRounds((*paths).pushCore, graph.Infinity()); err != nil {
		return err
	}
	s.do(len(states), clearPiece, (*paths).leaveCore)
	return nil
}

// leaveCore takes over the distances that push has found for vertices from..to-1 of the core.
func (s *paths) leaveCore(_, from, to int) {
	for k := from; k < to; k++ {
		x, v := s.push.states[k], s.core.Vertices[k].Vertex
		if k < s.g.Hubs && distanceOf(x) < s.below {
			x |= final
		}
		if x&final != 0 || bitsOf(x) < bitsOf(s.states[v]) {
			s.states[v] = x
		}
	}
}

// pushRounds pushes until the frontier is empty. A round goes through the vertices that are at most width further than
// the nearest one.
func (s *paths) pushRounds(round pathStep, width float32) error {
	p := &s.push
	p.near = graph.Infinity()
	for rounds := 1; len(p.frontier) > 0; rounds++ {
		if rounds%checkedRounds == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		size := min(max(len(p.frontier)/(piecesPerShare*s.team.Size()), pushBatch/4), 4*pushBatch)
		if len(p.frontier) < soloPush {
			size = soloPush
		}
		for w := range s.workers {
			s.workers[w].pusher.nearest, s.workers[w].pusher.far = graph.Infinity(), p.far
		}
		s.do(len(p.frontier), size, round)
		p.frontier, p.near = p.frontier[:0], graph.Infinity()
		pushes := 0
		for w := range s.workers {
			x := &s.workers[w].pusher
			p.frontier = append(p.frontier, x.frontier...)
			p.near, p.far = min(p.near, x.nearest), min(p.far, x.far)
			pushes += x.pushes
			x.frontier, x.pushes = x.frontier[:0], 0
		}
		p.near += width
		s.endLevel(graph.TopDown, pushes, 0)
	}
	return nil
}

// pushFromRoot goes on with Dijkstra's algorithm up to T, but not through hubs: it makes them the frontier. Vertices
// that were reached from below t0 push their whole lists, and the others only entries that can lead to a hub below T.
func (s *paths) pushFromRoot() {
	g, frontier := s.g, s.push.frontier[:0]
	pushed, entries := 0, int64(0)
	push := func(v uint32, whole bool) {
		d, parent := distanceOf(s.states[v]), g.Label[v]
		low := d * layout.Slack
		pushed++
		for i, entry := range g.List(v) {
			u, w := layout.Split(entry)
			if !whole && low+g.Bound(v, u, w) >= s.below {
				if i < int(g.Sorted[v]) {
					break
				}
				continue
			}
			entries++
			if to := d + w; to < distanceOf(s.states[u]) {
				s.states[u] = stateOf(to, parent)
				if to < s.below {
					s.queue.push(uint64(math.Float32bits(to))<<32 | uint64(u))
				}
			}
		}
	}
	for _, v := range s.touched {
		if int(v) >= g.Hubs && s.states[v]&final == 0 {
			push(v, true)
		}
	}
	for key, ok := s.queue.pop(); ok; key, ok = s.queue.pop() {
		v, d := uint32(key), uint32(key>>32)
		if math.Float32frombits(d) >= s.below {
			break
		}
		switch x := s.states[v]; {
		case bitsOf(x) != d || x&final != 0:
		case int(v) < g.Hubs:
			frontier = append(frontier, key)
		default:
			push(v, false)
		}
	}
	s.push.frontier = frontier
	s.endLevel(graph.TopDown, pushed, entries)
}

// pushCore pushes the distances of vertices from..to-1 of the frontier over their entries in the core. It finds the
// offers of a batch, and then the vertices that accept them. Each step reads many places in memory, so the cache misses
// of a batch overlap.
func (s *paths) pushCore(worker, from, to int) {
	c, mine := s.core, &s.workers[worker]
	for ; from < to; from += pushBatch {
		for i, v := range s.take(mine, s.push.states, from, min(from+pushBatch, to)) {
			d, x := mine.at[i], &c.Vertices[v]
			low, far := d*layout.Slack, mine.far-d
			for _, e := range c.Entries[x.At:c.Vertices[v+1].At] {
				if e.Key > far {
					break
				}
				if low+e.Bound < s.below {
					mine.offers = append(mine.offers, offer{stateOf(d+e.Weight, x.Label), e.Neighbor})
				}
			}
			if len(mine.offers) >= pushBatch {
				s.lowerCore(mine)
			}
		}
		s.lowerCore(mine)
	}
}

// lowerCore is lower for pushCore. It leaves vertices out of the frontier that have nothing to push.
func (s *paths) lowerCore(mine *pathWorker) {
	n := len(mine.pusher.frontier)
	s.lower(mine, s.push.states)
	all := mine.pusher.frontier
	mine.far = s.farthest(mine.far, all[n:])
	for _, key := range all[n:] {
		all[n] = key
		if s.core.Entries[s.core.Vertices[uint32(key)].At].Key <= mine.far-math.Float32frombits(uint32(key>>32)) {
			n++
		}
	}
	mine.pusher.frontier = all[:n]
}

// farthest returns how far vertex 0 can be, with a margin, if it is at most far and by the distances in a frontier.
func (s *paths) farthest(far float32, frontier []uint64) float32 {
	for _, key := range frontier {
		x := &s.core.Vertices[uint32(key)]
		if d := math.Float32frombits(uint32(key>>32)) + x.Radius; d < far {
			far = d
		}
	}
	return far
}

// pushLists is pushCore for whole lists.
func (s *paths) pushLists(worker, from, to int) {
	mine := &s.workers[worker]
	for ; from < to; from += pushBatch {
		for i, v := range s.take(mine, s.states, from, min(from+pushBatch, to)) {
			parent := s.g.Label[v]
			for _, entry := range s.g.List(v) {
				u, w := layout.Split(entry)
				mine.offers = append(mine.offers, offer{stateOf(mine.at[i]+w, parent), u})
			}
			if len(mine.offers) >= pushBatch {
				s.lower(mine, s.states)
			}
		}
		s.lower(mine, s.states)
	}
}

// take takes vertices from..to-1 of the frontier, except those that are too far for this round, which stay in it, and
// those whose distance has fallen since, which are in it again. It returns them, with their distances in mine.at.
func (s *paths) take(mine *pathWorker, states []uint64, from, to int) []uint32 {
	n := 0
	for _, key := range s.push.frontier[from:to] {
		v, d := uint32(key), math.Float32frombits(uint32(key>>32))
		if d > s.push.near {
			mine.pusher.frontier = append(mine.pusher.frontier, key)
			mine.pusher.nearest = min(mine.pusher.nearest, d)
			continue
		}
		mine.taken[n], mine.at[n] = v, d
		n += int(1 - less(uint64(bitsOf(atomic.LoadUint64(&states[v]))), key>>32))
	}
	mine.pushes += n
	return mine.taken[:n]
}

// lower gives vertices the distances and parents that they are offered, if those are smaller, and adds the vertices to
// the next frontier.
func (s *paths) lower(mine *pathWorker, states []uint64) {
	mine.entries += int64(len(mine.offers))
	n := 0
	for _, o := range mine.offers { // without a branch: whether a distance is smaller cannot be predicted
		mine.offers[n] = o
		n += int(less(o.state>>distanceBit0, uint64(bitsOf(atomic.LoadUint64(&states[o.to])))))
	}
	for _, o := range mine.offers[:n] {
		for {
			old := atomic.LoadUint64(&states[o.to])
			if bitsOf(o.state) >= bitsOf(old) {
				break
			}
			if atomic.CompareAndSwapUint64(&states[o.to], old, o.state) {
				mine.pusher.frontier = append(mine.pusher.frontier, o.state>>32<<32|uint64(o.to))
				mine.pusher.nearest = min(mine.pusher.nearest, distanceOf(o.state))
				break
			}
		}
	}
	mine.offers = mine.offers[:0]
}
