package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// Host opens engines and lends memory that is shared with them.
type Host interface {
	// Open starts an engine; Close of the engine ends it.
	Open(ctx context.Context, spec EngineSpec) (plugins.Engine, error)
	// Tuples and Parents lend n elements; release gives them back.
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
	// Meters opens power meters by specification, all that can be found where there is none, and says why there are no
	// others; the error is for a specification that is wrong. The caller closes the meters.
	Meters(ctx context.Context, specifications []string) ([]power.Meter, []power.Absence, error)
}

// Execute runs the plan of store from where its journal ends, and writes the result:
//
//	for each scale:  generate the tuples, draw the roots                       (untimed)
//	  for each engine:  construct                                              (kernel 1, timed once)
//	    for each root:  search (kernel 2, timed), validate, append to the store
//	    energy loop, if asked for:  the roots around and around, metered (energy.go)
//	summarise
//
// An engine that fails ends its own part alone; what was measured stays. When ctx ends, the run stops in order and can
// be resumed. The error is about the run as a whole (the store cannot be written, the tuples cannot be had, ctx ended);
// failures of engines and of validation stand in the Result.
func Execute(ctx context.Context, host Host, store *Store, progress Progress) (Result, error) {
	err := execute(ctx, host, store, progress)
	result, finishing := store.Finish()
	return result, errors.Join(err, finishing)
}

func execute(ctx context.Context, host Host, store *Store, progress Progress) error {
	plan := store.Manifest().Plan
	done, err := store.Result()
	if err != nil {
		return err
	}
	if err := AnnounceMeters(ctx, host, plan, progress); err != nil {
		return err
	}
	for i, scale := range plan.Scales {
		runs := done.Runs[i*len(plan.Engines) : (i+1)*len(plan.Engines)]
		if err := executeScale(ctx, host, store, progress, scale, runs); err != nil {
			return err
		}
	}
	return nil
}

