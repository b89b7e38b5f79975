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
	better        [pushBatch]uint64  // distance<<32 | neighbor that may get it
	pushes, ahead int                // vertices pushed; sum of what was fetched, not used
}

const (
	pushBatch = 64   // vertices of a frontier whose lists are fetched together, and entries of a list
	soloPush  = 256  // a frontier with fewer vertices is left to one worker
	nearShare = 0.12 // of Core.Reach that a round goes through: more takes fewer rounds and more vertices again
)

// pushToHubs makes all hubs below T final.
func (s *paths) pushToHubs() {
	s.below = s.nearest
	if c := s.core; c != nil && s.nearest < c.Safe {
		s.below = (s.nearest + c.Reach) * layout.Slack
	}
	s.pushFromRoot()
	p := &s.push
	p.near = graph.Infinity()
	for len(p.frontier) > 0 {
		size := min(max(len(p.frontier)/(piecesPerShare*s.team.Size()), pushBatch/4), 4*pushBatch)
		if len(p.frontier) < soloPush {
			size = soloPush
		}
		for w := range s.workers {
			s.workers[w].pusher.nearest = graph.Infinity()
		}
		s.do(len(p.frontier), size, (*paths).pushRound)
		p.frontier, p.near = p.frontier[:0], graph.Infinity()
		pushes := 0
		for w := range s.workers {
			x := &s.workers[w].pusher
			p.frontier = append(p.frontier, x.frontier...)
			p.near = min(p.near, x.nearest)
			pushes += x.pushes
			x.frontier, x.pushes = x.frontier[:0], 0
		}
		p.near += nearShare * s.core.Reach
		s.endLevel(graph.TopDown, pushes, 0)
	}
	for h, x := range s.states[:s.g.Hubs] {
		if distanceOf(x) < s.below {
			s.states[h] |= final
		}
	}
}

// pushFromRoot goes on with Dijkstra's algorithm up to T, but not through hubs: it makes them the frontier.
// Vertices that were reached from below t0 push their whole lists, and the others what can lead to a hub below T.
func (s *paths) pushFromRoot() {
	g, frontier := s.g, s.push.frontier[:0]
	pushed, entries := 0, int64(0)
	push := func(v uint32, whole bool) {
		d := distanceOf(s.states[v])
		low := d * layout.Slack
		pushed++
		for _, entry := range g.List(v) {
			u, w := layout.Split(entry)
			if !whole && low+g.Bound(v, u, w) >= s.below {
				break
			}
			entries++
			if to := d + w; to < distanceOf(s.states[u]) {
				s.states[u] = s.states[u]&queued | stateOf(to, v)
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

// pushRound pushes the distances of vertices from..to-1 of the frontier over their entries in the core.
func (s *paths) pushRound(worker, from, to int) {
	c, mine := s.core, &s.workers[worker]
	for ; from < to; from += pushBatch {
		n := 0
		for _, v := range s.push.frontier[from:min(from+pushBatch, to)] {
			if d := distanceOf(s.load(v)); d >= s.push.near { // it stays queued
				mine.pusher.frontier = append(mine.pusher.frontier, v)
				mine.pusher.nearest = min(mine.pusher.nearest, d)
				continue
			}
			mine.taken[n] = v
			mine.at[n] = distanceOf(atomic.AndUint64(&s.states[v], ^uint64(queued)))
			mine.begins[n] = uint64(c.At[v])<<32 | uint64(c.At[v+1])
			n++
		}
		for _, list := range mine.begins[:n] { // each list is somewhere else in memory, so all are fetched first
			if int(list>>32) < len(c.Entries) {
				mine.pusher.ahead += int(c.Entries[list>>32].Neighbor)
			}
		}
		for i, v := range mine.taken[:n] {
			list := c.Entries[mine.begins[i]>>32 : uint32(mine.begins[i])]
			for len(list) > 0 {
				list = s.pushSome(mine, v, mine.at[i], list)
			}
		}
		mine.pushes += n
	}
}

// pushSome pushes over the first entries of list and returns the others, without those that lead nowhere below T.
func (s *paths) pushSome(mine *pathWorker, v uint32, d float32, list []layout.CoreEntry) []layout.CoreEntry {
	low, n, looked := d*layout.Slack, 0, min(len(list), pushBatch)
	for i := range list[:looked] {
		e := &list[i]
		if low+e.Bound >= s.below {
			list, looked = list[:i], i
			break
		}
		to := math.Float32bits(d + e.Weight)
		mine.better[n&(pushBatch-1)] = uint64(to)<<32 | uint64(e.Neighbor)
		// Whether the distance is better cannot be predicted, so there is no branch on it.
		n += int(less(uint64(to), uint64(bitsOf(s.load(e.Neighbor)))))
	}
	mine.entries += int64(looked)
	for _, key := range mine.better[:n] {
		s.lower(mine, uint32(key), uint32(key>>32), v)
	}
	return list[looked:]
}

// lower gives u a distance, in bits, with its parent, if it is smaller, and adds u to the next frontier.
func (s *paths) lower(mine *pathWorker, u, distance, parent uint32) {
	for {
		old := s.load(u)
		if distance >= bitsOf(old) {
			return
		}
		if atomic.CompareAndSwapUint64(&s.states[u], old, uint64(distance)<<distanceBit0|queued|uint64(parent)) {
			if old&queued == 0 {
				mine.pusher.frontier = append(mine.pusher.frontier, u)
			}
			mine.pusher.nearest = min(mine.pusher.nearest, math.Float32frombits(distance))
			return
		}
	}
}
