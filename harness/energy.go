// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// The energy loop follows the searches that were timed and validated:
//
//	rest    the engine does nothing, so that clocks and fans slow down
//	idle    the engine holds its graph and does nothing: the baseline
//	loop    searches from the roots in random order: the interval of the figures
//	after   the parents of the last search are validated; if they are wrong, the loop is void
//
// A search takes from fractions of a millisecond to seconds, and a meter may be updated ten times per second, so energy
// is measured over many searches. GreenGraph500 does the same, for at least a minute.

const (
	maxRest = 2 * time.Second  // a tenth of the loop, at most this
	maxIdle = 10 * time.Second // as long as the loop, at most this
	maxTail = 2 * time.Second  // recorded after the loop: half of the loop, at most this
)

// energy measures the energy of an engine that has searched from all roots. A failure is recorded and leaves the other
// results as they are; the error is that of the run as a whole.
func (e *engineRun) energy(ctx context.Context) error {
	out := &record.EnergyRecord{}
	err := e.meter(ctx, out)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // nothing is recorded, so a resume repeats the loop
	}
	return e.recordEnergy(out, err)
}

func (e *engineRun) recordEnergy(out *record.EnergyRecord, err error) error {
	if err != nil {
		out.Failure = err.Error()
		e.note("energy not measured: %s", out.Failure)
	}
	return e.record(record.Entry{Energy: out})
}

// meter runs the energy loop while all meters are recorded.
func (e *engineRun) meter(ctx context.Context, out *record.EnergyRecord) error {
	if err := e.wrong(); err != nil {
		return err
	}
	result, err := e.store.Result()
	if err != nil {
		return err
	}
	for _, r := range result.Runs {
		if fault := r.ClockFault(); fault != "" && r.Engine.Name == e.spec.Name && r.GraphID == e.in.id {
			return errors.New(fault)
		}
	}
	meters, absent, err := e.host.Meters(ctx, e.plan.Meters)
	if err != nil {
		return fmt.Errorf("power meters: %w", err)
	}
	defer meters.Close()
	infos := meters.Infos()
	if err := missingMeter(absent); err != nil {
		return err
	}
	if len(infos) == 0 {
		out.Absent = absent
		return nil
	}
	for _, a := range absent {
		if a.Scope != "" && a.Scope != power.GPU { // unmetered knows which GPUs count
			out.Absent = append(out.Absent, a)
		}
	}
	out.Absent = append(out.Absent, e.unmetered(infos)...)
	stop, err := meters.Record(ctx)
	if err != nil {
		return err
	}
	start, err := e.energyPhases(ctx, out, power.Margin(infos))
	series, lost := stop()
	if out.Loop == nil || lost != nil {
		return cmp.Or(err, lost)
	}
	for _, s := range series {
		m := record.NewMetered(s, start, out.Phases)
		m.Used, m.Why = e.uses(s.Info)
		out.Meters = append(out.Meters, m)
	}
	for _, lost := range out.Lost() {
		e.note("a meter is lost, so sums with it have no figure: %s: %s", lost.Source, lost.Reason)
	}
	return cmp.Or(err, missingMeter(out.Lost()))
}

// unmetered returns the GPUs of the engine that no meter reads.
func (e *engineRun) unmetered(meters []power.Info) (absent []power.Absence) {
	asked := slices.ContainsFunc(meters, func(m power.Info) bool { return m.Asked && m.Scope == power.GPU })
	for _, id := range e.devices() {
		reads := func(m power.Info) bool {
			return m.Scope == power.GPU && (m.ScopeStated || strings.EqualFold(m.Device, id))
		}
		if !slices.ContainsFunc(meters, reads) {
			absent = append(absent, power.Absence{Source: id, Reason: "no meter reads this GPU", Asked: asked, Scope: power.GPU})
		}
	}
	return absent
}

// wrong returns an error unless there are searches, and the tuples of each are known.
func (e *engineRun) wrong() error {
	if n := (record.Run{Roots: e.done}).BrokenRoots(); n > 0 || len(e.done) == 0 {
		return fmt.Errorf("%d of %d searches are wrong", n, len(e.done))
	}
	return nil
}

// energyPhases goes through the phases, and records for at least margin before and after the loop. It returns the
// start of the loop. If it fails, out.Loop is nil unless the engine completed its loop.
func (e *engineRun) energyPhases(
	ctx context.Context, out *record.EnergyRecord, margin time.Duration) (start time.Time, err error) {
	wanted := e.plan.Energy
	rest, idle := min(wanted/10, maxRest), max(min(wanted, maxIdle), margin)
	tail := max(min(wanted/2, maxTail), margin)
	step, summary := e.step("energy", 0), ""
	defer func() { step.End(summary, err) }()

	if err := e.session.Ready(ctx); err != nil {
		return start, err
	}
	began := time.Now()
	if err := wait(ctx, rest); err != nil {
		return start, err
	}
	rested := time.Now()
	if err := wait(ctx, idle); err != nil {
		return start, err
	}
	order := slices.Clone(e.done)
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	group := 2 + int(float64(64*len(order))*e.in.cost.Call/wanted.Seconds()) // so calls cost at most 1/64 of the loop
	start, loop, err := e.loop(ctx, order, wanted, min(group, len(order)), 0)
	if err != nil {
		return start, err
	}
	out.Loop = loop
	ended := start.Add(time.Duration(loop.Elapsed * 1e9))
	err = wait(ctx, tail-time.Since(ended))
	phase := func(name string, from, to time.Time) record.EnergyPhase {
		return record.EnergyPhase{Name: name, From: from.Sub(start), To: to.Sub(start)}
	}
	out.Phases = []record.EnergyPhase{
		phase(record.PhaseRest, began, rested),
		phase(record.PhaseIdle, rested, start),
		phase(record.PhaseLoop, start, ended),
		phase(record.PhaseAfter, ended, time.Now()),
	}
	summary = fmt.Sprintf("%d searches in %s", out.Loop.Searches, units.Seconds(out.Loop.Elapsed))
	return start, err
}

// wait leaves the engine idle for a while.
func wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(duration):
		return nil
	}
}

// uses reports whether the figures of this engine use a meter, and otherwise the reason.
func (e *engineRun) uses(m power.Info) (used bool, why string) {
	switch {
	case m.Scope != power.GPU || m.ScopeStated:
		return true, ""
	}
	devices := e.devices()
	switch {
	case len(devices) == 0:
		return false, "the engine does not report the GPU it runs on"
	case m.Device == "":
		return false, "the meter does not report which GPU it is for"
	case !slices.ContainsFunc(devices, func(id string) bool { return strings.EqualFold(id, m.Device) }):
		return false, "the engine runs on another GPU"
	}
	return true, ""
}

// devices returns the identities of the devices that the engine runs on: those that kernel 1 reported, or all devices
// in its description if there were none.
func (e *engineRun) devices() (ids []string) {
	add := func(facts []plugins.Fact) {
		for _, f := range facts {
			if f.Name == plugins.DeviceUUID {
				ids = append(ids, f.Value)
			}
		}
	}
	if add(e.built.Details); len(ids) > 0 {
		return ids
	}
	for _, d := range e.description.Devices {
		add(d.Details)
	}
	return ids
}
