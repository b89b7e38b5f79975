// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

// merrillArguments mirrors struct Merrill of kernels/merrill.cu.
type merrillArguments struct {
	row, column, parent, dist, mask uint64
	vertices, edges, pred           [2]uint64
	room                            uint64
	ctaMin, warpMin                 uint64
	cullWarp, cullHistory, exact    uint64
	in, depth, counters             uint64
	culled                          uint64
	rank, ranks, found, keptPred    uint64
}

// culledNames are the counters of a level with counters=on, in the order of Culled: neighbors whose bit was set; those
// with a label only; those that a table or atomicOr found a second time; those that were kept. Of these, duplicates are
// more than the frontier has vertices.
var culledNames = []string{"mask hits", "label hits", "culled by warp", "culled by history", "culled by atomicOr",
	"kept", "duplicates"}

// merrillSearch keeps queues of the frontier (kernels/merrill.cu).
type merrillSearch struct {
	b        *base
	args     merrillArguments
	root     uint64
	order    string
	twoPhase uint64 // entries
	distance bool

	culled []int64 // [culledNames]; duplicates come last, and are found after the clock
}

// merrill allocates queues with room for all entries of the rows, because of duplicates also those of vertices. A
// search that needs more is repeated without duplicates.
func merrill(b *base, set plugins.Settings) method {
	b.makeRows()
	s := &merrillSearch{b: b, order: set.Text("order"), twoPhase: uint64(set.Int("twophase")),
		distance: set.Text("output") == "distance"}
	a := &s.args
	a.row, a.column, a.parent, a.counters, a.ranks = b.row, b.column, b.parent, b.counters, 1
	a.mask = b.array("visited", (b.owned+31)/32*4) // atomicOr takes whole words
	a.ctaMin, a.warpMin = gatherMinima(set)
	a.cullWarp, a.cullHistory = bit(set, "cull", "warp", "both"), bit(set, "cull", "history", "both")
	if b.several != nil {
		return s.onSeveral(b.several)
	}
	if s.distance {
		a.dist = b.array("distances", 4*b.labels)
	}
	for i := range a.vertices {
		a.vertices[i] = b.array("frontier of vertices", 4*s.room())
		if s.order == "expand-contract" {
			continue
		}
		a.edges[i] = b.array("frontier of edges", 4*s.room())
		if !s.distance {
			a.pred[i] = b.array("predecessors", 4*s.room())
		}
	}
	if set.Text("counters") == "on" {
		a.culled = b.array("counters", 8*uint64(len(culledNames)))
		s.culled = make([]int64, len(culledNames))
		b.named = make([]plugins.Counter, 0, (len(culledNames)+1)*maxLevels)
	}
	m := method{begin: s.begin, step: s.step, frontiers: s.frontiers}
	if s.distance {
		m.end = func() { b.Each(b.labels, merrillParentsKernel(a.row, a.column, b.labels, a.dist, a.parent)) }
	}
	return m
}

// onSeveral is the search on several GPUs. Owners let a vertex into their frontier once, so each is expanded once, and
// queues have room for all neighbors.
func (s *merrillSearch) onSeveral(on *several) method {
	b := s.b
	var edges, pred [2]uint64
	for i := range edges {
		edges[i], pred[i] = b.array("frontier of edges", 4*s.room()), b.array("predecessors", 4*s.room())
	}
	sent := b.array("sent", (b.targets+31)/32*4)
	contract, expand, filter := s.args, s.args, s.args
	expand.rank, expand.ranks, expand.edges[1], expand.pred[1] = on.rank, on.ranks, edges[0], pred[0]
	filter.edges[0], filter.pred[0], filter.vertices[1], filter.keptPred = edges[0], pred[0], edges[1], pred[1]
	filter.mask, filter.parent = sent, 0
	contract.exact = 1
	run := func(name string, args merrillArguments, in uint64) {
		if s.args, s.args.in, s.args.room = args, in, s.room(); in > 0 {
			s.launch(name)
		}
	}
	on.clear = func(root uint64) {
		b.fill(sent, 0, (b.targets+31)/32*4)
		b.fill(contract.mask, 0, (b.owned+31)/32*4)
		b.set(sent+root/32*4, 1<<(root%32))
		if place := root / on.ranks; root%on.ranks == on.rank {
			b.set(contract.mask+place/32*4, 1<<(place%32))
		}
	}
	on.discover = func(frontier, n uint64) int64 {
		b.clearCounters()
		b.set(b.counters, uint32(n))
		expand.vertices[1] = frontier
		run("merrill_expand", expand, n)
		gathered := b.read().edges
		b.clearCounters()
		run("merrill_contract", filter, uint64(gathered))
		kept := uint64(b.read().vertices)
		b.Each(kept, merrillBinKernel(edges[1], pred[1], kept, on.ranks, on.tails, 0))
		begin := uint64(0)
		for i, n := range driver.Get(&b.Work, on.counts, on.tails) {
			on.begins[i] = begin
			begin += n
		}
		if b.Err == nil {
			b.Fail("", driver.WriteAll(on.tails, on.begins))
		}
		b.Each(kept, merrillBinKernel(edges[1], pred[1], kept, on.ranks, on.tails, on.out))
		return gathered
	}
	on.update = func(found, n uint64) {
		contract.found, contract.vertices[1] = found, on.own
		run("merrill_contract", contract, n)
	}
	return on.method(s.room())
}

