package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tepsbench/teps/power"
)

// LevelOneTime is the minimum length of the loop for level 1 of the EEHPC methodology (v2.0).
const LevelOneTime = time.Minute

// Names of the sums over meters of one source. A sum of components is not a system: it lacks fans, disks, network and
// the losses of power supplies.
const (
	sumOfPackages = "packages + dram"
	sumOfGPUs     = "gpus"
)

const (
	// minCoverage is the part of an interval that a meter must cover. The rest is assumed to be alike, and counts as
	// uncertainty in full.
	minCoverage = 0.99
	// minPower is in watts. No machine searches on less, so a meter that shows less is disconnected or broken.
	minPower = 1e-6
)

// Label describes the power of the figure briefly: its scope, and its method unless that is "measured".
func (f PowerFigure) Label() string {
	text := string(f.Scope)
	if len(f.Meters) > 1 {
		text = f.Of
	}
	if f.Method != power.Measured {
		text += ", " + string(f.Method)
	}
	return text
}

// Headline returns the figure to show if there is room for one: measured before others, a system before its components,
// GPUs before packages, sums before their parts.
func (e *EnergyRecord) Headline() (PowerFigure, bool) {
	if e == nil || len(e.Figures) == 0 {
		return PowerFigure{}, false
	}
	return slices.MinFunc(e.Figures, func(a, b PowerFigure) int { return cmp.Compare(a.rank(), b.rank()) }), true
}

// rank is lower for a figure that says more.
func (f PowerFigure) rank() int {
	scopes := []power.Scope{power.Wall, power.Node, power.GPU, power.Package, power.SoC, f.Scope}
	rank := 2 * slices.Index(scopes, f.Scope)
	if f.Method != power.Measured {
		rank += 100
	}
	if len(f.Meters) > 1 {
		rank--
	}
	return rank
}

// figures are made from every meter in use that covers the loop, and from sums over the parts of one kind if all of
// them do.
func (e *EnergyRecord) figures() []PowerFigure {
	if e.Failure != "" || e.Loop == nil {
		return nil
	}
	var all []PowerFigure
	for _, m := range e.Meters {
		if m.Used && m.covers() {
			all = append(all, e.figure(m.Meter.Name, []Metered{m}))
		}
	}
	for _, sum := range []struct {
		name   string
		scopes []power.Scope
	}{{sumOfPackages, []power.Scope{power.Package, power.DRAM}}, {sumOfGPUs, []power.Scope{power.GPU}}} {
		if parts := e.parts(sum.scopes); len(parts) > 1 {
			f := e.figure(sum.name, parts)
			f.Scope = sum.scopes[0]
			all = append(all, f)
		}
	}
	return all
}

// covers reports whether the meter's samples cover the loop and show a plausible power.
func (m Metered) covers() bool {
	return m.Loop != nil && m.Loop.Coverage >= minCoverage && m.Loop.Joules > 0 && m.Loop.Watts >= minPower
}

// ShowedNothing reports whether a meter in use was read over the whole loop, but showed no energy.
func (m Metered) ShowedNothing() bool {
	return m.Used && m.Loop != nil && m.Loop.Coverage >= minCoverage && !m.covers()
}

// parts returns the meters in use of some scopes. It returns none unless all are of one source, which counts nothing
// twice, and all cover the loop.
func (e *EnergyRecord) parts(scopes []power.Scope) (parts []Metered) {
	for _, m := range e.Meters {
		if !m.Used || !slices.Contains(scopes, m.Meter.Scope) {
			continue
		}
		if !m.covers() || len(parts) > 0 && m.Meter.Source != parts[0].Meter.Source {
			return nil
		}
		parts = append(parts, m)
	}
	return parts
}

// figure divides the loop by the sum of some meters.
func (e *EnergyRecord) figure(name string, meters []Metered) PowerFigure {
	scope := meters[0].Meter.Scope
	f := PowerFigure{Of: name, Scope: scope, System: scope.System(), Method: power.Measured}
	var doubt, idle, idleDoubt float64 // watts
	idleKnown, errorKnown := true, true
	for _, m := range meters {
		f.Meters = append(f.Meters, m.Meter.Name)
		if m.Meter.Method != power.Measured {
			f.Method = m.Meter.Method
		}
		f.SensorError = max(f.SensorError, m.Meter.Error)
		errorKnown = errorKnown && m.Meter.Error > 0
		f.Watts += m.Loop.Watts
		doubt += doubtOf(m.Loop)
		if m.Idle == nil || m.Idle.Coverage < minCoverage {
			idleKnown = false
			continue
		}
		idle, idleDoubt = idle+m.Idle.Watts, idleDoubt+doubtOf(m.Idle)
	}
	if !errorKnown {
		f.SensorError = 0
	}
	f.Joules = f.Watts * e.Loop.Elapsed
	f.Uncertainty = doubt / f.Watts
	f.MTEPSPerWatt = e.Loop.TEPS / 1e6 / f.Watts
	f.JoulesPerSearch = f.Joules / float64(e.Loop.Searches)
	if !idleKnown {
		return f
	}
	f.IdleWatts = &idle
	if excess := f.Watts - idle; excess > doubt+idleDoubt {
		f.MTEPSPerWattOverIdle, f.UncertaintyOverIdle = new(e.Loop.TEPS/1e6/excess), new((doubt+idleDoubt)/excess)
	}
	return f
}

