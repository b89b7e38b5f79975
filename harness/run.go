package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/record"
)

// Execute runs the plan of store from where its journal ends, and writes the result:
//
//	for each graph:     make the tuples and draw the roots              (untimed)
//	  for each engine:  construct the graph                             (kernel 1, timed once)
//	    for each root:  search, validate and append to the journal      (kernel 2, timed)
//	    energy loop:    search from the roots in turn while power is metered, if the plan asks for it
//
// An engine that fails ends its own part only, and what it measured is kept; such failures, and wrong searches, are in
// the Result. When ctx ends, the run stops in a state from which it can be resumed. The error is that of the run as a
// whole: the store cannot be written, there is no memory for the tuples, or ctx has ended.
func Execute(ctx context.Context, host Host, store *record.Store, progress Progress) (record.Result, error) {
	err := newRun(host, store, progress).graphs(ctx)
	result, finishErr := store.Finish()
	if full := (*record.StoreError)(nil); errors.As(err, &full) {
		return result, err // the other error is the same
	}
	return result, errors.Join(err, finishErr)
}

// graphs runs every graph that is not complete.
func (r *run) graphs(ctx context.Context) error {
	result, err := r.store.Result()
	if err != nil {
		return err
	}
	notes, err := CheckMeters(ctx, r.host, r.plan)
	if err != nil {
		return err
	}
	for _, note := range notes {
		r.progress.Note(note)
	}
	r.pace = newPace(r.plan, result.Runs)
	for i, id := range r.plan.GraphIDs() {
		runs := result.Runs[i*len(r.plan.Engines) : (i+1)*len(r.plan.Engines)]
		if !slices.ContainsFunc(runs, func(r record.Run) bool { return r.State != record.Complete }) {
			r.pace.skip(id, "")
			continue
		}
		start := time.Now()
		in, err := NewInput(ctx, r.host, r.plan, id, r.progress)
		if err != nil {
			return err
		}
		r.did(in, "input", "", start)
		if err := errors.Join(r.graph(ctx, in, runs), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// graph runs every engine that has not completed the graph of in.
func (r *run) graph(ctx context.Context, in *Input, runs []record.Run) error {
	defer r.still.watch()()
	for _, earlier := range runs {
		if earlier.Graph != nil && !earlier.Graph.Same(&in.graph) {
			return fmt.Errorf("%s has changed since the run began; restore it, or start another run", in.id)
		}
	}
	if err := r.store.Append(record.Entry{GraphID: in.id, Graph: &in.graph}); err != nil {
		return err
	}
	for _, earlier := range runs {
		if earlier.State == record.Complete {
			continue
		}
		e := engineRun{
			run: r, in: in, spec: earlier.Engine, done: earlier.Roots, metered: earlier.Energy != nil,
			searched: len(earlier.Roots) > 0 && len(earlier.Roots) == len(in.roots),
		}
		if err := e.end(ctx, e.engine(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// engine runs one engine on one graph: kernel 1, kernel 2 from every root, energy.
func (e *engineRun) engine(ctx context.Context) (err error) {
	parents, release, err := e.host.Parents(e.in.graph.Vertices)
	if err != nil {
		return fmt.Errorf("memory for %d parents: %w", e.in.graph.Vertices, err)
	}
	defer func() { err = cmp.Or(err, release()) }()
	e.parents = parents
	start := time.Now()
	if e.opened, err = e.host.Open(ctx, e.spec); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closeEngine(e.opened)) }()
	if err := e.construct(ctx); err != nil {
		return err
	}
	e.did(e.in, "construct", e.spec.Name, start)
	if err := e.roots(ctx); err != nil {
		return err
	}
	if e.plan.Energy == 0 || e.metered {
		return nil
	}
	e.in.device.close()
	return e.energy(ctx)
}

// roots searches from every root that earlier sessions have not searched from.
func (e *engineRun) roots(ctx context.Context) (err error) {
	roots, first := e.in.roots, len(e.done)
	if first == len(roots) {
		return nil
	}
	n, noun := len(roots)-first, "roots"
	if n == 1 {
		noun = "root"
	}
	step := e.step("search", int64(n))
	invalid := 0
	defer func() { step.End(fmt.Sprintf("%d %s, %d invalid", n, noun, invalid), err) }()
	e.prepareDevice(ctx)
	defer e.device.close()
	for range e.plan.WarmUps {
		if _, err := e.search(ctx, roots[0]); err != nil {
			return fmt.Errorf("warm-up from root %d: %w", roots[0], err)
		}
	}
	for i := first; i < len(roots); i++ {
		start := time.Now()
		found, err := e.search(ctx, roots[i])
		if err == nil {
			found.Index = i
			err = e.check(ctx, &found)
		}
		if err == nil {
			err = e.record(record.Entry{Root: &found})
		}
		if err != nil {
			return fmt.Errorf("root %d (%d of %d): %w", roots[i], i+1, len(roots), err)
		}
		e.done = append(e.done, found)
		if found.Broken() {
			if invalid++; invalid <= maxNotes { // the record has all of them
				e.note("root %d is invalid: %s", found.Root, found.Violation)
			}
		}
		e.did(e.in, "search", e.spec.Name, start)
		step.Add(1)
	}
	return nil
}
