// Package kernels makes an engine of the benchmark's two kernels: a function that builds a graph and one that searches
// it. What the contract (package plugins) asks for around them is here once: options are checked, calls without a graph
// or with a root or an array that cannot be are refused, contexts that have ended are honoured, and the clock runs.
//
//	func main() {
//		rpc.Serve(kernels.New(plugins.Description{Name: "mine", Version: "1", ...}, build))
//	}
//
// It is the short way to an engine of one's own; an engine that wants its own clock, its own errors or state beyond one
// graph implements plugins.Engine itself.
package kernels

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Build is kernel 1: it makes a Graph of the tuples with the options of the description, checked and with defaults
// filled in. All of it is inside the clock. It may neither change the tuples nor read them after it has returned, and
// looks at ctx now and then: when that has ended, it returns ctx.Err(). It fails with plugins.ErrTuples, ErrMemory,
// ErrOption or ErrUnavailable.
type Build func(ctx context.Context, tuples []graph.Edge, set plugins.Settings) (Graph, error)

// Graph is what Build has made.
type Graph struct {
	Vertices   int64           // 1 + the largest label of the tuples; 0 without tuples
	Bytes      int64           // held for searching, adjacency and everything else
	Entries    plugins.Count   // of the adjacency, if counted
	VertexBits int             // width of a vertex label inside the engine
	Tuning     string          // where thresholds come from; empty: there are none
	Phases     []plugins.Phase // parts of the time of Build, in order
	Details    []plugins.Fact  // anything worth a line in the record

	// Search is kernel 2: a breadth-first search from root, a number from 0 to Vertices-1. It writes all of parent,
	// which has Vertices entries that hold anything: the predecessor of each vertex, root for root itself,
	// graph.Unreached for the others. It returns the levels if it has counted them, and ctx.Err() soon after ctx has
	// ended. Elapsed may stay 0: the clock around Search is taken, and a time of Search's own must lie within it.
	Search func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)

	// Repeat searches as plugins.Repeater says, with roots as for Search. Nil: Search is repeated.
	Repeat func(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error)

	// Free is called once, before another graph is built and at the end. Nil: nothing to free.
	Free func()
}

// VerticesOf returns 1 + the largest label of tuples, 0 for none, and plugins.ErrTuples for a label that does not fit
// into the given number of bits, at most 48. It reads all tuples, so it belongs into the clock of Build.
func VerticesOf(tuples []graph.Edge, bits int) (int64, error) {
	var largest graph.Vertex = -1
	limit := graph.Vertex(1) << bits
	for i, t := range tuples {
		u, v := t.Ends()
		if largest = max(largest, u, v); largest >= limit {
			return 0, fmt.Errorf("tuple %d is %v, labels may have %d bits: %w", i, t, bits, plugins.ErrTuples)
		}
	}
	return int64(largest) + 1, nil
}

// New returns an engine of the given description and kernel 1. It is a plugins.Repeater, too.
func New(d plugins.Description, build Build) plugins.Engine {
	return &engine{description: d, build: build}
}

type engine struct {
	description plugins.Description
	build       Build
	graph       Graph // Search is nil: no graph
	clock       clock
	closed      bool
}

func (e *engine) fail(action string, err error) error {
	return fmt.Errorf("%s: %s: %w", e.description.Name, action, err)
}

// Describe implements plugins.Engine.
func (e *engine) Describe(context.Context) (plugins.Description, error) {
	if e.closed {
		return plugins.Description{}, e.fail("describe", plugins.ErrClosed)
	}
	return e.description, nil
}

// Construct implements plugins.Engine.
func (e *engine) Construct(ctx context.Context, g plugins.Graph) (plugins.Construction, error) {
	start := time.Now()
	if e.closed {
		return plugins.Construction{}, e.fail("construct", plugins.ErrClosed)
	}
	e.free()
	if e.description.Unavailable != "" {
		return plugins.Construction{}, e.fail("construct", fmt.Errorf("%w: %s", plugins.ErrUnavailable, e.description.Unavailable))
	}
	set, err := plugins.Settle(e.description.Options, g.Options)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return plugins.Construction{}, e.fail("construct", err)
	}
	built, err := e.build(ctx, g.Tuples, set)
	if err != nil {
		return plugins.Construction{}, e.fail("construct", err)
	}
	if err := ctx.Err(); err != nil && built.Search == nil {
		return plugins.Construction{}, e.fail("construct", err)
	}
	elapsed := max(time.Since(start), 1)
	if built.Search == nil || built.Vertices < 0 {
		return plugins.Construction{}, e.fail("construct", fmt.Errorf("kernel 1 returned no search, or %d vertices, and no error", built.Vertices))
	}
	e.graph, e.clock = built, clock{}
	tuning := built.Tuning
	if tuning == "" {
		tuning = "none: there are no thresholds"
	}
	return plugins.Construction{
		Elapsed: elapsed, Bytes: built.Bytes, Entries: built.Entries, Phases: built.Phases, Details: built.Details,
		// True because the clock covers the whole of Search, which leaves parents of this width in original labels.
		Claims: plugins.Claims{
			OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: built.VertexBits, Tuning: tuning,
		},
	}, nil
}

