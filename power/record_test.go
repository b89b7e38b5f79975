// SPDX-License-Identifier: Apache-2.0

package power

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// scripted is a meter that returns readings of a test; n counts its reads from 0.
type scripted struct {
	info  Info
	mu    sync.Mutex
	reads int
	read  func(ctx context.Context, n int) ([]Reading, error)
}

func (s *scripted) Info() Info   { return s.info }
func (s *scripted) Close() error { return nil }

func (s *scripted) Read(ctx context.Context) ([]Reading, error) {
	s.mu.Lock()
	n := s.reads
	s.reads++
	s.mu.Unlock()
	return s.read(ctx, n)
}

// steady is a meter that always shows the same power.
func steady(name string, watts float64) Meter {
	read := func(context.Context, int) ([]Reading, error) { return []Reading{{Time: time.Now(), Value: watts}}, nil }
	return &scripted{info: Info{Name: name, Source: "steady", Quantity: Power}, read: read}
}

func TestRecorderReadsEveryMeterAtItsInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := func(context.Context, int) ([]Reading, error) {
			begin := time.Now()
			time.Sleep(300 * time.Millisecond)
			return []Reading{{Time: begin.Add(150 * time.Millisecond), Value: 250, Window: 300 * time.Millisecond}}, nil
		}
		slow := &scripted{info: Info{Name: "bmc", Source: "ipmi", Quantity: Power, MinInterval: time.Second}, read: answer}
		begin := time.Now()
		r := Record(t.Context(), []Meter{steady("a", 10), slow, steady("b", 20)})
		time.Sleep(10*time.Second - time.Millisecond)
		series := r.Stop()
		if len(series) != 3 {
			t.Fatalf("got %d series, want 3", len(series))
		}
		for i, name := range []string{"a", "bmc", "b"} {
			if series[i].Info.Name != name {
				t.Errorf("series %d is of %s, want %s", i, series[i].Info.Name, name)
			}
		}
		if n := len(series[0].Readings); n != 201 {
			t.Errorf("got %d readings of a quick meter in 10 s, want 201", n)
		}
		if n := len(series[1].Readings); n != 11 || series[1].ReadTime != 11*300*time.Millisecond {
			t.Errorf("got %d readings of a slow meter in 10 s that took %v, want 11 of 300 ms", n, series[1].ReadTime)
		}
		for i, want := range map[int]float64{0: 80, 1: 250 * 8, 2: 160} {
			a, err := series[i].Energy(begin.Add(time.Second), begin.Add(9*time.Second))
			if err != nil || math.Abs(a.Joules-want) > 1e-6 || a.Uncertainty > 1e-6 {
				t.Errorf("series %d: got %+v, %v, want %g J", i, a, err, want)
			}
		}
	})
}

func TestRecorderReadsOtherMetersWhileOneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func(_ context.Context, n int) ([]Reading, error) {
			begin := time.Now()
			if n == 100 {
				<-release
			}
			return []Reading{{Time: begin, Value: 1}}, nil
		}
		hangs := &scripted{info: Info{Name: "hangs", Source: "nvml", Quantity: Power}, read: stuck}
		r := Record(t.Context(), []Meter{steady("before", 10), hangs, steady("after", 20)})
		time.Sleep(10*time.Second + time.Millisecond)
		close(release) // the read returns, and the meter is read again
		time.Sleep(5 * time.Second)
		series := r.Stop()
		for i, want := range []int{300, 200, 300} {
			if n := len(series[i].Readings); n < want {
				t.Errorf("%s: got %d readings in 15 s, want at least %d", series[i].Info.Name, n, want)
			}
		}
		if f := series[1].Faults; len(f) != 1 || f[0] != (Fault{"a read did not return within 2.5s", 1}) {
			t.Errorf("faults of the meter that hangs: %+v", f)
		}
		if len(series[0].Faults)+len(series[2].Faults) != 0 {
			t.Errorf("faults of the other meters: %+v %+v", series[0].Faults, series[2].Faults)
		}
	})
}

func TestStopDoesNotWaitForAMeterThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hang := func(_ context.Context, n int) ([]Reading, error) {
			if n > 0 {
				<-release
			}
			return []Reading{{Time: time.Now(), Value: 1}}, nil
		}
		r := Record(t.Context(), []Meter{
			steady("good", 10), &scripted{info: Info{Name: "hangs", Source: "nvml"}, read: hang},
			&scripted{info: Info{Name: "slow, hangs", Source: "ipmi", MinInterval: time.Second}, read: hang},
		})
		time.Sleep(time.Second + time.Millisecond)
		begin := time.Now()
		series := r.Stop()
		if took := time.Since(begin); took > 2*hangLimit {
			t.Errorf("Stop took %v", took)
		}
		for _, s := range series[1:] {
			if len(s.Readings) != 1 || len(s.Faults) != 1 {
				t.Errorf("got %+v, want one reading and one fault", s)
			}
		}
		close(release)
		synctest.Wait()
		if len(series[1].Readings) != 1 {
			t.Error("a read that returned late changed a series that Stop had returned")
		}
	})
}

func TestRecorderLeavesAMeterThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &scripted{info: Info{Name: "gone", Quantity: Power}, read: func(_ context.Context, n int) ([]Reading, error) {
			if n == 50 {
				return []Reading{{Time: time.Now(), Value: 7}}, fmt.Errorf("%w: exit status 1", ErrGone)
			}
			return []Reading{{Time: time.Now(), Value: 5}}, nil
		}}
		r := Record(t.Context(), []Meter{gone, steady("good", 1)})
		time.Sleep(5 * time.Second)
		series := r.Stop()
		if gone.reads != 51 || len(series[0].Readings) != 51 || series[0].Readings[50].Value != 7 {
			t.Errorf("got %d reads and %d readings, want 51", gone.reads, len(series[0].Readings))
		}
		if f := series[0].Faults; len(f) != 1 || f[0].Text != "the meter is gone: exit status 1" {
			t.Errorf("faults: %+v", f)
		}
		if n := len(series[1].Readings); n < 100 {
			t.Errorf("got %d readings of the other meter", n)
		}
	})
}

func TestRecorderBoundsFaultsAndKeepsBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{info: Info{Name: "m", Quantity: Energy}, read: func(_ context.Context, n int) ([]Reading, error) {
			r := Reading{Time: time.Now(), Value: float64(n)}
			switch {
			case n == 0, n == 10: // what was lost before the first reading does not matter
				r.Break = true
				return []Reading{r}, errors.New("the counter was reset")
			case n == 20:
				again := r
				again.Break = true // must not get lost with its reading
				return []Reading{r, again}, nil
			case n >= 30:
				return nil, fmt.Errorf("fault %d", n)
			}
			return []Reading{r}, nil
		}}
		r := Record(t.Context(), []Meter{m})
		time.Sleep(5 * time.Second)
		s := r.Stop()[0]
		for _, p := range s.Readings {
			if p.Break != (p.Value == 10 || p.Value == 21) {
				t.Errorf("reading %g comes after a break: %v", p.Value, p.Break)
			}
		}
		if len(s.Readings) != 30 || len(s.Faults) != maxFaults {
			t.Errorf("got %d readings and %d faults, want 30 and %d", len(s.Readings), len(s.Faults), maxFaults)
		}
		if s.Faults[0].Count != 2 || s.Faults[2].Count != 1 || !strings.Contains(s.Faults[1].Text, "not later than the one") {
			t.Errorf("faults: %+v", s.Faults)
		}
	})
}

func TestRecorderEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		wait := func(ctx context.Context, _ int) ([]Reading, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		slow := &scripted{info: Info{Name: "slow", Source: "ipmi", MinInterval: time.Second}, read: wait}
		r := Record(ctx, []Meter{steady("a", 1), slow})
		time.Sleep(100 * time.Millisecond)
		cancel()
		begin := time.Now()
		series := r.Stop()
		synctest.Wait()
		if len(series[0].Readings) == 0 || time.Since(begin) > time.Millisecond || len(series[1].Faults) != 0 {
			t.Errorf("got %+v after %v", series, time.Since(begin))
		}
	})
}

// closing is a meter whose Close fails.
type closing struct{ Meter }

func (closing) Close() error { return errors.New("failure") }

func TestCloseClosesAllMeters(t *testing.T) {
	if err := (Here{closing{}, steady("good", 1), closing{}}).Close(); !contains(err, "failure\nfailure") {
		t.Errorf("got %v, want both failures", err)
	}
}

func TestNodesAndWallsAreSystems(t *testing.T) {
	for i, s := range Scopes() {
		if s.System() != (i >= 5) {
			t.Errorf("%s is a system: %v", s, s.System())
		}
	}
}

func TestMarginCoversTwoPeriodsOfTheSlowestMeter(t *testing.T) {
	for want, info := range map[time.Duration]Info{
		600 * time.Millisecond:  {Period: time.Millisecond},
		2500 * time.Millisecond: {},
		6500 * time.Millisecond: {Period: time.Second, MinInterval: 3 * time.Second},
		10 * time.Second:        {Period: time.Minute},
	} {
		if got := Margin([]Info{{Period: 1}, info}); got != want {
			t.Errorf("%+v: got %v, want %v", info, got, want)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// The clock of another host is off by up to days and drifts by up to a tenth. The looks at it are off by up to their
// bounds, and so are the aligned times.
func TestAlignedTimesAreWithinTheirBound(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		offset, drift := (r.Float64()-0.5)*2e5, (r.Float64()-0.5)*0.2
		there := func(seconds float64) time.Time { return moment(seconds*(1+drift) + offset) }
		look := func(seconds float64) Moment {
			bound := 0.01 * r.Float64()
			return Moment{moment(seconds), there(seconds + bound*(2*r.Float64()-1)), time.Duration(bound * 1e9)}
		}
		s := Series{}
		for at := 1.0; at < 11; at += r.Float64() {
			s.Readings = append(s.Readings, Reading{Time: there(at), Value: at, Window: time.Millisecond})
		}
		before, after := look(0.9), look(11.1)
		s.Align(before, after)
		// A bound is in seconds of this host; a look is off by as much in those of the other.
		if allowed := s.Clock.Error.Seconds(); s.Clock.Error != max(before.Error, after.Error) ||
			math.Abs(s.Clock.Offset.Seconds()-offset-0.9*drift) > allowed*(1+drift)+1e-6 ||
			math.Abs(s.Clock.Drift-drift) > 2*allowed*(1+drift)/10.2+1e-6 {
			t.Fatalf("seed %d: clock %+v; want an offset of %g s and a drift of %g", seed, *s.Clock, offset, drift)
		}
		for _, reading := range s.Readings {
			off := reading.Time.Sub(moment(reading.Value)).Abs()
			if reading.Window != time.Millisecond+2*s.Clock.Error || 2*off > reading.Window {
				t.Fatalf("seed %d: a reading is off by %v, and its window is %v", seed, off, reading.Window)
			}
		}
	}
}
