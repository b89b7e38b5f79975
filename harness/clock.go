// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// timed makes a call that returns its time on the engine's clock, which must be positive, and on the host's clock,
// which must not be shorter. If this process was suspended, the call is repeated, or fails after the last repeat.
func (e *engineRun) timed(ctx context.Context, what string, limit time.Duration, repeats int,
	call func(context.Context) (elapsed, wall time.Duration, err error)) error {
	for ; ; repeats-- {
		before := e.suspensions.count()
		limited, cancel := context.WithTimeout(ctx, limit)
		elapsed, wall, err := call(limited)
		late := limited.Err() != nil
		cancel()
		switch suspended := e.suspensions.count() > before && ctx.Err() == nil && (err == nil || late); {
		case suspended && repeats > 0:
			continue
		case suspended:
			return fmt.Errorf("%s: teps was suspended; resume the run to repeat it", what)
		case err != nil:
			return callError(ctx, late, what, limit, err)
		case elapsed <= 0 || elapsed > wall:
			return fmt.Errorf("%s: %w: it reports %v for a call that took %v", what, plugins.ErrClock, elapsed, wall)
		}
		return nil
	}
}

// callError describes the error of a call with a time limit: the end of ctx, a timeout, or an error of the engine.
func callError(ctx context.Context, late bool, what string, limit time.Duration, err error) error {
	switch text := err.Error(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case late && (strings.HasSuffix(text, context.Canceled.Error()) ||
		strings.HasSuffix(text, context.DeadlineExceeded.Error())):
		return fmt.Errorf("%s exceeded the timeout of %v", what, limit)
	case late: // and the engine, which did not return, is gone
		return fmt.Errorf("%s exceeded the timeout of %v: %w", what, limit, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

const (
	suspensionLimit = 2 * time.Second // a very busy machine delays an idle goroutine by less
	maxRepeats      = 3               // of one call
)

// suspensions counts the times that this process did not run for a while: a user stopped it (Ctrl-Z, a debugger), or
// the machine was suspended or its virtual machine paused. A call of an engine then takes longer or seems to take
// longer. The clock is that of the wall, because a monotonic one does not advance while a machine is suspended.
type suspensions struct {
	now  func() time.Time
	mu   sync.Mutex
	last time.Time // when the process last ran
	n    int       // so far
}

// watch looks at the time until ctx ends.
func (s *suspensions) watch(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		s.count()
	}
}

// count returns the number of suspensions so far.
func (s *suspensions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last
	if s.last = s.now().Round(0); s.last.Sub(last) > suspensionLimit {
		s.n++
	}
	return s.n
}

// Nothing returns the engine that only writes parents. Calls to it measure the cost of a call.
func Nothing() plugins.Engine { return nothing{} }

type nothing struct{}

func (nothing) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{Name: record.Nothing, Version: "1", Summary: "writes parents"}, nil
}
func (nothing) Construct(context.Context, plugins.Input) (plugins.Construction, error) {
	return plugins.Construction{}, nil
}
func (nothing) Search(_ context.Context, _ graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	clear(out.Parent)
	clear(out.Distance)
	return plugins.Traversal{}, nil
}
func (nothing) Close() error { return nil }

// costCalls is the number of calls that measure the cost of a call, unless that takes longer than maxWake.
const costCalls = 32

// cost measures the cost of the calls for a graph, without any engine of the run, by calls of one that only writes
// parents. The costs are bounds: twice the median of the calls, and twice the first.
func (e *engineRun) cost(ctx context.Context) (c *record.Cost, err error) {
	spec := record.EngineSpec{Name: record.Nothing, Builtin: record.Nothing}
	engine, err := e.in.Open(ctx, e.plan, e.in.id.Kernel, spec, e.progress)
	if err != nil {
		return nil, fmt.Errorf("measure the cost of a call: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	built, err := engine.Construct(ctx, nil)
	var calls []time.Duration
	for start := time.Now(); err == nil && len(calls) < costCalls && (len(calls) < 3 || time.Since(start) < maxWake); {
		var found Searched
		found, err = engine.Search(ctx, 0, false)
		calls = append(calls, found.Wall)
	}
	slices.Sort(calls)
	if err == nil {
		c = &record.Cost{Call: 2 * calls[len(calls)/2].Seconds(), Kernel1: 2 * built.Wall.Seconds()}
	}
	return c, err
}

const (
	clockCalls = 16 // of the loop that confirms an engine's clock
	costPart   = 8  // of a call of that loop, to the cost of a call
	maxFaster  = 3  // times as fast as by itself may a search be in a loop, where caches stay warm
)

// confirmClock times a loop of the engine's searches on the host's clock. Engines that are part of teps have no such
// loop. Each of its calls follows calls that wake the engine and is short, as a timed search, so that a busy machine
// delays both alike.
func (e *engineRun) confirmClock(ctx context.Context) error {
	if e.spec.Builtin != "" || e.clock != nil || e.wrong() != nil {
		return nil
	}
	roots, err := e.in.others(ctx, clockCalls)
	if err = cmp.Or(err, e.session.Ready(ctx)); err == nil {
		_, e.clock, err = e.loop(ctx, roots, time.Duration(clockCalls*costPart*e.in.cost.Call*1e9), 1, maxRepeats)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.clock = &record.EnergyLoop{Violation: "the engine does not repeat searches (plugins.Repeater, teps_repeat)"}
	case errors.Is(err, plugins.ErrClock):
		e.clock = &record.EnergyLoop{Violation: err.Error()}
	case err != nil:
		return fmt.Errorf("confirm the clock: %w", err)
	}
	return e.record(record.Entry{Clock: e.clock})
}

// loop lets the engine search for a duration, with a call for each group of the roots, so that it cannot choose what it
// searches from. A call's part of the duration is that of its roots' times. If calls may be repeated, others that wake
// the engine come before. The last search is validated.
func (e *engineRun) loop(ctx context.Context, roots []record.RootRecord, duration time.Duration, group, repeats int) (
	start time.Time, loop *record.EnergyLoop, err error) {
	sum, edges, calls, last := 0.0, 0.0, []Repeated(nil), record.RootRecord{Index: -1}
	for _, r := range roots {
		sum += r.Time
	}
	start, loop = time.Now(), &record.EnergyLoop{Roots: len(roots)}
	for some := range slices.Chunk(roots, group) {
		from, part := make([]graph.Vertex, len(some)), 0.0
		for i, r := range some {
			from[i], part = r.Root, part+r.Time/sum
		}
		var done Repeated
		asked := max(time.Duration(part*float64(duration)), 1)
		err = e.timed(ctx, "the loop", asked+e.plan.Timeout, repeats,
			func(ctx context.Context) (_, _ time.Duration, err error) {
				if repeats > 0 {
					err = e.wake(ctx)
				}
				if err == nil {
					done, err = e.session.Repeat(ctx, from, asked)
				}
				if err == nil && (done.Searches < 1 || done.Wall < asked) {
					err = fmt.Errorf("%w: %d searches in %v, where %v were asked", plugins.ErrClock, done.Searches, done.Wall, asked)
				}
				return done.Wall, done.Wall, err
			})
		if err != nil {
			return start, nil, err
		}
		size, n := int64(len(some)), done.Searches
		for i, r := range some {
			if r.NEdge != nil {
				edges += float64((n+size-1-int64(i))/size) * float64(*r.NEdge)
			}
		}
		calls, loop.Searches, last.Root = append(calls, done), loop.Searches+n, from[(n-1)%size]
	}
	loop.Elapsed = time.Since(start).Seconds()
	loop.NEdge, loop.TEPS = int64(edges), edges/loop.Elapsed
	loop.Single = record.LowerQuartile(e.done, func(r record.RootRecord) float64 { return r.Time })
	loop.Each = record.LowerQuartile(calls, func(c Repeated) float64 {
		return max(0, c.Wall.Seconds()-e.in.cost.Call) / float64(c.Searches)
	})
	e.session.StartValidating(ctx)
	switch err = e.validate(ctx, &last, Validated); {
	case err != nil:
	case e.spec.Builtin == "" && loop.Single > maxFaster*loop.Each:
		err = fmt.Errorf("the loop: %w: a search took %.4g ms, and %.4g ms by itself; a loop may be %d times as fast, "+
			"unless the machine is too busy for the host to tell", plugins.ErrClock, loop.Each*1e3, loop.Single*1e3, maxFaster)
	case last.Broken():
		err = fmt.Errorf("the loop: %w: the last of %d searches, from root %d, is invalid: %s", plugins.ErrClock,
			loop.Searches, last.Root, last.Violation)
	}
	return start, loop, err
}
