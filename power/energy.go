// SPDX-License-Identifier: Apache-2.0

package power

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// minCoverage is the fraction of an interval that readings must cover for its energy to be known.
const minCoverage = 0.9

// maxPeriod bounds the observed period, because nearly constant power looks as if it were rarely updated.
const maxPeriod = 10 * time.Second

// Energy returns the energy spent between two moments, and a bound on its error.
//
// For a counter, it is the difference between the energies at the two moments, each interpolated between the updates
// around it. The bound assumes that the counter never decreases, and that each update shows all the energy spent up to
// it: the energy at a moment is at least the last reading before it, and at most the next update.
//
// For power, it is the integral by the trapezoid rule, interpolated at both moments. The bound assumes that power stays
// in the range of the two readings before and the two after, and allows for readings that are means over the last
// period of the meter. A load that rises and falls between two readings violates it. Two readings do not cover the time
// between them if that is more than a second, a tenth of the interval, and ten times the median: the meter was silent.
//
// It returns an error if there are no readings, if the counter did not move, or if the readings cover less than nine
// tenths of the interval.
func (s Series) Energy(from, to time.Time) (Amount, error) {
	length, why := to.Sub(from), ""
	switch {
	case length <= 0:
		why = "the interval is empty"
	case len(s.Readings) == 0:
		why = "the meter showed nothing"
	default:
		a, covered := s.energy(from, to)
		a.Coverage = covered.Seconds() / length.Seconds()
		a.Watts = a.Joules / covered.Seconds()
		if a.Coverage >= minCoverage {
			return a, nil
		}
		why = fmt.Sprintf("readings cover %.1f %% of the interval, and %g %% are needed", 100*a.Coverage, 100*minCoverage)
	}
	if n := len(s.Faults); n > 0 {
		why += " (" + s.Faults[n-1].Text + ")"
	}
	return Amount{}, fmt.Errorf("the energy is not known: %s", why)
}

// energy returns the energy of the part of an interval that the readings cover, and the length of that part.
func (s Series) energy(from, to time.Time) (Amount, time.Duration) {
	if s.Info.Quantity == Energy {
		return s.difference(from, to)
	}
	return s.integral(from, to)
}

// Mean returns the mean power over the recording in watts, or zero without readings.
func (s Series) Mean() float64 {
	if n := len(s.Readings); n > 1 {
		if a, covered := s.energy(s.Readings[0].Time, s.Readings[n-1].Time); covered > 0 {
			return a.Joules / covered.Seconds()
		}
	}
	return 0
}

// A stretch is a part of the readings of a counter without a break. It has at least one update.
type stretch struct {
	readings []Reading
	// updates are the readings that show more than those before. An update happens shortly before its reading; this
	// shifts both ends of an interval equally.
	updates  []Reading
	step     float64
	from, to time.Time // where the energy is bounded on both sides
}

func (r Reading) begin() time.Time { return r.Time.Add(-r.Window / 2) }
func (r Reading) end() time.Time   { return r.Time.Add(r.Window / 2) }

// stretches splits the readings of a counter at their breaks. Parts in which the counter did not move are left out.
func (s Series) stretches() []stretch {
	var all []stretch
	for first, i := 0, 1; i <= len(s.Readings); i++ {
		if i < len(s.Readings) && !s.Readings[i].Break {
			continue
		}
		part := stretch{readings: s.Readings[first:i], step: s.Info.Step}
		first = i
		for k := 1; k < len(part.readings); k++ {
			if part.readings[k].Value > part.readings[k-1].Value {
				part.updates = append(part.updates, part.readings[k])
			}
		}
		if len(part.updates) == 0 {
			continue
		}
		n := len(part.readings) - 1
		for part.readings[n].Value == part.readings[n-1].Value { // after the last update
			n--
		}
		part.from, part.to = part.readings[0].end(), part.readings[n-1].begin()
		all = append(all, part)
	}
	return all
}

// bounds bounds the energy at a moment between p.from and p.to. It is at least the last reading before t. When a
// reading that began after t is followed by one that shows more, the update between them came after t, and shows at
// least the energy spent by t.
func (p stretch) bounds(t time.Time) (low, high float64) {
	n := len(p.readings)
	after := sort.Search(n, func(i int) bool { return p.readings[i].end().After(t) })
	low = p.readings[max(after-1, 0)].Value
	i := sort.Search(n, func(i int) bool { return !p.readings[i].begin().Before(t) })
	for i+1 < n && p.readings[i+1].Value <= p.readings[i].Value {
		i++
	}
	return low, p.readings[min(i+1, n-1)].Value + p.step
}

// at interpolates the energy at a moment between the updates around it, and keeps it within its bounds.
func (p stretch) at(t time.Time, low, high float64) float64 {
	if len(p.updates) == 1 {
		return (low + high) / 2
	}
	next := sort.Search(len(p.updates), func(i int) bool { return p.updates[i].Time.After(t) })
	next = min(max(next, 1), len(p.updates)-1) // outside all updates, extrapolate from the nearest two
	return min(max(interpolate(p.updates[next-1], p.updates[next], t), low), high)
}

