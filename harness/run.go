package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Host opens engines and lends memory that is shared with them.
type Host interface {
	// Open starts an engine; Close of the engine ends it.
	Open(ctx context.Context, spec EngineSpec) (plugins.Engine, error)
	// Tuples and Parents lend n elements; release gives them back.
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
}

// Execute runs the plan of store from where its journal ends, and writes the result:
//
//	for each scale:  generate the tuples, draw the roots                       (untimed)
//	  for each engine:  construct                                              (kernel 1, timed once)
//	    for each root:  search (kernel 2, timed), validate, append to the store
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
	for i, scale := range plan.Scales {
		runs := done.Runs[i*len(plan.Engines) : (i+1)*len(plan.Engines)]
		if err := executeScale(ctx, host, store, progress, scale, runs); err != nil {
			return err
		}
	}
	return nil
}

// input is what the engines of one scale share.
type input struct {
	recipe    graph.Kronecker
	tuples    []graph.Edge
	parents   []graph.Vertex
	roots     []graph.Vertex
	validator *graph.Validator
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
	in := input{recipe: plan.Recipe(scale)}
	var release func() error
	in.tuples, release, err = host.Tuples(in.recipe.Tuples())
	if err != nil {
		return fmt.Errorf("scale %d: memory for %d tuples: %w", scale, in.recipe.Tuples(), err)
	}
	defer func() { err = errors.Join(err, release()) }()
	in.parents, release, err = lend(host, release, in.recipe.Vertices())
	if err != nil {
		return fmt.Errorf("scale %d: memory for %d parents: %w", scale, in.recipe.Vertices(), err)
	}
	if err := in.make(ctx, store, progress); err != nil {
		return err
	}
	for _, run := range runs {
		if run.State == Complete {
			continue
		}
		r := engineRun{input: in, plan: plan, spec: run.Engine, done: run.Roots, store: store, progress: progress}
		if err := r.execute(ctx, host); err != nil {
			return err
		}
	}
	return nil
}

// lend borrows the parent array and chains its release to that of what was borrowed before.
func lend(host Host, before func() error, vertices int64) ([]graph.Vertex, func() error, error) {
	parents, release, err := host.Parents(vertices)
	if err != nil {
		return nil, before, err
	}
	return parents, func() error { return errors.Join(release(), before()) }, nil
}

// make generates the tuples and draws the roots.
func (in *input) make(ctx context.Context, store *Store, progress Progress) error {
	const chunk = 1 << 20 // tuples between two updates of the progress bar
	step := progress.Step(fmt.Sprintf("scale %d: generate", in.recipe.Scale), in.recipe.Tuples())
	start := time.Now()
	for first := int64(0); first < in.recipe.Tuples(); first += chunk {
		part := in.tuples[first:min(first+chunk, in.recipe.Tuples())]
		if err := in.recipe.Generate(ctx, part, first, 0); err != nil {
			step.Fail(err)
			return fmt.Errorf("generate scale %d: %w", in.recipe.Scale, err)
		}
		step.Add(int64(len(part)))
	}
	generation := time.Since(start)
	step.Done(fmt.Sprintf("%d tuples in %s", in.recipe.Tuples(), round(generation)))

	wanted := store.Manifest().Plan.Roots
	roots, rejected, err := DrawRoots(in.recipe, in.tuples, wanted, 0)
	if err != nil {
		return fmt.Errorf("draw roots at scale %d: %w", in.recipe.Scale, err)
	}
	in.roots = roots
	if in.validator, err = graph.NewValidator(in.tuples, in.recipe.Vertices(), 0); err != nil {
		return fmt.Errorf("scale %d: %w", in.recipe.Scale, err)
	}
	return store.append(entry{Scale: in.recipe.Scale, Graph: &GraphRecord{
		Recipe:        in.recipe,
		Tuples:        in.recipe.Tuples(),
		Generation:    generation.Seconds(),
		RejectedDraws: rejected,
		RootsFound:    len(roots),
	}})
}

