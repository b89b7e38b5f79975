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

// The energy loop, after the searches that were timed and validated:
//
//	settle, idle        the engine holds its graph and does nothing           (the baseline)
//	loop                searches from the roots, around and around            (what the figures are of)
//	after               some searches, validated                              (or the loop counts for nothing)
//
// One search lasts from fractions of a millisecond to seconds, and a meter may be updated ten times a second: energy is
// taken over many searches, or not at all. GreenGraph500 measures in the same way, for at least a minute.

const (
	longestIdle   = 10 * time.Second       // the baseline is as long as the loop, up to this
	longestSettle = 2 * time.Second        // before the baseline; a tenth of the loop, up to this
	longestTail   = 2 * time.Second        // after the loop at least, so that meters of one update a second cover its end; half of the loop, up to this
	mostAfter     = 4                      // searches after the loop
	tick          = 500 * time.Millisecond // between two updates of the progress bar
)

// energy measures the energy of the engine, which has searched from all roots. An engine that fails here has an
// EnergyRecord that says so, and keeps its other results: the error is about the run as a whole.
func (r *engineRun) energy(ctx context.Context, host Host, done []RootRecord) error {
	e := &EnergyRecord{Wanted: r.plan.Energy.Seconds()}
	if err := r.measureEnergy(ctx, host, done, e); err != nil {
		if ctx.Err() != nil {
			return ctx.Err() // nothing is recorded: the loop is repeated when the run is resumed
		}
		return r.energyFailed(e, err)
	}
	return r.record(entry{Energy: e})
}

func (r *engineRun) energyFailed(e *EnergyRecord, err error) error {
	e.Failure = err.Error()
	r.progress.Note(fmt.Sprintf("scale %d: energy of %s: %s", r.recipe.Scale, r.spec.Name, e.Failure))
	return r.record(entry{Energy: e})
}

func (r *engineRun) measureEnergy(ctx context.Context, host Host, done []RootRecord, e *EnergyRecord) error {
	nedge, err := edgesOf(done)
	if err != nil {
		return err
	}
	meters, absent, err := host.Meters(ctx, r.plan.Meters)
	if err != nil {
		return fmt.Errorf("power meters: %w", err)
	}
	defer power.Close(meters)
	for _, a := range absent {
		if a.Asked {
			return fmt.Errorf("the meter %s was asked for and has gone: %s", a.Source, a.Reason)
		}
	}
	if len(meters) == 0 {
		e.Absent = absent
		return nil // said once, when the run began
	}
	l := loopOf{engineRun: r, record: e, margin: power.Margin(meters)}
	recorder := power.Record(ctx, meters, power.DefaultInterval)
	err = l.run(ctx, nedge)
	series := recorder.Stop()
	if err != nil && e.Loop == nil {
		return err // the engine did not get through its loop: nothing is to be said of any energy
	}
	for _, s := range series {
		m := metered(s, l.start, e.Phases)
		m.Used, m.Why = r.uses(s.Info)
		e.Meters = append(e.Meters, m)
	}
	return err
}

// edgesOf returns the tuples of each root's search, in the order of the roots.
func edgesOf(done []RootRecord) ([]int64, error) {
	wrong := 0
	var nedge []int64
	for _, root := range done {
		if root.Broken() || root.NEdge == nil {
			wrong++
			continue
		}
		nedge = append(nedge, *root.NEdge)
	}
	switch {
	case wrong > 0:
		return nil, fmt.Errorf("not measured: %d of %d searches are wrong", wrong, len(done))
	case len(done) == 0:
		return nil, errors.New("not measured: there is no root to search from")
	}
	return nedge, nil
}

// EnergyTime is how long the energy loop of a run takes, with what comes before and after it. Meters that are updated less
// than once in two seconds add to it.
func (p Plan) EnergyTime() time.Duration {
	return min(p.Energy/10, longestSettle) + min(p.Energy, longestIdle) + p.Energy + min(p.Energy/2, longestTail)
}

// loopOf is one energy loop in the making.
type loopOf struct {
	*engineRun
	record *EnergyRecord
	margin time.Duration // to record before and after the loop
	start  time.Time     // of the loop
	step   Step
	ticks  int64 // that step has not been told of
}

