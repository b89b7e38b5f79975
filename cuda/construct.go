// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// build is kernel 1, and makes the kernel 2 of its graph. world is nil in an engine of one process.
func build(ctx context.Context, in plugins.Input, set plugins.Settings, world *team.World) (
	built plugins.Built, err error) {
	c, err := configure(set)
	switch {
	case err != nil:
	case world == nil:
		_, built, err = construct(ctx, in, c)
	case in.ShortestPaths:
		err = fmt.Errorf("kernel 3 on several GPUs: %w; leave out the option ranks", errors.ErrUnsupported)
	case len(in.Tuples) == 0 && in.Recipe != nil:
		err = plugins.OptionError("tuples that are in no memory are made by a single GPU; leave out the option ranks")
	case in.DeviceTuples != nil:
		err = fmt.Errorf("several GPUs read the tuples in memory of the host: %w", plugins.ErrUnavailable)
	default:
		var r *rank
		if r, err = openRank(ctx, in.Tuples, c, world); err == nil {
			_, built, err = r.construct(ctx)
		}
	}
	return built, err
}

const (
	counters = 16           // of builder
	boundsAt = counters - 2 // the counters of unpack_tuples

	advice   = "raise the option memory, or set lists=host" // where device memory is short
	tuning   = "alpha, beta and every constant are fixed defaults or set by the user before kernel 1"
	template = "kernel 1 prepares an array with every vertex's first neighbor, in original labels; each search copies it" +
		" and confirms or replaces every entry inside its clock"
)

// builder is kernel 1: it turns tuples into a graph on the device. Every step runs as kernels and leaves its result on
// the device; only counts come back to the host.
type builder struct {
	driver.Work
	device *gpu
	c      configuration
	tuples []graph.Edge
	lent   *plugins.DeviceTuples // if they are in device memory
	recipe *graph.Kronecker      // if there are no tuples
	n      int64                 // the number of tuples

	graph  deviceGraph
	packed bool           // the lists
	notes  []plugins.Fact // for the record

	opened    uint64 // the lent tuples, 12 bytes each
	pairs     uint64 // [n] tuples u<<32 | v; 0: see forTuples
	degree    uint64 // [labels] duplicates included
	maxDegree uint64
	counters  uint64 // [counters] for the kernels' results
}

// construct opens the GPU and builds the graph. The clock of kernel 1 starts when the GPU is open.
func construct(ctx context.Context, in plugins.Input, c configuration) (*search, plugins.Built, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d, err := openGPU(c.Device(0), false)
	if err != nil {
		return nil, plugins.Built{}, err
	}
	b := &builder{Work: driver.NewWork(ctx, d.GPU, c.memory(), advice), device: d, c: c, tuples: in.Tuples,
		lent: in.DeviceTuples}
	if len(in.Tuples) == 0 && b.lent == nil {
		b.recipe = in.Recipe
	}
	if b.recipe != nil && c.memory() == 0 { // cuda/accelerator, on the same GPU, is to make them for every search
		b.Memory.Limit -= 15*b.recipe.Vertices() + 1<<30
	}
	var s *search
	var paths *pathBuilder
	steps := []offload.Step{b.Step("tuples to the device", b.transfer), b.Step("degrees", b.countDegrees)}
	if in.ShortestPaths {
		paths = b.newPaths(in.Weights)
		steps = append(steps, paths.steps()...)
	}
	phases, err := offload.RunSteps(ctx, append(steps,
		b.Step("order", b.numberVertices),
		b.Step("lists", b.makeLists),
		b.Step("derived arrays", func() {
			b.derive()
			s = b.newSearch()
		}))...)
	built, err := b.Built(phases, cmp.Or(err, b.closeLent()))
	if err != nil {
		if paths != nil && paths.gpu != nil {
			err = errors.Join(err, paths.gpu.Close())
		}
		return nil, built, err
	}
	built.Vertices, built.Tuning = int64(b.graph.Labels), tuning
	built.Entries = plugins.Counted(int64(b.graph.Entries))
	built.Details = append(append(built.Details,
		plugins.Fact{Name: "vertices that are not isolated", Value: fmt.Sprint(b.graph.Vertices)},
		plugins.Fact{Name: "vertices with neighbor lists", Value: fmt.Sprint(b.graph.Searched)},
		plugins.Fact{Name: "bytes on the device", Value: fmt.Sprint(b.Memory.Used)},
		plugins.Fact{Name: "bytes pinned in the host", Value: fmt.Sprint(b.Memory.InHost)},
		plugins.Fact{Name: "output template", Value: template}), b.notes...)
	offload.Publish(&built, s, nil)
	if paths != nil {
		built.Details = append(built.Details, paths.notes...)
		s.paths = paths.search
		s.paths.search, s.paths.params.Parent = s, s.parents
		offload.Publish(&built, s, s.paths)
	}
	return s, built, nil
}

