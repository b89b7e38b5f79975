// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"math"
	"math/bits"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// dijkstra is Dijkstra's algorithm from the queue, by one worker. It stops when the nearest vertex is a hub, and
// returns whether it did; that vertex stays in the queue. Then touched has the vertices whose distance it has set.
func (s *paths) dijkstra() (hub bool, err error) {
	g, states := s.g, s.states
	popped, entries := 0, int64(0)
	for {
		key, ok := s.queue.pop()
		if !ok {
			break
		}
		v, d := uint32(key), uint32(key>>32)
		if x := states[v]; bitsOf(x) != d || x&final != 0 {
			continue // it has got a smaller distance since
		}
		if int(v) < g.Hubs {
			s.queue.push(key)
			s.nearest = math.Float32frombits(d)
			hub = true
			break
		}
		states[v] |= final
		if popped++; popped%expansions == 0 && s.ctx.Err() != nil {
			return false, s.ctx.Err()
		}
		list, parent := g.List(v), g.Label[v]
		entries += int64(len(list))
		for _, entry := range list {
			u, w := layout.Split(entry)
			from := math.Float32frombits(d) + w
			if x := states[u]; from < distanceOf(x) {
				if x == s.none {
					s.touched = append(s.touched, u)
				}
				states[u] = stateOf(from, parent)
				s.queue.push(uint64(math.Float32bits(from))<<32 | uint64(u))
			}
		}
	}
	s.endLevel(graph.TopDown, popped, entries)
	return hub, nil
}

// radixQueue is a monotone priority queue of keys distance<<32 | vertex, a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan,
// "Faster algorithms for the shortest path problem", J. ACM 37, 1990) over the bits of the distances. Bucket 0 has the
// keys at the distance that was popped last; bucket b has those whose highest bit that differs from it is bit b-1.
type radixQueue struct {
	buckets [33][]uint64
	last    uint32
}

func (q *radixQueue) reset() {
	for b := range q.buckets {
		q.buckets[b] = q.buckets[b][:0]
	}
	q.last = 0
}

// push adds a key that is not less than the last one popped.
func (q *radixQueue) push(key uint64) {
	b := bits.Len32(uint32(key>>32) ^ q.last)
	q.buckets[b] = append(q.buckets[b], key)
}

// pop removes a key of least distance. It returns false if there is none.
func (q *radixQueue) pop() (key uint64, ok bool) {
	if len(q.buckets[0]) == 0 && !q.refill() {
		return 0, false
	}
	n := len(q.buckets[0]) - 1
	key = q.buckets[0][n]
	q.buckets[0] = q.buckets[0][:n]
	return key, true
}

// refill moves the keys of the first bucket that has any to those below it.
func (q *radixQueue) refill() bool {
	for b := 1; b < len(q.buckets); b++ {
		keys := q.buckets[b]
		if len(keys) == 0 {
			continue
		}
		lowest := keys[0]
		for _, key := range keys {
			lowest = min(lowest, key)
		}
		q.last = uint32(lowest >> 32)
		q.buckets[b] = keys[:0]
		for _, key := range keys {
			q.push(key) // below b
		}
		return true
	}
	return false
}
