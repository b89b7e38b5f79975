// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

// build is kernel 1, and makes the kernel 2 of its graph.
func build(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
	c, err := configure(set)
	if err != nil {
		return plugins.Built{}, err
	}
	if len(c.devices) > 1 {
		if len(in.Tuples) == 0 && in.Recipe != nil {
			return plugins.Built{}, plugins.OptionError("tuples that are in no memory are made by a single GPU; " +
				"leave out the option gpus")
		}
		if in.DeviceTuples != nil {
			return plugins.Built{}, fmt.Errorf("several GPUs read the tuples in memory of the host: %w", plugins.ErrUnavailable)
		}
		_, built, err := constructTeam(ctx, in.Tuples, c)
		return built, err
	}
	_, built, err := construct(ctx, in, c)
	return built, err
}

// advice says what to do where device memory is short.
const advice = "raise the option memory, or set lists=host"

// construct opens the GPU and builds the graph. The clock of kernel 1 starts when the GPU is open.
func construct(ctx context.Context, in plugins.Input, c configuration) (*search, plugins.Built, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	d, err := openGPU(c.devices[0], 0)
	if err != nil {
		return nil, plugins.Built{}, err
	}
	start := time.Now()
	m, err := driver.NewAllocator(c.memory, advice)
	if err != nil {
		return nil, plugins.Built{}, errors.Join(err, d.Close())
	}
	b := &builder{Work: driver.NewWork(ctx, d.GPU, m), device: d, c: c, tuples: in.Tuples, lent: in.DeviceTuples}
	if b.recipe = in.Recipe; len(in.Tuples) > 0 || b.lent != nil {
		b.recipe = nil
	} else if b.recipe != nil && c.memory == 0 { // cuda/accelerator, on the same GPU, is to make them for every search
		m.Limit -= 15*b.recipe.Vertices() + 1<<30
	}
	s := b.run()
	b.closeLent()
	elapsed := time.Since(start)
	if b.Err != nil {
		_ = cu.Synchronize() // nothing may still run when the arrays are freed; b.Err is the error to report
		return nil, plugins.Built{}, errors.Join(b.Err, m.FreeAll(), d.Close())
	}
	return s, plugins.Built{
		Vertices:   int64(b.graph.Labels),
		Elapsed:    elapsed,
		Bytes:      m.Used + m.InHost,
		Entries:    plugins.Counted(int64(b.graph.Entries)),
		VertexBits: 32,
		Tuning:     "alpha, beta and every constant are fixed defaults or set by the user before kernel 1",
		Phases:     b.phases,
		Details:    b.facts(),
		Search:     s.run,
		Repeat:     s.repeat,
		Free:       s.close,
	}, nil
}

// run runs all phases, and returns the search of the graph.
func (b *builder) run() *search {
	for _, phase := range []struct {
		name string
		do   func()
	}{
		{"tuples to the device", b.transfer},
		{"degrees", b.countDegrees},
		{"order", b.numberVertices},
		{"lists", b.makeLists},
		{"derived arrays", b.derive},
	} {
		b.Fail("kernel 1", b.Ctx.Err())
		start := time.Now()
		phase.do()
		if b.Err == nil {
			b.Fail(phase.name, cu.Synchronize())
		}
		b.phases = append(b.phases, plugins.Phase{Name: phase.name, Elapsed: time.Since(start)})
	}
	return b.newSearch()
}

// facts describes the graph for the record.
func (b *builder) facts() []plugins.Fact {
	return slices.Concat([]plugins.Fact{
		{Name: plugins.DeviceUUID, Value: b.device.UUID},
		{Name: "vertices that are not isolated", Value: fmt.Sprint(b.graph.Vertices)},
		{Name: "vertices with neighbor lists", Value: fmt.Sprint(b.graph.Searched)},
		{Name: "bytes on the device", Value: fmt.Sprint(b.Memory.Used)},
		{Name: "bytes pinned in the host", Value: fmt.Sprint(b.Memory.InHost)},
		{Name: "parents", Value: "in device memory, 64 bits each, when the clock stops; copied to the host afterwards"},
		{Name: "before the clock", Value: "an empty kernel wakes device and driver; it knows neither root nor graph"},
		{Name: "output template", Value: "kernel 1 prepares an array with every vertex's first neighbor, in original " +
			"labels; each search copies it and confirms or replaces every entry inside its clock"},
	}, b.notes)
}

// countDegrees counts the tuples at every label.
func (b *builder) countDegrees() {
	b.degree = b.filled("degrees", 4*int64(b.graph.Labels), 0)
	b.forTuples(func(pairs, n uint64) { b.Loop(countDegreesKernel(pairs, n, b.degree)) })
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
	g.Vertex = b.filled("vertex of each label", 4*int64(g.Labels), 0xff)
	keys, buffer := b.numberByDegree(g.Label, g.Vertex)
	smallest := b.filled("smallest neighbors", 4*vertices, 0xff)
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
	ungrouped, leaves := 1+g.Hubs, 2+g.Hubs // the group of hub h is 1+h, and its leaves are 2+hubs+h
	g.GroupBegin, g.LeafBegin = begin+4, begin+4*leaves
	g.Ungrouped = uint64(readOne[uint32](b, begin, ungrouped))
	g.Searched = uint64(readOne[uint32](b, begin, leaves))
}
