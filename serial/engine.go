package serial

import (
	"context"

	"github.com/tepsbench/teps/graph"
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
	return plugins.Description{
		Name: "serial", Version: "2", Summary: "Textbook search on one thread over plain compressed sparse rows.",
		Devices: []plugins.Device{{Kind: "cpu", Name: "one thread, or as many as are set", Units: 1}},
		Options: append([]plugins.Option{{
			Name: "work", Kind: plugins.Choice, Default: "linear", Choices: []string{"linear", "quadratic", "hybrid"},
			Meaning: "linear: a queue holds the frontier; quadratic: each level looks for its frontier among all vertices; " +
				"hybrid: top-down and bottom-up steps",
		},
			transformation("local", "sort the neighbours of each vertex by descending degree"),
			transformation("global", "number vertices by descending degree"),
			transformation("renumber", "number vertices in the order of a queue, after the other sorts"),
		}, append(switches,
			plugins.Option{Name: "threads", Kind: plugins.Int, Default: "1", Min: plugins.Bound(1), Max: plugins.Bound(1024),
				Meaning: "number of workers", Needs: "work=hybrid"},
			plugins.Option{Name: "schedule", Kind: plugins.Choice, Default: "dynamic",
				Choices: []string{"static", "dynamic", "guided"},
				Meaning: "how workers share a step, as in OpenMP", Needs: "work=hybrid"},
			plugins.Option{Name: "chunk", Kind: plugins.Int, Default: "512", Min: plugins.Bound(0), Max: plugins.Bound(1 << 30),
				Meaning: "vertices that a worker takes at a time, at least with guided; 0: the default of OpenMP",
				Needs:   "work=hybrid"},
		)...),
		Memory: plugins.Memory{Fixed: 1 << 20, PerVertex: 12, PerTuple: 8}, // row and queue; two entries
	}, nil
}

// maxLevels is how many levels a hybrid search records, as in package cpu.
const maxLevels = 1 << 16

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
	var number []uint32
	if options.Text("work") == "hybrid" {
		if g, number, err = g.transform(ctx, options); err != nil {
			return plugins.Built{}, err
		}
	}
	search, scratch := g.linear, make([]uint32, vertices)
	if options.Text("work") == "quadratic" {
		search = g.quadratic
	}
	built := plugins.Built{
		Vertices: vertices, Entries: plugins.Counted(int64(len(g.targets))), VertexBits: 32,
		Bytes: 8*int64(len(g.offsets)) + 4*int64(cap(g.targets)+len(scratch)),
		Search: func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, search(ctx, root, scratch, parent)
		},
	}
	if options.Text("work") == "hybrid" {
		h := &hybrid{csr: g, rule: options.Switch(), workers: options.Int("threads"), schedule: options.Text("schedule"),
			chunk: options.Int("chunk"), level: scratch, queue: make([]uint32, vertices),
			levels: make([]plugins.Level, 0, maxLevels), found: make([]found, options.Int("threads"))}
		built.Bytes += 8 * vertices // the queue, and those of workers
		built.Search = h.search
		if number != nil {
			built.Bytes += 16 * vertices
			built.Search = inLabels(h, number)
		}
	}
	return built, nil
}

// inLabels returns the search of h in labels, given the number of each label. It writes parents in labels at the end,
// inside the clock.
func inLabels(
	h *hybrid, number []uint32) func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error) {
	label, numbered := inverse(number), make([]graph.Vertex, len(number))
	return func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
		t, err := h.search(ctx, graph.Vertex(number[root]), numbered)
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