// Search implements plugins.Engine. Vertices beyond the largest label of the tuples have no neighbours and are none of
// kernel 2's business.
func (e *engine) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	start := time.Now()
	vertices := e.graph.Vertices
	var err error
	switch {
	case e.closed:
		err = plugins.ErrClosed
	case e.graph.Search == nil:
		err = plugins.ErrNotConstructed
	case int64(len(parent)) < vertices:
		err = fmt.Errorf("%d parents for %d vertices: %w", len(parent), vertices, plugins.ErrParent)
	case root < 0 || int64(root) >= int64(len(parent)):
		err = fmt.Errorf("root %d of %d: %w", root, len(parent), plugins.ErrRoot)
	default:
		err = ctx.Err()
	}
	if err != nil {
		return plugins.Traversal{}, e.fail("search", err)
	}
	own, beyond := parent[:vertices:vertices], parent[vertices:]
	unreach(beyond)
	if int64(root) >= vertices {
		unreach(own)
		parent[root] = root
		return plugins.Traversal{Elapsed: max(time.Since(start), 1)}, nil
	}
	t, err := e.graph.Search(ctx, root, own)
	elapsed := max(time.Since(start), 1)
	if err == nil {
		err = untouched(beyond, vertices)
	}
	if err == nil {
		err = e.clock.believe(t.Elapsed, elapsed)
	}
	if err != nil {
		return plugins.Traversal{}, e.fail("search", err)
	}
	if t.Elapsed == 0 {
		t.Elapsed = elapsed
	}
	return t, nil
}

// Repeat implements plugins.Repeater.
func (e *engine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	switch {
	case e.closed:
		err = plugins.ErrClosed
	case e.graph.Search == nil:
		err = plugins.ErrNotConstructed
	case len(roots) == 0 || duration <= 0:
		err = fmt.Errorf("%d roots for %v: want at least one root and a time", len(roots), duration)
	}
	for _, root := range roots {
		if err == nil && (root < 0 || int64(root) >= e.graph.Vertices) {
			err = fmt.Errorf("root %d of %d: %w", root, e.graph.Vertices, plugins.ErrRoot)
		}
	}
	if err == nil && e.graph.Repeat != nil {
		searches, err = e.graph.Repeat(ctx, roots, duration)
	} else if err == nil {
		searches, err = e.searchAgain(ctx, roots, duration)
	}
	if err != nil {
		err = e.fail("repeat", err)
	}
	return searches, err
}

func (e *engine) searchAgain(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	parent := make([]graph.Vertex, e.graph.Vertices)
	for start := time.Now(); time.Since(start) < duration; searches++ {
		if err := ctx.Err(); err != nil { // a search of a few microseconds may be over before it hears of it
			return searches, err
		}
		if _, err := e.graph.Search(ctx, roots[searches%int64(len(roots))], parent); err != nil {
			return searches, err
		}
	}
	return searches, nil
}

// untouched checks the entries that a kernel 2 in another language can reach, and must not.
func untouched(beyond []graph.Vertex, vertices int64) error {
	for i, v := range beyond {
		if v != graph.Unreached {
			return fmt.Errorf("kernel 2 wrote parent[%d], and the graph has %d vertices", vertices+int64(i), vertices)
		}
	}
	return nil
}

func unreach(parent []graph.Vertex) {
	for v := range parent {
		parent[v] = graph.Unreached
	}
}

func (e *engine) free() {
	if e.graph.Free != nil {
		e.graph.Free()
	}
	e.graph = Graph{}
}

// Close implements plugins.Engine.
func (e *engine) Close() error {
	e.free()
	e.closed = true
	return nil
}
