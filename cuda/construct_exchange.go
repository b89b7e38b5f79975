// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/cu"
)

// The data that ranks send each other in kernel 1.

// exchangeEdges brings both edges of every tuple to the GPUs of a grid that they belong to. With one column, these are
// the owners of their targets.
func (t team) exchangeEdges(columns uint64) error {
	ranks := uint64(t[0].c.ranks)
	own := make([][]uint64, ranks) // by sender and receiver
	if err := t.do("count edges", func(r *rank) {
		r.clearCounters()
		r.forTuples(func(pairs, n uint64) { r.Loop(countEdgesKernel(pairs, n, ranks, columns, r.counters)) })
		own[r.number] = readAll[uint64](r.builder, r.counters, int64(ranks))
	}); err != nil {
		return err
	}
	counts, err := t.gather(func(r *rank) []uint64 { return own[r.number] })
	if err != nil {
		return err
	}
	if err := t.do("edges", func(r *rank) {
		r.owned = 0
		for _, c := range counts {
			r.owned += c[r.number]
		}
		r.edges = r.Array("edges", int64(8*r.owned))
		r.buffer = r.Array("edges to send", exported(8*int64(slices.Max(counts[r.number]))))
	}); err != nil {
		return err
	}
	for step := range ranks {
		to := func(r *rank) uint64 { return step }
		if t[0].link != nil { // each sends to another one
			to = func(r *rank) uint64 { return (r.number + step) % ranks }
		}
		if err := t.do("select edges", func(r *rank) {
			r.clearCounters()
			r.forTuples(func(pairs, n uint64) {
				r.Loop(selectEdgesKernel(pairs, n, to(r), ranks, columns, r.buffer, r.counters))
			})
		}); err != nil {
			return err
		}
		if err := t.sendEdges(step, counts); err != nil {
			return err
		}
	}
	last := columns == t[0].graph.Columns
	return t.do("edges", func(r *rank) {
		r.Release(&r.buffer)
		if last {
			r.Release(&r.pairs)
		}
	})
}

// sendEdges sends the selected edges of a step: of several processes, those of rank r to rank r+step, otherwise those
// of all to rank step.
func (t team) sendEdges(step uint64, counts [][]uint64) error {
	ranks := uint64(len(counts))
	place := func(from, to uint64) (bytes uint64) { // in the edges of rank to
		for k := range from {
			bytes += 8 * counts[k][to]
		}
		return bytes
	}
	if r := t[0]; r.link != nil {
		to, from := (r.number+step)%ranks, (r.number+ranks-step)%ranks
		at, bytes := r.edges+place(from, r.number), 8*counts[r.number][to]
		if step == 0 {
			return r.sendTo(r, at, r.buffer, int64(bytes))
		}
		send, receive := make([]part, ranks), make([]part, ranks)
		send[to] = part{array{at: r.buffer}, bytes}
		receive[from] = part{array{at: at}, 8 * counts[from][r.number]}
		largest := uint64(0)
		for _, c := range counts {
			largest = max(largest, 8*slices.Max(c))
		}
		return r.device.Do(func() error { return r.link.move(send, receive, largest) })
	}
	for _, r := range t {
		owner := t[step]
		if err := r.sendTo(owner, owner.edges+place(r.number, step), r.buffer, int64(8*counts[r.number][step])); err != nil {
			return err
		}
	}
	return nil
}

// sendTo copies an array to another GPU.
func (r *rank) sendTo(other *rank, into, from uint64, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return r.device.Do(func() (err error) {
		if r.device.Context == other.device.Context {
			err = cu.MemcpyDtoD(cu.DevicePtr(into), cu.DevicePtr(from), bytes)
		} else {
			err = cu.MemcpyPeer(cu.DevicePtr(into), other.device.Context, cu.DevicePtr(from), r.device.Context, bytes)
		}
		if err = errors.Join(err, cu.Synchronize()); err != nil {
			return fmt.Errorf("copy from GPU %d to GPU %d: %w", r.device.Number, other.device.Number, err)
		}
		return nil
	})
}

// section is the address of the part of vertex that has the labels of rank r.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices copies every section of vertex to all other GPUs.
func (t team) gatherVertices() error {
	if r := t[0]; r.link != nil {
		return r.device.Do(func() error { return r.link.gatherVertices(r) })
	}
	for _, r := range t {
		for _, other := range t {
			into := other.graph.Vertex + 4*r.number*r.graph.Labels
			if other == r {
				continue
			} else if err := r.sendTo(other, into, r.section(), int64(4*r.graph.Labels)); err != nil {
				return err
			}
		}
	}
	return nil
}

// agree is the function agree, of all processes.
func (t team) agree(err error) error {
	if l := t[0].link; l != nil {
		return agree(l, err)
	}
	return err
}

// gather returns numbers of all ranks.
func (t team) gather(numbers func(r *rank) []uint64) (all [][]uint64, err error) {
	for _, r := range t {
		all = append(all, numbers(r))
	}
	if l := t[0].link; l != nil {
		return gatherNumbers(l, all[0]...)
	}
	return all, nil
}

// combine returns numbers of all ranks, combined one by one.
func (t team) combine(with func(a, b uint64) uint64, numbers func(r *rank) []uint64) ([]uint64, error) {
	all, err := t.gather(numbers)
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
