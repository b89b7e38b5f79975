package power

import (
	"math"
	"slices"
	"sort"
	"time"
)

// An edge is an update of a counter: from about this moment on it showed this value.
type edge struct {
	at    time.Time
	value float64
}

// A stretch is a part of a counter's samples without a break, at least two, with at least one update.
type stretch struct {
	samples []Sample
	edges   []edge
	step    float64
	usable  span
}

type span struct{ from, to time.Time }

func (s Sample) begin() time.Time { return s.Time.Add(-s.Window / 2) }
func (s Sample) end() time.Time   { return s.Time.Add(s.Window / 2) }

// stretches cuts the samples of a counter at their breaks. A stretch in which the counter never moved tells nothing and
// is left out.
func (s Series) stretches() []stretch {
	period := s.Info.Period
	if period == 0 {
		period = s.Period
	}
	var all []stretch
	for first, i := 0, 1; i <= len(s.Samples); i++ {
		if i < len(s.Samples) && !s.Samples[i].Break {
			continue
		}
		part := stretch{samples: s.Samples[first:i], step: s.Info.Step}
		first = i
		part.edges = edges(part.samples, period)
		if len(part.edges) == 0 {
			continue
		}
		last := part.samples[0]
		for k := 1; k < len(part.samples); k++ {
			if part.samples[k].Value > part.samples[k-1].Value {
				last = part.samples[k-1]
			}
		}
		part.usable = span{part.samples[0].end(), last.begin()}
		all = append(all, part)
	}
	return all
}

// edges finds the updates: one lies between two samples of different value. Where a counter updates more often than it is read
// the last update before the second sample is the one that is shown; it lies within a period of it. A meter that stamps its
// readings itself (they have no window) says when it updated.
func edges(samples []Sample, period time.Duration) []edge {
	var all []edge
	for i := 1; i < len(samples); i++ {
		if samples[i].Value > samples[i-1].Value {
			window := min(period, samples[i].Time.Sub(samples[i-1].Time))
			if samples[i].Window == 0 {
				window = 0
			}
			all = append(all, edge{samples[i].Time.Add(-window / 2), samples[i].Value})
		}
	}
	return all
}

// bracket bounds the energy at a moment within the usable span.
//
// Each update shows all energy up to it. So what a read before t showed had been spent by t. And when a read that began
// after t is followed by one that shows more, the update between them came after t, and shows at least what had been spent
// by t.
func (s stretch) bracket(t time.Time) (low, high float64) {
	after := sort.Search(len(s.samples), func(i int) bool { return s.samples[i].end().After(t) })
	low = s.samples[max(after-1, 0)].Value
	i := sort.Search(len(s.samples), func(i int) bool { return !s.samples[i].begin().Before(t) })
	for i+1 < len(s.samples) && s.samples[i+1].Value <= s.samples[i].Value {
		i++
	}
	return low, s.samples[min(i+1, len(s.samples)-1)].Value + s.step
}

// at interpolates the energy at a moment between the updates around it, inside the bracket.
func (s stretch) at(t time.Time, low, high float64) float64 {
	if len(s.edges) == 1 {
		return (low + high) / 2
	}
	next := sort.Search(len(s.edges), func(i int) bool { return s.edges[i].at.After(t) })
	next = min(max(next, 1), len(s.edges)-1) // before the first and after the last edge: along the nearest two
	a, b := s.edges[next-1], s.edges[next]
	length := b.at.Sub(a.at).Seconds()
	if length <= 0 {
		return (low + high) / 2
	}
	value := a.value + (b.value-a.value)*t.Sub(a.at).Seconds()/length
	return min(max(value, low), high)
}

// count finds the energy of a counter between two moments, and how much of the time is covered.
func (s Series) count(from, to time.Time) (Amount, time.Duration) {
	a := Amount{How: "counter"}
	var covered time.Duration
	updates := []time.Time{}
	for _, part := range s.stretches() {
		for _, e := range part.edges {
			updates = append(updates, e.at)
		}
		begin, end := later(from, part.usable.from), earlier(to, part.usable.to)
		if !end.After(begin) {
			continue
		}
		beginLow, beginHigh := part.bracket(begin)
		endLow, endHigh := part.bracket(end)
		joules := part.at(end, endLow, endHigh) - part.at(begin, beginLow, beginHigh)
		least, most := max(0, endLow-beginHigh), endHigh-beginLow
		joules = min(max(joules, least), most)
		a.Joules += joules
		a.Uncertainty += max(joules-least, most-joules)
		covered += end.Sub(begin)
	}
	a.Updates, a.LargestGap = gaps(updates, from, to)
	return a, covered
}

// gaps counts the moments within an interval and finds the longest time in it without one: between two that enclose a part of
// it, or up to an end that none lies beyond.
func gaps(moments []time.Time, from, to time.Time) (inside int, largest time.Duration) {
	before := from
	for _, at := range moments {
		if at.After(from) {
			if before.Before(to) {
				largest = max(largest, at.Sub(before))
			}
			if !at.After(to) {
				inside++
			}
		}
		before = at
	}
	if before.Before(to) {
		largest = max(largest, to.Sub(later(before, from)))
	}
	return inside, largest
}

// observedPeriod is the time between two updates as they were seen: two changes of what is shown or, where the meter stamps
// its readings itself (they have no window), two samples. A counter changes with every update, and their median stands for
// all; power can stay the same over many, so of its changes a short time (the tenth percentile) is nearer.
func observedPeriod(q Quantity, samples []Sample) time.Duration {
	var between []time.Duration
	last := time.Time{}
	for i, s := range samples {
		if i == 0 || s.Window > 0 && s.Value == samples[i-1].Value {
			continue
		}
		if !last.IsZero() && !s.Break {
			between = append(between, s.Time.Sub(last))
		}
		last = s.Time
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

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func percent(f float64) string { return formatFloat(math.Floor(f*1000)/10) + " %" }
