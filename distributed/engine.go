package distributed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Version of this engine; it changes with every change of the method or of what the options mean.
const Version = "1.0"

// engine runs ranks as goroutines. It holds at most one graph.
type engine struct {
	closed   bool
	searches []*search // by rank; nil: no graph
	labels   int64
	records  []*SearchRecord
	report   report
}

// New returns an engine with in-process ranks and without a graph. It holds no resources before Construct.
func New() plugins.Engine { return &engine{} }

func (e *engine) Describe(context.Context) (plugins.Description, error) {
	if e.closed {
		return plugins.Description{}, fmt.Errorf("distributed: describe: %w", plugins.ErrClosed)
	}
	return plugins.Description{
		Name:    "distributed",
		Version: Version,
		Summary: "Direction-optimising search over ranks that own parts of the graph, cut in one or two dimensions; ranks are goroutines.",
		Devices: []plugins.Device{{Kind: "cpu", Name: runtime.GOARCH, Units: runtime.GOMAXPROCS(0)}},
		Options: searchOptions("4"),
		Memory:  need(4),
	}, nil
}

func (e *engine) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	if e.closed {
		return plugins.Construction{}, fmt.Errorf("distributed: construct: %w", plugins.ErrClosed)
	}
	*e = engine{}
	settings, err := plugins.Settle(searchOptions("4"), g.Options)
	if err != nil {
		return plugins.Construction{}, fmt.Errorf("distributed: construct: %w", err)
	}
	c, err := configure(settings)
	if err != nil {
		return plugins.Construction{}, fmt.Errorf("distributed: construct: %w", err)
	}
	start := time.Now()
	searches, phases, err := buildLocal(ctx, c, g.Tuples)
	if err != nil {
		return plugins.Construction{}, err
	}
	e.searches, e.labels = searches, searches[0].partition.Labels
	e.records = make([]*SearchRecord, len(searches))
	built := plugins.Construction{Phases: phases}
	var entries int64
	for _, s := range searches {
		built.Bytes += s.part.bytes() + s.bytes()
		entries += int64(len(s.up.targets))
	}
	built.Entries = plugins.Counted(entries)
	built.Claims = claims
	built.Details = c.details("goroutines of one process; messages are handed over, not copied")
	built.Elapsed = time.Since(start)
	return built, nil
}

// claims are what only the engine knows of its clock.
var claims = plugins.Claims{
	OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 32,
	Tuning: "alpha and beta are fixed defaults or set by the user before kernel 1",
}

// details are the facts of a configuration for the record.
func (c Configuration) details(ranks string) []plugins.Fact {
	cut := "2D, grid of " + c.Grid.String()
	if c.OneD {
		cut = "1D, vertices by owner"
	}
	return []plugins.Fact{
		{Name: "ranks", Value: fmt.Sprintf("%d: %s", c.Grid.Ranks(), ranks)},
		{Name: "cut", Value: cut},
		{Name: "output template", Value: "kernel 1 notes every row's first neighbour, in original labels; each search copies the notes and " +
			"confirms or replaces every one inside its clock"},
	}
}

// buildLocal builds all parts by as many goroutines, each beginning with an equal share of the tuples.
func buildLocal(ctx context.Context, c Configuration, tuples []graph.Edge) ([]*search, []plugins.Phase, error) {
	ranks := c.Grid.Ranks()
	searches, errs, phases := make([]*search, ranks), make([]error, ranks), make([][]timed, ranks)
	each(newLocal(ranks), func(world Comm) {
		rank := world.Rank()
		from, to := len(tuples)*rank/ranks, len(tuples)*(rank+1)/ranks
		var p *part
		if p, phases[rank], errs[rank] = buildPart(ctx, world, c, tuples[from:to], int64(from)); errs[rank] == nil {
			searches[rank] = newSearch(p, world, c)
		}
	})
	if err := firstFailure(errs); err != nil {
		return nil, nil, err
	}
	return searches, meanPhases(phases), nil
}

// each calls f for every rank at the same time and waits.
func each(ranks []Comm, f func(world Comm)) {
	var all sync.WaitGroup
	for _, world := range ranks[1:] {
		all.Go(func() { f(world) })
	}
	f(ranks[0])
	all.Wait()
}

// firstFailure is the error that made others stop.
func firstFailure(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, errElsewhere)) {
			first = err
		}
	}
	return first
}

func (e *engine) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	if err := checkSearch(e.closed, e.searches != nil, e.labels, root, parent); err != nil {
		return plugins.Traversal{}, err
	}
	if err := ctx.Err(); err != nil {
		return plugins.Traversal{}, err
	}
	start := time.Now()
	failure := searchLocal(ctx, e.searches, e.records, root, parent)
	finishParents(parent, e.labels, root)
	elapsed := time.Since(start)
	if failure != nil {
		if err := ctx.Err(); err != nil {
			return plugins.Traversal{}, err
		}
		return plugins.Traversal{}, failure
	}
	return e.report.traversal(elapsed, e.records), nil
}

// checkSearch refuses what cannot be searched.
func checkSearch(closed, constructed bool, labels int64, root graph.Vertex, parent []graph.Vertex) error {
	switch {
	case closed:
		return fmt.Errorf("distributed: search from %d: %w", root, plugins.ErrClosed)
	case !constructed:
		return fmt.Errorf("distributed: search from %d: %w; call Construct first", root, plugins.ErrNotConstructed)
	case int64(len(parent)) < labels:
		return fmt.Errorf("distributed: search from %d: %d parents for a graph with labels below %d: %w; pass one for each label",
			root, len(parent), labels, plugins.ErrParent)
	case root < 0 || int64(root) >= int64(len(parent)):
		return fmt.Errorf("distributed: search from %d: %w: want 0 to %d", root, plugins.ErrRoot, len(parent)-1)
	}
	return nil
}

// finishParents writes the parents beyond the labels of the tuples, which no rank owns.
func finishParents(parent []graph.Vertex, labels int64, root graph.Vertex) {
	for v := labels; v < int64(len(parent)); v++ {
		parent[v] = graph.Unreached
	}
	if int64(root) >= labels {
		parent[root] = root
	}
}

func (e *engine) Close() error {
	*e = engine{closed: true}
	return nil
}

// need is an upper bound on the memory of the benchmark's graphs with so many ranks in a process. At the peak, when
// lists are made,
//
//	per tuple    two entries of two words as sent (16, and an eighth more for room), each as a word by column and two by row (24)
//	per vertex   what every rank has for its rows and columns: slots counted and numbered, rows and keys of slots, labels,
//	             offsets, first columns, templates, parents above; each at most a word for 1/R or 1/C of all vertices
func need(ranks int) plugins.Memory {
	g := SquareGrid(ranks)
	return plugins.Memory{Fixed: 32 << 20, PerVertex: float64(16*ranks + 40*g.R + 40*g.C + 64), PerTuple: 48}
}
