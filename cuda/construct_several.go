// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 1 on several GPUs (kernels/several.cu; kernels/graph.cuh has the numbering). Each builds from its part of the
// tuples, and keeps the lists of its own vertices, and its part of the lists by source. Between two phases the host
// waits for all of them.

// rank is one of several GPUs that build a graph.
type rank struct {
	*builder
	number uint64
	edges  uint64 // [owned] source label << 32 | target label
	owned  int64
	local  uint64 // [labels] local number of the label at each place
	keys   uint64 // two arrays for sorting, between two phases
	buffer uint64
}

// team is all of them.
type team []*rank

// do calls f for every rank at the same time, waits for their GPUs, and returns the first error.
func (t team) do(action string, f func(r *rank)) error {
	var wg sync.WaitGroup
	for _, r := range t {
		wg.Go(func() {
			r.Fail(action, r.device.Do(func() error {
				f(r)
				if r.Err != nil {
					return nil
				}
				return cu.Synchronize()
			}))
		})
	}
	wg.Wait()
	for _, r := range t {
		if r.Err != nil {
			return fmt.Errorf("GPU %d: %w", r.device.Number, r.Err)
		}
	}
	return nil
}

// sum returns the sum of a field over the ranks.
func (t team) sum(field func(g *deviceGraph) uint64) (sum uint64) {
	for _, r := range t {
		sum += field(&r.graph)
	}
	return sum
}

// set sets fields that are the same on all GPUs.
func (t team) set(f func(g *deviceGraph)) {
	for _, r := range t {
		f(&r.graph)
	}
}

// constructTeam opens the GPUs, builds the graph, and connects them.
func constructTeam(ctx context.Context, tuples []graph.Edge, c configuration) (*teamSearch, plugins.Built, error) {
	t, err := openTeam(ctx, tuples, c)
	if err != nil {
		return nil, plugins.Built{}, err
	}
	start := time.Now()
	var phases []plugins.Phase
	for _, phase := range []struct {
		name string
		do   func() error
	}{
		{"tuples to the devices", t.transfer},
		{"exchange of edges", func() error { return t.exchangeEdges(1) }},
		{"order", t.numberVertices},
		{"lists", t.makeLists},
		{"derived arrays", t.derive},
	} {
		if err = ctx.Err(); err == nil {
			begin := time.Now()
			err = phase.do()
			phases = append(phases, plugins.Phase{Name: phase.name, Elapsed: time.Since(begin)})
		}
		if err != nil {
			return nil, plugins.Built{}, errors.Join(fmt.Errorf("kernel 1: %s: %w", phase.name, err), t.close())
		}
	}
	s, err := t.newSearch()
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, t.close())
	}
	built := plugins.Built{
		Vertices:   int64(t[0].graph.AllLabels),
		Elapsed:    time.Since(start),
		Entries:    plugins.Counted(int64(t[0].graph.Entries)),
		VertexBits: 32,
		Tuning:     "alpha, beta and every constant are fixed defaults or set by the user before kernel 1",
		Phases:     phases,
		Details:    s.facts(t),
		Search:     s.run,
		Repeat:     s.repeat,
		Free:       s.close,
	}
	for _, r := range t {
		built.Bytes += r.Memory.Used + r.Memory.InHost
	}
	return s, built, nil
}

