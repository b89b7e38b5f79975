// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// The images are kernels/*.cu with kernel 1 of package cuda, compiled and linked by cuda/build.sh. The child grids of
// kolganov, which compute-sanitizer's racecheck does not support, are in a separate image, and his other kernels
// in both.
var (
	//go:embed kernels/literature.fatbin
	image string
	//go:embed kernels/kolganov.fatbin
	withChildren string
)

// method is a published search of one graph. Its functions queue work and wait for it where they need a result.
type method struct {
	begin     func(root uint64)                                    // clears arrays and marks the root
	step      func(depth uint64) (level plugins.Level, found bool) // takes one level
	end       func()                                               // remaining work inside the clock; may be nil
	frontiers func(levels []plugins.Level, root uint64)            // counts frontiers after the clock; may be nil
}

// methods makes a search and the arrays that it needs: the rest of kernel 1.
var methods = map[string]func(*base, plugins.Settings) method{"quadratic": quadratic, "habr": habr, "romeo": romeo,
	"merrill": merrill, "bisson": bisson, "kolganov": kolganov}

// base has the data of all searches: a GPU with the graph, in the labels of the tuples, and the parents.
type base struct {
	driver.Work
	gpu        *driver.GPU
	queueShare uint64 // divides the room of queues in searches that allow duplicates; tests raise it

	several *several // with option ranks: what there is besides
	labels  uint64
	sources uint64 // rows; on several GPUs those of a column of GPUs
	targets uint64 // that entries may be; on several GPUs those of a row of GPUs
	owned   uint64 // labels whose parents are here
	tuples  uint64
	entries uint64 // of the rows; edges of the list
	pairs   uint64 // [tuples] u<<32 | v; freed by makeRows
	row     uint64 // [sources+1] the neighbors of v are column[row[v]] ... column[row[v+1]-1], ascending, each once
	column  uint64 // [entries] 32 bits each
	parent  uint64 // [owned] 64 bits each

	depth    uint64     // [labels] for countFrontiers
	frontier uint64     // [maxLevels]
	counters uint64     // struct Counters
	copied   []counters // one: those of the last level
	method   method
	levels   []plugins.Level
	named    []plugins.Counter // of all levels, two each unless the method makes more room; further ones are not recorded
	parts    [2]plugins.Phase  // of a search: before and after the levels
}

// counters mirrors struct Counters of kernels/base.cuh.
type counters struct{ vertices, edges, examined int64 }

const (
	advice       = "search a smaller graph" // where device memory is short
	counterBytes = 3 * 8
	maxLevels    = 1 << 16 // levels that a search records; more would need allocations inside the clock
)

func build(ctx context.Context, in plugins.Input, set plugins.Settings, world *team.World) (plugins.Built, error) {
	return construct(ctx, in, set, world, 1)
}

// construct is kernel 1. Its clock starts when the GPU is open, and linked to those of the other processes.
func construct(ctx context.Context, in plugins.Input, set plugins.Settings, world *team.World, queueShare uint64) (
	built plugins.Built, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kernel, kernels, place := set.Text("kernel"), image, 0
	if kernel == "kolganov" && set.Int("child") > 0 {
		kernels = withChildren
	}
	grid, err := team.NewGrid(set)
	if err != nil {
		return built, err
	}
	if kernel == "merrill" {
		grid.Rows = 1
	}
	if world != nil {
		place = world.Place
	}
	d, err := driver.Open(grid.Device(place), "option device", kernels)
	if err != nil {
		return built, err
	}
	b := &base{gpu: d, queueShare: queueShare, tuples: uint64(len(in.Tuples)),
		levels: make([]plugins.Level, 0, maxLevels+1), named: make([]plugins.Counter, 0, 2*maxLevels),
		copied: make([]counters, 1)}
	steps := []offload.Step{b.Step("tuples to the device", func() { b.transfer(in.Tuples) })}
	if world == nil {
		b.Work = driver.NewWork(ctx, d, 0, advice)
	} else if b.several, err = newSeveral(ctx, b, grid, world, set.Text("transfer")); err != nil {
		return built, errors.Join(err, d.Close())
	} else {
		steps = b.several.steps(steps[0], set)
	}
	phases, err := offload.RunSteps(ctx, append(steps, b.Step("graph", func() {
		b.parent = b.array("parents", 8*b.owned)
		if b.method = methods[kernel](b, set); b.method.frontiers != nil && world == nil {
			b.depth, b.frontier = b.array("depths", 8*b.labels), b.array("frontiers", 8*maxLevels)
		}
	}))...)
	if err != nil && b.several != nil {
		err = errors.Join(err, b.several.link.Release())
	}
	if built, err = b.Built(phases, err); err != nil {
		return built, err
	}
	built.Vertices, built.Entries = int64(b.labels), plugins.Counted(int64(b.entries))
	built.Tuning = "thresholds are those of the papers or set by the user before kernel 1"
	if world == nil {
		offload.Publish(&built, b, nil)
	} else {
		built.Details = slices.Concat(b.several.link.Facts(grid.Partition()), built.Details[2:])
		b.several.link.Publish(&built, b.several)
	}
	built.Details = append(built.Details, plugins.Fact{Name: "kernel", Value: kernel})
	return built, nil
}

