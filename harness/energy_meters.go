package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// Which meters a run has, and whose power they show.

// LevelOneTime is the shortest loop that the EEHPC methodology (v2.0, level 1) takes.
const LevelOneTime = time.Minute

// CheckMeters looks whether a plan that asks for energy can have it: a specification that is wrong is an ErrUsage, a meter that
// was asked for and is not there another error. That there is no meter at all is none.
func CheckMeters(ctx context.Context, host Host, plan Plan) error {
	if plan.Energy == 0 {
		return nil
	}
	meters, absent, err := host.Meters(ctx, plan.Meters)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return Usage("--meter: %w", err)
	}
	if err := power.Close(meters); err != nil {
		return fmt.Errorf("power meters: %w", err)
	}
	for _, a := range absent {
		if a.Asked {
			return fmt.Errorf("the meter %s was asked for and is not there: %s", a.Source, a.Reason)
		}
	}
	return nil
}

// AnnounceMeters says what a user should know before the first loop of a plan that asks for energy: that there is no meter,
// that none of them measures, that the loop is short. The error is that of looking for them.
func AnnounceMeters(ctx context.Context, host Host, plan Plan, progress Progress) error {
	if plan.Energy == 0 {
		return nil
	}
	meters, _, err := host.Meters(ctx, plan.Meters)
	if err != nil {
		return fmt.Errorf("power meters: %w", err)
	}
	defer power.Close(meters)
	measured, slowest := 0, time.Duration(0)
	for _, m := range meters {
		if m.Info().Method == power.Measured {
			measured++
		}
		slowest = max(slowest, m.Info().Period)
	}
	switch {
	case len(meters) == 0:
		progress.Note("no power meter here, so no energy is measured; teps machine lists why for every source")
		return nil
	case measured == 0:
		progress.Note("no meter here measures: all figures of power will be marked as estimated or declared")
	}
	switch {
	case plan.Energy < 10*slowest:
		progress.Note(fmt.Sprintf("an energy loop of %v is short for a meter that is updated every %v: expect a large uncertainty; 1 min is usual",
			plan.Energy, slowest))
	case plan.Energy < LevelOneTime:
		progress.Note(fmt.Sprintf("an energy loop of %v is below the 1 min that GreenGraph500's level 1 asks for; figures will state no level", plan.Energy))
	}
	return nil
}

// uses says whether figures are made of a meter's readings, and why not.
func (r *engineRun) uses(m power.Info) (used bool, why string) {
	switch {
	case m.Within != "":
		return false, "it is a part of " + m.Within
	case m.Scope != power.GPU || told(m):
		return true, ""
	}
	mine := r.uuids()
	switch {
	case len(mine) == 0:
		return false, "the engine does not say that it runs on this GPU"
	case m.Device == "":
		return false, "the meter does not say which GPU it is of"
	case !slices.ContainsFunc(mine, func(id string) bool { return strings.EqualFold(id, m.Device) }):
		return false, "the engine runs on another GPU"
	}
	return true, ""
}

// told says whether a person has said what the meter is of, by asking for it with a scope.
func told(m power.Info) bool {
	return slices.Contains([]string{"command", "stream", "declared", "model"}, m.Source)
}

// uuids are those of the devices that the engine runs on: as it said after kernel 1, or else all that it described.
func (r *engineRun) uuids() []string {
	pick := func(facts []plugins.Fact) (ids []string) {
		for _, f := range facts {
			if f.Name == plugins.DeviceUUID {
				ids = append(ids, f.Value)
			}
		}
		return ids
	}
	if ids := pick(r.built.Details); len(ids) > 0 {
		return ids
	}
	var ids []string
	for _, d := range r.about.Devices {
		ids = append(ids, pick(d.Details)...)
	}
	return ids
}