// note adds a line to the record.
func (b *builder) note(name, value string) {
	b.notes = append(b.notes, plugins.Fact{Name: name, Value: value})
}

func (b *builder) clearCounters() { b.Fill(b.counters, 0, 8*counters) }

// counter returns counter i.
func (b *builder) counter(i uint64) uint64 { return driver.One[uint64](&b.Work, b.counters+8*i) }

// publish makes the graph visible to the kernels.
func (b *builder) publish() {
	if b.Err == nil {
		b.Fail("publish the graph", driver.Write(b.device.graph, b.graph))
	}
}

// transfer brings the tuples to the device as pairs of 32-bit labels, and finds the largest label. If the lists and
// memory to sort would not fit besides them, every step copies them again, part by part, or makes them from the recipe.
func (b *builder) transfer() {
	b.n = int64(len(b.tuples))
	if b.lent != nil {
		b.openLent()
	}
	times := int64(24) // lists as large as the pairs, and as much again to sort
	if b.c.Text("adjacency") != "csr" && b.c.Int("ranks") == 0 {
		times = 15 // packed
	}
	stays := times*b.n < b.Memory.Room()
	if b.recipe != nil {
		b.n, stays = b.recipe.Tuples(), false
		b.note("tuples", "made again on the device by every phase of kernel 1, from the recipe")
	} else if !stays && b.lent == nil {
		b.note("tuples", "copied to the device again by every phase of kernel 1")
	}
	b.counters = b.Array("counters", 8*counters)
	b.Fail("tuples", checkTuples(b.n, 0, false))
	b.clearCounters()
	maxLabel, tooLong := uint64(0), false
	switch {
	case b.recipe != nil:
		maxLabel = uint64(b.recipe.Vertices()) - 1
	case stays:
		pairs := b.Array("tuples", 8*b.n)
		b.eachPart(func(at uint64, first, n int64) {
			b.Loop(unpackTuplesKernel(at, uint64(n), pairs+uint64(8*first), b.bounds()))
		})
		b.pairs = pairs
	default:
		b.forTuples(func(uint64, uint64) {})
	}
	if b.recipe == nil {
		maxLabel, tooLong = b.counter(boundsAt), b.counter(boundsAt+1) != 0
	}
	b.Fail("tuples", checkTuples(b.n, maxLabel, tooLong))
	if b.n > 0 {
		b.graph.Labels = maxLabel + 1
		b.graph.AllLabels = b.graph.Labels
	}
}

// openLent opens the tuples that another process has on this device.
func (b *builder) openLent() {
	at, err := driver.OpenMemory(b.lent.Handle)
	if err != nil {
		err = fmt.Errorf("%w: open the tuples in device memory: %w", plugins.ErrUnavailable, err)
	}
	b.Fail("tuples", err)
	b.opened, b.n = at, b.lent.Count
	b.note("tuples", "in device memory when the clock started")
}

// closeLent ends openLent. Nothing may read the tuples any longer.
func (b *builder) closeLent() error {
	if b.opened == 0 {
		return nil
	}
	return errors.Join(cu.Synchronize(), driver.CloseMemory(b.opened))
}

// bounds is the address of the two counters that unpack_tuples uses, from boundsAt on.
func (b *builder) bounds() uint64 { return b.counters + 8*boundsAt }

// forTuples queues kernels that read all tuples as pairs, perhaps part by part.
func (b *builder) forTuples(queue func(pairs, n uint64)) {
	if b.pairs != 0 {
		queue(b.pairs, uint64(b.n))
		return
	}
	size := int64(driver.StageBytes / graph.EdgeBytes)
	if b.recipe != nil || b.lent != nil {
		size = maxPart
	}
	part := b.Array("part of the tuples", 8*min(b.n, size))
	b.eachPart(func(at uint64, _, n int64) {
		b.Loop(unpackTuplesKernel(at, uint64(n), part, b.bounds()))
		queue(part, uint64(n))
	})
	b.Release(&part)
}

const (
	maxPart    = 1 << 23 // tuples without a copy in a part: 160 MiB with their pairs, which fit into minSortBytes
	strideBits = 17      // log2 of the threads that make tuples
)

// eachPart calls use for n tuples, 12 bytes each, on the device at a time, from number first on.
func (b *builder) eachPart(use func(at uint64, first, n int64)) {
	if b.recipe != nil {
		b.generateParts(*b.recipe, use)
		return
	}
	if b.lent != nil {
		for first := int64(0); first < b.n && b.Err == nil; first += maxPart {
			use(b.opened+uint64(graph.EdgeBytes*first), first, min(b.n-first, maxPart))
			b.Fail("kernel 1", b.Ctx.Err())
		}
		return
	}
	if b.Err != nil {
		return
	}
	stage, err := driver.NewStage(b.Memory)
	if err == nil {
		err = errors.Join(stage.Upload(b.Ctx, offload.Bytes(b.tuples), func(at uint64, first, bytes int64) error {
			use(at, first/graph.EdgeBytes, bytes/graph.EdgeBytes)
			return b.Err
		}), cu.Synchronize(), stage.Close())
	}
	b.Fail("copy tuples to the device", err)
}