// difference returns the energy between two moments by a counter, and how much of that time is covered.
func (s Series) difference(from, to time.Time) (a Amount, covered time.Duration) {
	var moments []time.Time
	for _, part := range s.stretches() {
		for _, u := range part.updates {
			moments = append(moments, u.Time)
		}
		begin, end := overlap(from, to, part.from, part.to)
		if !end.After(begin) {
			continue
		}
		beginLow, beginHigh := part.bounds(begin)
		endLow, endHigh := part.bounds(end)
		low, high := max(0, endLow-beginHigh), endHigh-beginLow
		joules := part.at(end, endLow, endHigh) - part.at(begin, beginLow, beginHigh)
		joules = min(max(joules, low), high)
		a.Joules += joules
		a.Uncertainty += max(joules-low, high-joules)
		covered += end.Sub(begin)
	}
	a.Updates, a.LargestGap = gaps(moments, from, to)
	return a, covered
}

// integral integrates readings of power between two moments, and returns how much of that time is covered.
func (s Series) integral(from, to time.Time) (a Amount, covered time.Duration) {
	moments := make([]time.Time, len(s.Readings))
	for i, r := range s.Readings {
		moments[i] = r.Time
	}
	a.Updates, a.LargestGap = gaps(moments, from, to)

	begin, end := overlap(from, to, moments[0], moments[len(moments)-1])
	if !end.After(begin) {
		return a, 0
	}
	period := cmp.Or(s.Info.Period, min(s.Period, maxPeriod)) // between two updates
	between := make([]time.Duration, len(moments)-1)
	for i := range between {
		between[i] = moments[i+1].Sub(moments[i])
	}
	silent := max(time.Second, to.Sub(from)/10, 10*slices.Sorted(slices.Values(between))[len(between)/2])
	for i := range between {
		left, right := overlap(begin, end, moments[i], moments[i+1])
		if !right.After(left) || between[i] > silent {
			continue
		}
		covered += right.Sub(left)
		seconds := right.Sub(left).Seconds()
		before, after := s.Readings[i], s.Readings[i+1]
		mean := (interpolate(before, after, left) + interpolate(before, after, right)) / 2
		low, high, _ := s.around(i-1, i+3)
		a.Joules += seconds * mean
		a.Uncertainty += seconds * (max(high-mean, mean-low) + s.Info.Step)
	}
	// At the two ends, a reading that is the mean over a period lags behind.
	for _, t := range []time.Time{begin, end} {
		first := sort.Search(len(moments), func(i int) bool { return !moments[i].Before(t.Add(-2 * period)) })
		last := sort.Search(len(moments), func(i int) bool { return moments[i].After(t.Add(2 * period)) })
		low, high, window := s.around(first-1, last+1)
		a.Uncertainty += (period*3/2 + window).Seconds() * (high - low)
	}
	return a, covered
}

func interpolate(a, b Reading, t time.Time) float64 {
	return a.Value + (b.Value-a.Value)*t.Sub(a.Time).Seconds()/b.Time.Sub(a.Time).Seconds()
}

// around returns the range and the longest window of readings.
func (s Series) around(first, last int) (low, high float64, window time.Duration) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range s.Readings[max(first, 0):min(last, len(s.Readings))] {
		low, high, window = min(low, r.Value), max(high, r.Value), max(window, r.Window)
	}
	return low, high, window
}

// overlap returns the intersection of two intervals; if it is empty, its end is not after its beginning.
func overlap(from, to, otherFrom, otherTo time.Time) (begin, end time.Time) {
	return slices.MaxFunc([]time.Time{from, otherFrom}, time.Time.Compare),
		slices.MinFunc([]time.Time{to, otherTo}, time.Time.Compare)
}

// Moment is one look at the clock of another host.
type Moment struct {
	Here  time.Time     // in the middle of the call that asked for the time
	There time.Time     // the answer
	Error time.Duration // bound on the distance of the two: half of the time that the call took
}

// Clock compares the clock of another host with the one of this host, over the time of a recording.
type Clock struct {
	Offset time.Duration `json:"offset_ns"` // of the other clock at the start, in front of this one
	Drift  float64       `json:"drift"`     // seconds that the other clock gains in a second
	Error  time.Duration `json:"error_ns"`  // bound on the error of times, for a constant drift
}

// Align converts the times of a recording from the clock of another host to the one of this host. The clocks were
// compared before and after the recording.
func (s *Series) Align(before, after Moment) {
	here, there := after.Here.Sub(before.Here).Seconds(), after.There.Sub(before.There).Seconds()
	s.Clock = &Clock{before.There.Sub(before.Here), there/here - 1, max(before.Error, after.Error)}
	for i, r := range s.Readings {
		passed := time.Duration(float64(r.Time.Sub(before.There)) * here / there)
		s.Readings[i].Time, s.Readings[i].Window = before.Here.Add(passed), r.Window+2*s.Clock.Error
	}
}
