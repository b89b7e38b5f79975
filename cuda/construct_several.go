// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// Kernel 1 on several GPUs with a process each (kernels/several.cu; kernels/graph.cuh has the numbering). Each has a
// part of the tuples, the lists of its own vertices, and its part of the lists by source.

// rank is one of the GPUs, that of this process.
type rank struct {
	*builder
	link   *link
	number uint64
	edges  uint64 // [owned] source label << 32 | target label
	owned  uint64
	own    uint64   // entries of its lists; graph.Entries becomes that of all ranks
	sums   []uint64 // of all ranks: edges of each hub, entries of lists, those of vertices that are not hubs
	local  uint64   // [labels] local number of the label at each place
	keys   uint64   // two arrays for sorting, between two phases
	buffer uint64
}

// do calls f, waits for the GPU, and returns the error of any process.
func (r *rank) do(action string, f func()) error {
	r.Fail(action, r.device.Do(func() error {
		f()
		if r.Err != nil {
			return nil
		}
		return cu.Synchronize()
	}))
	if r.Err != nil {
		return fmt.Errorf("GPU %d: %w", r.device.Number, agree(r.link, r.Err))
	}
	return agree(r.link, nil)
}

// openRank opens the GPU and links it to those of the other processes. tuples are an even part of all.
func openRank(ctx context.Context, tuples []graph.Edge, c configuration, world *worldGroup) (r *rank, err error) {
	runtime.LockOSThread() // the driver keeps a current context for each thread
	defer runtime.UnlockOSThread()
	d, err := openGPU(c.devices[0], true)
	if err != nil {
		return nil, err
	}
	r = &rank{builder: &builder{device: d, c: c, tuples: tuples}, number: uint64(world.Rank())}
	err = d.Do(func() error {
		if r.link, err = newLink(world, d, c); err != nil {
			return err
		}
		r.Work = driver.NewWork(ctx, d.GPU, c.memory(), advice)
		r.Memory.Limit /= int64(r.link.sharing)
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
	if r.c.ranks > 1 && r.c.Text("transfer") == "nccl" {
		steps = append(steps, offload.Step{Name: "communicator", Do: r.startNCCL})
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
	offload.Publish(&built, s, nil)
	built.Repeat = s.repeat
	return s, built, nil
}

func (r *rank) close() error {
	return r.device.Do(func() (err error) {
		_ = cu.Synchronize() // nothing may still run when the arrays are freed
		if r.link != nil {
			err = r.link.release()
		}
		if r.Memory != nil {
			err = errors.Join(err, r.Memory.FreeAll())
		}
		return errors.Join(err, r.device.Close())
	})
}

// transfer copies the tuples to the GPU.
func (r *rank) transfer() error {
	if err := r.do("tuples", r.builder.transfer); err != nil {
		return err
	}
	g := &r.graph
	all, err := r.combine(larger, g.AllLabels)
	if err != nil {
		return err
	}
	labels, ranks := all[0], uint64(r.c.ranks)
	g.Rank, g.Ranks, g.Columns = r.number, ranks, ranks/uint64(r.c.rows)
	for i := r.number % g.Columns; i < ranks; i += g.Columns {
		g.Column |= 1 << i
	}
	g.AllLabels, g.Labels = labels, (labels+ranks-1)/ranks
	return nil
}

// numberVertices numbers the vertices: each GPU its own ones by descending degree, which makes the hubs; all learn the
// hubs; each numbers its own ones by group; all learn the vertices.
func (r *rank) numberVertices() error {
	if err := r.do("degrees", r.numberOwn); err != nil {
		return err
	}
	const chunk = 32 * chunkWords
	g, ranks := &r.graph, uint64(r.c.ranks)
	all, err := r.combine(sum, g.Vertices)
	if err != nil {
		return err
	}
	hubs := uint64(r.c.hubCount(int64(all[0])))
	each := (hubs + ranks*chunk - 1) / (ranks * chunk) * chunk
	g.Hubs, g.OwnHubs = ranks*each, min(each, g.Vertices)
	if err := r.do("hubs", func() {
		g.Vertex = r.Filled("vertex of each label", exported(4*int64(ranks*g.Labels)), 0xff)
		r.publish()
		r.Loop(numberHubsKernel(r.local, r.section()))
	}); err != nil {
		return err
	}
	if err := r.gatherVertices(); err != nil {
		return err
	}
	if err := r.do("groups", r.numberOwnByGroup); err != nil {
		return err
	}
	searched, err := r.combine(sum, g.Searched)
	if err != nil {
		return err
	}
	highest, err := r.combine(larger, g.Searched)
	if err != nil {
		return err
	}
	own := max((uint64(words(int64(highest[0])))+chunkWords-1)/chunkWords*chunkWords, each/32)
	g.Words, g.FrontierWords, g.AllSearched = own, ranks*own, searched[0]
	if err := r.do("numbers", func() {
		r.publish()
		r.Loop(numberAllKernel(r.local, r.section()))
		r.Release(&r.local)
	}); err != nil {
		return err
	}
	if err := r.gatherVertices(); err != nil {
		return err
	}
	return r.do("labels", func() {
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
	if err := r.do("lists", func() {
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
	return r.do("lists", func() {
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
	if err := r.do("derived arrays", func() {
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
	sums, err := r.combine(sum, r.sums...)
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
	return r.do("derived arrays", func() {
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

// exchangeEdges brings both edges of every tuple to the GPUs of a grid that they belong to. With one column, these are
// the owners of their targets. In each step a rank sends to another one, first to itself.
func (r *rank) exchangeEdges(columns uint64) error {
	ranks := uint64(r.c.ranks)
	var own []uint64 // by receiver
	if err := r.do("count edges", func() {
		r.clearCounters()
		r.forTuples(func(pairs, n uint64) { r.Loop(countEdgesKernel(pairs, n, ranks, columns, r.counters)) })
		own = driver.Get(&r.Work, make([]uint64, ranks), r.counters)
	}); err != nil {
		return err
	}
	counts, err := gatherNumbers(r.link, own...) // by sender and receiver
	if err != nil {
		return err
	}
	largest := uint64(0)
	if err := r.do("edges", func() {
		r.owned = 0
		for _, c := range counts {
			r.owned += c[r.number]
			largest = max(largest, 8*slices.Max(c))
		}
		r.edges = r.Array("edges", int64(8*r.owned))
		r.buffer = r.Array("edges to send", exported(8*int64(slices.Max(own))))
	}); err != nil {
		return err
	}
	for step := range ranks {
		to, from := (r.number+step)%ranks, (r.number+ranks-step)%ranks
		if err := r.do("select edges", func() {
			r.clearCounters()
			r.forTuples(func(pairs, n uint64) {
				r.Loop(selectEdgesKernel(pairs, n, to, ranks, columns, r.buffer, r.counters))
			})
		}); err != nil {
			return err
		}
		at, send, receive := r.edges, make([]part, ranks), make([]part, ranks)
		for _, c := range counts[:from] {
			at += 8 * c[r.number]
		}
		send[to], receive[from] = part{array{at: r.buffer}, 8 * own[to]}, part{array{at: at}, 8 * counts[from][r.number]}
		if err := r.device.Do(func() error {
			if step > 0 {
				return r.link.move(send, receive, largest)
			} else if own[to] == 0 {
				return nil
			}
			return cu.MemcpyDtoD(cu.DevicePtr(at), cu.DevicePtr(r.buffer), int64(8*own[to]))
		}); err != nil {
			return err
		}
	}
	last := columns == r.graph.Columns
	return r.do("edges", func() {
		r.Release(&r.buffer)
		if last {
			r.Release(&r.pairs)
		}
	})
}

// section is the address of the part of vertex that has the labels of this rank.
func (r *rank) section() uint64 { return r.graph.Vertex + 4*r.number*r.graph.Labels }

// gatherVertices gives all processes the sections of vertex of the others.
func (r *rank) gatherVertices() error {
	size := 4 * r.graph.Labels
	send, receive := make([]part, r.c.ranks), make([]part, r.c.ranks)
	for k := range send {
		if uint64(k) != r.number {
			send[k] = part{array{at: r.section()}, size}
			receive[k] = part{array{at: r.graph.Vertex + size*uint64(k)}, size}
		}
	}
	return r.device.Do(func() error { return r.link.move(send, receive, size) })
}

// combine returns numbers of all ranks, combined one by one.
func (r *rank) combine(with func(a, b uint64) uint64, own ...uint64) ([]uint64, error) {
	all, err := gatherNumbers(r.link, own...)
	if err != nil {
		return nil, err
	}
	for _, other := range all[1:] {
		for i := range other {
			all[0][i] = with(all[0][i], other[i])
		}
	}
	return all[0], nil
}

func larger(a, b uint64) uint64 { return max(a, b) }
func sum(a, b uint64) uint64    { return a + b }
