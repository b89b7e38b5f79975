// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"slices"

	"gorgonia.org/cu"
)

// The data that ranks send each other in kernel 1.

// exchangeEdges brings both edges of every tuple to the GPUs of a grid that they belong to. With one column, these are
// the owners of their targets. In each step a rank sends to another one, first to itself.
func (r *rank) exchangeEdges(columns uint64) error {
	ranks := uint64(r.c.ranks)
	var own []uint64 // by receiver
	if err := r.do("count edges", func() {
		r.clearCounters()
		r.forTuples(func(pairs, n uint64) { r.Loop(countEdgesKernel(pairs, n, ranks, columns, r.counters)) })
		own = readAll[uint64](r.builder, r.counters, int64(ranks))
	}); err != nil {
		return err
	}
	counts, err := gatherNumbers(r.link, own...) // by sender and receiver
	if err != nil {
		return err
	}
	largest := uint64(0)
	if err := r.do("edges", func() {
		r.owned = 0
		for _, c := range counts {
			r.owned += c[r.number]
			largest = max(largest, 8*slices.Max(c))
		}
		r.edges = r.Array("edges", int64(8*r.owned))
		r.buffer = r.Array("edges to send", exported(8*int64(slices.Max(own))))
	}); err != nil {
		return err
	}
	for step := range ranks {
		to, from := (r.number+step)%ranks, (r.number+ranks-step)%ranks
		if err := r.do("select edges", func() {
			r.clearCounters()
			r.forTuples(func(pairs, n uint64) {
				r.Loop(selectEdgesKernel(pairs, n, to, ranks, columns, r.buffer, r.counters))
			})
		}); err != nil {
			return err
		}
		at, send, receive := r.edges, make([]part, ranks), make([]part, ranks)
		for _, c := range counts[:from] {
			at += 8 * c[r.number]
		}
		send[to], receive[from] = part{array{at: r.buffer}, 8 * own[to]}, part{array{at: at}, 8 * counts[from][r.number]}
		if err := r.device.Do(func() error {
			if step > 0 {
				return r.link.move(send, receive, largest)
			} else if own[to] == 0 {
				return nil
			}
			return cu.MemcpyDtoD(cu.DevicePtr(at), cu.DevicePtr(r.buffer), int64(8*own[to]))
		}); err != nil {
			return err
		}
	}
	last := columns == r.graph.Columns
	return r.do("edges", func() {
		r.Release(&r.buffer)
		if last {
			r.Release(&r.pairs)
		}
	})
}

// section is the address of the part of vertex that has the labels of this rank.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices gives all processes the sections of vertex of the others.
func (r *rank) gatherVertices() error {
	size := 4 * r.graph.Labels
	send, receive := make([]part, r.c.ranks), make([]part, r.c.ranks)
	for k := range send {
		if uint64(k) != r.number {
			send[k] = part{array{at: r.section()}, size}
			receive[k] = part{array{at: r.graph.Vertex + size*uint64(k)}, size}
		}
	}
	return r.device.Do(func() error { return r.link.move(send, receive, size) })
}

// combine returns numbers of all ranks, combined one by one.
func (r *rank) combine(with func(a, b uint64) uint64, own ...uint64) ([]uint64, error) {
	all, err := gatherNumbers(r.link, own...)
	if err != nil {
		return nil, err
	}
	for _, other := range all[1:] {
		for i := range other {
			all[0][i] = with(all[0][i], other[i])
		}
	}
	return all[0], nil
}

func larger(a, b uint64) uint64 { return max(a, b) }
func sum(a, b uint64) uint64    { return a + b }
