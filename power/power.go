// SPDX-License-Identifier: Apache-2.0

// Package power records power meters, and computes the energy of a time interval with a bound on its error. Package
// meters finds the meters of a machine.
//
// A meter has a scope (the part of the machine that it covers), a method (measured or estimated) and a quantity (a
// counter of energy, or power). The power of a component, such as a processor package or a GPU, is not the power of
// the system: Scope.System tells them apart, and nothing here adds components up to a system.
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

// Scopes returns all scopes, from the smallest to the largest.
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
	Name     string   `json:"name"`   // unique among the meters of a machine: rapl:package-0, nvml:GPU-5f2c...
	Source   string   `json:"source"` // rapl, nvml, hwmon, ipmi, redfish, command
	Scope    Scope    `json:"scope"`
	Method   Method   `json:"method"`
	Quantity Quantity `json:"quantity"`
	// ScopeStated reports that the user stated Scope, because the source cannot know it.
	ScopeStated bool `json:"-"`
	// Device is the name of the metered device as engines report it (the UUID of a GPU). Empty: not known.
	Device string `json:"device,omitempty"`
	// Period is the time between two updates of the meter. Zero: not known.
	Period time.Duration `json:"period_ns,omitempty"`
	// MinInterval is the minimum time between two reads of a slow meter. Zero: any.
	MinInterval time.Duration `json:"-"`
	// Step is the smallest change that the meter shows, in joules or watts. Zero: not known.
	Step float64 `json:"step,omitempty"`
	// Error is the relative error stated by the maker of the meter, such as 0.05. Zero: not stated.
	Error  float64 `json:"error,omitempty"`
	Detail string  `json:"detail,omitempty"` // file, command or model of the source
}

// Reading is the value of a meter at one moment.
type Reading struct {
	// Time is the meter's own time stamp if it has one. Otherwise it is the middle of the read call.
	Time  time.Time
	Value float64 // joules since the meter was opened, or watts
	// Window is how long the read call took: Time may be off by half of it. Zero: Time is exact.
	Window time.Duration
	// Break reports that the energy between the previous reading and this one is not known, because the counter was
	// reset.
	Break bool
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

// Absence is the reason why a source has no meter. It is an error only if the user asked for the source.
type Absence struct {
	Source string `json:"source"`          // its name, or the specification that asked for it
	Reason string `json:"reason"`          // with a remedy where there is one
	Asked  bool   `json:"asked,omitempty"` // the user asked for it
}

// Close closes all meters.
func Close(meters []Meter) (err error) {
	for _, m := range meters {
		err = errors.Join(err, m.Close())
	}
	return err
}

// Fault is an error of a meter during its recording.
type Fault struct {
	Text  string `json:"text"`
	Count int    `json:"count"` // how often it happened
}

// Series is the recording of a meter.
type Series struct {
	Info     Info
	Readings []Reading // in the order of their times
	Faults   []Fault
	// ReadTime is the total wall time of all reads of this meter.
	ReadTime time.Duration
	// Period is the observed time between two updates. Zero: there were fewer than two.
	Period time.Duration
}

// Amount is the energy of an interval.
type Amount struct {
	// Joules is the energy of the part of the interval that the readings cover: all of it if Coverage is 1.
	Joules float64 `json:"joules"`
	// Watts is the mean power over that part.
	Watts float64 `json:"watts"`
	// Uncertainty is a bound on the error of Joules that comes from reading a meter at moments, and from updates in
	// steps, under the assumptions stated at Series.Energy. It does not include the error of the sensor (Info.Error).
	Uncertainty float64 `json:"uncertainty"`
	// Coverage is the fraction of the interval that lies between the first and the last usable reading.
	Coverage float64 `json:"coverage"`
	// LargestGap is the longest time in the interval between two readings of power, or between two updates of a counter.
	LargestGap time.Duration `json:"largest_gap_ns"`
	Updates    int           `json:"updates"` // of a counter, or readings of power, within the interval
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

// observedPeriod returns the observed time between two updates. With time stamps of the meter (readings without a
// window) it is the time between two readings, otherwise between two changes of the value. Every update of a counter is
// a change, so the median is the period. Power may stay the same over many updates, so the tenth percentile is closer.
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