// doubtOf bounds the error in watts of the mean power of an interval: due to the times of the samples, and to the part
// that they do not cover.
func doubtOf(a *power.Amount) float64 {
	relative := 1 - math.Min(a.Coverage, 1)
	if a.Joules > 0 {
		relative += a.Uncertainty / a.Joules
	}
	return relative * a.Watts
}

// green rates the figures of the whole system.
func (e *EnergyRecord) green(g *GraphRecord) *Green {
	if e.Failure != "" || e.Loop == nil {
		return nil
	}
	out := &Green{Class: SmallData}
	if g != nil && g.Vertices >= 1<<30 && g.Tuples >= 1<<34 {
		out.Class = BigData
	}
	out.Missing = []string{"a meter of the whole system (ipmi, redfish, or a wall meter read by a command)"}
	for _, f := range e.Figures {
		if !f.System || f.Method != power.Measured || out.Level > 0 {
			continue
		}
		if missing := e.missing(f); len(missing) == 0 {
			out.Level, out.Meter = 1, f.Of
			out.Missing = []string{"readings over the whole run, kernel 1 included (it starts with the idle baseline)"}
		} else if out.Meter == "" {
			out.Meter, out.Missing = f.Of, missing
		}
	}
	return out
}

// missing returns the requirements of level 1 that the figure of a system's meter does not meet. No figure meets those
// of level 2.
func (e *EnergyRecord) missing(f PowerFigure) (missing []string) {
	m := e.Meters[slices.IndexFunc(e.Meters, func(m Metered) bool { return m.Meter.Name == f.Of })] // of one meter
	gap := m.Loop.LargestGap.Seconds()
	require := func(met bool, format string, args ...any) {
		if !met {
			missing = append(missing, fmt.Sprintf(format, args...))
		}
	}
	stated := "this one states none; it can be added to the meter's specification, as in command:wall@1%=..."
	if f.SensorError > 0 {
		stated = fmt.Sprintf("this one states %.3g %%", f.SensorError*100)
	}
	require(e.Loop.Elapsed >= LevelOneTime.Seconds(), "a loop of at least 60 s (it lasted %.4g s)", e.Loop.Elapsed)
	require(gap <= 1, "a reading every second (the longest time between two was %.3g s)", gap)
	require(m.Loop.Coverage >= 1, "readings over the whole loop (they cover %.4g %% of it)", m.Loop.Coverage*100)
	require(f.SensorError > 0 && f.SensorError <= 0.05,
		"a meter whose maker states an error of at most 5 %% (%s)", stated)
	return missing
}

// powerText is the compliance statement's line on power.
func powerText(r Run) string {
	e := r.Energy
	switch {
	case e == nil:
		return "not measured; no power class or level is stated"
	case e.Failure != "":
		return "not measured: " + e.Failure
	case e.Loop == nil:
		return "not measured: there is no power meter here; no power class or level is stated"
	}
	f, found := e.Headline()
	if !found {
		why := "no meter in use covers the loop"
		if i := slices.IndexFunc(e.Meters, Metered.ShowedNothing); i >= 0 {
			why = e.Meters[i].Meter.Name + " showed 0 J over the whole loop"
		}
		return fmt.Sprintf("not measured: %s; GreenGraph500 class %s, no level", why, e.Green.Class)
	}
	kind := "component power, which is not the system's: " + f.Label()
	if f.System {
		kind = "system power: " + f.Label()
	}
	level := "no EEHPC level"
	if e.Green.Level > 0 {
		level = fmt.Sprintf("EEHPC level %d", e.Green.Level)
	}
	rebuilt := ""
	if r.Rebuilt != nil {
		rebuilt = "; the loop searched a graph that a resume built again"
	}
	return fmt.Sprintf("%.4g MTEPS/W, %s, meter %s; GreenGraph500 class %s, %s%s",
		f.MTEPSPerWatt, kind, f.Of, e.Green.Class, level, rebuilt)
}
