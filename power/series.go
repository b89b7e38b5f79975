package power

import (
	"errors"
	"time"
)

// Sample is a reading that was recorded.
type Sample struct {
	Time   time.Time     `json:"time"`
	Value  float64       `json:"value"`               // joules since the meter was opened, or watts
	Window time.Duration `json:"window_ns,omitempty"` // see Reading
	// Break says that what passed between the sample before and this one is not known: the counter was set back.
	Break bool `json:"break,omitempty"`
}

// Fault is something that went wrong with a meter while it was recorded.
type Fault struct {
	Time  time.Time `json:"time"` // when it was first seen
	Text  string    `json:"text"`
	Count int       `json:"count"` // how often it was seen
}

// Series is what a meter showed while it was recorded, in the order of time.
type Series struct {
	Info Info `json:"info"`
	// Samples of power are all that were read. Of a counter, those between the first and the last that show the same value
	// are left out: they say nothing more.
	Samples []Sample `json:"samples"`
	Faults  []Fault  `json:"faults,omitempty"`
	// ReadTime is the time that reads of this meter took, on the clock: what sampling cost at most.
	ReadTime time.Duration `json:"read_time_ns"`
	// ProcessorTime is what the reads took of a processor. Zero: it is not known, because the system does not tell or because
	// others do the work (a program, a board over a network).
	ProcessorTime time.Duration `json:"processor_time_ns,omitempty"`
	// Period is the time between two updates as they were seen. Zero: fewer than two updates.
	Period time.Duration `json:"period_ns,omitempty"`
}

// Amount is the energy of an interval of time, and what that is worth.
type Amount struct {
	// Joules is the energy of the part of the interval that the samples cover. Where Coverage is 1, this is all of it.
	Joules float64 `json:"joules"`
	// Watts is the mean power over that part.
	Watts float64 `json:"watts"`
	// Uncertainty bounds, in joules, how far Joules may be off because a meter is read at moments and updates in steps. It is
	// a bound, not a standard deviation, and under the assumptions that Energy states. The error of the sensor itself
	// (Info.Error) is not in it.
	Uncertainty float64 `json:"uncertainty"`
	// Coverage is the covered fraction of the interval, between the first and the last usable sample.
	Coverage float64 `json:"coverage"`
	// LargestGap is the longest time in the interval between two samples of power, or between two updates of a counter.
	LargestGap time.Duration `json:"largest_gap_ns"`
	// Updates counts the distinct steps of a counter, or the samples of power, within the interval.
	Updates int    `json:"updates"`
	How     string `json:"how"` // "counter" or "trapezoid"
}

// ErrNoEnergy says that a series does not tell the energy of an interval: it is missing, which is not zero.
var ErrNoEnergy = errors.New("the energy is not known")

// leastCoverage is the part of an interval that must be covered for its energy to be told at all.
const leastCoverage = 0.9

// Energy finds the energy between two moments, from - to, and how far it can be off.
//
// Of a counter it is the difference between the energies at the two ends, each interpolated between the updates around
// it. The bound assumes only that the counter never goes back and that each update shows all energy up to it: the energy at a
// moment is then at least what was shown before it, and at most what the next update showed.
//
// Power is integrated by the trapezoid rule, with interpolated values at the two ends. Nothing bounds what happens between
// samples, so the bound assumes that power goes from one to the next without leaving their range by more than a quarter of
// the changes beside, and allows for a value that is a mean over the meter's last period and is shown for another. A load
// that goes up and down again between two samples breaks the assumption if the meter shows moments; one that shows means
// over its period, and a counter, miss nothing.
//
// Errors wrap ErrNoEnergy: nothing was recorded, the counter did not move, or less than nine tenths of the interval are covered.
func (s Series) Energy(from, to time.Time) (Amount, error) {
	if !to.After(from) {
		return Amount{}, s.noEnergy("the interval has no length")
	}
	var a Amount
	var covered time.Duration
	switch {
	case len(s.Samples) == 0:
		return Amount{}, s.noEnergy("it showed nothing while it was recorded" + s.lastFault())
	case s.Info.Quantity == Energy:
		a, covered = s.count(from, to)
	default:
		a, covered = s.integrate(from, to)
	}
	a.Coverage = covered.Seconds() / to.Sub(from).Seconds()
	if a.Coverage < leastCoverage {
		return Amount{}, s.noEnergy(percent(a.Coverage) + " of the interval is covered by samples, and " + percent(leastCoverage) +
			" are needed" + s.lastFault())
	}
	a.Watts = a.Joules / covered.Seconds()
	return a, nil
}

func (s Series) lastFault() string {
	if len(s.Faults) == 0 {
		return ""
	}
	return " (" + s.Faults[len(s.Faults)-1].Text + ")"
}
