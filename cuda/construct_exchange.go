// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/cu"
)

// exchangeEdges brings both edges of every tuple to the GPUs of a grid that they belong to. With one column, these are
// the owners of their targets.
func (t team) exchangeEdges(columns uint64) error {
	ranks := uint64(len(t))
	counts := make([][]uint64, len(t)) // by sender and receiver
	if err := t.do("count edges", func(r *rank) {
		r.clearCounters()
		r.forTuples(func(pairs, n uint64) { r.Loop(countEdgesKernel(pairs, n, ranks, columns, r.counters)) })
		counts[r.number] = readAll[uint64](r.builder, r.counters, int64(ranks))
	}); err != nil {
		return err
	}
	if err := t.do("edges", func(r *rank) {
		r.owned = 0
		for _, c := range counts {
			r.owned += int64(c[r.number])
		}
		r.edges = r.Array("edges", 8*r.owned)
		r.buffer = r.Array("edges to send", 8*int64(slices.Max(counts[r.number])))
	}); err != nil {
		return err
	}
	for _, owner := range t {
		if err := t.do("select edges", func(r *rank) {
			r.clearCounters()
			r.forTuples(func(pairs, n uint64) {
				r.Loop(selectEdgesKernel(pairs, n, owner.number, ranks, columns, r.buffer, r.counters))
			})
		}); err != nil {
			return err
		}
		at := owner.edges
		for _, r := range t {
			bytes := 8 * counts[r.number][owner.number]
			if err := r.sendTo(owner, at, r.buffer, int64(bytes)); err != nil {
				return err
			}
			at += bytes
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

// section is the address of the own section of vertex.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices copies every section of vertex to all other GPUs.
func (t team) gatherVertices() error {
	for _, r := range t {
		for _, other := range t {
			if other == r {
				continue
			}
			into := other.graph.Vertex + 4*r.number*r.graph.Labels
			if err := r.sendTo(other, into, r.section(), int64(4*r.graph.Labels)); err != nil {
				return err
			}
		}
	}
	return nil
}
