package cpu

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// none stands where there is no vertex, label or parent in 32 bits.
const none uint32 = 1<<32 - 1

// builder is kernel 1: it turns tuples into a layout, in phases that each run over all workers.
type builder struct {
	ctx    context.Context
	tuples []graph.Edge
	team   *team
	memory *memory

	hubsWanted int // 0: by hubShare
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
	return max(vertices/hubShare&^63, 64)
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
	lists    csr      // neighbours in ascending order, so hubs first
	template []uint32 // [labels] label of the first neighbour; none where isolated
}

// leavesOf returns how many leaves v has.
func (g *layout) leavesOf(v uint32) int {
	if int(v) >= g.hubs {
		return 0
	}
	return int(g.leaves[v+1] - g.leaves[v])
}

// build runs kernel 1. The layout's arrays belong to m.
func build(ctx context.Context, tuples []graph.Edge, t *team, m *memory, hubs int) (*layout, []plugins.Phase, error) {
	b := &builder{ctx: ctx, tuples: tuples, team: t, memory: m, hubsWanted: hubs}
	g := &layout{}
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
	return g, phases, nil
}

// lists makes the neighbour lists and everything derived from them.
func (b *builder) lists(g *layout) (err error) {
	g.labels, g.vertex, g.original = b.labels, b.vertex, b.original
	g.hubs, g.strays, g.searched, g.groups, g.leaves = b.hubs, b.strays, b.searched, b.groups, b.leaves
	total := 0
	for _, d := range b.degrees {
		total += int(d)
	}
	if g.lists.offsets, err = allocate[uint64](b.memory, "offsets", b.vertices+1); err != nil {
		return err
	}
	if g.lists.targets, err = allocate[uint32](b.memory, "targets", total); err != nil {
		return err
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
	w := &listWriter{g: g}
	if err := b.makeLists(w); err != nil {
		return err
	}
	g.lists.targets = g.lists.targets[:w.end]
	release(b.memory, &b.degrees)
	return nil
}

// listWriter puts sorted buckets into the layout. The place of a bucket depends on how many duplicates the earlier ones
// had, so workers reserve their places in the order of the buckets, and then copy at the same time.
type listWriter struct {
	g    *layout
	turn ticket
	end  int // targets reserved; belongs to whoever has the turn
}

// write stores the lists of the vertices of bucket k, number i of all. Keys are (vertex-k.from)<<width | neighbour, in
// ascending order, each once.
func (w *listWriter) write(i int, k bucket, keys []uint64, width int) {
	w.turn.await(i)
	at := w.end
	w.end += len(keys)
	w.turn.pass()

	g := w.g
	mask := uint64(1)<<width - 1
	targets := g.lists.targets[at : at+len(keys)]
	next := k.from // first vertex whose list has not begun
	for j, key := range keys {
		neighbour := uint32(key & mask)
		targets[j] = neighbour
		if v := k.from + int(key>>width); v == next {
			g.lists.offsets[v] = uint64(at + j)
			g.template[g.original[v]] = g.original[neighbour]
			next++
		}
	}
	if k.to == len(g.original) {
		g.lists.offsets[k.to] = uint64(at + len(keys))
	}
}

// csr is a plain adjacency: the neighbours of v are targets[offsets[v]:offsets[v+1]].
type csr struct {
	offsets []uint64
	targets []uint32
}

func (c *csr) degree(v uint32) int { return int(c.offsets[v+1] - c.offsets[v]) }

func (c *csr) list(v uint32) []uint32 { return c.targets[c.offsets[v]:c.offsets[v+1]] }
