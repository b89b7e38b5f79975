// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
)

var (
	//go:embed kernels/graph.cl
	graphSource string
	//go:embed kernels/order.cl
	orderSource string
	//go:embed kernels/lists.cl
	listsSource string
	//go:embed kernels/search.cl
	searchSource string
)

// builder is kernel 1: it turns tuples into a graph on the device. Every step runs as kernels and leaves its result on
// the device; only counts come back to the host. After the first error, which is kept in err, its methods do nothing.
type builder struct {
	ctx     context.Context
	device  *driver.Context
	tuning  tuning
	program *driver.Program
	kernels map[string]*driver.Kernel
	groups  int // of kernels that loop over their items
	slot    func(program *driver.Program, i int, from, to, last uint32) *driver.Kernel
	err     error

	sizes                         sizes
	entries                       uint32
	parts                         []part
	degree, counters              driver.Array
	label, vertex, leafBegin      driver.Array
	offset, target                driver.Array
	wordHub, quad, outputTemplate driver.Array
}

// part is a part of the tuples as pairs on the device.
type part struct {
	pairs driver.Array
	n     uint32
}

const (
	counters = 4 // of builder
	origin   = "alpha, beta and every constant are fixed defaults or set by the user before kernel 1, which searches " +
		"from four vertices to find how many levels to queue at once"
	template = "kernel 1 prepares an array with every vertex's first neighbor, in original labels; each search copies it" +
		" and confirms or replaces every entry inside its clock"
)

// construct opens the device, compiles the kernels and builds the graph. The clock of kernel 1 starts when the device
// is open.
func construct(ctx context.Context, tuples []graph.Edge, d driver.Device, set plugins.Settings, t tuning) (
	s *search, built plugins.Built, err error) {
	c, err := d.Open()
	if err != nil {
		return nil, built, err
	}
	defer func() {
		if err != nil {
			_ = c.Finish() // nothing may still run when the arrays are freed; err is the error to report
			err = errors.Join(err, c.Close())
		}
	}()
	b := &builder{ctx: ctx, device: c, tuning: t, kernels: make(map[string]*driver.Kernel), groups: d.Units * t.sortUnit}
	rule := set.Switch()
	b.sizes = sizes{Steps: uint32(rule.Steps), Alpha: float32(rule.Alpha), Beta: float32(rule.Beta)}
	start := time.Now()
	search, alone := b.compile(len(tuples))
	if b.err != nil {
		return nil, built, b.err
	}
	built.Phases = append(built.Phases, plugins.Phase{Name: "kernels", Elapsed: time.Since(start)})
	step := func(name string, do func()) offload.Step {
		return offload.Step{Name: name, Do: func() error {
			if do(); b.err == nil {
				b.fail(errors.Join(c.Finish(), ctx.Err()))
			}
			return b.err
		}}
	}
	phases, err := offload.RunSteps(ctx,
		step("tuples to the device", func() { b.transfer(tuples) }),
		step("degrees", b.countDegrees),
		step("order", b.numberVertices),
		step("lists", b.makeLists),
		step("derived arrays", func() { b.derive(); s = b.newSearch(search, alone) }),
		step("number of levels", func() { b.fail(s.learnBatch(ctx, b)) }))
	if err != nil {
		return nil, built, err
	}
	built.Phases = append(built.Phases, phases...)
	built.Elapsed = time.Since(start)
	built.Vertices, built.Bytes, built.VertexBits, built.Tuning = int64(b.sizes.Labels), c.Used, 32, origin
	built.Entries = plugins.Counted(int64(b.entries))
	built.Details = b.details(s)
	offload.Publish(&built, s, nil)
	return s, built, nil
}