// generateParts makes the tuples of a recipe (accelerator/kernels/generate.cu).
func (b *builder) generateParts(recipe graph.Kronecker, use func(at uint64, first, n int64)) {
	constants := b.Array("constants of the generator", 8*512)
	part := b.Array("part of the tuples", graph.EdgeBytes*min(b.n, maxPart))
	if b.Err == nil {
		b.Fail("constants of the generator", driver.Write(constants, recipe.Constants()))
	}
	for first := int64(0); first < b.n && b.Err == nil; first += maxPart {
		n := min(b.n-first, maxPart)
		b.Blocks(1<<strideBits/blockThreads, generateKernel(constants, uint64(recipe.Scale), uint64(first), uint64(n),
			strideBits, part))
		use(part, first, n)
		b.Fail("kernel 1", b.Ctx.Err())
	}
	b.Release(&constants, &part)
}

// countDegrees counts the tuples at every label.
func (b *builder) countDegrees() {
	b.degree = b.Filled("degrees", 4*int64(b.graph.Labels), 0)
	b.forTuples(func(pairs, n uint64) { b.Loop(countDegreesKernel(pairs, n, b.degree)) })
	b.findMaxDegree()
}

// findMaxDegree finds the largest degree and the number of vertices that are not isolated.
func (b *builder) findMaxDegree() {
	b.clearCounters()
	b.Loop(maxDegreeKernel(b.degree, b.graph.Labels, b.counters))
	b.maxDegree, b.graph.Vertices = b.counter(0), b.counter(1)
}

// numberVertices numbers the vertices (kernels/graph.cuh): by descending degree (Kolganov 2018, section 2.2), then by
// group. Both sorts are stable, so the vertices of a group stay in descending order of degree.
func (b *builder) numberVertices() {
	g := &b.graph
	vertices := int64(g.Vertices)
	g.Label = b.Array("label of each vertex", 4*vertices)
	g.Vertex = b.Filled("vertex of each label", 4*int64(g.Labels), 0xff)
	keys, buffer := b.numberByDegree(g.Label, g.Vertex)
	smallest := b.Filled("smallest neighbors", 4*vertices, 0xff)
	b.forTuples(func(pairs, n uint64) { b.Loop(smallestNeighborsKernel(pairs, n, g.Vertex, smallest)) })
	g.Hubs = uint64(b.c.hubCount(vertices))
	g.OwnHubs = g.Hubs
	b.numberByGroup(g.Label, g.Vertex, smallest, &keys, &buffer)
	g.Words = uint64(words(int64(g.Searched)))
	g.Place, g.Ranks, g.Columns, g.FrontierWords, g.AllSearched = g.Label, 1, 1, g.Words, g.Searched
	b.Release(&keys, &buffer, &smallest)
}

// numberByDegree numbers the labels that are not isolated by descending degree: label has the label of each number,
// vertex the number of each label. It returns two arrays for sorting.
func (b *builder) numberByDegree(label, vertex uint64) (keys, buffer uint64) {
	labels := int64(b.graph.Labels)
	keys = b.Array("vertices to sort", 8*labels)
	buffer = b.Array("vertices to sort", 8*labels)
	b.Loop(degreeKeysKernel(b.degree, b.graph.Labels, b.maxDegree, keys))
	b.Sort(&keys, &buffer, labels, 32, 32+bits.Len64(b.maxDegree))
	b.Loop(numberVerticesKernel(keys, b.graph.Vertices, label, vertex))
	return keys, buffer
}

// numberByGroup numbers them by group, where smallest has the first hub among the neighbors of each.
func (b *builder) numberByGroup(label, vertex, smallest uint64, keys, buffer *uint64) {
	g := &b.graph
	b.Loop(groupKeysKernel(label, b.degree, smallest, g.Vertices, g.OwnHubs, g.Hubs, *keys))
	groups := 2 + 2*g.Hubs // hubs, a group each, ungrouped vertices, the leaves of each
	b.Sort(keys, buffer, int64(g.Vertices), 32, 32+bits.Len64(groups))
	b.Loop(numberVerticesKernel(*keys, g.Vertices, label, vertex))

	begin := b.Array("begin of each group", 4*int64(groups+1))
	b.Loop(groupBeginsKernel(*keys, g.Vertices, groups, begin))
	ungrouped, leaves := begin+4*(1+g.Hubs), begin+4*(2+g.Hubs) // the group of hub h is 1+h, and its leaves are 2+hubs+h
	g.GroupBegin, g.LeafBegin = begin+4, leaves
	g.Ungrouped = uint64(driver.One[uint32](&b.Work, ungrouped))
	g.Searched = uint64(driver.One[uint32](&b.Work, leaves))
}
