// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// pathBuilder is the part of kernel 1 that kernel 3 needs: numbers, lists and a core (kernels/paths) of the pairs and
// degrees of a builder, and weights.
type pathBuilder struct {
	driver.Work
	b       *builder
	gpu     *driver.GPU // the same one, with other kernels
	weights []float32
	lent    uint64 // the weights on the device
	counts  uint64 // [pathCounts] for the kernels' results
	offset  uint64 // [vertices+1] of lists
	search  *pathSearch
	entries uint64
	notes   []plugins.Fact
}

const (
	pathCounts    = 3
	entryBytes    = 12
	headBytes     = 16
	pathPairBytes = 32      // two keys and two values: a sort needs two arrays
	reachRadii    = 2.5     // reach in radii of the hub that is further from the landmark than 99 % of them
	marginShare   = 1 << 9  // margin is reach/marginShare
	safeMargins   = 1 << 18 // distances at which a search can use the core are below that many margins
	aroundShare   = 0.4     // how far around the landmark hubs are pushed to, in reaches: that of 99 % of them
	listWidth     = 8       // width of a round over whole lists, in mean weights by mean lengths of a list
	samples       = 1 << 16 // of radii, and of weights
)

// newPaths begins the part of kernel 1 for kernel 3.
func (b *builder) newPaths(weights []float32) *pathBuilder {
	p := &pathBuilder{b: b, weights: weights, search: &pathSearch{levels: make([]plugins.Level, 0, maxLevels+1)}}
	opened, err := driver.Open(b.device.Number, "option device", pathImage)
	p.gpu, p.search.gpu = opened, opened
	p.Work = b.On(opened)
	p.Fail("load the kernels of kernel 3", err)
	p.prepare()
	return p
}

// prepare finds the search in the kernels.
func (p *pathBuilder) prepare() {
	if p.Err != nil {
		return
	}
	at, err := p.gpu.Variable("pathSizes")
	p.Fail("", err)
	s := p.search
	if sizes := driver.Get(&p.Work, make([]uint64, 3), at); p.Err == nil {
		if sizes[0] != uint64(sizeOf[devicePaths]()) || sizes[1] != uint64(sizeOf[pathStatus]()) {
			p.Fail("", fmt.Errorf("structures of kernel 3 have %v bytes in the kernels; build the program again with "+
				"cuda/build.sh", sizes))
		}
		s.params.Search = p.Filled("state of a search", int64(sizes[2]), 0)
	}
	if s.function, err = p.gpu.Lookup("shortest_paths"); err == nil {
		s.threads, err = s.function.Attribute(cu.FnMaxThreadsPerBlock)
	}
	p.Fail("", err)
	s.params.Status = p.HostArray("status", sizeOf[pathStatus]())
	s.status = (*pathStatus)(p.Memory.Host(s.params.Status))
}

// sizeOf returns the size of a structure in bytes.
func sizeOf[T any]() int64 { return int64(len(offload.Bytes(make([]T, 1)))) }

// steps returns the steps of kernel 1.
func (p *pathBuilder) steps() []offload.Step {
	return []offload.Step{
		p.Step("weights to the device", p.transfer), p.Step("weighted order", p.order),
		p.Step("weighted lists", p.lists), p.Step("weighted core", p.core),
	}
}

// transfer brings the weights to the device.
func (p *pathBuilder) transfer() {
	if p.b.pairs == 0 && p.b.n > 0 {
		p.Fail("kernel 3", fmt.Errorf("%d tuples, their weights and the lists do not fit on the device: %w; "+
			"raise the option memory, use a GPU with more memory, or leave out kernel 3", p.b.n, plugins.ErrMemory))
	}
	p.lent = p.Array("weights", 4*p.b.n)
	if p.Err != nil {
		return
	}
	stage, err := driver.NewStage(p.Memory)
	if err == nil {
		err = stage.Upload(p.Ctx, offload.Bytes(p.weights), func(at uint64, first, bytes int64) error {
			p.Loop(copyWeightsKernel(at, uint64(bytes/4), p.lent+uint64(first)))
			return p.Err
		})
	}
	p.Fail("copy weights to the device", err)
	if stage != nil {
		p.Fail("copy weights to the device", stage.Close())
	}
}

