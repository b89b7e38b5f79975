package harness

import (
	"math"
	"strings"

	"github.com/tepsbench/teps/power"
)

// Names of the sums that are made of meters of one source. A sum of components is no system: fans, disks, network and the
// losses of power supplies are in none of them.
const (
	sumOfPackages = "packages + dram"
	sumOfGPUs     = "GPUs of this engine"
)

// leastCoverage is the part of the loop that a meter must cover for a figure. What is left is taken to be like the rest, and
// counts as uncertainty in full.
const leastCoverage = 0.99

// leastPower is in watts. No machine searches on less: a meter that shows less is not connected, or broken, and nothing can be
// divided by what it shows.
const leastPower = 1e-6

// figures are made of every meter that was used and covers the loop, and of sums over the parts of one kind if all of them do.
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

// covers says whether the meter's samples cover the loop, and its energy is that of anything.
func (m Metered) covers() bool {
	return m.Loop != nil && m.Loop.Coverage >= leastCoverage && m.Loop.Joules > 0 && m.Loop.Watts >= leastPower
}

// ShowedNothing says that the meter was used and read over the whole loop, and that there is no figure all the same, because it
// showed no energy.
func (m Metered) ShowedNothing() bool {
	return m.Used && m.Loop != nil && m.Loop.Coverage >= leastCoverage && !m.covers()
}

// noneCovers says why no meter that was used has a figure.
func (e *EnergyRecord) noneCovers() string {
	if nothing := e.showedNothing(); nothing != "" {
		return nothing
	}
	return "no meter that was used covers the loop"
}

// showedNothing names the meters that did; empty: there are none.
func (e *EnergyRecord) showedNothing() string {
	var names []string
	for _, m := range e.Meters {
		if m.ShowedNothing() {
			names = append(names, m.Meter.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " showed 0 J over the whole loop"
}

// parts are the used meters of some scopes, if all are of one source, which counts nothing twice, and all cover the loop.
func (e *EnergyRecord) parts(scopes []power.Scope) (parts []Metered) {
	for _, m := range e.Meters {
		for _, scope := range scopes {
			if !m.Used || m.Meter.Scope != scope {
				continue
			}
			if !m.covers() || len(parts) > 0 && m.Meter.Source != parts[0].Meter.Source {
				return nil
			}
			parts = append(parts, m)
		}
	}
	return parts
}

// figure is the loop over the sum of some meters.
func (e *EnergyRecord) figure(name string, of []Metered) PowerFigure {
	f := PowerFigure{Of: name, Scope: of[0].Meter.Scope, System: of[0].Meter.Scope.System(), Method: power.Measured}
	var off, idle, idleOff float64 // watts
	known, stated := true, true
	for _, m := range of {
		f.Meters = append(f.Meters, m.Meter.Name)
		f.Method = weaker(f.Method, m.Meter.Method)
		f.SensorError = max(f.SensorError, m.Meter.Error)
		stated = stated && m.Meter.Error > 0
		f.Watts += m.Loop.Watts
		off += doubt(m.Loop)
		if m.Idle == nil || m.Idle.Coverage < leastCoverage {
			known = false
			continue
		}
		idle, idleOff = idle+m.Idle.Watts, idleOff+doubt(m.Idle)
	}
	if !stated {
		f.SensorError = 0
	}
	f.Joules = f.Watts * e.Loop.Elapsed
	f.Uncertainty = off / f.Watts
	f.MTEPSPerWatt = e.Loop.TEPS / 1e6 / f.Watts
	f.JoulesPerSearch = f.Joules / float64(e.Loop.Searches)
	if !known {
		return f
	}
	f.IdleWatts = &idle
	// A declared power is the same in both intervals, but for what adding it up has rounded.
	if above := f.Watts - idle; above > off+idleOff && above > 1e-6*f.Watts {
		rate, doubt := e.Loop.TEPS/1e6/above, (off+idleOff)/above
		f.MTEPSPerWattOverIdle, f.UncertaintyOverIdle = &rate, &doubt
	}
	return f
}

// doubt is how many watts the mean power of an interval may be off: by the moments at which the meter was read, and by the part
// that it does not cover.
func doubt(a *power.Amount) float64 {
	relative := 1 - math.Min(a.Coverage, 1)
	if a.Joules > 0 {
		relative += a.Uncertainty / a.Joules
	}
	return relative * a.Watts
}

// weaker is the method of which less can be said.
func weaker(a, b power.Method) power.Method {
	for _, m := range []power.Method{power.Declared, power.Estimated} {
		if a == m || b == m {
			return m
		}
	}
	return power.Measured
}