// compile makes the programs of kernel 1, of the search, and of its work-group that runs alone. Drivers keep what they
// have compiled, so this takes seconds on the first run only.
func (b *builder) compile(tuples int) (search, alone *driver.Program) {
	build := func(source string, group int, flags func(group int) string, largest ...string) *driver.Program {
		if b.err != nil {
			return nil
		}
		p, err := b.device.Build(graphSource+source, group, flags, largest...)
		b.fail(err)
		return p
	}
	t := b.tuning
	b.program = build(orderSource+listsSource, t.sortGroup,
		func(group int) string { return fmt.Sprintf("-DWG=%du", group) }, "sort_scatter", "prefix_sums", "write_lists")
	search = build(searchSource, t.group, t.flags, "search_slot", "begin_searches")
	alone = build(searchSource, t.alone, t.flagsAlone, "search_slot")
	b.counters = b.filled("counters", counters, 0)
	b.checkLoops(tuples)
	return search, alone
}

func (b *builder) details(s *search) []plugins.Fact {
	d := b.device.Device
	facts := []plugins.Fact{
		{Name: "device", Value: oneLine(fmt.Sprintf("%s, %s, %s", d.Name, d.Platform, d.Driver), plugins.MaxText)},
		{Name: "vertices that are not isolated", Value: fmt.Sprint(b.sizes.Vertices)},
		{Name: "vertices with neighbor lists", Value: fmt.Sprint(b.sizes.Searched)},
		{Name: "work-groups of a search", Value: fmt.Sprintf("%d of %d items", s.groups, s.program.Group)},
		{Name: "levels queued at once", Value: fmt.Sprint(len(s.first))},
		{Name: "output template", Value: template},
		{Name: "parents", Value: "in device memory, 64 bits each, when the clock stops; copied to the host afterwards"},
		{Name: "before the clock", Value: "an empty kernel wakes the device before a search"},
	}
	if d.UUID != "" {
		facts = append(facts, plugins.Fact{Name: plugins.DeviceUUID, Value: d.UUID})
	}
	return facts
}

// fail keeps the first error.
func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// array allocates an array.
func (b *builder) array(what string, bytes int64) (a driver.Array) {
	if b.err == nil {
		a, b.err = b.device.Allocate(what, bytes)
	}
	return a
}

// filled allocates an array of 32-bit numbers with the same value.
func (b *builder) filled(what string, n int64, value uint32) driver.Array {
	a := b.array(what, 4*n)
	b.loop("fill", a, value, uint32(n))
	return a
}

// release frees arrays and forgets them.
func (b *builder) release(arrays ...*driver.Array) {
	for _, a := range arrays {
		if b.err == nil {
			b.fail(b.device.Free(*a))
			*a = 0
		}
	}
}

// loop queues a kernel that loops over its items.
func (b *builder) loop(kernel string, arguments ...any) { b.run(kernel, b.groups, arguments...) }

// run queues a kernel with a number of work-groups. Arguments are arrays, numbers of 32 bits, or sizes.
func (b *builder) run(kernel string, groups int, arguments ...any) {
	if b.err != nil {
		return
	}
	k := b.kernels[kernel]
	if k == nil {
		if k, b.err = b.program.Kernel(kernel); b.err != nil {
			return
		}
		b.kernels[kernel] = k
	}
	b.fail(setArguments(k, arguments...))
	if b.err == nil {
		b.fail(k.Launch(groups))
	}
}

func setArguments(k *driver.Kernel, arguments ...any) (err error) {
	for i, a := range arguments {
		switch a := a.(type) {
		case driver.Array:
			err = errors.Join(err, driver.Set(k, i, a))
		case uint32:
			err = errors.Join(err, driver.Set(k, i, a))
		case sizes:
			err = errors.Join(err, driver.Set(k, i, a))
		default:
			err = fmt.Errorf("argument %d is a %T", i, a)
		}
	}
	return err
}

// clearCounters and counter: results of kernels.
func (b *builder) clearCounters() { b.loop("fill", b.counters, uint32(0), uint32(counters)) }

func (b *builder) counter(i int) uint32 { return b.read(b.counters, int64(i), 1)[0] }

// read returns n elements of an array of 32-bit numbers from one on, zeros after an error.
func (b *builder) read(from driver.Array, first, n int64) []uint32 {
	into := make([]uint32, n)
	if b.err == nil {
		b.fail(driver.Read(b.device, into, from, 4*first))
	}
	return into
}