// transfer copies the tuples to the device as pairs of labels of 32 bits, and finds the largest label.
func (b *base) transfer(tuples []graph.Edge) {
	const chunk = 16 << 20
	b.counters = b.array("counters", counterBytes)
	b.pairs = b.array("tuples", 8*b.tuples)
	raw := b.array("staged tuples", graph.EdgeBytes*min(b.tuples, chunk))
	b.clearCounters()
	for from := 0; from < len(tuples) && b.Err == nil; from += chunk {
		part := tuples[from:min(from+chunk, len(tuples))]
		b.Fail("", driver.WriteAll(raw, part))
		b.Loop(unpackTuplesKernel(raw, uint64(len(part)), b.pairs+uint64(8*from), b.counters))
		b.Fail("", b.Ctx.Err())
	}
	bounds := b.read()
	b.Release(&raw)
	limit := uint64(maxLabels)
	if b.several != nil { // numbers in a row or column of GPUs may be larger than labels
		limit -= team.MaxRanks
	}
	if largest, high := bounds.vertices, bounds.edges; high != 0 || uint64(largest) >= limit {
		b.Fail("", fmt.Errorf("the tuples have labels above %d, the largest that this engine accepts: %w", limit-1,
			plugins.ErrTuples))
	}
	if b.Err == nil && len(tuples) > 0 {
		b.labels = uint64(bounds.vertices) + 1
	}
	b.sources, b.targets, b.owned = b.labels, b.labels, b.labels
}

// makeRows makes the rows: keys of both directions of every tuple, sorted, without duplicates and self-loops.
func (b *base) makeRows() {
	keys, n, targetBits := b.pairs, b.tuples, bits.Len64(max(b.targets, 2)-1)
	if s := b.several; s != nil { // edges, in place of pairs
		b.Each(n, gridKeysKernel(keys, n, s.ranks, s.columns, uint64(targetBits)))
	} else {
		keys = b.array("keys of rows", 16*b.tuples)
		b.clearCounters()
		b.Loop(listKeysKernel(b.pairs, b.tuples, 0, b.labels, b.labels, uint64(targetBits), keys, b.counters))
		n = uint64(b.read().vertices)
		b.Release(&b.pairs)
	}
	buffer := b.array("keys of rows", 8*n)
	b.Sort(&keys, &buffer, int64(n), 0, targetBits+bits.Len64(max(b.sources, 2)-1))
	b.Release(&buffer)
	b.row = b.array("rows", 8*(b.sources+1))
	b.column = b.array("columns", 4*n)
	b.entries = b.MakeLists(driver.Keys{Address: keys, N: n, TargetBits: targetBits, To: b.sources}, 0, b.column, b.row)
	b.Release(&keys)
}

// Do calls f in the context of the GPU.
func (b *base) Do(f func() error) error { return b.gpu.Do(f) }

// Wake launches an empty kernel and waits for it.
func (b *base) Wake() error {
	return errors.Join(b.gpu.Launch(cu.NoStream, 1, 1, wakeKernel()), cu.Synchronize())
}

