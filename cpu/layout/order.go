// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math/bits"
	"sort"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/csr"
	"github.com/tepsbench/teps/internal/memory"
)

// The order of vertices in four parts (Graph), without isolated labels. Graphs whose degrees are nearly equal have no
// hubs: local.go orders them.
//
// Hubs are the vertices of largest degree, by descending degree (Kolganov 2018, section 2.2, "global sort"; stable).
// They are the parents of nearly everything, share a few cache lines of every bitmap, and stand first in every list,
// so that a bottom-up scan ends early (section 2.1, "local sort").
//
// Every other vertex with a hub for a neighbor belongs to the group of its largest one (package hubs). The vertices of
// a group have consecutive numbers, by descending degree.
//
// Leaves are vertices with a single tuple whose neighbor is a hub. They never discover a vertex, and the template has
// their parents, so searches skip them. They are ordered by hub too. The ungrouped vertices are the rest.

// hubShare is the default share of all vertices that are hubs, 1/hubShare.
const hubShare = 32

// order fills Vertex and Label, and the borders between hubs, groups, ungrouped vertices and leaves.
func (b *builder) order() error {
	g, m := b.g, b.memory
	n := b.g.Vertices
	if g.Hubs = b.options.Hubs; g.Hubs == 0 {
		g.Hubs = min(max(n/hubShare&^63, 64), NearLimit)
	}
	g.Hubs = min(g.Hubs, n)
	g.Groups = memory.Allocate[uint32](m, "groups", g.Hubs+1)
	g.Leaves = memory.Allocate[uint32](m, "leaves", g.Hubs+1)
	if err := m.Err(); err != nil {
		return err
	}
	if flat, err := b.orderFlat(); flat || err != nil {
		g.Hubs, g.Groups, g.Leaves = 0, g.Groups[:1], g.Leaves[:1]
		g.Leaves[0] = uint32(g.Searched)
		return err
	}
	g.Vertex = memory.Allocate[uint32](m, "vertex of each label", g.Labels)
	g.Label = memory.Allocate[uint32](m, "label of each vertex", n)
	records := memory.Allocate[uint64](m, "vertices to sort", n)
	scratch := memory.Allocate[uint64](m, "vertices to sort", n)
	if err := m.Err(); err != nil {
		return err
	}
	byDegree, other := b.byDegree(records, scratch)
	b.findHubs(byDegree[:g.Hubs])
	b.number(byDegree[:g.Hubs], 0)
	b.number(b.byGroup(byDegree[g.Hubs:], other[g.Hubs:]), g.Hubs)
	memory.Release(m, &records)
	memory.Release(m, &scratch)
	return nil
}

func fill(array []uint32, x uint32) {
	for i := range array {
		array[i] = x
	}
}

// number makes the labels in records, the lower halves, the vertices first, first+1, ...
func (b *builder) number(records []uint64, first int) {
	b.team.Split(len(records), 1, func(_, from, to int) {
		for i := from; i < to; i++ {
			label := uint32(records[i])
			b.g.Label[first+i] = label
			b.g.Vertex[label] = uint32(first + i)
		}
	})
}

// byDegree returns the labels that are not isolated by descending degree, as the lower halves of records, and the other
// array.
func (b *builder) byDegree(records, scratch []uint64) (sorted, other []uint64) {
	b.team.Split(b.g.Labels, 64, func(worker, from, to int) {
		at := b.before[worker]
		for label := from; label < to; label++ {
			if d := b.degrees[label]; d != 0 {
				if b.options.ByLabel {
					d = b.largest
				}
				records[at] = uint64(b.largest-d)<<32 | uint64(label)
				at++
			}
		}
	})
	return csr.SortKeys(b.team, records, scratch, 32, bits.Len32(b.largest))
}

// findHubs finds the smallest hub among the neighbors of every vertex. It leaves in Vertex, for the label of
//
//	hub h                                       h
//	a vertex whose smallest hub neighbor is h  Hubs+h
//	a vertex without a hub for a neighbor      2*Hubs
//	an isolated label                           None
//
// A smaller hub replaces the one before a few times for each vertex, not once for each edge, so workers share Vertex.
func (b *builder) findHubs(hubs []uint64) {
	vertex, n := b.g.Vertex, uint32(len(hubs))
	b.team.Split(b.g.Labels, 1, func(_, from, to int) {
		for label := from; label < to; label++ {
			if vertex[label] = 2 * n; b.degrees[label] == 0 {
				vertex[label] = None
			}
		}
	})
	for h, label := range hubs {
		vertex[uint32(label)] = uint32(h)
	}
	b.team.Run(func(worker int) {
		var ends [batchSize]uint64
		for tuples := range b.batches(worker) {
			for i, e := range tuples { // does nothing else, so that many cache misses overlap
				u, v, _ := e.Ends32()
				ends[i&(batchSize-1)] = uint64(atomic.LoadUint32(&vertex[u]))<<32 | uint64(atomic.LoadUint32(&vertex[v]))
			}
			for i, e := range tuples {
				// Only hubs are so small that anything is larger by more than n. The ends of a self-loop are equal.
				ofU, ofV := ends[i&(batchSize-1)]>>32, ends[i&(batchSize-1)]&(1<<32-1)
				if u, v, _ := e.Ends32(); ofU+uint64(n) < ofV {
					lower(&vertex[v], uint32(ofU)+n)
				} else if ofV+uint64(n) < ofU {
					lower(&vertex[u], uint32(ofV)+n)
				}
			}
		}
	})
}

// lower makes *smallest at most u.
func lower(smallest *uint32, u uint32) {
	for {
		old := atomic.LoadUint32(smallest)
		if u >= old || atomic.CompareAndSwapUint32(smallest, old, u) {
			return
		}
	}
}

// byGroup sorts the vertices that are not hubs, which come by descending degree, as Graph shows, and sets all borders.
func (b *builder) byGroup(records, scratch []uint64) []uint64 {
	g, hubs := b.g, uint32(b.g.Hubs)
	b.team.Split(len(records), 1, func(_, from, to int) {
		for i := from; i < to; i++ {
			label := uint32(records[i])
			key := g.Vertex[label] - hubs // the hub of a grouped vertex, or hubs
			if key < hubs && b.degrees[label] == 1 && !b.options.NoLeaves {
				key += hubs + 1 // a leaf of that hub
			}
			records[i] = uint64(key)<<32 | uint64(label)
		}
	})
	sorted, _ := csr.SortKeys(b.team, records, scratch, 32, bits.Len32(2*hubs+1))
	begin := func(key uint32) uint32 { // the first vertex with at least this key
		i := sort.Search(len(sorted), func(i int) bool { return uint32(sorted[i]>>32) >= key })
		return hubs + uint32(i)
	}
	g.Ungrouped, g.Searched = int(begin(hubs)), int(begin(hubs+1))
	b.team.Split(g.Hubs+1, 1, func(_, from, to int) {
		for h := from; h < to; h++ {
			g.Groups[h], g.Leaves[h] = begin(uint32(h)), begin(hubs+1+uint32(h))
		}
	})
	return sorted
}
