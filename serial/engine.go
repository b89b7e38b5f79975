// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine. It holds no memory before Construct.
func New() plugins.Engine { return plugins.New(describe, build) }

func describe() (plugins.Description, error) {
	switches := plugins.SwitchOptions("14", "24") // those of Beamer, Asanović and Patterson, SC 2012
	switches[0].Needs = "work=hybrid"
	transformation := func(name, meaning string) plugins.Option {
		return plugins.Option{Name: name, Kind: plugins.Choice, Default: "off", Choices: []string{"off", "on"},
			Meaning: meaning, Needs: "work=hybrid"}
	}
	d := plugins.Description{
		Name: "serial", Version: "2", Summary: "Textbook search on one thread over plain compressed sparse rows.",
		Devices: []plugins.Device{{Kind: "cpu", Name: machine.Processor(), Units: 1}},
		Options: append([]plugins.Option{{
			Name: "work", Kind: plugins.Choice, Default: "linear", Choices: []string{"linear", "quadratic", "hybrid"},
			Meaning: "linear: a queue holds the frontier; quadratic: each level looks for its frontier among all vertices; " +
				"hybrid: top-down and bottom-up steps",
		},
			transformation("local", "sort the neighbors of each vertex by descending degree"),
			transformation("global", "number vertices by descending degree"),
			transformation("renumber", "number vertices in the order of a queue, after the other sorts"),
			plugins.Option{Name: "adjacency", Kind: plugins.Choice, Default: "csr", Choices: []string{"csr", "perlist"},
				Meaning: "neighbor lists in 32 bits, or each in as many bits as its largest neighbor needs",
				Needs:   "work=hybrid"},
		}, append(switches,
			plugins.Option{Name: "threads", Kind: plugins.Int, Default: "1", Min: plugins.Bound(1), Max: plugins.Bound(1024),
				Meaning: "number of workers", Needs: "work=hybrid"},
			plugins.Option{Name: "schedule", Kind: plugins.Choice, Default: "dynamic",
				Choices: []string{"static", "dynamic", "guided"},
				Meaning: "how workers share a step, as in OpenMP", Needs: "work=hybrid"},
			plugins.Option{Name: "chunk", Kind: plugins.Int, Default: "512", Min: plugins.Bound(0), Max: plugins.Bound(1 << 30),
				Meaning: "vertices that a worker takes at a time, at least with guided; 0: the default of OpenMP",
				Needs:   "work=hybrid"},
			plugins.Option{Name: "paths", Kind: plugins.Choice, Default: "dijkstra", Choices: []string{"dijkstra", "delta"},
				Meaning: "of kernel 3: a heap holds the frontier, or buckets of equal width"},
			plugins.Option{Name: "delta", Kind: plugins.Float, Default: "0.1", Min: plugins.Bound(1e-6),
				Max: plugins.Bound(1e18), Meaning: "width of a bucket; 0.1 in the reference", Needs: "paths=delta"},
		)...),
	}
	d.Memory = plugins.Memory{Fixed: 1 << 20, PerVertex: 12, PerTuple: 8} // row (8), queue (4); two entries of 32 bits
	d.ShortestPaths, d.PathMemory = true, pathMemory()
	return d, nil
}

const maxLevels = 1 << 16 // recorded by a hybrid search, as in package cpu

// build is kernel 1. Without tuples there is nothing to search.
func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	vertices, err := plugins.VerticesOf(in.Tuples, 32)
	if err != nil {
		return plugins.Built{}, err
	}
	g, err := newCSR(ctx, in.Tuples, vertices)
	if err != nil {
		return plugins.Built{}, err
	}
	built, err := g.build(ctx, options)
	if err == nil && in.ShortestPaths {
		err = addPaths(ctx, in, options, &built)
	}
	return built, err
}

// build adds kernel 2 to the rows.
func (g *csr) build(ctx context.Context, options plugins.Settings) (plugins.Built, error) {
	if options.Text("work") == "hybrid" {
		return g.hybrid(ctx, options)
	}
	vertices := int64(len(g.offsets) - 1)
	search, scratch := g.linear, make([]uint32, vertices)
	if options.Text("work") == "quadratic" {
		search = g.quadratic
	}
	return plugins.Built{
		Vertices: vertices, Entries: plugins.Counted(int64(len(g.targets))), VertexBits: 32,
		Bytes: g.bytes() + 4*vertices,
		Search: func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
			return plugins.Traversal{}, search(ctx, root, scratch, out.Parent)
		},
	}, nil
}

func (g *csr) hybrid(ctx context.Context, options plugins.Settings) (plugins.Built, error) {
	g, number, err := g.transform(ctx, options)
	if err != nil {
		return plugins.Built{}, err
	}
	vertices, entries := int64(len(g.offsets)-1), int64(len(g.targets))
	h := &hybrid{rows: g, entries: entries, rule: options.Switch(), workers: options.Int("threads"),
		schedule: options.Text("schedule"), chunk: options.Int("chunk"), level: make([]uint32, vertices),
		queue: make([]uint32, vertices), levels: make([]plugins.Level, 0, maxLevels),
		found: make([]found, options.Int("threads"))}
	built := plugins.Built{
		Vertices: vertices, Entries: plugins.Counted(entries), VertexBits: 32,
		Bytes:  g.bytes() + 12*vertices, // levels, the queue, and those of workers
		Tuning: "alpha, beta and thresholds are fixed defaults or set by the user before kernel 1",
		Search: h.search,
	}
	if options.Text("adjacency") == "perlist" {
		if h.packed, err = g.pack(ctx); err != nil {
			return plugins.Built{}, err
		}
		h.rows = nil
		built.Bytes += h.packed.bytes() - g.bytes()
		built.Details = append(built.Details, h.packed.fact(entries))
	}
	if number != nil {
		built.Bytes += 16 * vertices
		built.Search = inLabels(h, number)
	}
	return built, nil
}

// inLabels returns h as a search in labels, given the number of each label. It relabels parents inside the clock.
func inLabels(
	h *hybrid, number []uint32) func(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error) {
	label, numbered := inverse(number), make([]graph.Vertex, len(number))
	return func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
		parent := out.Parent
		t, err := h.search(ctx, graph.Vertex(number[root]), plugins.Output{Parent: numbered})
		h.share(len(number), func(_, first, last int) {
			for v := first; v < last; v++ {
				if parent[v] = numbered[number[v]]; parent[v] != graph.Unreached {
					parent[v] = graph.Vertex(label[parent[v]])
				}
			}
		})
		return t, err
	}
}
