// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/csr"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// Options are the options of kernel 1. ByLabel and NoLeaves leave out a technique, to measure its effect.
type Options struct {
	Packed   bool // packed lists
	Hubs     int  // number of hubs, at most NearLimit; 0: 1/32 of all vertices
	ByLabel  bool // vertices are numbered by label, so hubs are arbitrary vertices
	NoLeaves bool // leaves are searched like other vertices
	Weighted bool // BuildWeighted comes next
}

// Build runs kernel 1 on a team and returns the graph with the time of each phase. The arrays of the graph belong to m,
// also after an error. Build returns soon after ctx has ended, with ctx.Err(). Other errors are plugins.ErrTuples for
// labels of more than 32 bits and plugins.ErrMemory.
func Build(
	ctx context.Context, tuples []graph.Edge, t *team.Team, m *memory.Arena, options Options,
) (*Graph, []plugins.Phase, error) {
	b := &builder{ctx: ctx, tuples: tuples, team: t, memory: m, options: options, g: &Graph{}}
	defer context.AfterFunc(ctx, func() { b.stopped.Store(true) })()
	phases, err := b.run([]phase{
		{"measure", b.measure},
		{"degrees", b.countDegrees},
		{"order", b.order},
		{"partition", b.partition},
		{"lists", b.lists},
	})
	return b.g, phases, err
}

// phase is a named part of kernel 1.
type phase struct {
	name string
	run  func() error
}

// run runs phases, and returns the time of each.
func (b *builder) run(phases []phase) (times []plugins.Phase, err error) {
	for _, phase := range phases {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := phase.run(); err != nil {
			return nil, err
		}
		times = append(times, plugins.Phase{Name: phase.name, Elapsed: time.Since(start)})
	}
	return times, b.ctx.Err()
}

func (b *builder) lists() error {
	g, m := b.g, b.memory
	for i := range g.Lists.Columns {
		g.Lists.Columns[i] = Column{
			memory.Allocate[uint32](m, "columns", g.Searched), memory.Allocate[uint64](m, "columns", (g.Searched+63)>>6),
		}
	}
	g.HubLinks = memory.Allocate[uint32](m, "links of hubs", g.Hubs)
	g.First = memory.Allocate[uint32](m, "first neighbors", g.Hubs+g.Searched-g.Ungrouped)
	if g.Order != Given {
		g.Template = memory.Allocate[uint32](m, "output template", g.Labels)
	}
	if err := m.Err(); err != nil {
		return err
	}
	b.initialize()
	g.Lists.At.low, g.Lists.Targets = b.entries.Lists(b.stopped.Load)
	if err := b.ctx.Err(); err != nil {
		return err
	}
	g.Lists.At.findWraps()
	b.makeColumns()
	if b.options.Packed && g.Order != Local { // whose lists would not become smaller
		if g.Lists.pack(b.team, m); m.Err() != nil {
			return m.Err()
		}
	}
	for hub := range g.HubLinks {
		g.HubLinks[hub] = uint32(g.Lists.Degree(uint32(hub))) - (g.Groups[hub+1] - g.Groups[hub])
	}
	if g.Order == Local {
		b.makeRows()
	}
	g.Segments = cut(b.team, m, &g.Lists, g.HubLinks, g.Searched)
	return m.Err()
}

// initialize gives every vertex itself as its first neighbors, and fills the template for vertices without a list.
func (b *builder) initialize() {
	g := b.g
	b.team.Split(g.Searched, 1, func(_, from, to int) {
		for v := from; v < to; v++ {
			g.setFirst(v, uint32(v))
			for i := range g.Lists.Columns {
				g.Lists.Columns[i].Entry[v] = uint32(v)
			}
		}
	})
	b.team.Split(len(g.Template), 1, func(_, from, to int) { fill(g.Template[from:to], None) })
	b.team.Split(g.Hubs, 1, func(_, from, to int) {
		for hub := from; hub < to; hub++ {
			for leaf := g.Leaves[hub]; leaf < g.Leaves[hub+1]; leaf++ {
				g.Template[g.Label[leaf]] = g.Label[hub]
			}
		}
	})
}

// makeColumns stores the first neighbors of all vertices.
func (b *builder) makeColumns() {
	g, columns := b.g, &b.g.Lists.Columns
	b.team.Pieces(g.Searched, 1<<10, func(_, from, to int) {
		for v := from; v < to; v++ {
			list := g.Lists.Targets[g.Lists.At.Get(uint32(v)):g.Lists.At.Get(uint32(v)+1)]
			if len(list) == 0 {
				continue
			}
			g.setFirst(v, list[0])
			if g.Order != Given {
				g.Template[g.Label[v]] = g.Label[list[0]]
			}
			for i, neighbor := range list[1:min(len(list), NumColumns+1)] {
				columns[i].Entry[v] = neighbor
				if i+2 < len(list) {
					columns[i].More[v>>6] |= 1 << (v & 63)
				}
			}
		}
	})
}

// builder is kernel 1 at work, in phases that each run on all workers.
type builder struct {
	ctx     context.Context
	stopped atomic.Bool // ctx has ended: loops over the tuples stop early, and their results must not be used
	tuples  []graph.Edge
	team    *team.Team
	memory  *memory.Arena
	options Options
	g       *Graph
	degrees []uint32 // [Labels] with duplicates, without self-loops
	largest uint32   // degree
	before  []int    // [worker] vertices before its share of the labels, by 64
	entries *csr.Matrix[uint32]
}

