// SPDX-License-Identifier: Apache-2.0

// Package cpu is the engine that searches with goroutines on the processors of one machine.
//
// bfs.go is kernel 2, sssp.go kernel 3, and package layout kernel 1. The graph lies in arrays outside the Go heap
// (package memory), and one team of workers (package team) runs every parallel phase of all kernels.
package cpu

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// Version of this engine. It changes whenever the method or the meaning of an option changes.
const Version = "1.15"

// New returns the engine. It holds no resources before Construct.
func New() plugins.Engine { return plugins.New(describe, build) }

func describe() (plugins.Description, error) {
	return plugins.Description{
		Name:    "cpu",
		Version: Version,
		Summary: "Direction-optimizing search by goroutines over a degree-sorted graph on the processors of this machine.",
		Devices: []plugins.Device{{Kind: "cpu", Name: machine.Processor(), Units: runtime.GOMAXPROCS(0)}},
		Options: options(),
		Memory:  memoryBound(allowedThreads()),

		ShortestPaths: true, PathMemory: pathMemory(allowedThreads()),
	}, nil
}

func options() []plugins.Option {
	switches := plugins.SwitchOptions("20", "16384")
	for i := range switches {
		if name := switches[i].Name; name == "alpha" || name == "beta" {
			switches[i].Meaning += "; without effect in roads, grids and meshes"
		}
	}
	return append([]plugins.Option{
		{Name: "threads", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(maxThreads),
			Meaning: "number of workers; 0 is one for each processor that the process may use"},
		{Name: "adjacency", Kind: plugins.Choice, Default: "csr", Choices: []string{"csr", "packed"},
			Meaning: "neighbor lists of 32 bits, or compressed (packed: 16 bits for hubs and as few as the graph needs for " +
				"others); packed takes 42 % less memory and searches have 0.84 to 1.05 of the rate"},
		{Name: "sequential", Kind: plugins.Int, Default: "4096", Min: plugins.Bound(0), Max: plugins.Bound(1 << 40),
			Meaning: "maximum number of edges of a frontier that a single worker expands, top-down"},
		{Name: "hubs", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(layout.NearLimit),
			Meaning: "vertices of largest degree that the others are grouped by; 0 is 1/32 of all vertices, at most 65536, or " +
				"none where degrees are nearly equal"},
	}, switches...)
}

// memoryBound is an upper bound on the memory for any graph with default options. The peak is in the middle of the
// lists or during a search:
//
//	per vertex   number, label and template (12), three columns (13), offsets (4), first neighbor (4); before the
//	             lists the degree (4), in a search order, parents, counts and bitmaps (17); a worker's corrections, or
//	             before them the neighbors of the vertex whose list it makes (9)
//	per tuple    two entries of 32 bits, each with 16 bits of its vertex (12), and in the segments of long lists (1)
//	fixed        for each worker a slot for each bucket and the arrays to sort one (12 MiB); tables of hubs and
//	             regions; levels
func memoryBound(workers int) plugins.Memory {
	return plugins.Memory{Fixed: int64(32+12*workers) << 20, PerVertex: float64(60 + 9*workers), PerTuple: 14}
}

// pathMemory is what kernel 3 needs besides:
//
//	per vertex   number and label (8), offset and length (12), three entries with bounds (48), relay weights (12), state
//	             (8), lists of vertices (16) and open entries (16), core (8); before the lists the degree (4); a worker's
//	             queues and counters (13)
//	per tuple    two entries of 64 bits, each with 16 bits of its vertex (20), and the core (1)
//	fixed        for each worker a slot for each bucket and the arrays to sort one (56 MiB)
func pathMemory(workers int) plugins.Memory {
	return plugins.Memory{Fixed: int64(16+56*workers) << 20, PerVertex: float64(140 + 13*workers), PerTuple: 21}
}

// instance is a graph that is ready to be searched.
type instance struct {
	team   *team.Team
	memory *memory.Arena
	graph  *layout.Graph
	search *search
	paths  *paths // nil: kernel 1 was not asked for kernel 3
	phases []plugins.Phase
}

