// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/power"
)

// EnergyRecord is the energy loop of one engine on one graph: its searches, and the readings of every meter. Times that
// end in _ns are relative to the start of the loop.
type EnergyRecord struct {
	// Failure is the reason why a requested figure is missing: the engine died, the last search was wrong, or a
	// meter of the plan was lost.
	Failure string        `json:"failure,omitempty"`
	Loop    *EnergyLoop   `json:"loop,omitempty"`
	Phases  []EnergyPhase `json:"phases,omitempty"`
	After   *AfterLoop    `json:"after,omitempty"` // of versions before 0.3
	Meters  []Metered     `json:"meters,omitempty"`
	// Absent lists the parts of the machine that no meter covers. If no meter was found, it says for each source of
	// readings why.
	Absent []power.Absence `json:"absent,omitempty"`

	// Figures and Green are derived from the fields above and are not in the journal.
	Figures []PowerFigure `json:"figures,omitempty"` // of meters in use that cover the loop, and of sums of them
	Green   *Green        `json:"green,omitempty"`   // absent without a loop
}

// Failed reports whether the measurement failed. A machine without a meter is not a failure.
func (e *EnergyRecord) Failed() bool { return e != nil && e.Failure != "" }

// EnergyLoop is the interval of the figures: searches from the roots of the run in random order, not validated.
type EnergyLoop struct {
	Kind     string  `json:"kind,omitempty"` // of versions before 0.3
	Elapsed  float64 `json:"elapsed"`        // seconds on the host's clock, for energy and rate
	Searches int64   `json:"searches"`       // finished within Elapsed
	Roots    int     `json:"roots"`          // searched in turn
	NEdge    int64   `json:"nedge"`          // tuples of all searches, each counted for its own root
	TEPS     float64 `json:"teps"`           // NEdge / Elapsed
	// Single and Each are lower quartiles of the time of a search, seconds: one by one on the engine's clock, and in calls
	// of the loop on the host's, less the cost of a call.
	Single    float64 `json:"single,omitempty"`
	Each      float64 `json:"each,omitempty"`
	Violation string  `json:"violation,omitempty"` // what is wrong: the rate or the last search
}