// openTeam opens a GPU for each rank, with an even part of the tuples.
func openTeam(ctx context.Context, tuples []graph.Edge, c configuration) (t team, err error) {
	runtime.LockOSThread() // the driver keeps a current context for each thread
	defer runtime.UnlockOSThread()
	on := map[int]int{} // ranks on each GPU
	for _, number := range c.devices {
		on[number]++
	}
	n := len(tuples)
	for i, number := range c.devices {
		part := tuples[n*i/len(c.devices) : n*(i+1)/len(c.devices)]
		d, err := openGPU(number, on[number])
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		b := &builder{Work: driver.NewWork(ctx, d.GPU, nil), device: d, c: c, tuples: part}
		t = append(t, &rank{builder: b, number: uint64(i)})
	}
	for _, r := range t {
		if err := r.device.Do(func() (err error) {
			r.Memory, err = driver.NewAllocator(c.memory, advice)
			return err
		}); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	for _, r := range t {
		r.Memory.Limit /= int64(on[r.device.Number])
	}
	return t, nil
}

func (t team) close() error {
	var all []error
	for _, r := range t {
		all = append(all, r.device.Do(func() error {
			_ = cu.Synchronize() // nothing may still run when the arrays are freed
			if r.Memory == nil {
				return r.device.Close()
			}
			return errors.Join(r.Memory.FreeAll(), r.device.Close())
		}))
	}
	return errors.Join(all...)
}

// transfer copies every part of the tuples to its GPU.
func (t team) transfer() error {
	if err := t.do("tuples", func(r *rank) { r.builder.transfer() }); err != nil {
		return err
	}
	labels := uint64(0)
	for _, r := range t {
		labels = max(labels, r.graph.AllLabels)
	}
	ranks := uint64(len(t))
	for _, r := range t {
		r.graph.Rank, r.graph.Ranks, r.graph.Columns = r.number, ranks, ranks/uint64(r.c.rows)
		for i := r.number % r.graph.Columns; i < ranks; i += r.graph.Columns {
			r.graph.Column |= 1 << i
		}
		r.graph.AllLabels, r.graph.Labels = labels, (labels+ranks-1)/ranks
	}
	return nil
}

// numberVertices numbers the vertices: each GPU its own ones by descending degree, which makes the hubs; all learn the
// hubs; each numbers its own ones by group; all learn the vertices.
func (t team) numberVertices() error {
	if err := t.do("degrees", (*rank).numberOwn); err != nil {
		return err
	}
	ranks := uint64(len(t))
	const chunk = 32 * chunkWords
	hubs := uint64(t[0].c.hubCount(int64(t.sum(func(g *deviceGraph) uint64 { return g.Vertices }))))
	each := (hubs + ranks*chunk - 1) / (ranks * chunk) * chunk
	t.set(func(g *deviceGraph) { g.Hubs, g.OwnHubs = ranks*each, min(each, g.Vertices) })
	if err := t.do("hubs", func(r *rank) {
		g := &r.graph
		g.Vertex = r.filled("vertex of each label", 4*int64(ranks*g.Labels), 0xff)
		r.publish()
		r.Loop(numberHubsKernel(r.local, r.section()))
	}); err != nil {
		return err
	}
	if err := t.gatherVertices(); err != nil {
		return err
	}
	if err := t.do("groups", (*rank).numberOwnByGroup); err != nil {
		return err
	}
	var own uint64
	for _, r := range t {
		own = max(own, uint64(words(int64(r.graph.Searched))))
	}
	own = max((own+chunkWords-1)/chunkWords*chunkWords, each/32)
	searched := t.sum(func(g *deviceGraph) uint64 { return g.Searched })
	t.set(func(g *deviceGraph) { g.Words, g.FrontierWords, g.AllSearched = own, ranks*own, searched })
	if err := t.do("numbers", func(r *rank) {
		r.publish()
		r.Loop(numberAllKernel(r.local, r.section()))
		r.Release(&r.local)
	}); err != nil {
		return err
	}
	if err := t.gatherVertices(); err != nil {
		return err
	}
	return t.do("labels", func(r *rank) {
		r.graph.Label = r.filled("label of each vertex", 4*32*int64(r.graph.FrontierWords), 0xff)
		r.Loop(labelAllKernel(r.graph.Label))
	})
}

// numberOwn numbers own labels by descending degree.
func (r *rank) numberOwn() {
	g := &r.graph
	r.degree = r.filled("degrees", 4*int64(g.Labels), 0)
	r.Loop(countEntriesKernel(r.edges, uint64(r.owned), g.Ranks, r.degree))
	r.clearCounters()
	r.Loop(maxDegreeKernel(r.degree, g.Labels, r.counters))
	r.maxDegree, g.Vertices = r.counter(0), r.counter(1)
	g.Place = r.Array("place of each vertex", 4*int64(g.Vertices))
	r.local = r.filled("local number of each label", 4*int64(g.Labels), 0xff)
	r.keys, r.buffer = r.numberByDegree(g.Place, r.local)
}

// numberOwnByGroup numbers own labels by the first hub among their neighbors.
func (r *rank) numberOwnByGroup() {
	smallest := r.filled("smallest neighbors", 4*int64(r.graph.Vertices), 0xff)
	r.Loop(smallestHubsKernel(r.edges, uint64(r.owned), r.local, smallest))
	r.numberByGroup(r.graph.Place, r.local, smallest, &r.keys, &r.buffer)
	r.Release(&r.keys, &r.buffer, &r.degree, &smallest)
}

// makeLists makes the lists of own vertices, and the lists by source, on a grid of several columns from other edges.
func (t team) makeLists() error {
	columns := t[0].graph.Columns
	bySource := func(r *rank) {
		g := &r.graph
		l := r.lists(32*int64(g.FrontierWords), 32*int64(columns*g.Words), 1)
		r.sortLists(&l, r.countEntries(&l))
		g.SourceOffset, g.SourceTarget = l.offset, l.target
	}
	if err := t.do("lists", func(r *rank) {
		g := &r.graph
		if columns == 1 {
			bySource(r)
		}
		own := r.lists(int64(g.Searched), 32*int64(g.FrontierWords), 0)
		r.sortLists(&own, r.countEntries(&own))
		g.Offset, g.Target, g.Entries = own.offset, own.target, own.entries
		r.Release(&r.edges)
	}); err != nil || columns == 1 {
		return err
	}
	if err := t.exchangeEdges(columns); err != nil {
		return err
	}
	return t.do("lists", func(r *rank) {
		bySource(r)
		r.Release(&r.edges)
	})
}

// lists are lists made of edges, of own vertices or by source.
func (r *rank) lists(sources, targets int64, bySource uint64) lists {
	owned := uint64(r.owned)
	return lists{
		sources: sources, targets: targets, place: r.placeLists, maxRanges: maxRanges,
		count: func(width, _, counts uint64) { r.Loop(countRangesKernel(r.edges, owned, bySource, width, counts)) },
		keys: func(fromTo, bits, keys, written uint64) {
			r.Loop(entryKeysKernel(r.edges, owned, bySource, fromTo, bits, keys, written))
		},
	}
}

// derive makes the arrays that follow from the lists, and adds up what all GPUs have to know.
func (t team) derive() error {
	edges := make([][]uint32, len(t)) // of hubs, by rank
	ordinary := make([]uint64, len(t))
	if err := t.do("derived arrays", func(r *rank) {
		g := &r.graph
		r.deriveArrays()
		g.HubReached = r.Array("reached hubs", int64(g.Hubs/8))
		r.Loop(ownTemplateKernel(g.OutputTemplate))
		edges[r.number] = readAll[uint32](r.builder, g.HubEdges, int64(g.Hubs))
		ordinary[r.number] = g.Entries - r.hubEntries()
	}); err != nil {
		return err
	}
	entries := t.sum(func(g *deviceGraph) uint64 { return g.Entries })
	average := uint64(0)
	if rest := t[0].graph.AllSearched - min(t[0].graph.Hubs, t[0].graph.AllSearched); rest > 0 {
		for _, n := range ordinary {
			average += n
		}
		average /= rest
	}
	shift, err := queueShift(32*t[0].graph.FrontierWords, entries)
	if err != nil {
		return err
	}
	t.set(func(g *deviceGraph) { g.Entries, g.AverageDegree, g.QueueShift = entries, average, shift })
	return t.do("derived arrays", func(r *rank) {
		g := &r.graph
		degrees := make([]uint32, g.OwnHubs)
		for h := range degrees {
			const chunk = 32 * chunkWords
			hub := (h/chunk*len(t)+int(r.number))*chunk + h%chunk // vertexOf of graph.cuh
			for _, e := range edges {
				degrees[h] += e[hub]
			}
		}
		g.HubDegree = r.Array("degrees of hubs", 4*int64(g.OwnHubs))
		if r.Err == nil && len(degrees) > 0 {
			r.Fail("degrees of hubs", driver.WriteAll(g.HubDegree, degrees))
		}
		r.align()
		r.publish()
	})
}
