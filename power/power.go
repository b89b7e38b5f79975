// SPDX-License-Identifier: Apache-2.0

// Package power records power meters, and computes the energy of a time interval with a bound on its error. Package
// meters finds the meters of a machine.
//
// The power of a component, such as a processor package or a GPU, is not the power of the system: Scope.System
// distinguishes them, and nothing here adds up components to a system.
package power

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Scope is the part of a machine that a meter covers.
type Scope string

const (
	Package Scope = "package" // a processor package with its cores and caches (RAPL package zone)
	DRAM    Scope = "dram"    // memory modules; not part of a package (RAPL dram zone)
	SoC     Scope = "soc"     // the platform as seen by its processor (RAPL psys zone); overlaps packages and dram
	GPU     Scope = "gpu"     // a whole board: chip, memory and regulators
	Device  Scope = "device"  // any other component
	Node    Scope = "node"    // a node as seen by its controller or power supply
	Wall    Scope = "wall"    // a system at its plug, power supplies included
)

// Scopes returns all scopes, the smallest first.
func Scopes() []Scope { return []Scope{Package, DRAM, SoC, GPU, Device, Node, Wall} }

// System reports whether s covers a whole system. GreenGraph500 ranks by the power of a system only.
func (s Scope) System() bool { return s == Node || s == Wall }

// Method says whether readings are measured.
type Method string

const (
	Measured  Method = "measured"  // by a sensor
	Estimated Method = "estimated" // by a model in hardware
)

// Quantity is the meaning of the readings of a meter.
type Quantity string

const (
	Energy Quantity = "energy" // joules since the meter was opened; they never decrease
	Power  Quantity = "power"  // watts at one moment, or their mean since the last update
)

// Info describes a meter. It does not change while the meter is open.
type Info struct {
	Name     string   `json:"name"`           // unique: rapl:package-0, nvml:GPU-5f2c..., rapl:package-0 on n1
	Host     string   `json:"host,omitempty"` // of a run on several hosts: its name
	Source   string   `json:"source"`         // rapl, nvml, hwmon, ipmi, redfish, command
	Scope    Scope    `json:"scope"`
	Method   Method   `json:"method"`
	Quantity Quantity `json:"quantity"`

	ScopeStated bool          `json:"-"`                   // by the user, because the source cannot know Scope
	Asked       bool          `json:"-"`                   // the user asked for its source
	Device      string        `json:"device,omitempty"`    // as engines report it: the UUID of a GPU
	Period      time.Duration `json:"period_ns,omitempty"` // between two updates; 0: not known
	MinInterval time.Duration `json:"-"`                   // between two reads of a slow meter
	Step        float64       `json:"step,omitempty"`      // smallest change shown, joules or watts; 0: not known
	Error       float64       `json:"error,omitempty"`     // relative, stated by the maker: 0.05; 0: not stated
	Detail      string        `json:"detail,omitempty"`    // file, command or model of the source
}

// OnHost is the part of the name that names the host; empty on this host.
func (i Info) OnHost() string {
	if i.Host == "" {
		return ""
	}
	return " on " + i.Host
}

// Reading is the value of a meter at one moment.
type Reading struct {
	Time   time.Time     // stamped by the meter, or the middle of the read call
	Value  float64       // joules since the meter was opened, or watts
	Window time.Duration // of the read call: Time may be off by half of it
	Break  bool          // the counter was reset, so the energy since the previous reading is not known
}

// Meter is an open source of readings. Its methods are called by one goroutine at a time.
type Meter interface {
	Info() Info
	// Read returns the readings since the last call, in the order of their times. It may return both readings and an
	// error. The meter may recover after an error, but not after one that wraps ErrGone.
	Read(ctx context.Context) ([]Reading, error)
	Close() error
}

// ErrGone reports that a meter has ended permanently: its device was removed, or its program has ended.
var ErrGone = errors.New("the meter is gone")

