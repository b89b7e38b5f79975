// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Execute runs the plan of store from where its journal ends, and writes the result:
//
//	for each graph:     make the tuples and draw the roots              (untimed)
//	  for each engine:  construct the graph                             (kernel 1, timed once)
//	    for each root:  search, validate and append to the journal      (kernel 2 or 3, timed)
//	    energy loop:    searches in a loop while power is metered, if the plan asks for it
//
// If an engine fails, only its part of the run ends, and its searches are kept. Failures and wrong searches are in the
// Result. When ctx ends, the run stops in a state from which it can be resumed. The error is that of the run as a
// whole: the store cannot be written, there is no memory for the tuples, or ctx has ended.
func Execute(ctx context.Context, host Host, store *record.Store, progress Progress) (record.Result, error) {
	err := newRun(host, store, progress).graphs(ctx)
	result, finishErr := store.Finish()
	if errors.Is(err, record.ErrNotWritten) {
		return result, err // the other error is the same
	}
	return result, errors.Join(err, finishErr)
}

// ExecuteOn is Execute for a plan of one graph, on an input for it that other runs may share.
func ExecuteOn(
	ctx context.Context, host Host, store *record.Store, in *Input, progress Progress) (record.Result, error) {
	result, err := store.Result()
	if err == nil {
		err = newRun(host, store, progress).graph(ctx, in, result.Runs)
	}
	result, finishErr := store.Finish()
	return result, errors.Join(err, finishErr)
}

// run is one execution of a plan.
type run struct {
	host        Host
	store       *record.Store
	plan        record.Plan
	progress    Progress
	suspensions suspensions
}

func newRun(host Host, store *record.Store, progress Progress) *run {
	if keeper, ok := host.(interface{ KeepOutput(path string) }); ok {
		keeper.KeepOutput(filepath.Join(store.Dir(), record.OutputFile))
	}
	return &run{
		host: host, store: store, plan: store.Manifest().Plan, progress: progress,
		suspensions: suspensions{now: time.Now},
	}
}

// graphs runs every graph that is not complete.
func (r *run) graphs(ctx context.Context) (err error) {
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
	var in *Input // that of the graph before, for another kernel
	defer func() { err = errors.Join(err, in.Close()) }()
	for i, id := range r.plan.GraphIDs() {
		runs := result.Runs[i*len(r.plan.Engines) : (i+1)*len(r.plan.Engines)]
		if !slices.ContainsFunc(runs, func(r record.Run) bool { return r.State != record.Complete }) {
			continue
		}
		if now, err := r.store.Result(); err == nil {
			r.progress.Left(timeLeft(r.plan, now.Runs))
		}
		if in == nil || in.id.Graph() != id.Graph() {
			if err := in.Close(); err != nil {
				return err
			}
			if in, err = NewInput(ctx, r.host, r.plan, id, r.progress); err != nil {
				return err
			}
		}
		in.id, in.cost = id, nil
		if err := r.graph(ctx, in, runs); err != nil {
			return err
		}
	}
	return nil
}

