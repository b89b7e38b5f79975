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
	frontier []uint32 // vertices whose distance has fallen, each once
	near     float32  // a round leaves those beyond it for later
}

// pusher is the part of one worker.
type pusher struct {
	frontier      []uint32           // its part of the next frontier
	nearest       float32            // distance in it
	taken         [pushBatch]uint32  // vertices of a batch,
	at            [pushBatch]float32 // their distances,
	begins        [pushBatch]uint64  // and where their lists begin<<32 | end
	offers        []offer
	pushes, ahead int // vertices pushed; sum of what was fetched, not used
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
	if s.core != nil {
		if err := s.pushRounds((*paths).pushCore, graph.Infinity()); err != nil {
			return err
		}
	}
	for h, x := range s.states[:s.g.Hubs] {
		if distanceOf(x) < s.below {
			s.states[h] |= final
		}
	}
	return nil
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
			s.workers[w].pusher.nearest = graph.Infinity()
		}
		s.do(len(p.frontier), size, round)
		p.frontier, p.near = p.frontier[:0], graph.Infinity()
		pushes := 0
		for w := range s.workers {
			x := &s.workers[w].pusher
			p.frontier = append(p.frontier, x.frontier...)
			p.near = min(p.near, x.nearest)
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
				s.states[u] = s.states[u]&queued | stateOf(to, parent)
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
		case bitsOf(x) != d || x&(final|queued) != 0:
		case int(v) < g.Hubs:
			s.states[v] |= queued
			frontier = append(frontier, v)
		default:
			push(v, false)
		}
	}
	s.push.frontier = frontier
	s.endLevel(graph.TopDown, pushed, entries)
}

// pushCore pushes the distances of vertices from..to-1 of the frontier over their entries in the core. It finds the
// lists of a batch, then their offers, and then the vertices that accept them. Each step reads many places in memory,
// so the cache misses of a batch overlap.
func (s *paths) pushCore(worker, from, to int) {
	c, mine := s.core, &s.workers[worker]
	for ; from < to; from += pushBatch {
		us := s.take(mine, from, min(from+pushBatch, to))
		for i, v := range us {
			mine.begins[i] = uint64(c.At[v])<<32 | uint64(c.At[v+1])
		}
		for _, list := range mine.begins[:len(us)] {
			if int(list>>32) < len(c.Entries) {
				mine.ahead += int(c.Entries[list>>32].Neighbor)
			}
		}
		far := distanceOf(s.load(0)) + c.Margin
		for i, v := range us {
			d, parent := mine.at[i], s.g.Label[v]
			low := d * layout.Slack
			for _, e := range c.Entries[mine.begins[i]>>32 : uint32(mine.begins[i])] {
				if e.Key > far-d {
					break
				}
				if low+e.Bound < s.below {
					mine.offers = append(mine.offers, offer{stateOf(d+e.Weight, parent), e.Neighbor})
				}
			}
			if len(mine.offers) >= pushBatch {
				s.lower(mine)
			}
		}
		s.lower(mine)
	}
}

// pushLists is pushCore for whole lists.
func (s *paths) pushLists(worker, from, to int) {
	mine := &s.workers[worker]
	for ; from < to; from += pushBatch {
		for i, v := range s.take(mine, from, min(from+pushBatch, to)) {
			parent := s.g.Label[v]
			for _, entry := range s.g.List(v) {
				u, w := layout.Split(entry)
				mine.offers = append(mine.offers, offer{stateOf(mine.at[i]+w, parent), u})
			}
			if len(mine.offers) >= pushBatch {
				s.lower(mine)
			}
		}
		s.lower(mine)
	}
}

// take takes vertices from..to-1 of the frontier, except those that are too far for this round, which stay queued. It
// returns them, with their distances in mine.at.
func (s *paths) take(mine *pathWorker, from, to int) []uint32 {
	n := 0
	for _, v := range s.push.frontier[from:to] {
		if d := distanceOf(s.load(v)); d > s.push.near {
			mine.pusher.frontier = append(mine.pusher.frontier, v)
			mine.pusher.nearest = min(mine.pusher.nearest, d)
			continue
		}
		mine.taken[n] = v
		n++
	}
	for i, v := range mine.taken[:n] {
		mine.at[i] = distanceOf(atomic.AndUint64(&s.states[v], ^uint64(queued)))
	}
	mine.pushes += n
	return mine.taken[:n]
}

// lower gives vertices the distances and parents that they are offered, if those are smaller, and adds the vertices to
// the next frontier.
func (s *paths) lower(mine *pathWorker) {
	mine.entries += int64(len(mine.offers))
	n := 0
	for _, o := range mine.offers { // without a branch: whether a distance is smaller cannot be predicted
		mine.offers[n] = o
		n += int(less(o.state>>distanceBit0, uint64(bitsOf(s.load(o.to)))))
	}
	for _, o := range mine.offers[:n] {
		for {
			old := s.load(o.to)
			if bitsOf(o.state) >= bitsOf(old) {
				break
			}
			if atomic.CompareAndSwapUint64(&s.states[o.to], old, o.state|queued) {
				if old&queued == 0 {
					mine.pusher.frontier = append(mine.pusher.frontier, o.to)
				}
				mine.pusher.nearest = min(mine.pusher.nearest, distanceOf(o.state))
				break
			}
		}
	}
	mine.offers = mine.offers[:0]
}
