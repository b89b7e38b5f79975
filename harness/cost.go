// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Nothing returns the engine that does nothing. Calls to it measure the cost of a call.
func Nothing() plugins.Engine { return nothing{} }

type nothing struct{}

func (nothing) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{Name: record.Nothing, Version: "1", Summary: "does nothing"}, nil
}
func (nothing) Construct(context.Context, plugins.Input) (plugins.Construction, error) {
	return plugins.Construction{}, nil
}
func (nothing) Search(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error) {
	return plugins.Traversal{}, nil
}
func (nothing) Close() error { return nil }

// costCalls is the number of calls that measure the cost of a call.
const costCalls = 32

// cost measures the cost of the calls for a graph, without any engine of the run: it calls an engine that does nothing,
// and copies as many bytes as a search returns. The costs are bounds for a busy machine: twice the upper quartile of
// the calls.
func (e *engineRun) cost(ctx context.Context) (c *record.Cost, err error) {
	c = &record.Cost{}
	spec := record.EngineSpec{Name: record.Nothing, Builtin: record.Nothing}
	engine, err := e.in.Open(ctx, e.plan, e.in.id.Kernel, spec, e.progress)
	if err != nil {
		return c, fmt.Errorf("measure the cost of a call: %w", err)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	built, err := engine.Construct(ctx, nil)
	if err != nil {
		return c, err
	}
	c.Kernel1 = 2 * built.Wall.Seconds()
	calls := make([]float64, costCalls)
	for i := range calls {
		took, err := engine.Wake(ctx, 0)
		if err != nil {
			return c, err
		}
		calls[i] = took.Seconds()
	}
	slices.Sort(calls)
	c.Call = 2 * calls[costCalls*3/4]
	took, err := engine.Copy(ctx)
	c.Copy = took.Seconds()
	return c, err
}

const (
	minLoop = 250 * time.Millisecond // of the loop that confirms an engine's clock
	// inLoop is the minimum number of searches in that loop, and the minimum ratio of its time to that of the copy at
	// its end.
	inLoop = 16
)

// confirmClock times a loop of the engine's searches on the host's clock, to which record.Run.Clock compares the times
// of the single searches. Engines that are part of teps have no such loop.
func (e *engineRun) confirmClock(ctx context.Context) error {
	if e.spec.Builtin != "" || e.clock != nil || countable(e.done) != nil {
		return nil
	}
	mean := 0.0
	for _, r := range e.done {
		mean += r.Time / float64(len(e.done))
	}
	searches := inLoop * time.Duration(max(mean, e.in.cost.Copy)*1e9)
	order := func(int) []record.RootRecord { return e.order() }
	loop, err := e.loopUntil(ctx, max(minLoop, searches), 1+maxRepeats, order, func(_ int, l *record.EnergyLoop) bool {
		return l.Kind != record.LoopByRepeat || l.Confirms(e.in.cost)
	})
	if err == nil && loop.Violation == "" {
		if loop.Kind != record.LoopByRepeat {
			return nil // the engine has no loop: the host has timed its calls only
		}
		loop.Violation, err = e.checkOrder(ctx, max(minLoop/2, searches))
	}
	if err != nil {
		return fmt.Errorf("confirm the clock: %w", err)
	}
	if e.clock = loop; loop.Violation != "" {
		e.note("%s", loop.Violation)
	}
	return e.record(record.Entry{Clock: loop})
}

// maxApart is the largest ratio of the times of two loops that search from the same vertices in another order.
const maxApart = 3

// checkOrder compares two loops in which every second search is from a vertex without neighbors, which takes less time.
// In one these come first, in the other second. That makes a difference only to an engine that leaves out roots.
func (e *engineRun) checkOrder(ctx context.Context, duration time.Duration) (violation string, err error) {
	short := record.RootRecord{Root: e.in.made.Isolated}
	all := []record.RootRecord{short}
	for _, r := range e.order() {
		all = append(all, r, short)
	}
	if !slices.ContainsFunc(all, func(r record.RootRecord) bool { return r.Root > short.Root }) {
		return "", nil // it may not be a label of the tuples
	}
	each := []float64{math.Inf(1), math.Inf(1)} // of the fastest loops, seconds a search
	alike := func() bool { return slices.Max(each) <= maxApart*slices.Min(each) }
	loop, err := e.loopUntil(ctx, duration, 8*maxRepeats, func(try int) []record.RootRecord {
		return all[try%2 : len(all)-1+try%2]
	}, func(try int, l *record.EnergyLoop) bool {
		each[try%2] = min(each[try%2], l.Elapsed/float64(l.Searches))
		return alike()
	})
	if err != nil || loop.Violation != "" || alike() {
		return loop.Violation, err
	}
	return fmt.Sprintf("a loop takes %.4g or %.4g ms a search, depending on which of its roots comes first: it leaves "+
		"out roots, or the machine is busy", each[0]*1e3, each[1]*1e3), nil
}

// loopUntil repeats loop until it is good, because the machine may be busy or this process suspended.
func (e *engineRun) loopUntil(ctx context.Context, duration time.Duration, tries int,
	order func(try int) []record.RootRecord, good func(try int, loop *record.EnergyLoop) bool) (
	loop *record.EnergyLoop, err error) {
	for try := range tries {
		_, loop, err = e.loop(ctx, order(try), duration)
		if !errors.Is(err, errSuspended) && (err != nil || loop.Violation != "" || good(try, loop)) {
			break
		}
	}
	return loop, err
}