// graph runs every engine that has not completed the graph of in.
func (r *run) graph(ctx context.Context, in *Input, runs []record.Run) error {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	go r.suspensions.watch(watched)
	if in.id.Kernel == record.SSSP {
		if err := in.MakeWeights(ctx, r.progress); err != nil {
			return fmt.Errorf("%s: %w", in.id, err)
		}
	}
	for _, earlier := range runs {
		if earlier.Graph != nil && !earlier.Graph.Same(&in.graph) {
			return fmt.Errorf("%s has changed since the run began; restore it, or start another run", in.id)
		}
	}
	if found := in.graph.RootsFound; found == 0 && r.plan.Roots > 0 {
		r.progress.Note(fmt.Sprintf("%s: no tuple joins two vertices, so no root can be searched", in.id))
	} else if found < r.plan.Roots {
		r.progress.Note(fmt.Sprintf("%s: only %s vertices have a neighbor, so %[2]s of %s roots are searched", in.id,
			units.Integer(int64(found)), units.Integer(int64(r.plan.Roots))))
	}
	if err := r.store.Append(record.Entry{GraphID: in.id, Graph: new(in.graph)}); err != nil {
		return err
	}
	for _, earlier := range runs {
		if earlier.State == record.Complete {
			continue
		}
		e := engineRun{
			run: r, in: in, spec: earlier.Engine, done: earlier.Roots, clock: earlier.Clock,
			metered:  earlier.Energy != nil,
			searched: len(earlier.Roots) > 0 && len(earlier.Roots) == len(in.roots),
		}
		if err := e.end(ctx, e.execute(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// engineRun is one engine on one graph.
type engineRun struct {
	*run
	in       *Input
	spec     record.EngineSpec
	done     []record.RootRecord // searches of earlier sessions and of this one
	clock    *record.EnergyLoop  // the loop that confirmed the clock
	searched bool                // earlier sessions have searched from all roots
	metered  bool                // earlier sessions have measured the energy

	session     Session
	description plugins.Description
	built       plugins.Construction
	confirm     map[int]bool // searches that both the device and the CPU validate
	memory      *record.PeakMemory
}

// execute runs one engine on one graph: kernel 1, kernel 2 from every root, energy.
func (e *engineRun) execute(ctx context.Context) (err error) {
	if e.in.cost == nil {
		if e.in.cost, err = e.cost(ctx); err != nil {
			return err
		}
	}
	if e.session, err = e.in.Open(ctx, e.plan, e.in.id.Kernel, e.spec, e.progress); err != nil {
		return err
	}
	defer func() {
		e.memory = new(e.session.PeakMemory(context.WithoutCancel(ctx)))
		e.session.StopValidating()
		err = cmp.Or(err, e.session.Close())
	}()
	if err := e.construct(ctx); err != nil {
		return err
	}
	if err := e.searchAll(ctx); err != nil {
		return err
	}
	if err := e.confirmClock(ctx); err != nil {
		return err
	}
	if e.plan.Energy == 0 || e.metered {
		return nil
	}
	e.session.StopValidating()
	return e.energy(ctx)
}

// end records how the engine ended. It returns an error only if that ends the whole run.
func (e *engineRun) end(ctx context.Context, err error) error {
	changed, failed := e.in.Changed(ctx)
	err = cmp.Or(err, failed)
	end := record.End{State: record.Complete, Void: changed || errors.Is(err, errDisagree), Memory: e.memory}
	switch {
	case errors.Is(err, record.ErrNotWritten):
		return err
	case changed:
		end.State, end.Failure = record.Failed, errTuplesChanged.Error()
	case err != nil && ctx.Err() != nil && !end.Void:
		end.State = record.Interrupted
	case err != nil && e.searched && e.plan.Energy > 0 && !e.metered: // the searches are kept
		if err := e.recordEnergy(&record.EnergyRecord{}, err); err != nil {
			return err
		}
	case err != nil:
		end.State, end.Failure = record.Failed, err.Error()
	}
	if err := e.record(record.Entry{End: &end}); err != nil {
		return err
	}
	if end.Failure != "" {
		e.note("failed: %s", end.Failure)
	}
	if changed && ctx.Err() == nil {
		return e.in.Restore(ctx, e.progress)
	}
	return ctx.Err()
}

// errTuplesChanged is the failure of an engine that has changed its input. Its searches were checked against other
// tuples than the generator's, so a resume repeats all of them.
var errTuplesChanged = errors.New("the engine changed the tuples, which it may only read, so its searches do not count")

// step starts a step of the engine's progress.
func (e *engineRun) step(name string, total int64) Step {
	return e.progress.Step(fmt.Sprintf("%s: %s: %s", e.in.id, e.spec.Name, name), total)
}

func (e *engineRun) note(format string, args ...any) {
	e.progress.Note(fmt.Sprintf("%s: %s: ", e.in.id, e.spec.Name) + fmt.Sprintf(format, args...))
}

// record appends an entry of this engine and graph.
func (e *engineRun) record(entry record.Entry) error {
	entry.Engine, entry.GraphID = e.spec.Name, e.in.id
	return e.store.Append(entry)
}

// timeLeft estimates the time for the runs of a plan that are not complete. It assumes that each engine needs as much
// time for a tuple as on the last graph that it completed. The result is 0 if an engine has not completed any.
func timeLeft(plan record.Plan, runs []record.Run) (left time.Duration) {
	pace := map[string]float64{} // seconds for a tuple, by engine and kernel
	for _, run := range runs {
		key, tuples := run.Engine.Name+":"+string(run.Kernel), 0.0
		if source, err := plan.Generator(run.GraphID); err == nil && source != nil {
			tuples = float64(source.Tuples()) // of a file they are unknown
		}
		if run.State == record.Complete {
			seconds := run.ConstructWall + run.Graph.Generation/float64(len(plan.Engines))
			for _, root := range run.Roots {
				seconds += root.Wall + root.Validation
			}
			pace[key] = seconds / max(1, float64(run.Graph.Tuples))
			continue
		}
		if pace[key]*tuples == 0 {
			return 0
		}
		left += time.Duration(pace[key] * tuples * float64(time.Second))
		if run.Energy == nil {
			left += plan.Energy
		}
	}
	return left
}
