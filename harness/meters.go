package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// CheckMeters checks that the meters named by a plan with an energy loop work. A wrong one is a record.ErrUsage.
// The lack of any meter is not an error. The notes are what a user should know before the loop: that there is no meter,
// that none of them measures, or that the loop is short.
func CheckMeters(ctx context.Context, host Host, plan record.Plan) (notes []string, err error) {
	if plan.Energy == 0 {
		return nil, nil
	}
	meters, absent, err := host.Meters(ctx, plan.Meters)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, record.Usage("%w", err)
	}
	measured, period := false, time.Duration(0)
	for _, m := range meters {
		measured = measured || m.Info().Method == power.Measured
		period = max(period, m.Info().Period)
	}
	if err := power.Close(meters); err != nil {
		return nil, fmt.Errorf("power meters: %w", err)
	}
	if len(meters) == 0 {
		notes = append(notes, "no power meter found, so energy is not measured; see teps machine")
		return notes, missingMeter(absent)
	}
	if !measured {
		notes = append(notes, "no meter here measures power, so all figures will be marked as estimated")
	}
	if plan.Energy < max(10*period, record.LevelOneTime) {
		note := fmt.Sprintf("an energy loop of %s is short; GreenGraph500 requires 1 min",
			units.Duration(plan.Energy))
		if period > 0 { // a meter need not state it
			note += ", and the slowest meter is updated every " + units.Duration(period)
		}
		notes = append(notes, note)
	}
	return notes, missingMeter(absent)
}

// missingMeter returns an error if a meter that the plan names is absent.
func missingMeter(absent []power.Absence) error {
	for _, a := range absent {
		if a.Asked {
			return fmt.Errorf("meter %s is not available: %s", a.Source, a.Reason)
		}
	}
	return nil
}

// uses reports whether figures of this engine are made from a meter, and why not.
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

// devices returns the identities of the devices that the engine runs on: those reported by kernel 1, or else all that
// it described.
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
	for _, d := range e.about.Devices {
		add(d.Details)
	}
	return ids
}
