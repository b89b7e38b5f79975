package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// NewSerial returns an engine that is right and slow: one queue over the plain CSR of package graph. It passes every
// case, so it stands in for an engine in tests of everything around engines, and shows an author how little one is.
func NewSerial() plugins.Engine { return &serial{} }

type serial struct {
	graph  *graph.CSR // nil: no graph
	queue  []graph.Vertex
	levels []plugins.Level
	closed bool
}

// stopEvery is the number of vertices between two looks at the context.
const stopEvery = 1 << 12

func (e *serial) Describe(context.Context) (plugins.Description, error) {
	if e.closed {
		return plugins.Description{}, fmt.Errorf("serial: Describe: %w", plugins.ErrClosed)
	}
	return plugins.Description{
		Name:    "serial",
		Version: "1",
		Summary: "One queue over a plain CSR, one vertex after the other, on one thread.",
		Options: []plugins.Option{
			{Name: "order", Kind: plugins.Choice, Default: "forward", Choices: []string{"forward", "backward"},
				Meaning: "order in which a vertex's neighbours are looked at"},
			{Name: "room", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(1000),
				Meaning: "levels that are reported without allocating"},
		},
		Memory: plugins.Memory{Fixed: 1 << 20, PerVertex: 16, PerTuple: 16},
	}, nil
}

func (e *serial) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	start := time.Now()
	if e.closed {
		return plugins.Construction{}, fmt.Errorf("serial: Construct: %w", plugins.ErrClosed)
	}
	*e = serial{}
	d, _ := e.Describe(ctx)
	set, err := plugins.Settle(d.Options, g.Options)
	if err != nil {
		return plugins.Construction{}, fmt.Errorf("serial: %w", err)
	}
	vertices := int64(0)
	for i, edge := range g.Tuples {
		if i%stopEvery == 0 && ctx.Err() != nil {
			break
		}
		u, v, narrow := edge.Narrow()
		if !narrow {
			return plugins.Construction{}, fmt.Errorf("serial: tuple %d is %v, labels may have 32 bits: %w", i, edge, plugins.ErrTuples)
		}
		vertices = max(vertices, int64(u)+1, int64(v)+1)
	}
	if err := ctx.Err(); err != nil {
		return plugins.Construction{}, fmt.Errorf("serial: Construct: %w", err)
	}
	built, err := graph.NewCSR(g.Tuples, vertices)
	if err != nil {
		return plugins.Construction{}, fmt.Errorf("serial: %w: %w", plugins.ErrTuples, err)
	}
	if set.Text("order") == "backward" {
		for v := range graph.Vertex(vertices) {
			for list, i := built.Neighbours(v), 0; i < len(list)/2; i++ {
				list[i], list[len(list)-1-i] = list[len(list)-1-i], list[i]
			}
		}
	}
	e.graph = built
	e.queue = make([]graph.Vertex, 0, vertices+1)
	e.levels = make([]plugins.Level, 0, set.Int("room"))
	return plugins.Construction{
		Elapsed: time.Since(start),
		Bytes:   8 * int64(len(built.Offsets)+len(built.Targets)+cap(e.queue)),
		Entries: plugins.Counted(int64(len(built.Targets))),
		Claims: plugins.Claims{
			OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 64,
			Tuning: "none: there are no thresholds",
		},
	}, nil
}

func (e *serial) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	start := time.Now()
	switch {
	case e.closed:
		return plugins.Traversal{}, fmt.Errorf("serial: Search: %w", plugins.ErrClosed)
	case e.graph == nil:
		return plugins.Traversal{}, fmt.Errorf("serial: Search: %w", plugins.ErrNotConstructed)
	case int64(len(parent)) < e.graph.NumVertices():
		return plugins.Traversal{}, fmt.Errorf("serial: %d parents for %d vertices: %w", len(parent), e.graph.NumVertices(), plugins.ErrParent)
	case root < 0 || int64(root) >= int64(len(parent)):
		return plugins.Traversal{}, fmt.Errorf("serial: root %d with %d parents: %w", root, len(parent), plugins.ErrRoot)
	}
	for v := range parent {
		parent[v] = graph.Unreached
	}
	parent[root] = root
	queue, levels := append(e.queue[:0], root), e.levels[:0]
	for begin := 0; begin < len(queue); { // one round a level: queue[begin:end] is the frontier
		began, end := time.Now(), len(queue)
		var looked int64
		for i := begin; i < end; i++ {
			if i%stopEvery == 0 && ctx.Err() != nil {
				return plugins.Traversal{}, fmt.Errorf("serial: Search: %w", ctx.Err())
			}
			u := queue[i]
			if int64(u) >= e.graph.NumVertices() {
				continue // a root beyond the labels has no neighbours
			}
			for _, v := range e.graph.Neighbours(u) {
				looked++
				if parent[v] == graph.Unreached {
					parent[v] = u
					queue = append(queue, v)
				}
			}
		}
		levels = append(levels, plugins.Level{
			Direction: graph.TopDown, Frontier: int64(end - begin), Edges: plugins.Counted(looked), Elapsed: time.Since(began),
		})
		begin = end
	}
	e.levels = levels
	return plugins.Traversal{Elapsed: time.Since(start), Levels: levels}, nil
}

func (e *serial) Close() error {
	*e = serial{closed: true}
	return nil
}