// order numbers the labels.
func (p *pathBuilder) order() {
	b, q := p.b, &p.search.params
	labels := int64(b.graph.Labels)
	q.Labels = b.graph.Labels
	p.counts = p.Filled("counters", 8*pathCounts, 0)
	marked := p.Array("degrees", 4*labels)
	if p.Err == nil && labels > 0 {
		p.Fail("copy degrees", cu.MemcpyDtoD(cu.DevicePtr(marked), cu.DevicePtr(b.degree), 4*labels))
	}
	p.Loop(markLeavesKernel(b.pairs, uint64(b.n), b.degree, marked))
	keys, buffer := p.Array("vertices to sort", 8*labels), p.Array("vertices to sort", 8*labels)
	p.Loop(pathKeysKernel(marked, q.Labels, b.maxDegree, keys, p.counts))
	counts := driver.Get(&p.Work, make([]uint64, pathCounts), p.counts)
	q.Hubs, q.Vertices, q.Numbered = counts[0], counts[1], counts[2]
	if q.Vertices >= pathVertices {
		p.Fail("kernel 3", fmt.Errorf("%d vertices of degree 2 or more: %w: kernel 3 can have %d", q.Vertices,
			plugins.ErrTuples, pathVertices-1))
	}
	p.Sort(&keys, &buffer, labels, 32, 32+bits.Len64(b.maxDegree+degreeClasses+3))
	q.Label = p.Array("label of each number", 4*int64(q.Numbered))
	q.Vertex = p.Filled("number of each label", 4*labels, 0xff)
	p.Loop(numberVerticesKernel(keys, q.Numbered, q.Label, q.Vertex))
	p.Release(&keys, &buffer, &marked)
}

// lists makes the lists, in spans of vertices for which there is memory to sort, and the arrays of a search.
func (p *pathBuilder) lists() {
	b, q := p.b, &p.search.params
	vertices, n := int64(q.Vertices), uint64(b.n)
	p.offset = p.Filled("offsets", 8*(vertices+1), 0)
	first, second := p.Filled("relay weights", 8*vertices, 0xff), p.Filled("relay weights", 4*vertices, 0x7f)
	q.Leaf = p.Array("leaves", 8*int64(q.Numbered-q.Vertices))
	p.Loop(firstRelaysKernel(b.pairs, p.lent, n, q.Vertex, q.Vertices, q.Hubs, p.offset, first, q.Leaf))
	p.Loop(secondRelaysKernel(b.pairs, p.lent, n, q.Vertex, q.Vertices, q.Hubs, first, second))
	p.PrefixSums(p.offset, q.Vertices, p.offset+8*q.Vertices)
	if p.entries = p.at(vertices); p.entries >= pathEntries {
		p.Fail("kernel 3", fmt.Errorf("lists of %d entries: %w: kernel 3 can have %d", p.entries, plugins.ErrTuples,
			uint64(pathEntries-1)))
	}
	q.Entry = p.Array("weighted lists", entryBytes*int64(p.entries))
	p.searchArrays()

	capacity := min(max((p.Memory.Room()-minSortBytes)/pathPairBytes, 0), int64(p.entries))
	var arrays [4]uint64 // keys and values, twice
	for i := range arrays {
		arrays[i] = p.Array("entries to sort", 8*capacity)
	}
	for from := int64(0); from < vertices && p.Err == nil; {
		to := p.spanTo(from, capacity)
		begin := p.at(from)
		p.Fill(p.counts, 0, 8*pathCounts)
		p.Loop(pathEntriesKernel(b.pairs, p.lent, n, q.Vertex, q.Vertices, q.Hubs, first, second,
			uint64(from)<<32|uint64(to), arrays[0], arrays[2], p.counts))
		written := driver.One[uint64](&p.Work, p.counts)
		p.SortPairs(&arrays[0], &arrays[1], &arrays[2], &arrays[3], int64(written), 0,
			boundBits+bits.Len64(uint64(to-from-1)))
		p.Loop(fillEntriesKernel(arrays[0], arrays[2], written, q.Entry+entryBytes*begin))
		p.Fail("weighted lists", p.Ctx.Err())
		from = to
	}
	p.Release(&arrays[0], &arrays[1], &arrays[2], &arrays[3], &first, &second, &p.lent)
	p.Loop(fillHeadsKernel(p.offset, q.Vertices, q.Entry, q.Head))
}

// at returns where the list of v begins, 0 after an error.
func (p *pathBuilder) at(v int64) uint64 { return driver.One[uint64](&p.Work, p.offset+8*uint64(v)) }

