package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// run is one execution of a plan.
type run struct {
	host     Host
	store    *record.Store
	plan     record.Plan
	progress Progress
	still    standstill
	pace     *pace // nil: this is a part of something longer
}

func newRun(host Host, store *record.Store, progress Progress) *run {
	if keeper, ok := host.(interface{ KeepOutput(path string) }); ok {
		keeper.KeepOutput(filepath.Join(store.Dir(), record.OutputFile))
	}
	return &run{
		host: host, store: store, plan: store.Manifest().Plan, progress: progress,
		still: standstill{clocks: systemClocks()},
	}
}

// did counts a part of the run and shows how long the rest will take.
func (r *run) did(in *Input, kind, engine string, since time.Time) {
	if r.pace != nil {
		r.pace.did(in.id, kind, engine, in.graph.Tuples, since)
		r.progress.Left(r.pace.left())
	}
}

// engineRun is one engine on one graph.
type engineRun struct {
	*run
	in   *Input
	spec record.EngineSpec
	done []record.RootRecord // of earlier sessions and of this one
	// What earlier sessions have done.
	searched bool // from all roots
	metered  bool // the energy
	opened   plugins.Engine
	parents  []graph.Vertex       // the result of the last search; lent to this engine only
	about    *plugins.Description // nil until the engine has described itself
	built    plugins.Construction
	device   *hostDevice  // open while roots are searched
	confirm  map[int]bool // searches that both the device and the CPU validate
}

const (
	maxNotes = 3           // notes about wrong searches
	maxDelay = time.Second // by which a busy machine may prolong any call
)

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

// end records how the engine ended. It returns an error only if that ends the whole run.
func (e *engineRun) end(ctx context.Context, err error) error {
	changed := e.in.changed()
	end := record.End{State: record.Complete, Void: changed || errors.Is(err, errDisagree)}
	var storeErr *record.StoreError
	switch {
	case errors.As(err, &storeErr):
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
	if e.pace != nil {
		e.pace.skip(e.in.id, e.spec.Name)
		e.progress.Left(e.pace.left())
	}
	if end.Failure != "" {
		e.note("failed: %s", end.Failure)
	}
	if changed && ctx.Err() == nil {
		return e.in.restore(ctx, e.progress)
	}
	return ctx.Err()
}

// errTuplesChanged is the failure of an engine that has changed its input. Its searches were checked against other
// tuples than the generator's, so a resume repeats all of them.
var errTuplesChanged = errors.New("the engine changed the tuples, which it may only read, so its searches do not count")

// construct is kernel 1.
func (e *engineRun) construct(ctx context.Context) (err error) {
	about, err := describe(ctx, e.opened)
	if err != nil {
		return err
	}
	e.about = &about
	if err := e.record(record.Entry{Description: &about}); err != nil {
		return err
	}
	if about.Unavailable != "" {
		return fmt.Errorf("%w: %s", plugins.ErrUnavailable, about.Unavailable)
	}
	settings, err := Resolve(e.spec, about)
	if err != nil {
		return err
	}
	if e.in.source == nil {
		if err := e.admit(ctx); err != nil {
			return err
		}
	}
	step := e.step("construct", 0)
	defer func() {
		step.End(fmt.Sprintf("%s, %s", units.Duration(e.built.Elapsed), units.Bytes(e.built.Bytes)), err)
	}()
	input := plugins.Input{Tuples: e.in.tuples, Options: e.spec.Options}
	outside := maxDelay + plugins.MoveTime(e.in.graph.Tuples*graph.EdgeBytes)
	if e.in.graph.Regenerated {
		input.Recipe = &e.in.graph.Recipe
	}
	if about.WantsRecipe {
		outside = e.plan.Timeout // it may start programs and generate tuples first; the run is not compliant
		if recipe, ok := e.in.source.(graph.Kronecker); ok {
			input.Recipe = &recipe
		}
	}
	if input.DeviceTuples = e.lend(ctx); input.DeviceTuples != nil {
		input.Tuples = nil
	}
	var built plugins.Construction
	build := func() (wall time.Duration, repeats int, err error) {
		return e.timed(ctx, "kernel 1", outside, func() {}, func(ctx context.Context) (time.Duration, error) {
			built, err = e.opened.Construct(ctx, input)
			return built.Elapsed, err
		})
	}
	wall, repeats, err := build()
	if input.DeviceTuples != nil {
		e.takeBack(ctx)
		if errors.Is(err, plugins.ErrMemory) || errors.Is(err, plugins.ErrUnavailable) {
			input.Tuples, input.DeviceTuples = e.in.tuples, nil
			wall, repeats, err = build()
		}
	}
	if err != nil {
		return err
	}
	if e.in.changed() {
		return errTuplesChanged
	}
	e.built = built
	idle, idleErr := e.idle(ctx)
	k := record.Kernel1{
		Options: settings.All(), Construction: built, Wall: wall.Seconds(), Repeats: repeats, Idle: idle,
		DeviceTuples: input.DeviceTuples != nil,
	}
	if program, ok := e.opened.(interface{ Checksum() string }); ok && e.spec.Path != "" {
		k.Checksum = program.Checksum()
	}
	return cmp.Or(e.record(record.Entry{Kernel1: &k}), idleErr)
}

// Resolve returns the options in effect for an engine, and a record.ErrUsage if one of them is wrong.
func Resolve(spec record.EngineSpec, about plugins.Description) (plugins.Settings, error) {
	settings, err := plugins.Resolve(about.Options, spec.Options)
	if err != nil {
		return settings, record.Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	return settings, nil
}

// timed makes a call that the engine times, checks that time, and returns the time of the call on the host's clock. It
// repeats a call that was delayed: this process stood still, or the call took much longer than the engine says. That is
// an error only if it happens again and again. Each call is prepared outside the clock.
func (e *engineRun) timed(ctx context.Context, what string, outside time.Duration, prepare func(),
	call func(context.Context) (elapsed time.Duration, err error)) (wall time.Duration, repeats int, err error) {
	for ; ; repeats++ {
		prepare()
		before := e.still.count()
		limited, cancel := context.WithTimeout(ctx, e.plan.Timeout)
		start := time.Now()
		elapsed, err := call(limited)
		wall = time.Since(start)
		late := limited.Err() != nil
		cancel()
		stood := e.still.count() > before && ctx.Err() == nil && (err == nil || late)
		clockErr := plugins.CheckClock(what, elapsed, wall, outside)
		delayed := err == nil && clockErr != nil && elapsed > 0 && elapsed <= wall
		switch {
		case (stood || delayed) && repeats < maxRepeats:
			continue
		case err != nil:
			return 0, 0, callError(ctx, late, what, e.plan.Timeout, err)
		case repeats > 0 && clockErr == nil:
			e.note("%s was repeated, because it was delayed", what)
		}
		return wall, repeats, clockErr
	}
}

// callError describes the error of a call that was limited in time: the end of ctx, a timeout, or the engine's own.
func callError(ctx context.Context, late bool, what string, timeout time.Duration, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late && endsWithContext(err):
		return fmt.Errorf("%s exceeded the timeout of %v", what, timeout)
	case late: // and the engine, which did not return, is gone
		return fmt.Errorf("%s exceeded the timeout of %v: %w", what, timeout, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// endsWithContext reports whether an error says nothing but that a context has ended.
func endsWithContext(err error) bool {
	return strings.HasSuffix(err.Error(), context.Canceled.Error()) ||
		strings.HasSuffix(err.Error(), context.DeadlineExceeded.Error())
}
