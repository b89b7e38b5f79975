// Package power measures energy and power of a machine or of its parts. It imports nothing of the project: meters, their
// samples over time, and what energy an interval of time took, with what that is worth.
//
// Words: a meter is a source of readings with a scope (what part of the machine it covers), a method (measured, estimated
// or declared) and a quantity (a counter of energy, or power). Component power (a package, a GPU) is never system power (a
// node, a wall meter): Scope.System tells them apart, and nothing in this package adds one to the other.
package power

import (
	"context"
	"errors"
	"time"
)

// Scope is the part of a machine that a meter covers.
type Scope string

const (
	Package Scope = "package" // a processor package, with its cores and caches (RAPL package zone)
	Core    Scope = "core"    // the cores of a package, a part of it (RAPL core zone)
	Uncore  Scope = "uncore"  // graphics or the uncore of a package, a part of it
	DRAM    Scope = "dram"    // memory modules, beside their package (RAPL dram zone)
	SoC     Scope = "soc"     // the platform as its processor sees it (RAPL psys): overlaps packages and dram
	GPU     Scope = "gpu"     // a whole board: chip, memory, regulators
	Device  Scope = "device"  // another component of its own
	Node    Scope = "node"    // a whole node as its own controller or power supply sees it
	Wall    Scope = "wall"    // a whole system at its plug, power supplies included
)

// System says whether the scope is that of a whole system: the only power that GreenGraph500 ranks by.
func (s Scope) System() bool { return s == Node || s == Wall }

// Method says where a reading comes from.
type Method string

const (
	Measured  Method = "measured"  // by a sensor
	Estimated Method = "estimated" // by a model, also one in hardware
	Declared  Method = "declared"  // by a person, before the run
)

// Quantity is what a meter reads.
type Quantity string

const (
	Energy Quantity = "energy" // a counter that only grows, in joules; power is its slope
	Power  Quantity = "power"  // watts at a moment, or a mean over the time since the last update
)

// Info says what a meter is. It does not change while the meter is open.
type Info struct {
	Name     string   `json:"name"`   // unique among the meters of a machine: rapl:package-0, nvml:GPU-5f2c...
	Source   string   `json:"source"` // rapl, nvml, hwmon, battery, ipmi, redfish, command, stream, declared
	Scope    Scope    `json:"scope"`
	Method   Method   `json:"method"`
	Quantity Quantity `json:"quantity"`
	// Device is what the meter is of, in the words that engines use for it (the UUID of a GPU), so that a meter can be
	// matched with the devices of an engine. Empty where there is nothing to match.
	Device string `json:"device,omitempty"`
	// Within names the meter that this one is a part of (a core zone is within its package), whose energy it must not be
	// added to. Empty: a part of none.
	Within string `json:"within,omitempty"`
	// Period is the time between two updates of what the meter shows; a read between them shows the last. Zero: not known.
	Period time.Duration `json:"period_ns,omitempty"`
	// Step is the smallest change that the meter shows, in joules or watts. Zero: not known.
	Step float64 `json:"step,omitempty"`
	// Error is the relative error its maker states (0.05: five per cent). Zero: not stated, which is not "exact".
	Error  float64 `json:"error,omitempty"`
	Detail string  `json:"detail,omitempty"` // file, command, model: what a person needs to find the source
}

// Reading is what a meter showed.
type Reading struct {
	// Time is when the reading was true: the meter's own time stamp where it has one, and the middle of the read call
	// otherwise, on the clock of this process.
	Time  time.Time
	Value float64 // joules since the meter was opened, or watts
	// Window is how long the read call took: the reading is from some moment within half of it around Time. Zero: Time is
	// exact, as far as the meter knows.
	Window time.Duration
}

// Meter is an open source of readings. Its methods are called by one goroutine at a time. Read may be called often; it
// returns all readings that are new since the last call, in the order of their times: none where a stream has brought
// nothing, one from a register. A counter is already unwrapped: its joules only grow. After an error a meter may recover; ErrGone
// says that it will not.
type Meter interface {
	Info() Info
	Read(ctx context.Context) ([]Reading, error)
	Close() error
}

var (
	// ErrGone says that a meter has ended for good: its zone vanished, its program died.
	ErrGone = errors.New("the meter is gone")
	// ErrBreak says that a counter was set back or has wrapped more often than can be told: what passed between the last
	// reading and the next one (which may come with this error) is not known.
	ErrBreak = errors.New("the counter has lost count")
)

// Absence says why a source gives no meter here. It is a normal answer, unless the meter was asked for.
type Absence struct {
	Source string `json:"source"`          // rapl, nvml, ..., or the words with which it was asked for
	Reason string `json:"reason"`          // one sentence, with what would change it where something would
	Asked  bool   `json:"asked,omitempty"` // it was asked for: whoever asked will not want to go on without it
}