// Traverse is the loop over levels.
func (b *base) Traverse(ctx context.Context, from graph.Vertex) error {
	root := uint64(from)
	b.Err = nil
	b.levels, b.named = b.levels[:0], b.named[:0]
	last, launches := time.Now(), b.gpu.Launches
	lap := func() (elapsed time.Duration) {
		now := time.Now()
		elapsed, last = now.Sub(last), now
		return elapsed
	}
	b.clearParents(root)
	b.method.begin(root)
	b.parts[0] = plugins.Phase{Name: "begin", Elapsed: lap()}
	b.parts[1] = plugins.Phase{Name: "end"}
	for depth, found := uint64(0), true; found && b.Err == nil; depth++ {
		var level plugins.Level
		level, found = b.method.step(depth)
		b.Fail("", ctx.Err())
		level.Elapsed = lap()
		n := b.gpu.Launches
		b.count(&level, plugins.KernelLaunches, n-launches)
		launches = n
		if level.Frontier == 0 { // a pass that found the search to be over
			b.parts[1].Elapsed = level.Elapsed
		} else if len(b.levels) <= maxLevels {
			b.levels = append(b.levels, level)
		}
	}
	if b.method.end != nil && b.Err == nil {
		b.method.end()
	}
	if err := cu.Synchronize(); b.Err == nil { // also after an error: nothing may still run when the arrays are used again
		b.Fail("", err)
	}
	b.parts[1].Elapsed += lap()
	return b.Err
}

// Report returns the levels of the search.
func (b *base) Report(root graph.Vertex) (t plugins.Traversal) {
	t.Phases = b.parts[:]
	if len(b.levels) <= maxLevels {
		if b.method.frontiers != nil {
			b.method.frontiers(b.levels, uint64(root))
		}
		t.Levels = b.levels
	}
	return t
}

// CopyTo copies the parents to the host.
func (b *base) CopyTo(_ context.Context, out plugins.Output) error {
	driver.Get(&b.Work, out.Parent, b.parent)
	return b.Err
}

// Close frees the graph.
func (b *base) Close() error {
	return b.gpu.Do(func() error { return errors.Join(b.Memory.FreeAll(), b.gpu.Close()) })
}

// clearParents makes root its own parent and all other vertices unreached.
func (b *base) clearParents(root uint64) {
	b.fill(b.parent, 0xff, 8*b.owned) // graph.Unreached
	at := b.parent + 8*root
	if s := b.several; s != nil {
		if at = b.parent + 8*(root/s.ranks); root%s.ranks != s.rank {
			return
		}
	}
	b.set(at, uint32(root))
	b.set(at+4, 0)
}

// countFrontiers counts the vertices of levels from the parents, after the clock (kernels/base.cu).
func (b *base) countFrontiers(levels []plugins.Level, root uint64) {
	b.Each(b.labels, depthBeginKernel(b.parent, b.labels, b.depth))
	for more := true; more && b.Err == nil; {
		b.clearCounters()
		b.Each(b.labels, depthJumpKernel(b.depth, b.labels, root, b.counters))
		more = b.read().vertices > 0
	}
	b.fill(b.frontier, 0, 8*uint64(len(levels)))
	b.Each(b.labels, depthCountKernel(b.depth, b.labels, uint64(len(levels)), b.frontier))
	for i, n := range driver.Get(&b.Work, make([]int64, len(levels)), b.frontier) {
		levels[i].Frontier = n
	}
}

// array allocates an array on the device.
func (b *base) array(what string, bytes uint64) uint64 { return b.Array(what, int64(bytes)) }

// fill queues setting all bytes of an array.
func (b *base) fill(at uint64, with byte, bytes uint64) { b.Fill(at, with, int64(bytes)) }

// set queues setting a word of 32 bits.
func (b *base) set(at uint64, to uint32) {
	if b.Err == nil {
		b.Fail("", cu.MemsetD32(cu.DevicePtr(at), to, 1))
	}
}

// count gives a level another counter.
func (b *base) count(l *plugins.Level, name string, value int64) {
	if n := len(b.named); n < cap(b.named) {
		b.named = append(b.named, plugins.Counter{Name: name, Value: value})
		l.Counters = b.named[n-len(l.Counters) : n+1]
	}
}

func (b *base) clearCounters() { b.fill(b.counters, 0, counterBytes) }

// read waits for the device and reads the counters.
func (b *base) read() counters {
	b.copied[0] = counters{}
	return driver.Get(&b.Work, b.copied, b.counters)[0]
}
