// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
)

// Build is kernel 1 (Engine.Construct), with options that have been checked and include defaults. It checks ctx now and
// then and returns ctx.Err() once it has ended.
type Build func(ctx context.Context, in Input, options Settings) (Built, error)

// Built is a graph ready to be searched.
type Built struct {
	Vertices   int64         // 1 + the largest label of the tuples, of all processes of the engine; 0 without tuples
	Elapsed    time.Duration // kernel 1 on the engine's own clock; 0: the whole call of Build counts
	Bytes      int64         // held for searching, adjacency and everything else
	Entries    Count         // adjacency entries, if counted
	VertexBits int           // width of a vertex label inside the engine
	Tuning     string        // where thresholds come from; empty: there are none
	Phases     []Phase       // parts of the time of Build, in order
	Details    []Fact        // anything worth a line in the record

	// Search is kernel 2 from root, 0 <= root < Vertices, or with out.Distance kernel 3, only after Input.ShortestPaths.
	// It writes every entry of out, whose arrays have length Vertices, or Place.Owned(Vertices) in an engine of several
	// processes. If Elapsed stays 0, the whole call counts. After an error that wraps ErrNotConstructed, the graph is
	// freed.
	Search func(ctx context.Context, root graph.Vertex, out Output) (Traversal, error)

	// Repeat implements Repeater.Repeat for roots and arrays as in Search. If nil, Search is repeated.
	Repeat func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out Output) (searches int64, err error)

	// Agree is for an engine of several processes. Each of them calls it before a search, with an error if it cannot
	// search; if one of them has an error, Agree returns an error in all. It is nil in an engine of one process.
	Agree func(error) error

	// Free is called once, before another graph is built or when the engine is closed. It may be nil.
	Free func() error
}

// New returns an Engine, which is also a Repeater, made of a description and a kernel 1. It does everything in the
// contract except the kernels: it checks options, roots, arrays and contexts, runs the clock, and adds the engine's
// name to errors. Its Close also calls the functions end, such as one that ends MPI.
//
//	rpc.Serve(plugins.New(describe, build))
func New(describe func() (Description, error), build Build, end ...func() error) Engine {
	return &adapter{describe: describe, build: build, end: end}
}

// VerticesOf returns 1 + the largest label of tuples, or 0 if there are none. It returns ErrTuples for a label that
// needs more than the given number of bits (at most 48). It reads all tuples, so it belongs inside the clock of Build.
func VerticesOf(tuples []graph.Edge, bits int) (int64, error) {
	var largest graph.Vertex = -1
	limit := graph.Vertex(1) << bits
	for i, t := range tuples {
		u, v := t.Ends()
		if largest = max(largest, u, v); largest >= limit {
			return 0, fmt.Errorf("tuple %d is %v; labels may have at most %d bits: %w", i, t, bits, ErrTuples)
		}
	}
	return int64(largest) + 1, nil
}

type adapter struct {
	describe func() (Description, error)
	build    Build
	end      []func() error
	name     string // from the last description
	graph    Built  // Search is nil: no graph
	weighted bool   // it is one for kernel 3, too
	place    Place
	closed   bool
}

var (
	_ Engine   = (*adapter)(nil)
	_ Repeater = (*adapter)(nil)
)

func (a *adapter) wrap(action string, err *error) {
	if *err != nil && a.name != "" {
		*err = fmt.Errorf("%s: %s: %w", a.name, action, *err)
	}
}

func (a *adapter) Describe(context.Context) (d Description, err error) {
	defer a.wrap("describe", &err)
	if a.closed {
		return d, ErrClosed
	}
	if d, err = a.describe(); err == nil {
		a.name = d.Name
	}
	return d, err
}

func (a *adapter) Construct(ctx context.Context, in Input) (c Construction, err error) {
	d, err := a.Describe(ctx)
	if err != nil {
		return c, err
	}
	defer a.wrap("construct", &err)
	if err := a.free(); err != nil {
		return c, fmt.Errorf("free the previous graph: %w", err)
	}
	if d.Unavailable != "" {
		return c, fmt.Errorf("%w: %s", ErrUnavailable, d.Unavailable)
	}
	options, err := Resolve(d.Options, in.Options)
	if err != nil {
		return c, err
	}
	if err := in.checkWeights(d); err != nil {
		return c, err
	}
	if err := ctx.Err(); err != nil && in.Place.Size <= 1 { // build stops all processes
		return c, err
	}
	start := time.Now()
	built, err := a.build(ctx, in, options)
	elapsed := max(time.Since(start), 1)
	if err != nil {
		return c, err
	}
	if built.Search == nil || built.Vertices < 0 {
		return c, fmt.Errorf("kernel 1 built %d vertices and no search", built.Vertices)
	}
	a.graph, a.weighted, a.place = built, in.ShortestPaths, in.Place
	return Construction{
		Elapsed: cmp.Or(built.Elapsed, elapsed), Bytes: built.Bytes, Entries: built.Entries,
		Phases: built.Phases, Details: built.Details,
		// True because the clock covers all of Search, which leaves 64-bit parents in original labels.
		Claims: Claims{
			OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: built.VertexBits,
			Tuning: cmp.Or(built.Tuning, "none: there are no thresholds"),
		},
	}, nil
}

