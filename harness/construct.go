// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// construct is kernel 1.
func (e *engineRun) construct(ctx context.Context) (err error) {
	settings, err := e.describe(ctx)
	if err != nil {
		return err
	}
	step := e.step("construct", 0)
	defer func() {
		step.End(fmt.Sprintf("%s, %s", units.Duration(e.built.Elapsed), units.Bytes(e.built.Bytes)), err)
	}()
	var c Constructed
	construct := func(ctx context.Context) (_, _ time.Duration, err error) {
		c, err = e.session.Construct(ctx, e.spec.Options)
		return c.Elapsed, c.Wall, err
	}
	err = e.timed(ctx, "kernel 1", e.plan.Timeout, maxRepeats, construct)
	if e.built = c.Construction; err != nil {
		return err
	}
	if changed, err := e.in.Changed(ctx); changed || err != nil {
		return cmp.Or(err, errTuplesChanged)
	}
	k := record.Kernel1{
		Options: settings.All(), Construction: e.built, Wall: c.Wall.Seconds(), Cost: e.in.cost,
		DeviceTuples: c.OnDevice, Hosts: c.Hosts,
	}
	if e.spec.Path != "" {
		k.Checksum = e.session.Checksum()
	}
	return e.record(record.Entry{Kernel1: &k})
}

// describe asks the engine for its description, and checks that the engine can run here with its options. A graph from
// a file must also be within its limits and the memory.
func (e *engineRun) describe(ctx context.Context) (settings plugins.Settings, err error) {
	if e.description, err = e.session.Describe(ctx); err != nil {
		return settings, err
	}
	if err := e.record(record.Entry{Description: &e.description}); err != nil {
		return settings, err
	}
	if e.in.id.Kernel == record.SSSP && !e.description.ShortestPaths {
		return settings, fmt.Errorf("kernel 3: %w", errors.ErrUnsupported)
	}
	if e.description.Unavailable != "" {
		return settings, fmt.Errorf("%w: %s", plugins.ErrUnavailable, e.description.Unavailable)
	}
	if settings, err = Resolve(e.spec, e.description); err != nil || e.in.graph.File == nil {
		return settings, err
	}
	return settings, e.admit(ctx, settings.Limits(e.description))
}

// admit returns an error if an engine cannot take a graph from a file, or if the tuples, parents and validator leave it
// too little memory.
func (e *engineRun) admit(ctx context.Context, limits plugins.Limits) error {
	g := e.in.graph
	if !within(limits, g.Vertices, g.Tuples) {
		return tooLarge(e.spec.Name, limits, e.in.id)
	}
	available, source, err := machine.AvailableMemory(ctx)
	memory := memoryFor(e.in.id.Kernel == record.SSSP, e.description)
	needs := saturate(memory.Bytes(g.Vertices, g.Tuples))
	if err == nil && needs > available {
		return fmt.Errorf("%w: engine %s needs %s for %s, but this machine has %s available (%s)", plugins.ErrMemory,
			e.spec.Name, units.Bytes(needs), e.in.id, units.Bytes(available), source)
	}
	return nil
}
