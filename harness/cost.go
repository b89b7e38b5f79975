// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
// and copies as many bytes as a search returns. The costs of calls are bounds: twice the median of them, and twice the
// first.
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
		found, err := engine.Search(ctx, 0)
		if err != nil {
			return c, err
		}
		calls[i] = found.Wall.Seconds()
	}
	slices.Sort(calls)
	c.Call = 2 * calls[costCalls/2]
	took, err := engine.Copy(ctx)
	c.Copy = took.Seconds()
	return c, err
}

const (
	clockCalls = 16 // of the loop that confirms an engine's clock
	costPart   = 8  // of a call of that loop, to the cost of a call
)

const noRepeat = "the engine does not repeat searches (plugins.Repeater, teps_repeat)"

// confirmClock times a loop of the engine's searches on the host's clock. Engines that are part of teps have no such
// loop. Each of its calls follows calls that wake the engine and is short, as a timed search, so that a busy machine
// delays both alike.
func (e *engineRun) confirmClock(ctx context.Context) (err error) {
	if e.spec.Builtin != "" || e.clock != nil || e.wrong() != nil {
		return nil
	}
	roots, err := e.in.others(ctx, clockCalls)
	if err = cmp.Or(err, e.session.Ready(ctx)); err == nil {
		_, _, e.clock, err = e.loop(ctx, roots, time.Duration(clockCalls*costPart*e.in.cost.Sum()*1e9), 1, e.wake)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		e.clock = &record.EnergyLoop{Violation: noRepeat}
	case errors.Is(err, errLoop):
		e.clock = &record.EnergyLoop{Violation: err.Error()}
	case err != nil:
		return fmt.Errorf("confirm the clock: %w", err)
	}
	return e.record(record.Entry{Clock: e.clock})
}