// Search handles vertices beyond the largest label of the tuples itself: they have no neighbors.
func (a *adapter) Search(ctx context.Context, root graph.Vertex, out Output) (t Traversal, err error) {
	defer a.wrap("search", &err)
	slot, mine := a.place.Slot(root)
	switch err = a.check(out); {
	case err != nil:
	case root < 0 || mine && slot >= int64(len(out.Parent)):
		err = fmt.Errorf("root %d of %d: %w", root, len(out.Parent), ErrRoot)
	default:
		err = ctx.Err()
	}
	if err = a.agree(err); err != nil {
		return t, err
	}
	start := time.Now()
	own, beyond := a.cut(out)
	beyond.clear()
	if int64(root) >= a.graph.Vertices {
		own.clear()
		if mine {
			if out.Parent[slot] = root; out.Distance != nil {
				out.Distance[slot] = 0
			}
		}
		return Traversal{Elapsed: max(time.Since(start), 1)}, nil
	}
	t, err = a.graph.Search(ctx, root, own)
	elapsed := max(time.Since(start), 1)
	if err != nil {
		return Traversal{}, a.dropped(err)
	}
	for i, v := range beyond.Parent { // a kernel in another language could write here
		if v != graph.Unreached {
			n := len(own.Parent)
			return Traversal{}, fmt.Errorf("a search wrote parent[%d] of a graph of %d vertices", n+i, n)
		}
	}
	t.Elapsed = cmp.Or(t.Elapsed, elapsed) // the host checks it
	return t, nil
}

// cut divides out into the arrays of the graph and what lies beyond its largest label.
func (a *adapter) cut(out Output) (own, beyond Output) {
	n := a.place.Owned(a.graph.Vertices)
	own.Parent, beyond.Parent = out.Parent[:n:n], out.Parent[n:]
	if out.Distance != nil {
		own.Distance, beyond.Distance = out.Distance[:n:n], out.Distance[n:]
	}
	return own, beyond
}

// clear marks all vertices as unreached.
func (o Output) clear() {
	for i := range o.Parent {
		o.Parent[i] = graph.Unreached
	}
	for i := range o.Distance {
		o.Distance[i] = graph.Infinity()
	}
}

// agree returns an error if this process or another process of the engine has one.
func (a *adapter) agree(err error) error {
	if a.graph.Agree != nil {
		return a.graph.Agree(err)
	}
	return err
}

// check returns an error before a graph has been constructed, and for arrays that do not fit the graph.
func (a *adapter) check(out Output) error {
	switch n := a.place.Owned(a.graph.Vertices); {
	case a.closed:
		return ErrClosed
	case a.graph.Search == nil:
		return ErrNotConstructed
	case out.Distance != nil && !a.weighted:
		return fmt.Errorf("the graph has no weights: %w", ErrNotConstructed)
	case out.Distance != nil && len(out.Parent) != len(out.Distance):
		return fmt.Errorf("%d parents and %d distances; want the same number: %w",
			len(out.Parent), len(out.Distance), ErrParent)
	case int64(len(out.Parent)) < n:
		return fmt.Errorf("%d parents for %d vertices: %w", len(out.Parent), n, ErrParent)
	}
	return nil
}

// dropped frees the graph if an error of kernel 2 says that it is lost.
func (a *adapter) dropped(err error) error {
	if errors.Is(err, ErrNotConstructed) {
		err = errors.Join(err, a.free())
	}
	return err
}

func (a *adapter) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out Output) (
	searches int64, err error) {
	defer a.wrap("repeat", &err)
	if err = a.check(out); err == nil && (len(roots) == 0 || duration <= 0) {
		err = fmt.Errorf("%d roots for %v: want at least one root and a positive duration", len(roots), duration)
	}
	for _, root := range roots {
		if err == nil && (root < 0 || int64(root) >= a.graph.Vertices) {
			err = fmt.Errorf("root %d of %d: %w", root, a.graph.Vertices, ErrRoot)
		}
	}
	if err = a.agree(err); err != nil {
		return 0, err
	}
	own, beyond := a.cut(out)
	if a.graph.Repeat != nil {
		searches, err = a.graph.Repeat(ctx, roots, duration, own)
	} else {
		searches, err = InTurn(ctx, roots, duration, func(root graph.Vertex) error {
			_, err := a.graph.Search(ctx, root, own)
			return err
		})
	}
	beyond.clear()
	return searches, a.dropped(err)
}

// checkWeights returns an error for weights that are not those of the tuples, or that an engine cannot use.
func (in Input) checkWeights(d Description) error {
	switch {
	case in.ShortestPaths && !d.ShortestPaths:
		return fmt.Errorf("no kernel for shortest paths: %w", errors.ErrUnsupported)
	case !in.ShortestPaths && in.Weights != nil:
		return fmt.Errorf("%d weights without ShortestPaths: %w", len(in.Weights), ErrTuples)
	case in.ShortestPaths && len(in.Weights) != len(in.Tuples):
		return fmt.Errorf("%d weights of %d tuples: %w", len(in.Weights), len(in.Tuples), ErrTuples)
	}
	return nil
}

// InTurn searches from the roots in turn until duration has passed, and returns the number of searches.
func InTurn(ctx context.Context, roots []graph.Vertex, duration time.Duration, search func(graph.Vertex) error) (
	searches int64, err error) {
	for start := time.Now(); err == nil && time.Since(start) < duration; {
		err = ctx.Err() // a search of microseconds may end without looking at it
		if err == nil {
			err = search(roots[searches%int64(len(roots))])
		}
		if err == nil {
			searches++
		}
	}
	return searches, err
}

func (a *adapter) free() (err error) {
	if a.graph.Free != nil {
		err = a.graph.Free()
	}
	a.graph = Built{}
	return err
}

func (a *adapter) Close() (err error) {
	defer a.wrap("close", &err)
	a.closed = true
	err = a.free()
	for _, end := range a.end {
		err = errors.Join(err, end())
	}
	return err
}

// ErrClock marks a time, or a number of searches, that cannot be that of the call for which an engine reported it.
var ErrClock = errors.New("the engine's report cannot be trusted")