// run goes through the phases. It leaves record.Loop empty if the engine did not get through its loop, and record.After if it
// did not get through its searches after that.
func (l *loopOf) run(ctx context.Context, nedge []int64) (err error) {
	wanted := l.plan.Energy
	settle, idle := min(wanted/10, longestSettle), max(min(wanted, longestIdle), l.margin)
	tail := max(min(wanted/2, longestTail), l.margin)
	l.ticks = int64((settle+idle+wanted+tail)/tick) + 1
	l.step = l.progress.Step(fmt.Sprintf("scale %d: %s: energy", l.recipe.Scale, l.spec.Name), l.ticks)
	defer func() {
		if err != nil {
			l.step.Fail(err)
			return
		}
		l.step.Done(fmt.Sprintf("%d searches in %s, %d validated after them", l.record.Loop.Searches,
			round(time.Duration(l.record.Loop.Elapsed*float64(time.Second))), l.record.After.Valid))
	}()
	began := time.Now()
	if err := l.rest(ctx, settle); err != nil {
		return err
	}
	settled := time.Now()
	if err := l.rest(ctx, idle); err != nil {
		return err
	}
	if err := l.loop(ctx, nedge); err != nil {
		return err
	}
	ended := l.start.Add(time.Duration(l.record.Loop.Elapsed * float64(time.Second)))
	err = l.after(ctx)
	if resting := l.rest(ctx, tail-time.Since(ended)); err == nil {
		err = resting
	}
	at := func(name string, from, to time.Time) {
		l.record.Phases = append(l.record.Phases, EnergyPhase{name, from.Sub(l.start), to.Sub(l.start)})
	}
	at(PhaseSettle, began, settled)
	at(PhaseIdle, settled, l.start)
	at(PhaseLoop, l.start, ended)
	at(PhaseAfter, ended, time.Now())
	return err
}

// rest lets the engine do nothing for a while.
func (l *loopOf) rest(ctx context.Context, duration time.Duration) error {
	if duration <= 0 {
		return ctx.Err()
	}
	return l.watch(func() error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(duration):
			return nil
		}
	})
}

// watch moves the progress bar while f runs.
func (l *loopOf) watch(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			if l.ticks > 1 { // a full bar would say that it is over
				l.ticks--
				l.step.Add(1)
			}
		}
	}
}

// loop searches from the roots around and around for the time of the plan.
func (l *loopOf) loop(ctx context.Context, nedge []int64) error {
	made := EnergyLoop{Kind: LoopByRepeat, Roots: len(nedge)}
	var elapsed time.Duration
	err := l.watch(func() (err error) {
		l.start = time.Now()
		made.Searches, err = l.repeat(ctx)
		if errors.Is(err, errors.ErrUnsupported) {
			made.Kind = LoopByCalls
			l.start = time.Now()
			made.Searches, err = l.searchAgain(ctx)
		}
		elapsed = time.Since(l.start)
		return err
	})
	switch {
	case err != nil:
		return err
	case elapsed < l.plan.Energy:
		return fmt.Errorf("the engine's loop ended after %v, and %v were asked for", elapsed, l.plan.Energy)
	case made.Searches < 1:
		return fmt.Errorf("the engine's loop did no search in %v", elapsed)
	}
	made.Elapsed = elapsed.Seconds()
	made.NEdge = edgesAround(nedge, made.Searches)
	made.TEPS = float64(made.NEdge) / made.Elapsed
	l.record.Loop = &made
	return nil
}

// edgesAround adds up the tuples of so many searches from roots that take turns.
func edgesAround(nedge []int64, searches int64) (sum int64) {
	rounds, last := searches/int64(len(nedge)), searches%int64(len(nedge))
	for i, n := range nedge {
		sum += rounds * n
		if int64(i) < last {
			sum += n
		}
	}
	return sum
}

// repeat is the loop inside of the engine: one call, which may take as much longer than asked as any call may take.
func (l *loopOf) repeat(ctx context.Context) (searches int64, err error) {
	engine, ok := l.engine.(plugins.Repeater)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	_, err = l.limited(ctx, "the energy loop", l.plan.Energy+l.plan.Timeout, func(ctx context.Context) (err error) {
		searches, err = engine.Repeat(ctx, l.roots, l.plan.Energy)
		return err
	})
	return searches, err
}

// searchAgain is the loop by calls.
func (l *loopOf) searchAgain(ctx context.Context) (searches int64, err error) {
	for ; time.Since(l.start) < l.plan.Energy; searches++ {
		root := l.roots[searches%int64(len(l.roots))]
		_, err := l.call(ctx, "a search of the energy loop", func(ctx context.Context) error {
			_, err := l.engine.Search(ctx, root, l.parents)
			return err
		})
		if err != nil {
			return searches, err
		}
	}
	return searches, nil
}

// after searches from some of the roots and validates, all over the order in which they were drawn.
func (l *loopOf) after(ctx context.Context) error {
	after := &AfterLoop{}
	n := min(mostAfter, len(l.roots))
	for i := range n {
		root := l.roots[i*len(l.roots)/n]
		if _, _, err := l.search(ctx, root); err != nil {
			return fmt.Errorf("search from root %d after the energy loop: %w", root, err)
		}
		_, err := l.validator.Validate(ctx, root, l.parents)
		var violation *graph.Violation
		switch {
		case errors.As(err, &violation):
			if after.Violation == "" {
				after.Violation = fmt.Sprintf("root %d: %v", root, violation)
			}
		case err != nil:
			return fmt.Errorf("validate root %d after the energy loop: %w", root, err)
		default:
			after.Valid++
		}
		after.Searches++
	}
	l.record.After = after
	if after.Valid < after.Searches {
		return fmt.Errorf("%d of %d searches after the energy loop are wrong, so the loop counts for nothing: %s",
			after.Searches-after.Valid, after.Searches, after.Violation)
	}
	return nil
}