// room is how many entries a queue takes: those of the rows, and the root.
func (s *merrillSearch) room() uint64 { return s.b.entries + 1 }

func (s *merrillSearch) begin(root uint64) {
	s.root = root
	s.args.exact = 0
	s.args.room = s.room() / s.b.queueShare
	s.clear()
}

// clear makes the root the first frontier: of vertices, or an entry of the first frontier of edges, which is not
// visited yet.
func (s *merrillSearch) clear() {
	a, b := &s.args, s.b
	a.in = 1
	b.fill(a.mask, 0, (b.labels+31)/32*4)
	if s.distance {
		b.fill(a.dist, 0xff, 4*b.labels)
	}
	if s.order == "expand-contract" {
		b.set(a.vertices[0], uint32(s.root))
		b.set(a.mask+s.root/32*4, 1<<(s.root%32))
		if s.distance {
			b.set(a.dist+4*s.root, 0)
		}
		return
	}
	b.set(a.edges[0], uint32(s.root))
	if !s.distance {
		b.set(a.pred[0], uint32(s.root))
		b.fill(a.parent+8*s.root, 0xff, 8)
	}
}

// step takes a level. If a queue was full, it repeats all levels without duplicates.
func (s *merrillSearch) step(depth uint64) (plugins.Level, bool) {
	l, found, full := s.level(depth)
	if full && s.b.Err == nil {
		s.args.exact = 1
		s.args.room = s.room()
		s.b.clearParents(s.root)
		s.clear()
		for d := range depth + 1 {
			l, found, _ = s.level(d)
		}
	}
	return l, found
}

// level takes the level of a depth: it contracts a frontier of edges and expands the result, or expands a frontier of
// vertices and contracts its neighbors.
func (s *merrillSearch) level(depth uint64) (l plugins.Level, found, full bool) {
	a, b := &s.args, s.b
	a.depth = depth
	b.clearCounters()
	if s.culled != nil {
		b.fill(a.culled, 0, 8*uint64(len(culledNames)))
	}
	switch {
	case s.order == "expand-contract":
		a.depth = depth + 1 // of the vertices that are contracted
		s.launch("merrill_expand_contract")
	case s.order == "contract-expand", s.order == "hybrid" && a.in < s.twoPhase:
		s.launch("merrill_contract_expand")
	default:
		s.launch("merrill_contract")
		s.launch("merrill_expand")
	}
	n := b.read()
	a.in = uint64(n.edges)
	if s.order == "expand-contract" {
		a.in = uint64(n.vertices)
	}
	a.vertices[0], a.vertices[1] = a.vertices[1], a.vertices[0]
	a.edges[0], a.edges[1] = a.edges[1], a.edges[0]
	a.pred[0], a.pred[1] = a.pred[1], a.pred[0]
	l.Edges = plugins.Counted(n.edges)
	if n.edges > 0 || depth == 0 {
		l.Frontier = 1 // some; counted after the clock
	}
	if s.culled != nil && b.Err == nil {
		driver.Get(&b.Work, s.culled, a.culled)
		for i, name := range culledNames {
			b.count(&l, name, s.culled[i])
		}
	}
	return l, a.in > 0, n.examined != 0
}

// frontiers counts the vertices of levels and the duplicates among those that were kept: for the frontier of a level,
// and with order=expand-contract for the next one.
func (s *merrillSearch) frontiers(levels []plugins.Level, root uint64) {
	s.b.countFrontiers(levels, root)
	for i, l := range levels {
		frontier := l.Frontier
		if s.order == "expand-contract" {
			frontier = 0
			if i+1 < len(levels) {
				frontier = levels[i+1].Frontier
			}
		}
		if last := len(culledNames) - 1; len(l.Counters) > last {
			l.Counters[last].Value = l.Counters[last-1].Value - frontier
		}
	}
}

// launch queues a kernel with as many blocks as run at a time, or as the queue has entries for.
func (s *merrillSearch) launch(name string) {
	const cta, blocksPerMultiprocessor = 128, 16 // CTA
	blocks := min((s.args.in+cta-1)/cta, uint64(s.b.gpu.Multiprocessors*blocksPerMultiprocessor))
	if s.b.Err == nil {
		s.b.Fail("", driver.LaunchArgument(s.b.gpu, cu.NoStream, name, int(blocks), cta, s.args))
	}
}
