// SPDX-License-Identifier: Apache-2.0

// Package adjacency builds neighbor lists from any source of tuples, for files and statistics.
package adjacency

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// MaxVertices is the largest number of vertices that 32-bit entries can number.
const MaxVertices = 1 << 32

// Lists is an adjacency: the neighbors of v are Entries[Offsets[v]:Offsets[v+1]], ascending. A tuple {u, v} is an
// entry in both lists; duplicates are repeated.
type Lists struct {
	Offsets []int64
	Entries []uint32
}

// Of returns the neighbors of v. The caller must not change them.
func (l *Lists) Of(v int64) []uint32 { return l.Entries[l.Offsets[v]:l.Offsets[v+1]] }

// Bytes returns the memory of the lists of a source in bytes.
func Bytes(g graph.Source) int64 { return 8*g.Vertices() + 8*g.Tuples() }

const block = 1 << 18 // tuples made at a time

// New builds the lists in two passes over the tuples: it counts the entries, then fills the lists. A self-loop takes
// loopEntries entries, 1 or 2. Progress is called with the number of tuples of each block, in both passes.
func New(ctx context.Context, g graph.Source, loopEntries int64, progress func(tuples int64)) (*Lists, error) {
	n := g.Vertices()
	if n > MaxVertices {
		return nil, fmt.Errorf("%s has %d vertices; lists of 32 bits can have 2^32", g.Name(), n)
	}
	l := &Lists{Offsets: make([]int64, n+1)}
	pass := func(put func(u, v graph.Vertex)) error {
		return Each(ctx, g, func(edges []graph.Edge) error {
			for _, e := range edges {
				u, v := e.Ends()
				put(u, v)
				if u != v || loopEntries == 2 {
					put(v, u)
				}
			}
			progress(int64(len(edges)))
			return nil
		})
	}
	if err := pass(func(u, _ graph.Vertex) { l.Offsets[u]++ }); err != nil {
		return nil, err
	}
	var end int64
	for v, degree := range l.Offsets {
		end += degree
		l.Offsets[v] = end
	}
	l.Entries = make([]uint32, end)
	err := pass(func(u, v graph.Vertex) { // from the back, so the end of each list becomes its beginning
		l.Offsets[u]--
		l.Entries[l.Offsets[u]] = uint32(v)
	})
	if err != nil {
		return nil, err
	}
	_, err = graph.Parallel(ctx, runtime.GOMAXPROCS(0), n, 1<<12, func(_ int, first, last int64) bool {
		for v := first; v < last; v++ {
			slices.Sort(l.Of(v))
		}
		return true
	})
	return l, err
}

// Each calls f for each block of tuples of a source, in order. The slice is valid until f returns.
func Each(ctx context.Context, g graph.Source, f func([]graph.Edge) error) error {
	total := g.Tuples()
	edges := make([]graph.Edge, min(block, total))
	for first := int64(0); first < total; first += int64(len(edges)) {
		part := edges[:min(int64(len(edges)), total-first)]
		if err := g.Generate(ctx, part, first, 0); err != nil {
			return err
		}
		if err := f(part); err != nil {
			return err
		}
	}
	return ctx.Err()
}