// checkLoops refuses a graph with loops that the driver ends early without an error. An item's loops have fewer
// iterations than a sixteenth of the tuples.
func (b *builder) checkLoops(tuples int) {
	last, n := uint32(1), uint32(min(tuples/16, 1<<20))
	for range n {
		last = last*1664525 + 1013904223 // as in count_loop
	}
	b.run("count_loop", 1, last, b.counters)
	if count := b.counter(0); count != n {
		b.fail(fmt.Errorf("the driver of the OpenCL device %s ends loops after %d iterations, so results for %d tuples "+
			"could be wrong: %w; use a graph of at most %d, or another device", b.device.Name, count, tuples,
			plugins.ErrTuples, 16*count))
	}
	b.clearCounters()
}

// transfer brings the tuples to the device as pairs of 32-bit labels, and finds the largest label.
func (b *builder) transfer(tuples []graph.Edge) {
	b.fail(checkTuples(b.device.Device, int64(len(tuples)), 0, false))
	if len(tuples) == 0 || b.err != nil {
		return
	}
	stage, err := b.device.NewStage()
	raw := b.array("part of the tuples", driver.StageBytes)
	if b.fail(err); b.err == nil {
		b.fail(stage.Upload(b.ctx, raw, offload.Bytes(tuples), func(_, bytes int64) error {
			n := bytes / graph.EdgeBytes
			p := part{b.array("tuples", pairBytes*n), uint32(n)}
			b.parts = append(b.parts, p)
			b.loop("unpack_tuples", raw, p.n, p.pairs, b.counters)
			return b.err
		}))
		b.fail(stage.Close())
	}
	b.release(&raw)
	maxLabel, high := b.counter(0), b.counter(1)
	b.fail(checkTuples(b.device.Device, int64(len(tuples)), maxLabel, high != 0))
	b.sizes.Labels = maxLabel + 1
}

// forTuples queues a kernel for each part of the tuples.
func (b *builder) forTuples(kernel string, arguments ...any) {
	for _, p := range b.parts {
		b.loop(kernel, append([]any{p.pairs, p.n}, arguments...)...)
	}
}

// countDegrees counts the tuples at every label.
func (b *builder) countDegrees() {
	b.degree = b.filled("degrees", int64(b.sizes.Labels), 0)
	b.forTuples("count_degrees", b.degree)
}

// numberVertices numbers the vertices (kernels/graph.cl): by descending degree (Kolganov 2018, section 2.2), then by
// group. Both sorts are stable, so the vertices of a group stay in descending order of degree.
func (b *builder) numberVertices() {
	g := &b.sizes
	b.clearCounters()
	b.loop("max_degree", b.degree, g.Labels, b.counters)
	maxDegree := b.counter(0)
	g.Vertices = b.counter(1)
	g.Hubs = hubCount(g.Vertices)
	b.label = b.array("label of each vertex", 4*int64(g.Vertices))
	b.vertex = b.filled("vertex of each label", int64(g.Labels), none)
	keys, buffer := b.array("vertices to sort", 8*int64(g.Labels)), b.array("vertices to sort", 8*int64(g.Labels))
	b.loop("degree_keys", b.degree, g.Labels, maxDegree, keys)
	b.sort(&keys, &buffer, g.Labels, 32, 32+bits.Len32(maxDegree))
	b.loop("number_vertices", keys, g.Vertices, b.label, b.vertex)

	smallest := b.filled("smallest neighbors", int64(g.Vertices), none)
	b.forTuples("smallest_neighbors", b.vertex, smallest)
	b.loop("group_keys", b.label, b.degree, smallest, g.Vertices, g.Hubs, keys)
	groups := 2 + 2*g.Hubs // hubs, a group each, ungrouped vertices, the leaves of each
	b.sort(&keys, &buffer, g.Vertices, 32, 32+bits.Len32(groups))
	b.loop("number_vertices", keys, g.Vertices, b.label, b.vertex)
	begins := b.array("begin of each group", 4*int64(groups+1))
	b.loop("group_begins", keys, g.Vertices, groups, begins)
	leaves := b.read(begins, int64(2+g.Hubs), int64(g.Hubs+1))
	b.leafBegin = b.array("begin of the leaves of each hub", 4*int64(len(leaves)))
	if b.err == nil {
		b.fail(driver.Write(b.device, b.leafBegin, leaves))
	}
	g.Searched = leaves[0]
	g.Words = (g.Searched + wordBits - 1) / wordBits
	b.release(&keys, &buffer, &smallest, &begins)
}

