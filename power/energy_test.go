// SPDX-License-Identifier: Apache-2.0

package power

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
)

// A curve is a power over time whose energy is known exactly: linear pieces, with or without jumps between them, plus
// a sine wave.
type curve struct {
	ends          []float64    // of the pieces, in seconds; the first begins at 0
	watts         [][2]float64 // at the two ends of a piece
	sums          []float64    // energy up to the end of a piece
	wave, seconds float64      // amplitude and length of the wave
}

func (c curve) piece(t float64) int {
	i, _ := slices.BinarySearch(c.ends, t)
	return min(i, len(c.ends)-1)
}

func (c curve) begin(i int) float64 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// linear is the power at t without the wave, with the piece and its beginning.
func (c curve) linear(t float64) (watts, from float64, piece int) {
	piece = c.piece(t)
	from = c.begin(piece)
	w := c.watts[piece]
	return w[0] + (w[1]-w[0])*(t-from)/(c.ends[piece]-from), from, piece
}

func (c curve) power(t float64) float64 {
	p, _, _ := c.linear(t)
	if c.wave > 0 {
		p += c.wave * math.Sin(2*math.Pi*t/c.seconds)
	}
	return p
}

// energy is the integral of power from 0 to t.
func (c curve) energy(t float64) float64 {
	p, from, i := c.linear(t)
	e := (c.watts[i][0] + p) / 2 * (t - from)
	if i > 0 {
		e += c.sums[i-1]
	}
	if c.wave > 0 {
		e += c.wave * c.seconds / (2 * math.Pi) * (1 - math.Cos(2*math.Pi*t/c.seconds))
	}
	return e
}

// randomCurve draws a curve whose pieces and waves last at least shortest seconds.
func randomCurve(r *rand.Rand, seconds, shortest float64) curve {
	var c curve
	jumps := r.IntN(2) == 0
	if r.IntN(2) == 0 {
		c.wave, c.seconds = 5+r.Float64()*45, shortest*2*(1+9*r.Float64())
	}
	level := 60 + r.Float64()*640
	for t, sum := 0.0, 0.0; t < seconds; {
		length := shortest * (1 + r.ExpFloat64()*3)
		next := 60 + r.Float64()*640
		w := [2]float64{level, next}
		if jumps {
			w[1] = level
		}
		level = next
		t, sum = t+length, sum+(w[0]+w[1])/2*length
		c.ends, c.watts, c.sums = append(c.ends, t), append(c.watts, w), append(c.sums, sum)
	}
	return c
}

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func moment(seconds float64) time.Time {
	return midnight.Add(time.Duration(seconds * float64(time.Second)))
}

// sampling says how a simulated meter is read.
type sampling struct {
	interval float64 // seconds
	jitter   float64 // of each read, as a part of the interval
	missing  float64 // probability that a read is left out
	burst    int     // maximum number of reads left out in a row
	window   float64 // of the longest read call, in seconds
}

// record reads a meter that shows(t) as a recorder does.
func record(r *rand.Rand, info Info, s sampling, seconds float64, shows func(t float64) float64) Series {
	track := &track{series: Series{Info: info}}
	for t, skip := 0.0, 0; t < seconds; t += s.interval {
		if skip > 0 {
			skip--
			continue
		}
		if r.Float64() < s.missing {
			skip = r.IntN(s.burst)
			continue
		}
		begin := t + r.Float64()*s.jitter*s.interval
		window := s.window * math.Pow(r.Float64(), 4) // usually short
		valid := begin + r.Float64()*window           // when the value was right
		track.append(Reading{Time: moment(begin + window/2), Value: shows(valid), Window: time.Duration(window * 1e9)})
	}
	track.series.Period = observedPeriod(info.Quantity, track.series.Readings)
	return track.series
}

// steps returns what a counter shows of a curve: the energy at its last update. Updates come about every period.
func steps(r *rand.Rand, c curve, seconds, period, unit float64) func(float64) float64 {
	var at, shown []float64
	for t := -r.Float64() * period; t < seconds+period; t += period * (0.95 + 0.1*r.Float64()) {
		at = append(at, t)
		shown = append(shown, math.Floor(c.energy(max(t, 0))/unit)*unit)
	}
	return func(t float64) float64 {
		i, found := slices.BinarySearch(at, t)
		if !found {
			i--
		}
		return shown[i]
	}
}