// engineRun is one engine at one scale.
type engineRun struct {
	input
	plan     Plan
	spec     EngineSpec
	done     []RootRecord // by an earlier session
	store    *Store
	progress Progress
	engine   plugins.Engine
	settings plugins.Settings
	about    *plugins.Description
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
	r.engine, err = host.Open(ctx, r.spec)
	if err != nil {
		return err
	}
	defer func() {
		if closing := r.engine.Close(); err == nil && closing != nil {
			err = fmt.Errorf("close: %w", closing)
		}
	}()
	if err := r.construct(ctx); err != nil {
		return err
	}
	if len(r.done) > len(r.roots) {
		return fmt.Errorf("the record holds %d roots and the draw gives %d", len(r.done), len(r.roots))
	}
	for i, d := range r.done {
		if d.Root != r.roots[i] {
			return fmt.Errorf("root %d of the record is %d and the draw gives %d", i, d.Root, r.roots[i])
		}
	}
	left := len(r.roots) - len(r.done)
	if left == 0 {
		return nil
	}
	step := r.progress.Step(fmt.Sprintf("scale %d: %s: search", r.recipe.Scale, r.spec.Name), int64(left))
	for n := 0; n < r.plan.WarmUps; n++ {
		if _, _, err := r.search(ctx, r.roots[0]); err != nil {
			step.Fail(err)
			return fmt.Errorf("warm-up from root %d: %w", r.roots[0], err)
		}
	}
	invalid := 0
	for i := len(r.done); i < len(r.roots); i++ {
		record, err := r.root(ctx, i)
		if err != nil {
			step.Fail(err)
			return err
		}
		if record.Violation != "" {
			invalid++
		}
		if record.Violation != "" && invalid <= 3 { // the others are in the record
			r.progress.Note(fmt.Sprintf("scale %d: %s: root %d is invalid: %s", r.recipe.Scale, r.spec.Name, record.Root, record.Violation))
		}
		if err := r.record(entry{Root: &record}); err != nil {
			step.Fail(err)
			return err
		}
		step.Add(1)
	}
	step.Done(fmt.Sprintf("%d roots, %d invalid", left, invalid))
	return nil
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
	var built plugins.Construction
	wall, err := r.call(ctx, "kernel 1", func(ctx context.Context) (err error) {
		given := plugins.Graph{Tuples: r.tuples, Options: r.spec.Options}
		if about.WantsRecipe {
			given.Recipe = &r.recipe
		}
		built, err = r.engine.Construct(ctx, given)
		return err
	})
	if err == nil {
		err = honest("kernel 1", built.Elapsed, wall, int64(len(r.tuples))*graph.EdgeBytes)
	}
	if err != nil {
		step.Fail(err)
		return err
	}
	step.Done(fmt.Sprintf("%s, %d MiB", round(built.Elapsed), built.Bytes>>20))
	k := kernel1{Description: about, Options: r.settings.All(), Construction: built, Wall: wall.Seconds()}
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
		tree, err := r.validator.Count(ctx, r.parents)
		if err != nil {
			return record, err
		}
		record.count(tree)
		return record, nil
	}
	start := time.Now()
	tree, err := r.validator.Validate(ctx, record.Root, r.parents)
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
	record.Validated, record.Validation = true, time.Since(start).Seconds()
	return record, nil
}

func (record *RootRecord) count(tree graph.Tree) {
	m, nedge, reached := tree.Tuples, tree.NEdge(), tree.Reached
	record.M, record.NEdge, record.Reached = &m, &nedge, &reached
}

// call makes one call of the engine under the plan's time limit, and returns its wall time.
func (r *engineRun) call(ctx context.Context, what string, f func(context.Context) error) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, r.plan.Timeout)
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
		return wall, fmt.Errorf("%s did not end within %v (--timeout sets the limit): %w", what, r.plan.Timeout, err)
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