// Absence is the reason why a source has no meter, which is an error only if the user asked for it.
type Absence struct {
	Source string `json:"source"`          // its name, or the specification that asked for it
	Reason string `json:"reason"`          // with a remedy where there is one
	Asked  bool   `json:"asked,omitempty"` // the user asked for it
	Scope  Scope  `json:"scope,omitempty"` // of a part that has no meter, unlike other parts; empty: no part has one
}

// PartError is the reason why a source has no meter for one part of the machine.
type PartError struct {
	Scope Scope
	Err   error // names the part
}

func (e *PartError) Error() string { return e.Err.Error() }

// Meters are open meters: those of this host (Here), or of several (package cluster).
type Meters interface {
	Infos() []Info
	// Record starts to read the meters until stop is called, which returns the recordings in the order of Infos. Energy
	// needs updates on both sides of an interval: record for Margin(Infos()) before and after it.
	Record(ctx context.Context) (stop func() ([]Series, error), err error)
	Close() error
}

// Here are meters of this host.
type Here []Meter

// Infos implements Meters.
func (h Here) Infos() []Info {
	infos := make([]Info, len(h))
	for i, m := range h {
		infos[i] = m.Info()
	}
	return infos
}

// Record implements Meters.
func (h Here) Record(ctx context.Context) (stop func() ([]Series, error), err error) {
	r := Record(ctx, h)
	return func() ([]Series, error) { return r.Stop(), nil }, nil
}

// Close implements Meters.
func (h Here) Close() (err error) {
	for _, m := range h {
		err = errors.Join(err, m.Close())
	}
	return err
}

// Fault is an error of a meter during its recording, which happened Count times.
type Fault struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Series is the recording of a meter.
type Series struct {
	Info     Info
	Readings []Reading // in the order of their times
	Faults   []Fault
	ReadTime time.Duration // wall time of all reads
	Period   time.Duration // observed between two updates; 0: there were fewer than two
	Clock    *Clock        // with which the meter was read, if it is another host's
}

// Amount is the energy of an interval.
type Amount struct {
	Joules float64 `json:"joules"` // of the part of the interval that readings cover
	Watts  float64 `json:"watts"`  // mean over that part
	// Uncertainty is a bound on the error of Joules that comes from reading a meter at moments and from updates in steps,
	// under the assumptions of Series.Energy. It does not include the error of the sensor (Info.Error).
	Uncertainty float64       `json:"uncertainty"`
	Coverage    float64       `json:"coverage"`       // that part, as a fraction of the interval
	LargestGap  time.Duration `json:"largest_gap_ns"` // between two updates of a counter or readings of power
	Updates     int           `json:"updates"`        // of a counter, or readings of power, within the interval
}

// gaps counts the moments inside an interval and returns the longest gap: from one moment to the next, even if one of
// them lies outside the interval, or to the end of the interval if no moment lies beyond.
func gaps(moments []time.Time, from, to time.Time) (inside int, largest time.Duration) {
	previous := from
	for _, t := range moments {
		if t.After(from) {
			if previous.Before(to) {
				largest = max(largest, t.Sub(previous))
			}
			if !t.After(to) {
				inside++
			}
		}
		previous = t
	}
	if previous.Before(to) {
		largest = max(largest, to.Sub(slices.MaxFunc([]time.Time{previous, from}, time.Time.Compare)))
	}
	return inside, largest
}

// observedPeriod returns the time between two updates: between two readings with time stamps of the meter (without a
// window), otherwise between two changes of the value. For a counter, which changes with every update, it is the
// median; for power, which may stay the same over many updates, the tenth percentile.
func observedPeriod(q Quantity, readings []Reading) time.Duration {
	var between []time.Duration
	previous := time.Time{}
	for i, r := range readings {
		if i == 0 || r.Window > 0 && r.Value == readings[i-1].Value {
			continue
		}
		if !previous.IsZero() && !r.Break {
			between = append(between, r.Time.Sub(previous))
		}
		previous = r.Time
	}
	if len(between) == 0 {
		return 0
	}
	slices.Sort(between)
	if q == Power {
		return between[len(between)/10]
	}
	return between[len(between)/2]
}