// executeScale runs every engine at one scale that has not completed it.
func executeScale(ctx context.Context, host Host, store *Store, progress Progress, scale int, runs []Run) (err error) {
	pending := false
	for _, run := range runs {
		pending = pending || run.State != Complete
	}
	if !pending {
		return nil
	}
	plan := store.Manifest().Plan
	in, err := NewInput(ctx, host, plan.Recipe(scale), plan.Roots, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return executeOn(ctx, host, store, in, progress, runs)
}

// executeOn runs every engine on in that has not completed its scale.
func executeOn(ctx context.Context, host Host, store *Store, in *Input, progress Progress, runs []Run) error {
	record := in.record
	if err := store.append(entry{Scale: in.recipe.Scale, Graph: &record}); err != nil {
		return err
	}
	for _, run := range runs {
		if run.State == Complete {
			continue
		}
		r := engineRun{Input: in, plan: store.Manifest().Plan, spec: run.Engine, done: run.Roots, metered: run.Energy != nil, store: store, progress: progress}
		if err := r.execute(ctx, host); err != nil {
			return err
		}
	}
	return nil
}

// engineRun is one engine at one scale.
type engineRun struct {
	*Input
	plan     Plan
	spec     EngineSpec
	done     []RootRecord // by an earlier session
	metered  bool         // by an earlier session
	store    *Store
	progress Progress
	engine   plugins.Engine
	settings plugins.Settings
	about    *plugins.Description
	built    plugins.Construction
	step     Step // of the searches
}

// execute measures, and records how it ended. Its error is the run's as a whole.
func (r *engineRun) execute(ctx context.Context, host Host) error {
	err := r.measure(ctx, host)
	e := end{State: Complete, Description: r.about}
	var broken *storeError
	switch {
	case errors.As(err, &broken):
		return err
	case ctx.Err() != nil && err != nil:
		e.State = Interrupted
	case err != nil:
		e.State, e.Failure = Failed, err.Error()
		r.progress.Note(fmt.Sprintf("scale %d: engine %s failed: %v", r.recipe.Scale, r.spec.Name, err))
	}
	if recording := r.record(entry{End: &e}); recording != nil {
		return recording
	}
	return ctx.Err()
}

func (r *engineRun) measure(ctx context.Context, host Host) (err error) {
	if err := r.sameRoots(); err != nil {
		return err
	}
	r.engine, err = host.Open(ctx, r.spec)
	if err != nil {
		return r.spared(ctx, err)
	}
	defer func() {
		if closing := r.engine.Close(); err == nil && closing != nil {
			err = fmt.Errorf("close: %w", closing)
		}
	}()
	if err := r.construct(ctx); err != nil {
		return r.spared(ctx, err)
	}
	done, err := r.searchAll(ctx)
	if err != nil || r.plan.Energy == 0 || r.metered {
		return err
	}
	return r.energy(ctx, host, done)
}

// sameRoots says whether the searches of earlier sessions were from the roots that are drawn now.
func (r *engineRun) sameRoots() error {
	if len(r.done) > len(r.roots) {
		return fmt.Errorf("the record holds %d roots and the draw gives %d", len(r.done), len(r.roots))
	}
	for i, d := range r.done {
		if d.Root != r.roots[i] {
			return fmt.Errorf("root %d of the record is %d and the draw gives %d", i, d.Root, r.roots[i])
		}
	}
	return nil
}

// spared records an engine that does not come as far as its searches. Where an earlier session has done them all, that is a
// failure of the energy loop, and what was searched stays.
func (r *engineRun) spared(ctx context.Context, err error) error {
	var broken *storeError
	loopAlone := len(r.done) > 0 && len(r.done) == len(r.roots) && r.plan.Energy > 0 && !r.metered
	if !loopAlone || ctx.Err() != nil || errors.As(err, &broken) {
		return err
	}
	return r.energyFailed(&EnergyRecord{Wanted: r.plan.Energy.Seconds()}, err)
}

// searchAll searches from the roots that are left, and returns the records of all.
func (r *engineRun) searchAll(ctx context.Context) (done []RootRecord, err error) {
	done = r.done
	left := len(r.roots) - len(r.done)
	if left == 0 {
		return done, nil
	}
	step := r.progress.Step(fmt.Sprintf("scale %d: %s: search", r.recipe.Scale, r.spec.Name), int64(left))
	r.step = step
	for n := 0; n < r.plan.WarmUps; n++ {
		if _, _, err := r.search(ctx, r.roots[0]); err != nil {
			step.Fail(err)
			return nil, fmt.Errorf("warm-up from root %d: %w", r.roots[0], err)
		}
	}
	invalid := 0
	for i := len(r.done); i < len(r.roots); i++ {
		record, err := r.root(ctx, i)
		if err != nil {
			step.Fail(err)
			return nil, err
		}
		done = append(done, record)
		if record.Violation != "" {
			invalid++
		}
		if record.Violation != "" && invalid <= 3 { // the others are in the record
			r.progress.Note(fmt.Sprintf("scale %d: %s: root %d is invalid: %s", r.recipe.Scale, r.spec.Name, record.Root, record.Violation))
		}
		if err := r.record(entry{Root: &record}); err != nil {
			step.Fail(err)
			return nil, err
		}
		step.Add(1)
	}
	step.Done(fmt.Sprintf("%d roots, %d invalid", left, invalid))
	return done, nil
}

// construct is kernel 1.
func (r *engineRun) construct(ctx context.Context) error {
	about, err := r.engine.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	r.about = &about
	if about.Unavailable != "" {
		return fmt.Errorf("%w: %s", plugins.ErrUnavailable, about.Unavailable)
	}
	if r.settings, err = settle(r.spec, about); err != nil {
		return err
	}
	step := r.progress.Step(fmt.Sprintf("scale %d: %s: construct", r.recipe.Scale, r.spec.Name), 0)
	if expected := r.store.earlierKernel1(r.spec.Name, r.recipe); expected > 0 {
		step.Expect(expected)
	}
	var built plugins.Construction
	wall, err := r.call(ctx, "kernel 1", func(ctx context.Context) (err error) {
		given := plugins.Graph{Tuples: r.tuples, Options: r.spec.Options}
		if about.WantsRecipe {
			given.Recipe = &r.recipe
		}
		built, err = r.engine.Construct(ctx, given)
		return err
	})
	switch {
	case err != nil:
	case about.WantsRecipe:
		err = possible("kernel 1", built.Elapsed, wall)
	default:
		err = honest("kernel 1", built.Elapsed, wall, int64(len(r.tuples))*graph.EdgeBytes)
	}
	if err != nil {
		step.Fail(err)
		return err
	}
	step.Done(fmt.Sprintf("%s, %d MiB", round(built.Elapsed), built.Bytes>>20))
	r.built = built
	k := Kernel1{Description: about, Options: r.settings.All(), Construction: built, Wall: wall.Seconds()}
	if program, ok := r.engine.(interface{ Checksum() string }); ok && r.spec.Path != "" {
		k.Checksum = program.Checksum()
	}
	return r.record(entry{Kernel1: &k})
}

// search is kernel 2 for one root. The parent array is spoilt first, so that an entry that the engine leaves out is
// seen; filling it is not timed.
func (r *engineRun) search(ctx context.Context, root graph.Vertex) (t plugins.Traversal, wall time.Duration, err error) {
	spoil(r.parents)
	wall, err = r.call(ctx, "search", func(ctx context.Context) (err error) {
		t, err = r.engine.Search(ctx, root, r.parents)
		return err
	})
	if err == nil {
		err = honest("the search", t.Elapsed, wall, int64(len(r.parents))*8)
	}
	return t, wall, err
}

// root searches from root i, and validates.
func (r *engineRun) root(ctx context.Context, i int) (RootRecord, error) {
	record := RootRecord{Index: i, Root: r.roots[i]}
	t, wall, err := r.search(ctx, record.Root)
	if err != nil {
		return record, fmt.Errorf("root %d (%d of %d): %w", record.Root, i+1, len(r.roots), err)
	}
	record.Time, record.Wall = t.Elapsed.Seconds(), wall.Seconds()
	record.Levels, record.Phases, record.Ranks = keep(t)

	if r.plan.Validate != AllRoots && i >= r.plan.Validate {
		stop := r.step.Watch("count", r.validator.Progress)
		tree, err := r.validator.Count(ctx, r.parents)
		stop()
		if err != nil {
			return record, err
		}
		record.count(tree)
		return record, nil
	}
	stop := r.step.Watch("validate", r.validator.Progress)
	start := time.Now()
	tree, err := r.validator.Validate(ctx, record.Root, r.parents)
	elapsed := time.Since(start).Seconds()
	stop()
	var violation *graph.Violation
	switch {
	case errors.As(err, &violation):
		record.Rule, record.Violation = int(violation.Rule), violation.Error()
	case err != nil:
		return record, fmt.Errorf("validate root %d: %w", record.Root, err)
	default:
		record.count(tree)
		record.Depth = &tree.Depth
	}
	record.Validated, record.Validation = true, elapsed
	return record, nil
}

func (record *RootRecord) count(tree graph.Tree) {
	m, nedge, reached := tree.Tuples, tree.NEdge(), tree.Reached
	record.M, record.NEdge, record.Reached = &m, &nedge, &reached
}

// call makes one call of the engine under the plan's time limit, and returns its wall time.
func (r *engineRun) call(ctx context.Context, what string, f func(context.Context) error) (time.Duration, error) {
	return r.limited(ctx, what, r.plan.Timeout, f)
}

// limited is call with a time limit of its own.
func (r *engineRun) limited(ctx context.Context, what string, limit time.Duration, f func(context.Context) error) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	err := f(limited)
	wall := time.Since(start)
	switch {
	case err == nil:
		return wall, nil
	case ctx.Err() != nil:
		return wall, ctx.Err()
	case limited.Err() != nil:
		return wall, fmt.Errorf("%s did not end within %v (--timeout sets the limit): %w", what, limit, err)
	}
	return wall, fmt.Errorf("%s: %w", what, err)
}

// record appends an entry of this run.
func (r *engineRun) record(e entry) error {
	e.Engine, e.Scale = r.spec.Name, r.recipe.Scale
	return r.store.append(e)
}

// round leaves three digits or so.
func round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; unit < time.Minute; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}
