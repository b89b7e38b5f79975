// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"runtime"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 1 on several GPUs with a process each (kernels/several.cu; kernels/graph.cuh has the numbering). Each has a
// part of the tuples, the lists of its own vertices, and its part of the lists by source.

// rank is one of the GPUs, that of this process.
type rank struct {
	*builder
	link   *team.Link
	number uint64
	edges  uint64 // [owned] source label << 32 | target label
	owned  uint64
	own    uint64   // entries of its lists; graph.Entries becomes that of all ranks
	sums   []uint64 // of all ranks: edges of each hub, entries of lists, those of vertices that are not hubs
	local  uint64   // [labels] local number of the label at each place
	keys   uint64   // two arrays for sorting, between two phases
	buffer uint64
}

// step calls f, waits for the GPU, and returns the error of any process.
func (r *rank) step(action string, f func()) error { return r.link.Step(&r.Work, action, f) }

// openRank opens the GPU and links it to those of the other processes. tuples are an even part of all.
func openRank(ctx context.Context, tuples []graph.Edge, c configuration, world *team.World) (r *rank, err error) {
	runtime.LockOSThread() // the driver keeps a current context for each thread
	defer runtime.UnlockOSThread()
	d, err := openGPU(c.Device(world.Place), true)
	if err != nil {
		return nil, err
	}
	r = &rank{builder: &builder{device: d, c: c, tuples: tuples}, number: uint64(world.Rank())}
	err = d.Do(func() error {
		if r.link, err = team.NewLink(world, d.GPU, c.Text("transfer")); err != nil {
			return err
		}
		r.Work = r.link.NewWork(ctx, c.memory(), advice)
		return r.Err
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// construct builds the graph and connects the GPUs. After an error it closes that of this rank.
func (r *rank) construct(ctx context.Context) (*rankSearch, plugins.Built, error) {
	start := time.Now()
	var steps []offload.Step
	if r.c.Ranks > 1 && r.c.Text("transfer") == "nccl" { // for which the search leaves multiprocessors free
		r.device.searchBlocks -= driver.NCCLBlocks
		steps = append(steps, offload.Step{Name: "communicator", Do: func() error { return r.link.StartNCCL(&r.Work) }})
	}
	phases, err := offload.RunSteps(ctx, append(steps,
		offload.Step{Name: "tuples to the devices", Do: r.transfer},
		offload.Step{Name: "exchange of edges", Do: func() error { return r.exchangeEdges(1) }},
		offload.Step{Name: "order", Do: r.numberVertices},
		offload.Step{Name: "lists", Do: r.makeLists},
		offload.Step{Name: "derived arrays", Do: r.derive})...)
	var s *rankSearch
	if err == nil {
		s, err = r.newRankSearch()
	}
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, r.close())
	}
	built := plugins.Built{
		Vertices: int64(r.graph.AllLabels), Elapsed: time.Since(start), Entries: plugins.Counted(int64(r.own)),
		VertexBits: 32, Tuning: tuning, Phases: phases, Details: s.facts(r), Bytes: r.Memory.Used + r.Memory.InHost,
	}
	r.link.Publish(&built, s)
	return s, built, nil
}

func (r *rank) close() error {
	return r.device.Do(func() (err error) {
		_ = cu.Synchronize() // nothing may still run when the arrays are freed
		if r.link != nil {
			err = r.link.Release()
		}
		if r.Memory != nil {
			err = errors.Join(err, r.Memory.FreeAll())
		}
		return errors.Join(err, r.device.Close())
	})
}

// transfer copies the tuples to the GPU.
func (r *rank) transfer() error {
	if err := r.step("tuples", r.builder.transfer); err != nil {
		return err
	}
	g := &r.graph
	all, err := team.Combine(r.link, larger, g.AllLabels)
	if err != nil {
		return err
	}
	labels, ranks := all[0], uint64(r.c.Ranks)
	g.Rank, g.Ranks, g.Columns = r.number, ranks, ranks/uint64(r.c.Rows)
	for i := r.number % g.Columns; i < ranks; i += g.Columns {
		g.Column |= 1 << i
	}
	g.AllLabels, g.Labels = labels, (labels+ranks-1)/ranks
	return nil
}

// numberVertices numbers the vertices: each GPU its own ones by descending degree, which makes the hubs; all learn the
// hubs; each numbers its own ones by group; all learn the vertices.
func (r *rank) numberVertices() error {
	if err := r.step("degrees", r.numberOwn); err != nil {
		return err
	}
	const chunk = 32 * chunkWords
	g, ranks := &r.graph, uint64(r.c.Ranks)
	all, err := team.Combine(r.link, sum, g.Vertices)
	if err != nil {
		return err
	}
	hubs := uint64(r.c.hubCount(int64(all[0])))
	each := (hubs + ranks*chunk - 1) / (ranks * chunk) * chunk
	g.Hubs, g.OwnHubs = ranks*each, min(each, g.Vertices)
	if err := r.step("hubs", func() {
		g.Vertex = r.Filled("vertex of each label", team.Exported(4*int64(ranks*g.Labels)), 0xff)
		r.publish()
		r.Loop(numberHubsKernel(r.local, r.section()))
	}); err != nil {
		return err
	}
	if err := r.gatherVertices(); err != nil {
		return err
	}
	if err := r.step("groups", r.numberOwnByGroup); err != nil {
		return err
	}
	searched, err := team.Combine(r.link, sum, g.Searched)
	if err != nil {
		return err
	}
	highest, err := team.Combine(r.link, larger, g.Searched)
	if err != nil {
		return err
	}
	own := max((uint64(words(int64(highest[0])))+chunkWords-1)/chunkWords*chunkWords, each/32)
	g.Words, g.FrontierWords, g.AllSearched = own, ranks*own, searched[0]
	if err := r.step("numbers", func() {
		r.publish()
		r.Loop(numberAllKernel(r.local, r.section()))
		r.Release(&r.local)
	}); err != nil {
		return err
	}
	if err := r.gatherVertices(); err != nil {
		return err
	}
	return r.step("labels", func() {
		g.Label = r.Filled("label of each vertex", 4*32*int64(g.FrontierWords), 0xff)
		r.Loop(labelAllKernel(g.Label))
	})
}

// numberOwn numbers own labels by descending degree.
func (r *rank) numberOwn() {
	g := &r.graph
	r.degree = r.Filled("degrees", 4*int64(g.Labels), 0)
	r.Loop(countEntriesKernel(r.edges, r.owned, g.Ranks, r.degree))
	r.findMaxDegree()
	g.Place = r.Array("place of each vertex", 4*int64(g.Vertices))
	r.local = r.Filled("local number of each label", 4*int64(g.Labels), 0xff)
	r.keys, r.buffer = r.numberByDegree(g.Place, r.local)
}

// numberOwnByGroup numbers own labels by the first hub among their neighbors.
func (r *rank) numberOwnByGroup() {
	smallest := r.Filled("smallest neighbors", 4*int64(r.graph.Vertices), 0xff)
	r.Loop(smallestHubsKernel(r.edges, r.owned, r.local, smallest))
	r.numberByGroup(r.graph.Place, r.local, smallest, &r.keys, &r.buffer)
	r.Release(&r.keys, &r.buffer, &r.degree, &smallest)
}

// makeLists makes the lists of own vertices, and the lists by source, on a grid of several columns from other edges.
func (r *rank) makeLists() error {
	g := &r.graph
	bySource := func() {
		l := r.lists(32*int64(g.FrontierWords), 32*int64(g.Columns*g.Words), 1)
		r.sortLists(&l, r.countEntries(&l))
		g.SourceOffset, g.SourceTarget = l.offset, l.target
	}
	if err := r.step("lists", func() {
		if g.Columns == 1 {
			bySource()
		}
		own := r.lists(int64(g.Searched), 32*int64(g.FrontierWords), 0)
		r.sortLists(&own, r.countEntries(&own))
		g.Offset, g.Target, g.Entries = own.offset, own.target, own.entries
		r.Release(&r.edges)
	}); err != nil || g.Columns == 1 {
		return err
	}
	if err := r.exchangeEdges(g.Columns); err != nil {
		return err
	}
	return r.step("lists", func() {
		bySource()
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
func (r *rank) derive() error {
	g := &r.graph
	if err := r.step("derived arrays", func() {
		r.deriveArrays()
		g.HubReached = r.Array("reached hubs", int64(g.Hubs/8))
		r.Loop(ownTemplateKernel(g.OutputTemplate))
		for _, n := range driver.Get(&r.Work, make([]uint32, g.Hubs), g.HubEdges) {
			r.sums = append(r.sums, uint64(n))
		}
		r.sums = append(r.sums, g.Entries, g.Entries-r.hubEntries())
	}); err != nil {
		return err
	}
	sums, err := team.Combine(r.link, sum, r.sums...)
	if err != nil {
		return err
	}
	degrees, entries, average := sums[:g.Hubs], sums[g.Hubs], uint64(0)
	if rest := g.AllSearched - min(g.Hubs, g.AllSearched); rest > 0 {
		average = sums[g.Hubs+1] / rest
	}
	shift, err := queueShift(32*g.FrontierWords, entries)
	if err != nil {
		return err
	}
	return r.step("derived arrays", func() {
		r.own = g.Entries
		g.Entries, g.AverageDegree, g.QueueShift = entries, average, shift
		own := make([]uint32, g.OwnHubs)
		for h := range own {
			const chunk = 32 * chunkWords
			hub := (h/chunk*r.c.Ranks+int(r.number))*chunk + h%chunk // vertexOf of graph.cuh
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

// exchangeEdges brings both edges of every tuple to the GPUs of a grid that they belong to.
func (r *rank) exchangeEdges(columns uint64) (err error) {
	if r.edges, r.owned, err = r.link.Edges(&r.Work, r.forTuples, columns); err == nil && columns == r.graph.Columns {
		r.Release(&r.pairs)
	}
	return err
}

// section is the address of the part of vertex that has the labels of this rank.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices gives all processes the sections of vertex of the others.
func (r *rank) gatherVertices() error {
	size := 4 * r.graph.Labels
	send, receive := make([]team.Part, r.c.Ranks), make([]team.Part, r.c.Ranks)
	for k := range send {
		if uint64(k) != r.number {
			send[k] = team.At(r.section(), size)
			receive[k] = team.At(r.graph.Vertex+size*uint64(k), size)
		}
	}
	return r.device.Do(func() error { return r.link.Move(nil, send, receive, size) })
}

func larger(a, b uint64) uint64 { return max(a, b) }
func sum(a, b uint64) uint64    { return a + b }
