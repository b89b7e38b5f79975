// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 1 on several GPUs (kernels/several.cu; kernels/graph.cuh has the numbering). Each has a part of the tuples,
// the lists of its own vertices, and its part of the lists by source.

// rank is one of the GPUs.
type rank struct {
	*builder
	number uint64
	edges  uint64 // [owned] source label << 32 | target label
	owned  uint64
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

// graphs calls f for the graph of every rank.
func (t team) graphs(f func(g *deviceGraph)) {
	for _, r := range t {
		f(&r.graph)
	}
}

// constructTeam opens the GPUs, builds the graph, and connects them.
func constructTeam(ctx context.Context, tuples []graph.Edge, c configuration) (*teamSearch, plugins.Built, error) {
	t, err := openTeam(ctx, tuples, c)
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, t.close())
	}
	start := time.Now()
	phases, err := driver.RunSteps(ctx,
		driver.Step{Name: "tuples to the devices", Do: t.transfer},
		driver.Step{Name: "exchange of edges", Do: func() error { return t.exchangeEdges(1) }},
		driver.Step{Name: "order", Do: t.numberVertices},
		driver.Step{Name: "lists", Do: t.makeLists},
		driver.Step{Name: "derived arrays", Do: t.derive})
	var s *teamSearch
	if err == nil {
		s, err = t.newSearch()
	}
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, t.close())
	}
	first := &t[0].graph
	built := plugins.Built{
		Vertices: int64(first.AllLabels), Elapsed: time.Since(start), Entries: plugins.Counted(int64(first.Entries)),
		VertexBits: 32, Tuning: tuning, Phases: phases, Details: s.facts(t),
	}
	for _, r := range t {
		built.Bytes += r.Memory.Used + r.Memory.InHost
	}
	t[0].device.SetSearch(&built, s)
	return s, built, nil
}

// openTeam opens a GPU for each rank, with an even part of the tuples. After an error it returns those that are open.
func openTeam(ctx context.Context, tuples []graph.Edge, c configuration) (t team, err error) {
	runtime.LockOSThread() // the driver keeps a current context for each thread
	defer runtime.UnlockOSThread()
	on := map[int]int64{} // ranks on each GPU
	for _, number := range c.devices {
		on[number]++
	}
	n := len(tuples)
	for i, number := range c.devices {
		part := tuples[n*i/len(c.devices) : n*(i+1)/len(c.devices)]
		d, err := openGPU(number, int(on[number]))
		if err != nil {
			return t, err
		}
		t = append(t, &rank{builder: &builder{device: d, c: c, tuples: part}, number: uint64(i)})
	}
	for _, r := range t {
		if err := r.device.Do(func() error {
			r.Work = driver.NewWork(ctx, r.device.GPU, c.memory(), advice)
			r.Memory.Limit /= on[r.device.Number]
			return r.Err
		}); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t team) close() (err error) {
	for _, r := range t {
		err = errors.Join(err, r.device.Do(func() (err error) {
			_ = cu.Synchronize() // nothing may still run when the arrays are freed
			if r.Memory != nil {
				err = r.Memory.FreeAll()
			}
			return errors.Join(err, r.device.Close())
		}))
	}
	return err
}

// transfer copies every part of the tuples to its GPU.
func (t team) transfer() error {
	if err := t.do("tuples", func(r *rank) { r.builder.transfer() }); err != nil {
		return err
	}
	labels, ranks := uint64(0), uint64(len(t))
	t.graphs(func(g *deviceGraph) { labels = max(labels, g.AllLabels) })
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
	var vertices, searched, own uint64
	t.graphs(func(g *deviceGraph) { vertices += g.Vertices })
	hubs := uint64(t[0].c.hubCount(int64(vertices)))
	each := (hubs + ranks*chunk - 1) / (ranks * chunk) * chunk
	t.graphs(func(g *deviceGraph) { g.Hubs, g.OwnHubs = ranks*each, min(each, g.Vertices) })
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
	t.graphs(func(g *deviceGraph) {
		own = max(own, uint64(words(int64(g.Searched))))
		searched += g.Searched
	})
	own = max((own+chunkWords-1)/chunkWords*chunkWords, each/32)
	t.graphs(func(g *deviceGraph) { g.Words, g.FrontierWords, g.AllSearched = own, ranks*own, searched })
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
	r.Loop(countEntriesKernel(r.edges, r.owned, g.Ranks, r.degree))
	r.findMaxDegree()
	g.Place = r.Array("place of each vertex", 4*int64(g.Vertices))
	r.local = r.filled("local number of each label", 4*int64(g.Labels), 0xff)
	r.keys, r.buffer = r.numberByDegree(g.Place, r.local)
}

// numberOwnByGroup numbers own labels by the first hub among their neighbors.
func (r *rank) numberOwnByGroup() {
	smallest := r.filled("smallest neighbors", 4*int64(r.graph.Vertices), 0xff)
	r.Loop(smallestHubsKernel(r.edges, r.owned, r.local, smallest))
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
	return lists{
		sources: sources, targets: targets, maxRanges: maxRanges,
		count: func(width, _, counts uint64) { r.Loop(countRangesKernel(r.edges, r.owned, bySource, width, counts)) },
		keys: func(fromTo, bits, keys, written uint64) {
			r.Loop(entryKeysKernel(r.edges, r.owned, bySource, fromTo, bits, keys, written))
		},
	}
}

// derive makes the arrays that follow from the lists, and the sums over all GPUs.
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
	entries, average, g := uint64(0), uint64(0), t[0].graph
	t.graphs(func(g *deviceGraph) { entries += g.Entries })
	if rest := g.AllSearched - min(g.Hubs, g.AllSearched); rest > 0 {
		for _, n := range ordinary {
			average += n
		}
		average /= rest
	}
	shift, err := queueShift(32*g.FrontierWords, entries)
	if err != nil {
		return err
	}
	t.graphs(func(g *deviceGraph) { g.Entries, g.AverageDegree, g.QueueShift = entries, average, shift })
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
			r.owned += c[r.number]
		}
		r.edges = r.Array("edges", int64(8*r.owned))
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

// section is the address of the part of vertex that has the labels of rank r.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices copies every section of vertex to all other GPUs.
func (t team) gatherVertices() error {
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
