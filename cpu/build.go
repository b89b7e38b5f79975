package cpu

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// none stands where there is no vertex, label or parent in 32 bits.
const none uint32 = 1<<32 - 1

// builder is kernel 1: it turns tuples into a layout, in phases that each run over all workers.
type builder struct {
	ctx     context.Context
	stopped atomic.Bool // when ctx has ended: loops over all tuples end then, with arrays of which nobody may make anything
	tuples  []graph.Edge
	team    *team
	memory  *memory

	hubsWanted int  // 0: by hubShare
	packed     bool // adjacency
	reorder    string
	labels     int // largest label + 1
	vertices   int // labels that are not isolated
	hubs       int // borders, see build_order.go
	strays     int
	searched   int
	groups     []uint32 // [hubs+1]
	leaves     []uint32 // [hubs+1]
	degrees    []uint32 // [labels], with duplicates
	vertex     []uint32 // [labels]
	original   []uint32 // [vertices]
}

// wantHubs says how many hubs a graph should have.
func (b *builder) wantHubs(vertices int) int {
	if b.hubsWanted > 0 {
		return b.hubsWanted
	}
	return min(max(vertices/hubShare&^63, 64), nearLimit)
}

// hubShare is the share of all vertices that are hubs, by default 1/hubShare.
const hubShare = 32

// layout is the graph as the search wants it, in numbers of its own (build_order.go). It is written by kernel 1 and
// only read afterwards.
type layout struct {
	labels   int      // labels of the tuples are below this
	vertex   []uint32 // [labels] number of each label; none where isolated
	original []uint32 // [n] label of each vertex
	hubs     int      // vertices 0..hubs-1 are hubs
	strays   int      // vertices hubs..strays-1 are grouped, by hub
	searched int      // vertices strays..searched-1 are strays, and those from searched on leaves
	groups   []uint32 // [hubs+1] the group of hub h is groups[h]..groups[h+1]-1
	leaves   []uint32 // [hubs+1] the leaves of hub h are leaves[h]..leaves[h+1]-1
	linked   []uint32 // [hubs] links of each hub
	first    []uint32 // [hubs+searched-strays] first neighbour of each hub, then of each stray; itself if there is none
	segments segments // of the longest lists
	lists    lists    // of the searched vertices, without leaves
	template []uint32 // [labels] label of the first neighbour; none where isolated
}

// links returns how many entries of the list of v do not belong to its group, which is at the end of the list: so many
// does a top-down level look at.
func (g *layout) links(v uint32) int {
	if int(v) < g.hubs {
		return int(g.linked[v])
	}
	return g.lists.degree(v)
}

// leavesOf returns how many leaves v has.
func (g *layout) leavesOf(v uint32) int {
	if int(v) >= g.hubs {
		return 0
	}
	return int(g.leaves[v+1] - g.leaves[v])
}

// hubOf returns the hub of a leaf.
func (g *layout) hubOf(leaf uint32) uint32 {
	hub, _ := slices.BinarySearch(g.leaves, leaf+1) // the first whose leaves begin behind it
	return uint32(hub - 1)
}

// build runs kernel 1. The layout's arrays belong to m.
func build(ctx context.Context, tuples []graph.Edge, t *team, m *memory, c configuration) (*layout, []plugins.Phase, error) {
	b := &builder{ctx: ctx, tuples: tuples, team: t, memory: m, hubsWanted: c.hubs, packed: c.packed, reorder: c.reorder}
	g := &layout{}
	defer context.AfterFunc(ctx, func() { b.stopped.Store(true) })()
	var phases []plugins.Phase
	for _, phase := range []struct {
		name string
		do   func() error
	}{
		{"measure", b.measure},
		{"degrees", b.countDegrees},
		{"order", b.order},
		{"lists", func() error { return b.lists(g) }},
	} {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		start := time.Now()
		if err := phase.do(); err != nil {
			return nil, nil, err
		}
		phases = append(phases, plugins.Phase{Name: phase.name, Elapsed: time.Since(start)})
	}
	return g, phases, ctx.Err()
}