// judged compares the energy of an interval, which begins at from and lasts length seconds, with that of the curve. It
// returns the error and its bound, relative to the energy, and reports an error beyond the bound.
func judged(t *testing.T, c curve, s Series, from, length float64) (a Amount, off, bound float64) {
	t.Helper()
	a = must.Get(s.Energy(moment(from), moment(from+length)))
	truth := c.energy(from+length) - c.energy(from)
	if off = math.Abs(a.Joules - truth); off > a.Uncertainty {
		t.Errorf("got %.3f J, want %.3f J; the error is %.3f J and its bound %.3f J", a.Joules, truth, off, a.Uncertainty)
	}
	return a, off / truth, a.Uncertainty / truth
}

// The bound must hold in every trial, and must not be wider than what the meter can draw during a period and the
// reads around it at each end.
func TestUncertaintyBoundsTheErrorOfCounters(t *testing.T) {
	var worst, sum, widest float64
	for trial := range uint64(1000) {
		if testing.Short() && trial == 100 {
			break // there is nothing for the race detector
		}
		r := rand.New(rand.NewPCG(trial, 2))
		period := []float64{0.001, 0.02, 0.1, 0.1, 1}[r.IntN(5)]
		c := randomCurve(r, 16, []float64{0.002, 0.05, 1}[r.IntN(3)])
		info := Info{Name: "counter", Quantity: Energy, Step: 1e-3}
		if r.IntN(2) == 0 {
			info.Period = time.Duration(period * 1e9)
		}
		how := sampling{interval: []float64{0.01, Interval.Seconds()}[r.IntN(2)], jitter: 0.9 * r.Float64(),
			missing: r.Float64() * 0.2, burst: 1 + r.IntN(10), window: 0.008 * r.Float64()}
		s := record(r, info, how, 16, steps(r, c, 16, period, 1e-3))
		length := 1 + r.Float64()*9
		a, off, _ := judged(t, c, s, 2.1+r.Float64()*0.5, length)
		worst, sum = max(worst, off), sum+off
		// The energy of 750 W in a period and the reads around it, at both ends.
		gap := 2 * (2*period + float64(how.burst+3)*how.interval) * 750
		widest = max(widest, a.Uncertainty/gap)
	}
	t.Logf("1000 trials: mean error %.3f %%, largest %.3f %%; the widest bound is %.2f of its limit",
		sum/10, worst*100, widest)
	if widest > 1 {
		t.Errorf("a bound is %.2f times as wide as it may be", widest)
	}
}

func TestUncertaintyBoundsTheErrorOfPowerMeters(t *testing.T) {
	var worst, sum float64
	var wide []float64
	for trial := range uint64(1000) {
		r := rand.New(rand.NewPCG(trial, 3))
		interval := []float64{0.1, 1}[r.IntN(2)]
		how := sampling{interval: interval, jitter: 0.5 * r.Float64(), missing: r.Float64() * 0.1, burst: 1 + r.IntN(2),
			window: 0.05 * interval * r.Float64()}
		// The bound assumes that power does not rise and fall again between two readings.
		maxGap := interval * float64(how.burst+2) * 1.5
		c := randomCurve(r, 90*interval, maxGap)
		if c.wave == 0 { // every load has one, and a meter of unknown period shows it
			c.wave, c.seconds = 5, maxGap*3
		}
		info := Info{Name: "watts", Quantity: Power, Step: 0.1}
		shows := func(at float64) float64 { return math.Floor(c.power(at)*10) / 10 }
		if r.IntN(2) == 0 { // a mean over the period before the last update
			phase := r.Float64() * interval
			info.Period = time.Duration(interval * 1e9)
			shows = func(at float64) float64 {
				update := max(math.Floor((at-phase)/interval)*interval+phase, interval)
				return math.Floor((c.energy(update)-c.energy(update-interval))/interval*10) / 10
			}
		}
		s := record(r, info, how, 90*interval, shows)
		from := (4 + r.Float64()) * interval
		a, off, bound := judged(t, c, s, from, (60+15*r.Float64())*interval)
		worst, sum, wide = max(worst, off), sum+off, append(wide, bound)
		if a.Coverage != 1 {
			t.Errorf("trial %d: %+v", trial, a)
		}
	}
	slices.Sort(wide)
	t.Logf("1000 trials: mean error %.2f %%, largest %.2f %%; bounds: median %.0f %%, widest %.0f %%", sum/10,
		worst*100, wide[500]*100, wide[999]*100)
	if wide[500] > 0.1 || wide[999] > 1 {
		t.Errorf("bounds are too wide: median %.0f %%, widest %.0f %%", wide[500]*100, wide[999]*100)
	}
}

