package harness

import (
	"time"

	"github.com/tepsbench/teps/power"
)

// EnergyRecord is the energy loop of one engine at one scale: what was done, what every meter showed meanwhile, and what
// that comes to. A run without one was not metered. Times that end in _ns are relative to the start of the loop.
type EnergyRecord struct {
	// Failure says why there is no figure although one was asked for: the engine died, a search after the loop was wrong.
	// What was validated before the loop is not touched by it.
	Failure string          `json:"failure,omitempty"`
	Wanted  float64         `json:"wanted"` // seconds asked for
	Loop    *EnergyLoop     `json:"loop,omitempty"`
	Phases  []EnergyPhase   `json:"phases,omitempty"`
	After   *AfterLoop      `json:"after,omitempty"`
	Meters  []Metered       `json:"meters,omitempty"`
	Absent  []power.Absence `json:"absent,omitempty"` // why there are no others, where there is no meter at all

	// Figures and Green follow from the fields above, and are not in the journal.
	Figures []PowerFigure `json:"figures,omitempty"` // of meters that were used and cover the loop, and of sums of such
	Green   *Green        `json:"green,omitempty"`   // absent without a loop
}

// Failed says that energy was asked for, and that something went wrong beyond the lack of a meter.
func (e *EnergyRecord) Failed() bool { return e != nil && e.Failure != "" }

// How an EnergyLoop repeats its searches.
const (
	LoopByRepeat = "repeat"            // one call of plugins.Repeater: parents stay with the engine
	LoopByCalls  = "searches by calls" // one call a search: handing parents over to the host is metered too
)

// EnergyLoop is the interval that the figures are of: searches from the roots of the run, around and around, none of
// them validated.
type EnergyLoop struct {
	Kind     string  `json:"kind"`     // LoopByRepeat or LoopByCalls
	Elapsed  float64 `json:"elapsed"`  // seconds on the host's clock; energy and rate are both of this interval
	Searches int64   `json:"searches"` // finished within Elapsed
	Roots    int     `json:"roots"`    // that took turns
	NEdge    int64   `json:"nedge"`    // tuples of all searches: full rounds and what came up in the last one, nothing averaged
	TEPS     float64 `json:"teps"`     // NEdge / Elapsed
}

// EnergyPhase is a part of the time that was recorded.
type EnergyPhase struct {
	Name string        `json:"name"` // PhaseSettle, PhaseIdle, PhaseLoop or PhaseAfter
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Phases of an EnergyRecord, in order.
const (
	PhaseSettle = "settle" // the engine has nothing to do; clocks and fans come down; no figure is of this
	PhaseIdle   = "idle"   // the engine holds its graph and has nothing to do: the baseline
	PhaseLoop   = "loop"
	PhaseAfter  = "after" // validated searches, and time for the meters' last updates
)

// AfterLoop is the look at the engine after its loop: searches from some of the roots, validated like the others.
type AfterLoop struct {
	Searches  int    `json:"searches"`
	Valid     int    `json:"valid"`
	Violation string `json:"violation,omitempty"` // of the first that broke a rule
}

// Metered is what a meter showed.
type Metered struct {
	Meter  power.Info    `json:"meter"`
	Used   bool          `json:"used"`                // figures are made of it
	Why    string        `json:"why,omitempty"`       // it is not used
	Idle   *power.Amount `json:"idle,omitempty"`      // of PhaseIdle
	Loop   *power.Amount `json:"loop,omitempty"`      // of PhaseLoop
	NoIdle string        `json:"no_idle,omitempty"`   // why there is no Idle
	NoLoop string        `json:"no_loop,omitempty"`   // why there is no Loop
	Period time.Duration `json:"period_ns,omitempty"` // between two updates, as seen; zero: fewer than two
	// ReadTime is how long the reads of this meter took, in seconds: what sampling cost at most.
	ReadTime float64 `json:"read_time"`
	// ProcessorTime is what the reads took of a processor, in seconds. Zero: not known.
	ProcessorTime float64      `json:"processor_time,omitempty"`
	Faults        []MeterFault `json:"faults,omitempty"`
	Curve         Curve        `json:"curve"`
}

// MeterFault is something that went wrong with a meter.
type MeterFault struct {
	At    time.Duration `json:"at_ns"` // when it was first seen
	Text  string        `json:"text"`
	Count int           `json:"count"`
}

// Curve is the energy that a meter has shown since its first sample, at moments that it was read: mean power between two of
// them is the slope. Amounts are computed of all samples; what is kept of them here is at most mostKept, chosen so that the energy
// between any two that are kept is exact.
type Curve struct {
	At     []time.Duration `json:"at_ns,omitempty"`
	Joules []float64       `json:"joules,omitempty"`
	Breaks []int           `json:"breaks,omitempty"` // indices before which some energy is not known
	Of     int             `json:"of"`               // samples that were recorded
}

// PowerFigure is the loop's rate over the mean power of a meter, or of several of one kind.
type PowerFigure struct {
	Of     string       `json:"of"`     // the meter's name, "packages + dram" or "GPUs of this engine"
	Meters []string     `json:"meters"` // by name
	Scope  power.Scope  `json:"scope"`  // of a sum, that of its largest parts
	System bool         `json:"system"` // power of a whole system; false: of components, and never to be called otherwise
	Method power.Method `json:"method"` // of the least certain meter; anything but "measured" is to be shown with the figure

	Joules      float64 `json:"joules"`                 // of the loop
	Watts       float64 `json:"watts"`                  // mean over the loop, idle power included
	Uncertainty float64 `json:"uncertainty"`            // relative bound on Joules and Watts that comes of sampling; see power.Amount
	SensorError float64 `json:"sensor_error,omitempty"` // relative, as the makers state it; absent: one of them does not

	MTEPSPerWatt    float64 `json:"mteps_per_watt"`
	JoulesPerSearch float64 `json:"joules_per_search"`

	// The idle baseline, and the same figure of what the loop took beyond it. Absent where the baseline is not known, or
	// where the difference is no larger than its uncertainty.
	IdleWatts            *float64 `json:"idle_watts,omitempty"`
	MTEPSPerWattOverIdle *float64 `json:"mteps_per_watt_above_idle,omitempty"`
	UncertaintyOverIdle  *float64 `json:"uncertainty_above_idle,omitempty"` // relative
}

// Label says in a few words what power the figure is of: its scope, and its method unless that is "measured".
func (f PowerFigure) Label() string {
	text := string(f.Scope)
	switch {
	case f.Of == sumOfPackages:
		text = f.Of
	case f.Of == sumOfGPUs:
		text = "gpus"
	}
	if f.Method != power.Measured {
		text += ", " + string(f.Method)
	}
	return text
}

// Headline is the figure to show where there is room for one: measured before others, a system before its components,
// GPUs before packages, sums before their parts.
func (e *EnergyRecord) Headline() (PowerFigure, bool) {
	if e == nil || len(e.Figures) == 0 {
		return PowerFigure{}, false
	}
	best := e.Figures[0]
	for _, f := range e.Figures[1:] {
		if f.rank() < best.rank() {
			best = f
		}
	}
	return best, true
}

// rank is lower for what says more.
func (f PowerFigure) rank() int {
	rank := 10
	switch f.Scope {
	case power.Wall:
		rank = 0
	case power.Node:
		rank = 1
	case power.GPU:
		rank = 3
	case power.Package:
		rank = 5
	case power.SoC:
		rank = 7
	}
	if len(f.Meters) > 1 {
		rank--
	}
	switch f.Method {
	case power.Estimated:
		rank += 100
	case power.Declared:
		rank += 200
	}
	return rank
}
