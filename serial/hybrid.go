// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/kolganov"
	"github.com/tepsbench/teps/plugins"
)

// hybrid is the search of Kolganov 2018, figure 2, with the loop schedules of OpenMP. Each worker has its own queue of
// discovered vertices; a vertex belongs to the worker that sets its level.
type hybrid struct {
	rows     *csr
	packed   *packed // in place of rows, or nil
	entries  int64
	rule     graph.Switch
	workers  int
	schedule string // static, dynamic or guided
	chunk    int    // items that a worker takes at a time; 0: as many as OpenMP takes by default
	level    []uint32
	queue    []uint32        // all vertices reached, level by level; the last level is the frontier
	levels   []plugins.Level // empty, with room for those of a search
	found    []found         // by each worker, in a step
}

type found struct {
	queue []uint32
	inLvl int64 // visited edges
	_     [64]byte
}

const fewVertices = 300 // in a frontier that one worker expands

// search searches from root. It returns at most cap(h.levels) levels.
func (h *hybrid) search(
	ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
	parent := out.Parent
	h.share(len(h.level), func(_, first, last int) {
		clear(h.level[first:last])
		for v := range parent[first:last] {
			parent[first+v] = graph.Unreached
		}
	})
	parent[root], h.level[root], h.queue[0] = root, 1, uint32(root)
	levels := h.levels
	state := graph.SwitchState{Direction: h.rule.First(), Frontier: 1, Vertices: int64(len(h.level))}
	for head, tail, depth := 0, 1, uint32(2); head < tail; depth++ {
		began := time.Now()
		if state.Direction == graph.TopDown {
			h.topDown(h.queue[head:tail], depth, parent)
		} else {
			h.bottomUp(depth, parent)
		}
		next, inLvl := h.gather(tail)
		if len(levels) < cap(levels) {
			levels = append(levels, plugins.Level{Direction: state.Direction, Frontier: int64(tail - head),
				Edges: plugins.Counted(inLvl), Elapsed: time.Since(began)})
		}
		state.Previous, state.Frontier = int64(tail-head), int64(next-tail)
		state.Direction = kolganov.Next(h.rule, state, inLvl, h.entries)
		if head, tail = tail, next; ctx.Err() != nil {
			return t, ctx.Err()
		}
	}
	if len(levels) < cap(levels) {
		t.Levels = levels
	}
	return t, nil
}

func (h *hybrid) topDown(frontier []uint32, depth uint32, parent []graph.Vertex) {
	step := func(worker, first, last int) {
		f := &h.found[worker]
		for _, u := range frontier[first:last] {
			if h.packed != nil {
				for bit, width, end := h.packed.list(u); bit < end; bit += width {
					if v := h.packed.entry(bit, width); h.discover(v, depth) {
						parent[v] = graph.Vertex(u)
						f.queue = append(f.queue, v)
					}
					f.inLvl++
				}
				continue
			}
			row := h.rows.neighbors(u)
			for _, v := range row {
				if h.discover(v, depth) {
					parent[v] = graph.Vertex(u)
					f.queue = append(f.queue, v)
				}
			}
			f.inLvl += int64(len(row))
		}
	}
	if len(frontier) < fewVertices {
		step(0, 0, len(frontier))
		return
	}
	h.share(len(frontier), step)
}

func (h *hybrid) discover(v, depth uint32) bool {
	level := &h.level[v]
	return atomic.LoadUint32(level) == 0 && atomic.CompareAndSwapUint32(level, 0, depth)
}

func (h *hybrid) bottomUp(depth uint32, parent []graph.Vertex) {
	h.share(len(h.level), func(worker, first, last int) {
		f := &h.found[worker]
		for v := uint32(first); v < uint32(last); v++ {
			if h.level[v] != 0 {
				continue
			}
			u, found := uint32(0), false
			if h.packed != nil {
				for bit, width, end := h.packed.list(v); bit < end && !found; bit += width {
					f.inLvl++
					u = h.packed.entry(bit, width)
					found = atomic.LoadUint32(&h.level[u]) == depth-1
				}
			} else {
				for _, u = range h.rows.neighbors(v) {
					f.inLvl++
					if found = atomic.LoadUint32(&h.level[u]) == depth-1; found {
						break
					}
				}
			}
			if found {
				atomic.StoreUint32(&h.level[v], depth)
				parent[v] = graph.Vertex(u)
				f.queue = append(f.queue, v)
			}
		}
	})
}

// gather moves the queues of all workers to the queue of the search, at tail. It returns the end, and the edges
// visited.
func (h *hybrid) gather(tail int) (end int, inLvl int64) {
	end = tail
	var copies sync.WaitGroup
	for w := range h.found {
		f := &h.found[w]
		if to := h.queue[end:][:len(f.queue)]; len(to) < fewVertices {
			copy(to, f.queue)
		} else {
			copies.Go(func() { copy(to, f.queue) })
		}
		end, inLvl = end+len(f.queue), inLvl+f.inLvl
		f.inLvl = 0
	}
	copies.Wait()
	for w := range h.found {
		h.found[w].queue = h.found[w].queue[:0]
	}
	return end, inLvl
}

// share calls body for ranges of the items 0..n-1 on all workers, by the schedule (OpenMP 4.5, section 2.7.1).
func (h *hybrid) share(n int, body func(worker, first, last int)) {
	var taken atomic.Int64
	work := func(w int) {
		switch {
		case h.schedule == "static" && h.chunk == 0:
			body(w, w*n/h.workers, (w+1)*n/h.workers)
		case h.schedule == "static":
			for first := w * h.chunk; first < n; first += h.workers * h.chunk {
				body(w, first, min(first+h.chunk, n))
			}
		default:
			smallest := max(1, h.chunk)
			for {
				first := int(taken.Load())
				size := smallest
				if h.schedule == "guided" {
					size = max(smallest, (n-first)/h.workers)
				}
				if first >= n {
					return
				}
				if taken.CompareAndSwap(int64(first), int64(first+size)) {
					body(w, first, min(first+size, n))
				}
			}
		}
	}
	var others sync.WaitGroup
	for w := 1; w < h.workers; w++ {
		others.Go(func() { work(w) })
	}
	work(0)
	others.Wait()
}
