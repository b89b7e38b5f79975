// Package serial is a correct and slow engine for tests of what is around engines.
package serial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine: one queue over the plain CSR of package graph.
func New() plugins.Engine { return plugins.New(describe, build) }

func describe() (plugins.Description, error) {
	return plugins.Description{
		Name: "serial", Version: "1", Summary: "One queue over a plain CSR, one vertex after the other, on one thread.",
		Options: []plugins.Option{
			{Name: "order", Kind: plugins.Choice, Default: "forward", Choices: []string{"forward", "backward"},
				Meaning: "order in which a vertex's neighbours are visited"},
			{Name: "room", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(1000),
				Meaning: "levels that are reported without allocating"},
		},
		Memory: plugins.Memory{Fixed: 1 << 20, PerVertex: 16, PerTuple: 16},
	}, nil
}

func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	vertices, err := plugins.VerticesOf(in.Tuples, 32)
	if err != nil {
		return plugins.Built{}, err
	}
	if err := ctx.Err(); err != nil {
		return plugins.Built{}, err
	}
	csr, err := graph.NewCSR(in.Tuples, vertices)
	if err != nil {
		return plugins.Built{}, fmt.Errorf("%w: %w", plugins.ErrTuples, err)
	}
	if options.Text("order") == "backward" {
		for v := range graph.Vertex(vertices) {
			slices.Reverse(csr.Neighbours(v))
		}
	}
	g := &searcher{
		csr: csr, queue: make([]graph.Vertex, 0, vertices), levels: make([]plugins.Level, 0, options.Int("room")),
	}
	return plugins.Built{
		Vertices: vertices, Bytes: 8 * int64(len(csr.Offsets)+len(csr.Targets)+cap(g.queue)),
		Entries: plugins.Counted(int64(len(csr.Targets))), VertexBits: 64, Search: g.search,
	}, nil
}

type searcher struct {
	csr    *graph.CSR
	queue  []graph.Vertex
	levels []plugins.Level
}

func (g *searcher) search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
	queue, levels := append(g.queue[:0], root), g.levels[:0]
	for begin := 0; begin < len(queue); { // queue[begin:end] is the frontier
		start, end := time.Now(), len(queue)
		var edges int64
		for i := begin; i < end; i++ {
			if i%4096 == 0 && ctx.Err() != nil {
				return plugins.Traversal{}, ctx.Err()
			}
			u := queue[i]
			neighbours := g.csr.Neighbours(u)
			edges += int64(len(neighbours))
			for _, v := range neighbours {
				if parent[v] == graph.Unreached {
					parent[v] = u
					queue = append(queue, v)
				}
			}
		}
		levels = append(levels, plugins.Level{
			Direction: graph.TopDown, Frontier: int64(end - begin), Edges: plugins.Counted(edges), Elapsed: time.Since(start),
		})
		begin = end
	}
	g.levels = levels
	return plugins.Traversal{Levels: levels}, nil
}
