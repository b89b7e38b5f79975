package power

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// slowest is the longest period that is believed of a meter that does not state one: power that hardly changes looks as
// if it were seldom updated.
const slowest = 10 * time.Second

// integrate finds the energy between two moments from samples of power, and how much of the time is covered.
func (s Series) integrate(from, to time.Time) (Amount, time.Duration) {
	a := Amount{How: "trapezoid"}
	moments := make([]time.Time, len(s.Samples))
	for i, p := range s.Samples {
		moments[i] = p.Time
	}
	a.Updates, a.LargestGap = gaps(moments, from, to)

	begin, end := later(from, moments[0]), earlier(to, moments[len(moments)-1])
	if !end.After(begin) {
		return a, 0
	}
	period := s.Info.Period
	if period == 0 {
		period = min(s.Period, slowest)
	}
	for i := 0; i+1 < len(s.Samples); i++ {
		left, right := later(begin, moments[i]), earlier(end, moments[i+1])
		if !right.After(left) {
			continue
		}
		seconds := right.Sub(left).Seconds()
		a.Joules += (s.wattsAt(i, left) + s.wattsAt(i, right)) / 2 * seconds

		// From the mean of two samples, what lies between them is at most half their difference away; at the ends of the
		// interval, where a part of the stretch counts, a whole one. Beyond their range goes a quarter of the change beside.
		change, part := s.change(i), 0.5
		if left.After(moments[i]) || right.Before(moments[i+1]) {
			part = 1
		}
		a.Uncertainty += seconds * (part*change + max(s.change(i-1), s.change(i+1))/4 + s.Info.Step)
		// A value can be the mean over a period that ended up to a period ago. How long ago differs from sample to sample
		// by at most the time between them ...
		a.Uncertainty += min(period.Seconds(), moments[i+1].Sub(moments[i]).Seconds()) * change
	}
	// ... and at the two ends all of it counts.
	for _, at := range []time.Time{begin, end} {
		low, high, window := s.around(at, 2*period)
		a.Uncertainty += (period*3/2 + window).Seconds() * (high - low)
	}
	return a, end.Sub(begin)
}

// wattsAt interpolates between samples i and i+1.
func (s Series) wattsAt(i int, t time.Time) float64 {
	a, b := s.Samples[i], s.Samples[i+1]
	return a.Value + (b.Value-a.Value)*t.Sub(a.Time).Seconds()/b.Time.Sub(a.Time).Seconds()
}

// change is the difference between samples i and i+1; none beyond the ends.
func (s Series) change(i int) float64 {
	if i < 0 || i+1 >= len(s.Samples) {
		return 0
	}
	return math.Abs(s.Samples[i+1].Value - s.Samples[i].Value)
}

// around is the range of the samples within reach of a moment and of one more on each side, and their longest window.
func (s Series) around(at time.Time, reach time.Duration) (low, high float64, window time.Duration) {
	first, last := len(s.Samples)-1, 0
	for i, p := range s.Samples {
		if !p.Time.Before(at.Add(-reach)) {
			first = min(first, i)
		}
		if !p.Time.After(at.Add(reach)) {
			last = i
		}
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range s.Samples[max(min(first, last)-1, 0):min(max(first, last)+2, len(s.Samples))] {
		low, high, window = min(low, p.Value), max(high, p.Value), max(window, p.Window)
	}
	return low, high, window
}

// Watts is power over time, for drawing: the samples of a power meter, and of a counter the mean power between two updates, at the
// moment of the second. Nothing stands for a time that a break leaves unknown.
func (s Series) Watts() []Sample {
	if s.Info.Quantity == Power {
		return s.Samples
	}
	var all []Sample
	for _, part := range s.stretches() {
		for i := 1; i < len(part.edges); i++ {
			a, b := part.edges[i-1], part.edges[i]
			if seconds := b.at.Sub(a.at).Seconds(); seconds > 0 {
				all = append(all, Sample{Time: b.at, Value: (b.value - a.value) / seconds, Break: i == 1 && len(all) > 0})
			}
		}
	}
	return all
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

func (s Series) noEnergy(why string) error {
	return fmt.Errorf("%s: %w: %s", s.Info.Name, ErrNoEnergy, why)
}
