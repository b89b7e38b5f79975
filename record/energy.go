package record

import (
	"time"

	"github.com/tepsbench/teps/power"
)

// EnergyRecord is the energy loop of one engine on one graph: what was done, and what every meter showed meanwhile.
// Times that end in _ns are relative to the start of the loop.
type EnergyRecord struct {
	// Failure is the reason why a requested figure is missing: the engine died, or a search after the loop was
	// wrong. The searches before the loop are not affected.
	Failure string          `json:"failure,omitempty"`
	Loop    *EnergyLoop     `json:"loop,omitempty"`
	Phases  []EnergyPhase   `json:"phases,omitempty"`
	After   *AfterLoop      `json:"after,omitempty"`
	Meters  []Metered       `json:"meters,omitempty"`
	Absent  []power.Absence `json:"absent,omitempty"` // without any meter: why each source has none

	// Figures and Green are derived from the fields above and are not in the journal.
	Figures []PowerFigure `json:"figures,omitempty"` // of meters in use that cover the loop, and of sums of them
	Green   *Green        `json:"green,omitempty"`   // absent without a loop
}

// Failed reports whether the measurement failed for a reason other than the lack of a meter.
func (e *EnergyRecord) Failed() bool { return e != nil && e.Failure != "" }

// Kinds of EnergyLoop.
const (
	LoopByRepeat = "repeat"            // one call of plugins.Repeater: parents stay with the engine
	LoopByCalls  = "searches by calls" // one call per search: moving parents to the host is metered too
)

// EnergyLoop is the interval of the figures: searches from the roots of the run in turn, not validated.
type EnergyLoop struct {
	Kind     string  `json:"kind"`     // LoopByRepeat or LoopByCalls
	Elapsed  float64 `json:"elapsed"`  // seconds on the host's clock, for energy and rate
	Searches int64   `json:"searches"` // finished within Elapsed
	Roots    int     `json:"roots"`    // searched in turn
	NEdge    int64   `json:"nedge"`    // tuples of all searches, each counted for its own root
	TEPS     float64 `json:"teps"`     // NEdge / Elapsed
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
	PhaseAfter = "after" // validated searches, and time for the last updates of the meters
)

// AfterLoop counts the validated searches after the loop.
type AfterLoop struct {
	Searches  int    `json:"searches"`
	Valid     int    `json:"valid"`
	Violation string `json:"violation,omitempty"` // of the first that broke a rule
}

// PowerFigure is the rate of the loop divided by the mean power of one or more meters.
type PowerFigure struct {
	Of     string       `json:"of"`     // the meter's name, "packages + dram" or "gpus"
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

	// The idle baseline, and the rate per watt in excess of it. They are absent if the baseline is unknown, or if the
	// excess is not larger than its uncertainty.
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
}

// Classes of GreenGraph500: big data has at least 2^30 vertices and 2^34 tuples.
const (
	BigData   = "big data"
	SmallData = "small data"
)

// Metered is what one meter showed.
type Metered struct {
	Meter  power.Info    `json:"meter"`
	Used   bool          `json:"used"`              // figures are made from it
	Why    string        `json:"why,omitempty"`     // why it is not used
	Idle   *power.Amount `json:"idle,omitempty"`    // of PhaseIdle
	Loop   *power.Amount `json:"loop,omitempty"`    // of PhaseLoop
	NoIdle string        `json:"no_idle,omitempty"` // why there is no Idle
	NoLoop string        `json:"no_loop,omitempty"` // why there is no Loop
	// ReadTime is the total time of the reads of this meter in seconds: an upper bound on the cost of sampling.
	ReadTime float64       `json:"read_time"`
	Faults   []power.Fault `json:"faults,omitempty"`
	Curve    Curve         `json:"curve"`
}

// Curve is the energy that a meter has shown since its first sample, so mean power between two points is the slope. It
// has at most maxPoints of the samples; the energy between any two points is exact. Amounts are computed from all
// samples.
type Curve struct {
	At     []time.Duration `json:"at_ns,omitempty"`
	Joules []float64       `json:"joules,omitempty"`
	Breaks []int           `json:"breaks,omitempty"` // indices of points before which some energy is unknown
	Of     int             `json:"of"`               // number of samples
}

const maxPoints = 1200

// NewMetered records what a meter has shown. start is the start of the loop, and phases are relative to it.
func NewMetered(s power.Series, start time.Time, phases []EnergyPhase) Metered {
	m := Metered{Meter: s.Info, ReadTime: s.ReadTime.Seconds(), Faults: s.Faults, Curve: newCurve(s, start)}
	for _, p := range phases {
		amount, err := s.Energy(start.Add(p.From), start.Add(p.To))
		switch {
		case p.Name == PhaseIdle && err != nil:
			m.NoIdle = err.Error()
		case p.Name == PhaseIdle:
			m.Idle = &amount
		case p.Name == PhaseLoop && err != nil:
			m.NoLoop = err.Error()
		case p.Name == PhaseLoop:
			m.Loop = &amount
		}
	}
	return m
}

// newCurve integrates the samples, and keeps some of them: the last, and others that are some time apart. Of a counter,
// those that did not change are left out, because repeated values depend on how often it was read.
func newCurve(s power.Series, start time.Time) Curve {
	n := len(s.Readings)
	c := Curve{Of: n}
	if n == 0 {
		return c
	}
	apart := s.Readings[n-1].Time.Sub(s.Readings[0].Time) / (maxPoints - 2)
	joules, broken := 0.0, false // broken: some energy after the last point is not known
	for i, sample := range s.Readings {
		at := sample.Time.Sub(start)
		if i > 0 {
			before := s.Readings[i-1]
			switch {
			case sample.Break:
				broken = true
			case s.Info.Quantity == power.Power:
				joules += (before.Value + sample.Value) / 2 * sample.Time.Sub(before.Time).Seconds()
			default:
				joules += sample.Value - before.Value
			}
			last := len(c.At) - 1
			same := s.Info.Quantity == power.Energy && joules == c.Joules[last]
			if i < n-1 && (same || at-c.At[last] < apart) {
				continue
			}
		}
		if broken {
			c.Breaks = append(c.Breaks, len(c.At))
		}
		c.At, c.Joules, broken = append(c.At, at), append(c.Joules, joules), false
	}
	return c
}