// spanTo returns the end of the longest span of vertices, from one on, whose lists have at most capacity entries.
func (p *pathBuilder) spanTo(from, capacity int64) int64 {
	vertices, begin := int64(p.search.params.Vertices), p.at(from)
	if int64(p.entries-begin) <= capacity {
		return vertices
	}
	to := from + int64(sort.Search(int(vertices-from), func(i int) bool {
		return int64(p.at(from+int64(i)+1)-begin) > capacity
	}))
	if to == from {
		p.Fail("weighted lists", fmt.Errorf("the list of a vertex has %d entries, and there is room to sort %d: %w; "+
			"raise the option memory", p.at(from+1)-begin, capacity, plugins.ErrMemory))
	}
	return to
}

// searchArrays allocates the arrays of a search besides the lists, the core, and the parents.
func (p *pathBuilder) searchArrays() {
	q := &p.search.params
	n := int64(q.Vertices)
	for _, a := range []struct {
		at    *uint64
		what  string
		bytes int64
	}{
		{&q.Head, "heads of lists", headBytes * (n + 1)},
		{&q.CoreHead, "heads of the core", 8 * (n + 1)},
		{&q.State, "states", 8 * (n + 3)}, // cleared by fours
		{&q.Stamp, "stamps", 4 * (n + 3)},
		{&q.Queue[0], "queue", 16 * n},
		{&q.Queue[1], "queue", 16 * n},
		{&q.Active[0], "active vertices", 4 * n},
		{&q.Active[1], "active vertices", 4 * n},
		{&q.Distance, "distances", 4 * int64(q.Labels)},
	} {
		*a.at = p.Array(a.what, a.bytes)
	}
}

// core makes the core (kernels/paths/core.cuh), with the distances from the largest hub. A search without a core finds
// them.
func (p *pathBuilder) core() {
	q := &p.search.params
	sum, count := 0.0, 0
	for i := 0; i < len(p.weights); i += len(p.weights)/samples + 1 {
		sum += float64(p.weights[i])
		count++
	}
	q.ListWidth = float32(listWidth * sum / float64(max(count, 1)) * float64(q.Vertices) / float64(max(p.entries, 1)))
	p.weights = nil
	p.notes = append(p.notes, plugins.Fact{Name: "kernel 3", Value: fmt.Sprintf(
		"%d hubs, %d vertices with lists of %d entries", q.Hubs, q.Vertices, p.entries)})
	if q.Hubs > 0 {
		p.makeCore()
	}
	p.Release(&p.offset, &p.counts)
}

func (p *pathBuilder) makeCore() {
	q := &p.search.params
	root := driver.One[uint32](&p.Work, q.Label)
	p.Fail("core", cu.Synchronize()) // the search runs in another stream
	if p.Err != nil {
		return
	}
	q.Stop = 1
	p.Fail("core", p.search.Traverse(p.Ctx, graph.Vertex(root)))
	q.Stop = 0
	radius := p.Array("radii", 4*int64(q.Vertices))
	p.Loop(coreRadiiKernel(q.State, q.Vertices, radius))
	radii := driver.Get(&p.Work, make([]float32, q.Hubs), radius)
	for i, stride := 0, len(radii)/samples+1; i*stride < len(radii); i++ {
		radii[i] = radii[i*stride]
	}
	radii = radii[:(len(radii)+len(radii)/samples)/(len(radii)/samples+1)]
	radii = slices.DeleteFunc(radii, func(r float32) bool { return math.IsInf(float64(r), 1) })
	slices.Sort(radii)
	reach := float32(0)
	if p.Err == nil {
		reach = reachRadii * radii[(len(radii)-1)*99/100]
	}
	if reach > 0 {
		margin := reach / marginShare
		size, ends := p.offset, p.offset+8*q.Vertices // in the place of the offsets
		word := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
		p.Loop(coreSizesKernel(q.Head, q.Entry, q.Vertices, q.Hubs, radius, word(reach), word(margin), size))
		p.PrefixSums(size, q.Vertices, ends)
		n := p.at(int64(q.Vertices))
		q.Core = p.Array("core", entryBytes*int64(n))
		p.Loop(coreListsKernel(q.Head, q.Entry, q.Vertices, q.Hubs, radius, word(reach), word(margin), size, q.CoreHead,
			q.Core))
		q.Reach, q.Safe, q.Around, q.Margin = reach, margin*safeMargins, aroundShare*reach, margin
		p.notes = append(p.notes, plugins.Fact{Name: "core of kernel 3", Value: fmt.Sprintf(
			"%d entries, for paths between hubs below %v", n, reach)})
	}
	p.Release(&radius)
}
