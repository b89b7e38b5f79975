// SPDX-License-Identifier: Apache-2.0

// Package kolganov implements the order of vertices and the direction rule of Kolganov, "The Fastest and
// Energy-Efficient Breadth-First Search Algorithm on a Single Node" (2018), for the engines serial and cuda/literature.
package kolganov

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Next returns the direction of the next step by the paper's function change_state (figure 3), from the adjacency
// entries that the last step visited and those of the graph. A growing frontier never switches back to top-down.
func Next(s graph.Switch, p graph.SwitchState, edges, entries int64) graph.Direction {
	if s.Steps != graph.BothDirections {
		return s.First()
	}
	factor := float64(entries) / float64(p.Vertices) / 2
	rest := float64(p.Vertices-p.Frontier)*factor + float64(p.Vertices)
	switch growing := p.Previous < p.Frontier; {
	case growing && p.Direction == graph.TopDown && float64(edges) >= rest/s.Alpha:
		return graph.BottomUp
	case growing:
		return p.Direction
	case float64(p.Frontier) < rest/(factor*s.Beta):
		return graph.TopDown
	}
	return graph.BottomUp
}

// Order returns the new number of each vertex (section 2.3): its position in a queue that begins with the first vertex
// of each component and takes the neighbors of each vertex in the order of its list, targets[offsets[v]:offsets[v+1]].
// The numbers do not depend on the number of threads. The error is that of ctx.
func Order(ctx context.Context, offsets []int64, targets []uint32, threads int) ([]uint32, error) {
	o := queueOrder{offsets, targets, threads, make([]uint32, len(offsets)-1), make([]uint32, 0, len(offsets)-1), nil}
	for first := range o.number {
		head := len(o.queue)
		for o.add(uint32(first)); head < len(o.queue); {
			level := o.queue[head:]
			if threads > 1 && len(level) >= largeLevel {
				o.addNeighbors(ctx, level)
			} else {
				for _, v := range level {
					for _, u := range o.neighbors(v) {
						o.add(u)
					}
				}
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			head += len(level)
		}
	}
	for v := range o.number {
		o.number[v]--
	}
	return o.number, nil
}

const largeLevel = 1 << 12 // minimum length of a level that several threads share

type queueOrder struct {
	offsets []int64
	targets []uint32
	threads int
	number  []uint32 // place in the queue plus 1
	queue   []uint32
	by      []uint32 // for large levels: the first vertex of the level that has this neighbor
}

func (o *queueOrder) neighbors(v uint32) []uint32 { return o.targets[o.offsets[v]:o.offsets[v+1]] }

func (o *queueOrder) add(v uint32) {
	if o.number[v] == 0 {
		o.queue = append(o.queue, v)
		o.number[v] = uint32(len(o.queue))
	}
}

// addNeighbors adds the neighbors of a level on all threads, each to the list of the first vertex that has it.
func (o *queueOrder) addNeighbors(ctx context.Context, level []uint32) {
	const none, grain = math.MaxUint32, 64
	if o.by == nil {
		o.by = make([]uint32, len(o.number))
		for v := range o.by {
			o.by[v] = none
		}
	}
	share := func(items int, grain int64, work func(i int)) {
		// The caller checks ctx.
		_, _ = graph.Parallel(ctx, o.threads, int64(items), grain, func(_ int, first, last int64) bool {
			for i := first; i < last; i++ {
				work(int(i))
			}
			return true
		})
	}
	share(len(level), grain, func(i int) {
		for _, u := range o.neighbors(level[i]) {
			if o.number[u] == 0 {
				for old := atomic.LoadUint32(&o.by[u]); old > uint32(i) &&
					!atomic.CompareAndSwapUint32(&o.by[u], old, uint32(i)); old = atomic.LoadUint32(&o.by[u]) {
				}
			}
		}
	})
	found := make([][]uint32, (len(level)+grain-1)/grain)
	share(len(level), grain, func(i int) {
		for _, u := range o.neighbors(level[i]) {
			if atomic.LoadUint32(&o.by[u]) == uint32(i) {
				atomic.StoreUint32(&o.by[u], none)
				found[i/grain] = append(found[i/grain], u)
			}
		}
	})
	begin := make([]int, len(found))
	for i, vertices := range found {
		begin[i] = len(o.queue)
		o.queue = append(o.queue, vertices...)
	}
	share(len(found), 1, func(i int) {
		for k, u := range found[i] {
			o.number[u] = uint32(begin[i] + k + 1)
		}
	})
}