// EnergyPhase is a part of the recorded time.
type EnergyPhase struct {
	Name string        `json:"name"` // PhaseRest, PhaseIdle, PhaseLoop or PhaseAfter
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Phases of an EnergyRecord, in order.
const (
	PhaseRest  = "settle" // the engine does nothing, so that clocks and fans slow down; not used for any figure
	PhaseIdle  = "idle"   // the engine holds its graph and does nothing: the baseline
	PhaseLoop  = "loop"
	PhaseAfter = "after" // the last search is validated, and time for the last updates of the meters
)

// AfterLoop counts validated searches after the loop.
type AfterLoop struct {
	Searches  int    `json:"searches"`
	Valid     int    `json:"valid"`
	Violation string `json:"violation,omitempty"` // of the first that broke a rule
}

// PowerFigure is the rate of the loop divided by the mean power of one or more meters.
type PowerFigure struct {
	Of     string       `json:"of"`     // the meter's name, or sumOfPackages or sumOfGPUs; of several hosts a sum
	Meters []string     `json:"meters"` // by name
	Scope  power.Scope  `json:"scope"`  // for a sum, the scope of its largest parts
	System bool         `json:"system"` // power of a whole system; false: of components only
	Method power.Method `json:"method"` // of the least certain meter; to be shown unless it is "measured"

	Joules      float64 `json:"joules"`                 // of the loop
	Watts       float64 `json:"watts"`                  // mean over the loop, idle power included
	Uncertainty float64 `json:"uncertainty"`            // relative, of Joules and Watts, due to sampling; see power.Amount
	SensorError float64 `json:"sensor_error,omitempty"` // relative, as the makers state it; absent if one of them does not

	MTEPSPerWatt    float64 `json:"mteps_per_watt"`
	JoulesPerSearch float64 `json:"joules_per_search"`

	// The idle baseline, and the rate per watt in excess of it; absent if the baseline is unknown, or if the excess is
	// not larger than its uncertainty.
	IdleWatts            *float64 `json:"idle_watts,omitempty"`
	MTEPSPerWattOverIdle *float64 `json:"mteps_per_watt_above_idle,omitempty"`
	UncertaintyOverIdle  *float64 `json:"uncertainty_above_idle,omitempty"` // relative
}

// Green rates the loop as a GreenGraph500 result (run rules v1.1; levels of the EE HPC Working Group's power
// measurement methodology v2.0).
type Green struct {
	Class   string   `json:"class"`             // BigData or SmallData
	Level   int      `json:"level"`             // 1 to 3; 0: not fit for submission
	Meter   string   `json:"meter,omitempty"`   // of the system, that the level is for
	Missing []string `json:"missing,omitempty"` // requirements of the next level
	// Share says which of several hosts had a meter of the system during the loop. The network between them has none.
	Share string `json:"share,omitempty"`
}

// Classes of GreenGraph500: big data has at least 2^30 vertices and 2^34 tuples.
const (
	BigData   = "big data"
	SmallData = "small data"
)

// Metered is the energy that one meter showed.
type Metered struct {
	Meter    power.Info    `json:"meter"`
	Used     bool          `json:"used"`              // figures are made from it
	Why      string        `json:"why,omitempty"`     // why it is not used
	Idle     *power.Amount `json:"idle,omitempty"`    // of PhaseIdle
	Loop     *power.Amount `json:"loop,omitempty"`    // of PhaseLoop
	NoIdle   string        `json:"no_idle,omitempty"` // why there is no Idle
	NoLoop   string        `json:"no_loop,omitempty"` // why there is no Loop
	ReadTime float64       `json:"read_time"`         // of all reads, seconds: an upper bound on the cost of sampling
	Faults   []power.Fault `json:"faults,omitempty"`
	Curve    Curve         `json:"curve"`
	Clock    *power.Clock  `json:"clock,omitempty"` // of the meter's host, if the run is on several
}

// NewMetered summarizes the readings of a meter. phases are relative to start, the start of the loop.
func NewMetered(s power.Series, start time.Time, phases []EnergyPhase) Metered {
	m := Metered{
		Meter: s.Info, Clock: s.Clock, ReadTime: s.ReadTime.Seconds(), Faults: s.Faults, Curve: newCurve(s, start),
	}
	for _, p := range phases {
		energy, err := s.Energy(start.Add(p.From), start.Add(p.To))
		amount, why := &energy, ""
		if err != nil {
			amount, why = nil, err.Error()
		}
		switch p.Name {
		case PhaseIdle:
			m.Idle, m.NoIdle = amount, why
		case PhaseLoop:
			m.Loop, m.NoLoop = amount, why
		}
	}
	return m
}

// LevelOneTime is the minimum length of the loop for level 1 of the EEHPC methodology (v2.0).
const LevelOneTime = time.Minute

const (
	// Names of the sums over meters of one source. A sum of components is not a system: it lacks fans, disks, network
	// and the losses of power supplies.
	sumOfPackages = "packages + dram"
	sumOfGPUs     = "gpus"
)

// sumWith returns the name of the sum that has parts of a scope, or "".
func sumWith(scope power.Scope) string {
	return map[power.Scope]string{
		power.Package: sumOfPackages, power.DRAM: sumOfPackages, power.GPU: sumOfGPUs,
	}[scope]
}

const (
	minCoverage = 0.99 // of an interval by a meter; the rest counts as uncertainty in full
	minPower    = 1e-6 // watts: a meter that shows less is disconnected or broken
)

// Label describes the power of the figure briefly: its scope, and its method unless that is "measured".
func (f PowerFigure) Label() string {
	text := string(f.Scope)
	if n := len(f.Meters); n > 1 && sumWith(f.Scope) != "" {
		text = f.Of
	} else if n > 1 {
		text += fmt.Sprintf(" of %d hosts", n)
	}
	if f.Method != power.Measured {
		text += ", " + string(f.Method)
	}
	return text
}

// Headline returns the figure to show if there is room for one: measured before others, a system before its components,
// GPUs before packages, sums before their parts. If a meter is lost whose figure would come first, there is no
// headline.
func (e *EnergyRecord) Headline() (PowerFigure, bool) {
	if e == nil || len(e.Figures) == 0 {
		return PowerFigure{}, false
	}
	best := slices.MinFunc(e.Figures, func(a, b PowerFigure) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, l := range e.Lost() {
		missed := PowerFigure{Scope: l.Scope, Method: power.Measured, Meters: make([]string, 2)}
		if sumWith(l.Scope) == sumOfPackages {
			missed.Scope = power.Package
		}
		if missed.rank() <= best.rank() {
			return PowerFigure{}, false
		}
	}
	return best, true
}

// Lost returns the parts of the machine whose energy is not known although figures need it: those that a source could
// not open, and meters in use that do not cover the loop.
func (e *EnergyRecord) Lost() (lost []power.Absence) {
	for _, a := range e.Absent {
		if a.Scope != "" {
			lost = append(lost, a)
		}
	}
	for _, m := range e.Meters {
		if m.Used && !m.covers() {
			why := "it showed 0 J over the whole loop"
			if m.Loop == nil {
				why = m.NoLoop
			} else if m.Loop.Coverage < minCoverage {
				why = fmt.Sprintf("its readings cover %.3g %% of the loop", 100*m.Loop.Coverage)
			}
			lost = append(lost, power.Absence{Source: m.Meter.Name, Scope: m.Meter.Scope, Reason: why, Asked: m.Meter.Asked})
		}
	}
	return lost
}

func (f PowerFigure) rank() int {
	scopes := []power.Scope{power.Wall, power.Node, power.GPU, power.Package, power.SoC, f.Scope}
	rank := 2 * slices.Index(scopes, f.Scope)
	if f.Method != power.Measured {
		rank += 100
	}
	return rank - min(1, len(f.Meters)-1)
}

// figures are made from every meter in use that covers the loop, and from sums over the parts of one kind. Without one
// of the parts, neither the sum nor the other parts have a figure. Of several hosts there are only sums over all of
// them: of the parts of one kind, or of the meters with one name on each host.
func (e *EnergyRecord) figures(hosts []string) (all []PowerFigure) {
	if e.Failure != "" || e.Loop == nil {
		return nil
	}
	several, of := len(hosts) > 1, ""
	if several {
		of = fmt.Sprintf(" of %d hosts", len(hosts))
	}
	var sums []string
	lost, parts := e.Lost(), map[string][]Metered{}
	for _, m := range e.Meters {
		sum := sumWith(m.Meter.Scope)
		incomplete := func(l power.Absence) bool {
			return sum != "" && sumWith(l.Scope) == sum || several && l.Scope == m.Meter.Scope
		}
		if !m.Used || !m.covers() || slices.ContainsFunc(lost, incomplete) {
			continue
		}
		if !several {
			all = append(all, e.figure(m.Meter.Name, m.Meter.Scope, []Metered{m}))
		} else if sum == "" {
			sum = strings.TrimSuffix(m.Meter.Name, m.Meter.OnHost())
		}
		if sum != "" && parts[sum] == nil {
			sums = append(sums, sum)
		}
		parts[sum] = append(parts[sum], m)
	}
	for _, sum := range sums {
		parts := parts[sum]
		scope := parts[0].Meter.Scope
		if sum == sumOfPackages {
			scope = power.Package
		}
		other := func(m Metered) bool { return m.Meter.Source != parts[0].Meter.Source } // counts energy twice
		dark := func(host string) bool {
			return several && !slices.ContainsFunc(parts, func(m Metered) bool { return m.Meter.Host == host })
		}
		if len(parts) > 1 && !slices.ContainsFunc(parts, other) && !slices.ContainsFunc(hosts, dark) {
			all = append(all, e.figure(sum+of, scope, parts))
		}
	}
	return all
}

// share says which of several hosts had a system meter that covers the loop; empty: there is one host.
func (e *EnergyRecord) share(hosts []string) string {
	if len(hosts) < 2 {
		return ""
	}
	metered := slices.DeleteFunc(slices.Clone(hosts), func(host string) bool {
		return !slices.ContainsFunc(e.Meters, func(m Metered) bool {
			return m.Meter.Host == host && m.Meter.Scope.System() && m.Used && m.covers()
		})
	})
	names := strings.Join(metered, ", ")
	return strings.TrimSuffix(fmt.Sprintf("%d of %d hosts: %s", len(metered), len(hosts), names), ": ")
}

func (m Metered) covers() bool {
	return m.Loop != nil && m.Loop.Coverage >= minCoverage && m.Loop.Joules > 0 && m.Loop.Watts >= minPower
}

func (e *EnergyRecord) figure(name string, scope power.Scope, meters []Metered) PowerFigure {
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
		} else {
			idle, idleDoubt = idle+m.Idle.Watts, idleDoubt+doubtOf(m.Idle)
		}
	}
	if !errorKnown {
		f.SensorError = 0
	}
	f.Joules, f.Uncertainty = f.Watts*e.Loop.Elapsed, doubt/f.Watts
	f.MTEPSPerWatt, f.JoulesPerSearch = e.Loop.TEPS/1e6/f.Watts, f.Joules/float64(e.Loop.Searches)
	if idleKnown {
		f.IdleWatts = &idle
		if excess := f.Watts - idle; excess > doubt+idleDoubt {
			f.MTEPSPerWattOverIdle, f.UncertaintyOverIdle = new(e.Loop.TEPS/1e6/excess), new((doubt+idleDoubt)/excess)
		}
	}
	return f
}

