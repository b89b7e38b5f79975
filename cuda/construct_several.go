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

// Kernel 1 on several GPUs (kernels/several.cu; kernels/graph.cuh has the numbering). Each has a part of the tuples,
// the lists of its own vertices, and its part of the lists by source. A process has all of them, or one.

// rank is one of the GPUs.
type rank struct {
	*builder
	link   *link // to the GPUs of other processes; nil if one has all
	number uint64
	edges  uint64 // [owned] source label << 32 | target label
	owned  uint64
	own    uint64   // entries of its lists; graph.Entries becomes that of all ranks
	sums   []uint64 // of all ranks: edges of each hub, entries of lists, those of vertices that are not hubs
	local  uint64   // [labels] local number of the label at each place
	keys   uint64   // two arrays for sorting, between two phases
	buffer uint64
}

// team is those of this process.
type team []*rank

// do calls f for every rank at the same time, waits for their GPUs, and returns the first error.
func (t team) do(action string, f func(r *rank)) error {
	one := func(r *rank) {
		r.Fail(action, r.device.Do(func() error {
			f(r)
			if r.Err != nil {
				return nil
			}
			return cu.Synchronize()
		}))
	}
	var wg sync.WaitGroup
	for _, r := range t[1:] {
		wg.Go(func() { one(r) })
	}
	one(t[0]) // on the thread of MPI, if there is one
	wg.Wait()
	for _, r := range t {
		if r.Err != nil {
			return fmt.Errorf("GPU %d: %w", r.device.Number, t.agree(r.Err))
		}
	}
	return t.agree(nil)
}

// graphs calls f for the graph of every rank.
func (t team) graphs(f func(g *deviceGraph)) {
	for _, r := range t {
		f(&r.graph)
	}
}

// constructTeam opens the GPUs, builds the graph, and connects them.
func constructTeam(ctx context.Context, tuples []graph.Edge, c configuration, world *worldGroup) (
	*teamSearch, plugins.Built, error) {
	t, err := openTeam(ctx, tuples, c, world)
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, t.close())
	}
	start := time.Now()
	var steps []driver.Step
	if c.ranks > 1 && c.Text("transfer") == "nccl" {
		steps = append(steps, driver.Step{Name: "communicator", Do: t.startNCCL})
	}
	phases, err := driver.RunSteps(ctx, append(steps,
		driver.Step{Name: "tuples to the devices", Do: t.transfer},
		driver.Step{Name: "exchange of edges", Do: func() error { return t.exchangeEdges(1) }},
		driver.Step{Name: "order", Do: t.numberVertices},
		driver.Step{Name: "lists", Do: t.makeLists},
		driver.Step{Name: "derived arrays", Do: t.derive})...)
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
	if t[0].device.SetSearch(&built, s); world != nil {
		built.Entries, built.Repeat = plugins.Counted(int64(t[0].own)), s.repeat
	}
	return s, built, nil
}

// openTeam opens a GPU for each rank, with an even part of the tuples. After an error it returns those that are open.
func openTeam(ctx context.Context, tuples []graph.Edge, c configuration, world *worldGroup) (t team, err error) {
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
		r := &rank{builder: &builder{device: d, c: c, tuples: part}, number: uint64(i)}
		if t = append(t, r); world == nil {
			continue
		}
		if r.link, err = newLink(world, d, c); err != nil {
			return t, err
		}
		r.number, on[number] = uint64(world.Rank()), int64(r.link.sharing)
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
			if r.link != nil {
				err = r.link.release()
			}
			if r.Memory != nil {
				err = errors.Join(err, r.Memory.FreeAll())
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
	all, err := t.combine(larger, func(r *rank) []uint64 { return []uint64{r.graph.AllLabels} })
	if err != nil {
		return err
	}
	labels, ranks := all[0], uint64(t[0].c.ranks)
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
	ranks := uint64(t[0].c.ranks)
	const chunk = 32 * chunkWords
	all, err := t.combine(sum, func(r *rank) []uint64 { return []uint64{r.graph.Vertices} })
	if err != nil {
		return err
	}
	hubs := uint64(t[0].c.hubCount(int64(all[0])))
	each := (hubs + ranks*chunk - 1) / (ranks * chunk) * chunk
	t.graphs(func(g *deviceGraph) { g.Hubs, g.OwnHubs = ranks*each, min(each, g.Vertices) })
	if err := t.do("hubs", func(r *rank) {
		g := &r.graph
		g.Vertex = r.filled("vertex of each label", exported(4*int64(ranks*g.Labels)), 0xff)
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
	searched, err := t.combine(sum, func(r *rank) []uint64 { return []uint64{r.graph.Searched} })
	if err != nil {
		return err
	}
	highest, err := t.combine(larger, func(r *rank) []uint64 { return []uint64{r.graph.Searched} })
	if err != nil {
		return err
	}
	own := max((uint64(words(int64(highest[0])))+chunkWords-1)/chunkWords*chunkWords, each/32)
	t.graphs(func(g *deviceGraph) { g.Words, g.FrontierWords, g.AllSearched = own, ranks*own, searched[0] })
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
	if err := t.do("derived arrays", func(r *rank) {
		g := &r.graph
		r.deriveArrays()
		g.HubReached = r.Array("reached hubs", int64(g.Hubs/8))
		r.Loop(ownTemplateKernel(g.OutputTemplate))
		for _, n := range readAll[uint32](r.builder, g.HubEdges, int64(g.Hubs)) {
			r.sums = append(r.sums, uint64(n))
		}
		r.sums = append(r.sums, g.Entries, g.Entries-r.hubEntries())
	}); err != nil {
		return err
	}
	sums, err := t.combine(sum, func(r *rank) []uint64 { return r.sums })
	if err != nil {
		return err
	}
	g := t[0].graph
	degrees, entries, average := sums[:g.Hubs], sums[g.Hubs], uint64(0)
	if rest := g.AllSearched - min(g.Hubs, g.AllSearched); rest > 0 {
		average = sums[g.Hubs+1] / rest
	}
	shift, err := queueShift(32*g.FrontierWords, entries)
	if err != nil {
		return err
	}
	return t.do("derived arrays", func(r *rank) {
		g := &r.graph
		r.own = g.Entries
		g.Entries, g.AverageDegree, g.QueueShift = entries, average, shift
		own := make([]uint32, g.OwnHubs)
		for h := range own {
			const chunk = 32 * chunkWords
			hub := (h/chunk*r.c.ranks+int(r.number))*chunk + h%chunk // vertexOf of graph.cuh
			own[h] = uint32(degrees[hub])
		}
		g.HubDegree = r.Array("degrees of hubs", 4*int64(g.OwnHubs))
		if r.Err == nil && len(own) > 0 {
			r.Fail("degrees of hubs", driver.WriteAll(g.HubDegree, own))
		}
		r.align()
		r.publish()
	})
}
