package cpu

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Version of this engine; it changes with every change of the method or of what the options mean.
const Version = "1.1"

// engine holds at most one graph: kernel 1 makes it, Close or the next kernel 1 gives it back.
type engine struct {
	closed bool
	team   *team
	memory *memory
	layout *layout
	search searcher // nil: no graph
}

// New returns an engine without a graph. It holds no resources before Construct.
func New() plugins.Engine { return &engine{} }

func (e *engine) Describe(context.Context) (plugins.Description, error) {
	if e.closed {
		return plugins.Description{}, fmt.Errorf("cpu: describe: %w", plugins.ErrClosed)
	}
	return plugins.Description{
		Name:    "cpu",
		Version: Version,
		Summary: "Direction-optimising search by goroutines over a degree-sorted graph on the processors of this machine.",
		Devices: []plugins.Device{{Kind: "cpu", Name: processorName(), Units: runtime.GOMAXPROCS(0)}},
		Options: options(),
		Memory:  need(min(runtime.GOMAXPROCS(0), maxThreads)),
	}, nil
}

func (e *engine) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	if e.closed {
		return plugins.Construction{}, fmt.Errorf("cpu: construct: %w", plugins.ErrClosed)
	}
	e.drop()
	c, err := configure(g.Options)
	if err != nil {
		return plugins.Construction{}, fmt.Errorf("cpu: construct: %w", err)
	}
	e.team, e.memory = newTeam(c.threads), newMemory()
	built, err := e.construct(ctx, g, c)
	if err != nil {
		e.drop()
		return plugins.Construction{}, err
	}
	return built, nil
}

func (e *engine) construct(ctx context.Context, g plugins.Graph, c configuration) (plugins.Construction, error) {
	start := time.Now()
	l, phases, err := build(ctx, g.Tuples, e.team, e.memory, c)
	if err != nil {
		return plugins.Construction{}, err
	}
	prepare := time.Now()
	if c.parentBits == 64 {
		e.search, err = newWide(l, e.team, e.memory, c)
	} else {
		e.search, err = newNarrow(l, e.team, e.memory, c)
	}
	if err != nil {
		return plugins.Construction{}, err
	}
	e.layout = l
	end := time.Now()
	inLists, inColumns := l.lists.bytes()
	return plugins.Construction{
		Elapsed: end.Sub(start),
		Bytes:   e.memory.held,
		Entries: plugins.Counted(int64(l.lists.entries())),
		Phases:  append(phases, plugins.Phase{Name: "buffers", Elapsed: end.Sub(prepare)}),
		Claims: plugins.Claims{
			OriginalLabelsInClock: true,
			ClearingInClock:       true,
			ParentBits:            c.parentBits,
			VertexBits:            32,
			Tuning:                "alpha, beta and thresholds are fixed defaults or set by the user before kernel 1",
		},
		Details: []plugins.Fact{
			{Name: "threads", Value: fmt.Sprint(c.threads)},
			{Name: "vertices that are not isolated", Value: fmt.Sprint(len(l.original))},
			{Name: "bytes of the neighbour lists with their offsets", Value: fmt.Sprint(inLists)},
			{Name: "bytes of the columns beside them", Value: fmt.Sprint(inColumns)},
			{Name: "before the clock", Value: "all workers are woken; they know neither root nor graph"},
			{Name: "output template", Value: "kernel 1 prepares an array with every vertex's first neighbour, in original labels; " +
				"each search copies it and confirms or replaces every entry inside its clock"},
		},
	}, nil
}

func (e *engine) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	switch {
	case e.closed:
		return plugins.Traversal{}, fmt.Errorf("cpu: search from %d: %w", root, plugins.ErrClosed)
	case e.search == nil:
		return plugins.Traversal{}, fmt.Errorf("cpu: search from %d: %w; call Construct first", root, plugins.ErrNotConstructed)
	case len(parent) < e.layout.labels:
		return plugins.Traversal{}, fmt.Errorf("cpu: search from %d: %d parents for a graph with labels below %d: %w; pass one for each label",
			root, len(parent), e.layout.labels, plugins.ErrParent)
	case root < 0 || int64(root) >= int64(len(parent)):
		return plugins.Traversal{}, fmt.Errorf("cpu: search from %d: %w: want 0 to %d", root, plugins.ErrRoot, len(parent)-1)
	}
	if err := ctx.Err(); err != nil {
		return plugins.Traversal{}, err
	}
	return e.search.traverse(ctx, root, parent)
}

func (e *engine) Close() error {
	e.drop()
	e.closed = true
	return nil
}

// drop gives back the graph and what searches it.
func (e *engine) drop() {
	if e.team != nil {
		e.team.stop()
		e.memory.releaseAll()
	}
	*e = engine{closed: e.closed}
}

// need is an upper bound on the memory of any graph with default options and a number of workers. At the peak, in the middle of
// the lists or during a search, there are
//
//	per vertex   number, label and template (12), three columns (13), offsets (4), first neighbour (4); in the middle of the
//	             lists degree and bucket (6), in a search queue, counts and bitmaps (13); a worker's corrections, or before
//	             them the neighbours of the vertex whose list it makes (9)
//	per tuple    two entries to sort, half of them at a time where lists are packed or one vertex has as many (8), as list
//	             entries of 32 bits (8), and in the segments of long lists (1)
//	fixed        a begun block in each bucket and the arrays to sort one (12 MiB a worker), tables of hubs and regions, levels
func need(workers int) plugins.Memory {
	return plugins.Memory{Fixed: int64(32+12*workers) << 20, PerVertex: float64(56 + 9*workers), PerTuple: 17}
}