// doubtOf bounds the error in watts of the mean power of an interval, due to sample times and uncovered time.
func doubtOf(a *power.Amount) float64 {
	relative := 1 - math.Min(a.Coverage, 1)
	if a.Joules > 0 {
		relative += a.Uncertainty / a.Joules
	}
	return relative * a.Watts
}

func (e *EnergyRecord) green(g *GraphRecord, hosts []string) *Green {
	if e.Failure != "" || e.Loop == nil {
		return nil
	}
	out := &Green{Class: SmallData, Share: e.share(hosts)}
	if g != nil && g.Vertices >= 1<<30 && g.Tuples >= 1<<34 {
		out.Class = BigData
	}
	out.Missing = []string{"a meter of the whole system (ipmi, redfish, or a wall meter read by a command)"}
	if out.Share != "" {
		out.Missing[0] += " on every host (" + out.Share + ")"
	}
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
	gap, coverage := 0.0, 1.0
	for _, m := range e.Meters {
		if slices.Contains(f.Meters, m.Meter.Name) {
			gap, coverage = max(gap, m.Loop.LargestGap.Seconds()), min(coverage, m.Loop.Coverage)
		}
	}
	require := func(met bool, format string, arg any) {
		if !met {
			missing = append(missing, fmt.Sprintf(format, arg))
		}
	}
	stated := "this one states none; it can be added to the meter's specification, as in command:wall@1%=..."
	if f.SensorError > 0 {
		stated = fmt.Sprintf("this one states %.3g %%", f.SensorError*100)
	}
	require(e.Loop.Elapsed >= LevelOneTime.Seconds(), "a loop of at least 60 s (it lasted %.4g s)", e.Loop.Elapsed)
	require(gap <= 1, "a reading every second (the longest time between two was %.3g s)", gap)
	require(coverage >= 1, "readings over the whole loop (they cover %.4g %% of it)", coverage*100)
	require(f.SensorError > 0 && f.SensorError <= 0.05, "a meter whose maker states an error of at most 5 %% (%s)", stated)
	return missing
}