func constant(info Info, seconds ...float64) Series {
	s := Series{Info: info}
	for _, at := range seconds {
		value := 100 * map[Quantity]float64{Energy: at, Power: 1}[info.Quantity]
		s.Readings = append(s.Readings, Reading{Time: moment(at), Value: value})
	}
	return s
}

func TestEnergyIsMissingWhereReadingsDoNotCoverIt(t *testing.T) {
	watts, joules := Info{Name: "wall", Quantity: Power}, Info{Name: "gpu", Quantity: Energy}
	flat := Series{Info: joules, Readings: []Reading{{Time: moment(0), Value: 5}, {Time: moment(20), Value: 5}}}
	faulty := Series{Info: watts, Faults: []Fault{{Text: "the program has ended", Count: 1}}}
	for i, s := range []Series{
		{Info: watts}, constant(watts, 5), constant(watts, 0, 1, 2), constant(watts, 30, 31),
		constant(watts, 0, 5, 15), constant(joules, 0, 5, 15), flat, faulty,
		constant(watts, 8, 8.5, 9, 9.5, 10, 19.5, 20, 20.5, 21, 21.5, 22), // silent while the engine works
	} {
		if a, err := s.Energy(moment(10), moment(20)); !contains(err, "the energy is not known") || a != (Amount{}) {
			t.Errorf("series %d: %+v, %v", i, a, err)
		}
	}
	must.Fail(t, must.Err(faulty.Energy(moment(10), moment(20))), "the program has ended")
	_, err := constant(watts, 0, 30).Energy(moment(20), moment(20))
	must.Fail(t, err, "the energy is not known: the interval is empty")
}

func TestEnergyIsThatOfTheCoveredPart(t *testing.T) {
	info := Info{Name: "wall", Quantity: Power}
	var seconds []float64
	for at := 0.0; at <= 19.5; at += 0.5 {
		seconds = append(seconds, at)
	}
	a := must.Get(constant(info, seconds...).Energy(moment(10), moment(20)))
	if !near(a.Coverage, 0.95) || !near(a.Joules, 950) || !near(a.Watts, 100) ||
		a.LargestGap != 500*time.Millisecond {
		t.Errorf("%+v", a)
	}
	a, err := constant(info, 0, 12, 13, 17, 21).Energy(moment(10), moment(20))
	if err != nil || a.LargestGap != 12*time.Second || a.Updates != 3 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestCounterIsNotCountedAcrossABreak(t *testing.T) {
	info := Info{Name: "package", Quantity: Energy}
	s := Series{Info: info}
	for i := range 2001 { // 100 W at 100 Hz; between 9.99 and 10 s the energy is not known
		s.Readings = append(s.Readings, Reading{Time: moment(float64(i) / 100), Value: float64(i), Break: i == 1000})
	}
	a := must.Get(s.Energy(moment(5), moment(15)))
	if a.Coverage > 0.9985 || a.Coverage < 0.995 || math.Abs(a.Watts-100) > 0.5 {
		t.Errorf("%+v", a)
	}
}

func TestMeanPower(t *testing.T) {
	flat := Series{Info: Info{Quantity: Energy}, Readings: []Reading{{Time: moment(0)}, {Time: moment(1)}}}
	for want, series := range map[float64][]Series{
		100: {constant(Info{Quantity: Power}, 1, 2, 3), constant(Info{Quantity: Energy}, 1, 2, 3, 4)},
		0:   {{Info: Info{Quantity: Power}}, flat},
	} {
		for _, s := range series {
			if got := s.Mean(); !near(got, want) && got != want {
				t.Errorf("%+v: got %v W, want %v W", s, got, want)
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*math.Abs(b) }
