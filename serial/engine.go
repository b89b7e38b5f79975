package serial

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine. It holds no memory before Construct.
func New() plugins.Engine { return plugins.New(describe, build) }

func describe() (plugins.Description, error) {
	return plugins.Description{
		Name: "serial", Version: "1", Summary: "Textbook search on one thread over plain compressed sparse rows.",
		Devices: []plugins.Device{{Kind: "cpu", Name: "one thread", Units: 1}},
		Options: []plugins.Option{{
			Name: "work", Kind: plugins.Choice, Default: "linear", Choices: []string{"linear", "quadratic"},
			Meaning: "linear: a queue holds the frontier; quadratic: each level looks for its frontier among all vertices",
		}},
		Memory: plugins.Memory{Fixed: 1 << 20, PerVertex: 12, PerTuple: 8}, // row and queue; two entries
	}, nil
}

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
	search, scratch := g.linear, make([]uint32, vertices)
	if options.Text("work") == "quadratic" {
		search = g.quadratic
	}
	return plugins.Built{
		Vertices: vertices, Entries: plugins.Counted(int64(len(g.targets))), VertexBits: 32,
		Bytes: 8*int64(len(g.offsets)) + 4*int64(cap(g.targets)+len(scratch)),
		Search: func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			return plugins.Traversal{}, search(ctx, root, scratch, parent)
		},
	}, nil
}
