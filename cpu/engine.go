// SPDX-License-Identifier: Apache-2.0

// Package cpu is the engine that searches with goroutines on the processors of one machine.
//
// bfs.go is the search, and package layout is kernel 1. The graph lies in arrays outside the Go heap (package memory),
// and one team of workers (package team) runs every parallel phase of both kernels.
package cpu

import (
	"context"
	"fmt"
	"math"
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
const Version = "1.6"

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
			Meaning: "number of workers; 0 is one for each processor that the process may use, less those that are busy"},
		{Name: "pin", Kind: plugins.Bool, Default: "false",
			Meaning: "workers stay on one processor each, by NUMA node, and help others on their node first (Linux)"},
		{Name: "memory", Kind: plugins.Choice, Default: "default", Choices: memoryChoices(),
			Meaning: "where the graph lies: pages near the worker that uses them first, or all on one NUMA node"},
		{Name: "adjacency", Kind: plugins.Choice, Default: "csr", Choices: []string{"csr", "packed"},
			Meaning: "neighbor lists of 32 bits, or compressed (packed: 16 bits for hubs and as few as the graph needs for " +
				"others); packed takes 42 % less memory and searches have 0.84 to 1.05 of the rate"},
		{Name: "sequential", Kind: plugins.Int, Default: "4096", Min: plugins.Bound(0), Max: plugins.Bound(1 << 40),
			Meaning: "maximum number of edges of a frontier that one worker expands alone, top-down"},
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

// instance is a graph that is ready to be searched.
type instance struct {
	team   *team.Team
	memory *memory.Arena
	graph  *layout.Graph
	search *search
	phases []plugins.Phase
	absent float64 // workers that the system did not run, on average, when kernel 1 measured
}

// ablation says which techniques the benchmark takes out, to measure what each is worth.
type ablation struct {
	order    bool // of vertices by degree
	leaves   bool // that are reached with their hubs
	template bool // of the output: parents are written vertex by vertex
}

func construct(
	ctx context.Context, tuples []graph.Edge, options plugins.Settings, without ablation,
) (*instance, error) {
	start := time.Now()
	workers, err := newTeam(options, options.Int("threads"))
	if err != nil {
		return nil, err
	}
	e := &instance{team: workers, memory: newArena(options)}
	e.team.Wake()
	defer func() { e.team.Rest() }()
	lists := layout.Options{
		Packed: options.Text("adjacency") == "packed", Hubs: options.Int("hubs"),
		ByLabel: without.order, NoLeaves: without.leaves,
	}
	if e.graph, e.phases, err = layout.Build(ctx, tuples, e.team, e.memory, lists); err == nil {
		prepare := time.Now()
		err = e.fit(options, prepare.Sub(start))
		e.phases = append(e.phases, plugins.Phase{Name: "team", Elapsed: time.Since(prepare)})
	}
	if err == nil {
		prepare := time.Now()
		e.search, err = newSearch(e.graph, e.team, e.memory, options)
		if e.search != nil && without.template {
			e.search.templateShare = math.MaxInt64
		}
		e.phases = append(e.phases, plugins.Phase{Name: "buffers", Elapsed: time.Since(prepare)})
	}
	if err != nil {
		_ = e.free()
		return nil, err
	}
	return e, nil
}

func (e *instance) free() error {
	e.team.Stop()
	e.memory.ReleaseAll()
	return nil
}

func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	e, err := construct(ctx, in.Tuples, options, ablation{})
	if err != nil {
		return plugins.Built{}, err
	}
	return plugins.Built{
		Vertices:   int64(e.graph.Labels),
		Bytes:      e.memory.Held(),
		Entries:    plugins.Counted(int64(e.graph.Lists.Entries())),
		VertexBits: 32,
		Tuning: "alpha, beta and thresholds are fixed defaults or set by the user before kernel 1; the number of " +
			"workers is set by the user, or follows from processors and empty tasks in kernel 1, not from searches",
		Phases: e.phases,
		Details: []plugins.Fact{
			{Name: "threads", Value: fmt.Sprint(e.team.Size())},
			{Name: "choice of threads", Value: e.choice(options)},
			{Name: "vertices that are not isolated", Value: fmt.Sprint(e.graph.Vertices)},
			{Name: "order of vertices", Value: orderName(e.graph)},
			{Name: "before the clock", Value: "all workers are woken; they know neither root nor graph"},
			{Name: "output", Value: e.output()},
		},
		Search: e.traverse,
		Free:   e.free,
	}, nil
}

func orderName(g *layout.Graph) string {
	switch g.Order {
	case layout.Local:
		return "breadth-first from a vertex at the edge, in clusters where neighbors are few, because degrees are nearly " +
			"equal and the graph is deep"
	case layout.Given:
		return "as given, because degrees are nearly equal and the graph has few levels or large degrees"
	default:
		return "by descending degree, and by largest neighbor"
	}
}

func (e *instance) output() string {
	if e.search.local != nil || e.graph.Order == layout.Given {
		return "each search writes every parent, and marks the vertices that it did not reach"
	}
	return "kernel 1 prepares an array with every vertex's first neighbor, in original labels; each search copies it " +
		"and confirms or replaces every entry inside its clock"
}

// traverse is kernel 2. Its clock starts when all workers are awake, and before anything is done for the root.
func (e *instance) traverse(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	e.team.Wake()
	defer e.team.Rest()
	start := time.Now()
	levels, err := e.search.run(ctx, root, parent)
	if err != nil {
		return plugins.Traversal{}, err
	}
	return plugins.Traversal{Elapsed: time.Since(start), Levels: levels, Phases: e.search.levels.phases}, nil
}