// construct runs kernel 1. lists are options that only tests set.
func construct(
	ctx context.Context, tuples []graph.Edge, options plugins.Settings, lists layout.Options,
) (*instance, error) {
	e := &instance{team: team.New(cmp.Or(options.Int("threads"), allowedThreads())), memory: memory.New()}
	e.team.Wake()
	defer e.team.Rest()
	lists.Packed, lists.Hubs = options.Text("adjacency") == "packed", options.Int("hubs")
	var err error
	if e.graph, e.phases, err = layout.Build(ctx, tuples, e.team, e.memory, lists); err == nil {
		prepare := time.Now()
		e.search, err = newSearch(e.graph, e.team, e.memory, options)
		e.phases = append(e.phases, plugins.Phase{Name: "buffers", Elapsed: time.Since(prepare)})
	}
	if err != nil {
		_ = e.free()
		return nil, err
	}
	return e, nil
}

// constructPaths is the part of kernel 1 that kernel 3 needs.
func (e *instance) constructPaths(ctx context.Context, tuples []graph.Edge, weights []float32) error {
	e.team.Wake()
	defer e.team.Rest()
	g, phases, err := layout.BuildWeighted(ctx, e.graph, tuples, weights, e.team, e.memory)
	if err != nil {
		return err
	}
	prepare := time.Now()
	if e.paths, err = newPaths(ctx, g, e.team, e.memory); err != nil {
		return err
	}
	for _, p := range append(phases, plugins.Phase{Name: "core", Elapsed: time.Since(prepare)}) {
		p.Name = "weighted " + p.Name
		e.phases = append(e.phases, p)
	}
	return nil
}

func (e *instance) free() error {
	e.team.Stop()
	e.memory.ReleaseAll()
	return nil
}

func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	e, err := construct(ctx, in.Tuples, options, layout.Options{Weighted: in.ShortestPaths})
	if err != nil {
		return plugins.Built{}, err
	}
	if in.ShortestPaths {
		if err := e.constructPaths(ctx, in.Tuples, in.Weights); err != nil {
			_ = e.free()
			return plugins.Built{}, err
		}
	}
	return plugins.Built{
		Vertices:   int64(e.graph.Labels),
		Bytes:      e.memory.Held(),
		Entries:    plugins.Counted(int64(e.graph.Lists.Entries())),
		VertexBits: 32,
		Tuning:     "alpha, beta, thresholds and the number of workers are fixed defaults or set by the user before kernel 1",
		Phases:     e.phases,
		Details: []plugins.Fact{
			{Name: "threads", Value: fmt.Sprint(e.team.Size())},
			{Name: "vertices that are not isolated", Value: fmt.Sprint(e.graph.Vertices)},
			{Name: "order of vertices", Value: orders[e.graph.Order]},
			{Name: "before the clock", Value: "all workers are woken; they know neither root nor graph"},
			{Name: "output", Value: e.output()},
		},
		Search: e.traverse,
		Free:   e.free,
	}, nil
}

var orders = map[layout.Order]string{
	layout.ByDegree: "by descending degree, and by largest neighbor",
	layout.Local: "breadth-first from a vertex at the edge, in clusters where neighbors are few, because degrees are " +
		"nearly equal and the graph is deep",
	layout.Given: "as given, because degrees are nearly equal and the graph has few levels or large degrees",
}

func (e *instance) output() string {
	if e.search.local != nil || e.graph.Order == layout.Given {
		return "each search writes every parent, and marks the vertices that it did not reach"
	}
	return "kernel 1 prepares an array with every vertex's first neighbor, in original labels; each search copies it " +
		"and confirms or replaces every entry inside its clock"
}

// traverse is kernel 2 or 3. Its clock starts when all workers are awake, and before anything is done for the root.
func (e *instance) traverse(ctx context.Context, root graph.Vertex, out plugins.Output) (
	t plugins.Traversal, err error) {
	e.team.Wake()
	defer e.team.Rest()
	start := time.Now()
	if out.Distance == nil {
		t.Levels, err = e.search.run(ctx, root, out.Parent)
		t.Elapsed, t.Phases = time.Since(start), e.search.levels.phases
	} else {
		t.Levels, err = e.paths.run(ctx, root, out.Parent, out.Distance)
		t.Elapsed, t.Phases = time.Since(start), e.paths.levels.phases
	}
	return t, err
}

const maxThreads = 1024

// allowedThreads is the number of hardware threads within the process's affinity and its cgroup's quota.
func allowedThreads() int { return min(runtime.GOMAXPROCS(0), maxThreads) }