// batchSize is the number of tuples that are translated at a time.
const batchSize = 256

// batches returns worker's share of the tuples, at most batchSize at a time, until the context ends.
func (b *builder) batches(worker int) iter.Seq[[]graph.Edge] {
	from, to := b.team.Share(worker, len(b.tuples), 1)
	return func(yield func([]graph.Edge) bool) {
		for tuples := range slices.Chunk(b.tuples[from:to], batchSize) {
			if b.stopped.Load() || !yield(tuples) {
				return
			}
		}
	}
}

// translate writes the vertices of at most batchSize tuples as u<<32 | v. It does only that, so that many cache misses
// overlap. A vertex is its label if vertex is nil.
func translate(tuples []graph.Edge, vertex []uint32, pairs *[batchSize]uint64) {
	for i, e := range tuples {
		u, v, _ := e.Ends32()
		if vertex != nil {
			u, v = vertex[u], vertex[v]
		}
		pairs[i&(batchSize-1)] = uint64(u)<<32 | uint64(v)
	}
}

// partition makes two entries of every tuple, (u, v) and (v, u), in the engine's numbers.
func (b *builder) partition() error {
	b.entries = csr.New[uint32](b.memory, b.team, b.g.Searched, b.g.Searched, b.degreesOf)
	if b.g.degrees, b.g.largest = b.degrees, b.largest; !b.options.Weighted {
		memory.Release(b.memory, &b.g.degrees)
	}
	b.degrees = nil
	if err := b.memory.Err(); err != nil {
		return err
	}
	searched := uint32(b.g.Searched)
	b.team.Run(func(worker int) {
		w := b.entries.Writer(worker)
		var pairs [batchSize]uint64
		var entries [2 * batchSize]uint64
		for tuples := range b.batches(worker) {
			translate(tuples, b.g.Vertex, &pairs)
			n := 0
			for _, pair := range pairs[:len(tuples)] {
				u, v := uint32(pair>>32), uint32(pair)
				entries[n&(2*batchSize-1)], entries[(n+1)&(2*batchSize-1)] = pair, bits.RotateLeft64(pair, 32)
				if u != v && u < searched && v < searched {
					n += 2
				}
			}
			w.Put(entries[:n])
		}
	})
	return nil
}

// degreesOf returns the sum of the degrees of the vertices [from, to).
func (b *builder) degreesOf(from, to int) (sum int) {
	for v := from; v < to; v++ {
		label := uint32(v)
		if b.g.Order != Given {
			label = b.g.Label[v]
		}
		sum += int(b.degrees[label])
	}
	return sum
}

// measure finds the largest label. It refuses labels that do not fit 32 bits or are None.
func (b *builder) measure() error {
	labels, errs := make([]int, b.team.Size()), make([]error, b.team.Size())
	b.team.Split(len(b.tuples), 1, func(worker, from, to int) {
		n := 0
		for i, e := range b.tuples[from:to] {
			u, v, narrow := e.Ends32()
			if !narrow || u == None || v == None {
				errs[worker] = fmt.Errorf("tuple %d is %v: %w: labels must be below %d; relabel the vertices", from+i, e,
					plugins.ErrTuples, None)
				return
			}
			n = max(n, int(max(u, v))+1)
		}
		labels[worker] = n
	})
	b.g.Labels = slices.Max(labels)
	return cmp.Or(errs...)
}

// countDegrees counts the tuples at every label, with duplicates and without self-loops. Each worker has a byte for
// each label, so that more counters fit in a cache, and adds to the shared counter when a byte overflows.
func (b *builder) countDegrees() error {
	labels := b.g.Labels
	b.degrees = memory.Allocate[uint32](b.memory, "degrees", labels)
	counts := memory.Allocate[uint8](b.memory, "degree counters", labels*b.team.Size())
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.team.Run(func(worker int) {
		own := counts[worker*labels:][:labels]
		for tuples := range b.batches(worker) {
			for _, e := range tuples {
				u, v, _ := e.Ends32()
				if u == v {
					continue
				}
				if own[u]++; own[u] == 0 {
					atomic.AddUint32(&b.degrees[u], 256)
				}
				if own[v]++; own[v] == 0 {
					atomic.AddUint32(&b.degrees[v], 256)
				}
			}
		}
	})
	vertices, largest := make([]int, b.team.Size()), make([]uint32, b.team.Size())
	b.team.Split(labels, 64, func(worker, from, to int) {
		for w := range b.team.Size() {
			own := counts[w*labels:][:labels]
			for v := from; v < to; v++ {
				b.degrees[v] += uint32(own[v])
			}
		}
		n, top := 0, uint32(0)
		for _, d := range b.degrees[from:to] {
			if top = max(top, d); d != 0 {
				n++
			}
		}
		vertices[worker], largest[worker] = n, top
	})
	for _, n := range vertices {
		b.before = append(b.before, b.g.Vertices)
		b.g.Vertices += n
	}
	b.largest = slices.Max(largest)
	memory.Release(b.memory, &counts)
	return nil
}