// sort sorts n keys of 64 bits by bits low to high, stably. The two arrays may change places.
func (b *builder) sort(keys, buffer *driver.Array, n uint32, low, high int) {
	const digits = 256
	place := b.array("places of digits", 4*(digits*int64(b.groups)+1))
	for shift := low; shift < high && n > 0; shift += 8 {
		b.loop("sort_count", *keys, n, uint32(shift), place)
		b.sum(place, uint32(digits*b.groups))
		b.loop("sort_scatter", *keys, *buffer, n, uint32(shift), place)
		b.fail(b.ctx.Err())
		*keys, *buffer = *buffer, *keys
	}
	b.release(&place)
}

// sum replaces n numbers by their exclusive prefix sums, and writes their total to counter 0.
func (b *builder) sum(numbers driver.Array, n uint32) {
	b.run("prefix_sums", 1, numbers, n, b.counters)
}

// makeLists makes the neighbor lists: keys of both directions of every tuple, sorted, without duplicates.
func (b *builder) makeLists() {
	g := &b.sizes
	const maxRanges = 1 << 14
	width := max((g.Searched+maxRanges-1)/maxRanges, 1)
	ranges := (g.Searched + width - 1) / width
	counts := b.array("entries of ranges", 4*int64(ranges))
	if ranges > 0 {
		b.run("range_entries", int(ranges), b.label, b.degree, g.Searched, width, counts)
	}
	entries := offload.Ranges[uint32]{
		Entries: b.read(counts, 0, int64(ranges)), Width: int64(width), Sources: int64(g.Searched),
	}
	b.release(&counts, &b.degree)
	total, _ := entries.Sum()
	b.offset = b.filled("offsets", int64(g.Searched)+1, 0)
	b.target = b.array("neighbor lists", 4*total)
	// What a search needs besides the lists is allocated after the sort has freed its memory.
	capacity := min(total, b.device.Room()/keyBytes*15/16, b.device.MaxArray/8)
	keys, buffer := b.array("keys to sort", 8*capacity), b.array("keys to sort", 8*capacity)
	unique := b.array("entries of work-groups", 4*int64(b.groups))
	targetBits := max(bits.Len32(g.Searched-min(g.Searched, 1)), 1)
	for from := uint32(0); from < g.Searched && b.err == nil; {
		s, err := entries.Span(int64(from), capacity)
		b.fail(err)
		to := uint32(s.To)
		b.clearCounters()
		b.forTuples("list_keys", b.vertex, g.Searched, from, to, uint32(targetBits), keys, b.counters)
		n := b.counter(0)
		b.sort(&keys, &buffer, n, 0, targetBits+bits.Len32(to-from-1))
		b.loop("count_unique", keys, n, unique)
		b.sum(unique, uint32(b.groups))
		b.loop("write_lists", keys, n, uint32(targetBits), from, b.entries, unique, b.target, b.offset)
		b.entries += b.counter(0)
		b.loop("end_lists", keys, n, uint32(targetBits), from, to, b.entries, b.offset)
		from = to
	}
	b.release(&keys, &buffer, &unique)
	for i := range b.parts {
		b.release(&b.parts[i].pairs)
	}
}

// derive makes the arrays that follow from the lists.
func (b *builder) derive() {
	g := &b.sizes
	b.wordHub = b.array("hubs of words", 4*int64(g.Words))
	b.quad = b.array("quads", 16*wordBits*int64(g.Words))
	b.outputTemplate = b.array("output template", 8*int64((g.Labels+1)/2))
	b.loop("word_hubs", *g, b.offset, b.target, b.wordHub)
	b.loop("fill_quads", *g, b.offset, b.target, b.wordHub, b.quad)
	b.loop("fill_template", *g, b.offset, b.target, b.leafBegin, b.label, b.vertex, b.outputTemplate)
}