// share is a worker's part of the tuples.
func (b *builder) share(worker int) []graph.Edge {
	from, to := b.team.share(worker, len(b.tuples), 1)
	return b.tuples[from:to]
}

// batch cuts the next tuples off rest, at most batchSize, and none when the context has ended.
func (b *builder) batch(rest *[]graph.Edge) []graph.Edge {
	n := min(batchSize, len(*rest))
	if b.stopped.Load() {
		n = 0
	}
	tuples := (*rest)[:n]
	*rest = (*rest)[n:]
	return tuples
}

// lists makes the neighbour lists and the output template.
func (b *builder) lists(g *layout) (err error) {
	g.labels, g.vertex, g.original = b.labels, b.vertex, b.original
	g.hubs, g.strays, g.searched, g.groups, g.leaves = b.hubs, b.strays, b.searched, b.groups, b.leaves
	if err := b.allocateLists(&g.lists); err != nil {
		return err
	}
	if g.linked, err = allocate[uint32](b.memory, "links of hubs", b.hubs); err != nil {
		return err
	}
	if g.first, err = allocate[uint32](b.memory, "first neighbours", b.hubs+b.searched-b.strays); err != nil {
		return err
	}
	for v := range g.first {
		g.first[v] = uint32(v)
		if v >= b.hubs {
			g.first[v] += uint32(b.strays - b.hubs)
		}
	}
	if g.template, err = allocate[uint32](b.memory, "output template", b.labels); err != nil {
		return err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 1)
		for label := from; label < to; label++ {
			g.template[label] = none
		}
	})
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.hubs, 1)
		for hub := from; hub < to; hub++ {
			for leaf := g.leaves[hub]; leaf < g.leaves[hub+1]; leaf++ {
				g.setTemplate(int(leaf), uint32(hub))
			}
		}
	})
	w := &listWriter{g: g, width: bits.Len(uint(max(b.searched, 1) - 1))}
	if err := b.makeLists(w); err != nil {
		return err
	}
	w.finish(b)
	release(b.memory, &b.degrees)
	return b.cutLists(g)
}

// allocateLists makes room for every entry as if no tuple were a duplicate. A neighbour is an entry as often as it has
// neighbours itself, so the degrees of the first vertices say how many entries are near.
func (b *builder) allocateLists(l *lists) (err error) {
	near, far := 0, 0
	for v, label := range b.original[:b.searched] {
		if v < nearLimit {
			near += int(b.degrees[label])
		} else {
			far += int(b.degrees[label])
		}
	}
	for i := range l.columns {
		if err := b.allocateColumn(&l.columns[i]); err != nil {
			return err
		}
	}
	l.packed = b.packed
	if !l.packed {
		if err := l.at.allocate(b.memory, "offsets", b.searched); err != nil {
			return err
		}
		l.targets, err = allocate[uint32](b.memory, "targets", near+far)
		return err
	}
	if err := l.nearAt.allocate(b.memory, "offsets of near entries", b.searched); err != nil {
		return err
	}
	if err := l.farAt.allocate(b.memory, "offsets of far entries", b.searched); err != nil {
		return err
	}
	if l.near, err = allocate[uint16](b.memory, "near entries", near); err != nil {
		return err
	}
	l.far = fieldsFor(uint32(max(b.searched, 1) - 1))
	l.far.words, err = allocate[uint64](b.memory, "far entries", l.far.wordsFor(far))
	return err
}

// allocateColumn makes a column in which no list has an entry.
func (b *builder) allocateColumn(c *column) (err error) {
	if c.more, err = allocate[uint64](b.memory, "columns", bitmapWords(b.searched)); err != nil {
		return err
	}
	if c.entry, err = allocate[uint32](b.memory, "columns", b.searched); err != nil {
		return err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.searched, 1)
		for v := from; v < to; v++ {
			c.entry[v] = uint32(v)
		}
	})
	return nil
}
