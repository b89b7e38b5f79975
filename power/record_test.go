package power

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// scripted is a meter that does what a test says.
type scripted struct {
	info  Info
	pace  time.Duration
	mu    sync.Mutex
	reads int
	read  func(ctx context.Context, n int) ([]Reading, error)
}

func (s *scripted) Info() Info          { return s.info }
func (s *scripted) Close() error        { return nil }
func (s *scripted) Pace() time.Duration { return s.pace }

func (s *scripted) Read(ctx context.Context) ([]Reading, error) {
	s.mu.Lock()
	n := s.reads
	s.reads++
	s.mu.Unlock()
	return s.read(ctx, n)
}

// recordFree is Record where reads take nothing of a processor: in a bubble of synctest the clock is not the machine's, and what
// a thread really took must not mix with it.
func recordFree(ctx context.Context, meters []Meter, interval time.Duration) *Recorder {
	return recordBy(ctx, meters, interval, func() (time.Duration, bool) { return 0, true })
}

// unpaced hides that a meter could be slow.
type unpaced struct{ Meter }

func watts(name string, w float64) Meter {
	return unpaced{&scripted{info: Info{Name: name, Quantity: Power}, read: func(context.Context, int) ([]Reading, error) {
		return []Reading{{Time: time.Now(), Value: w}}, nil
	}}}
}

func TestRecorderReadsEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{info: Info{Name: "bmc", Quantity: Power}, pace: time.Second, read: func(context.Context, int) ([]Reading, error) {
			begin := time.Now()
			time.Sleep(300 * time.Millisecond)
			return []Reading{{Time: begin.Add(150 * time.Millisecond), Value: 250, Window: 300 * time.Millisecond}}, nil
		}}
		begin := time.Now()
		r := recordFree(t.Context(), []Meter{watts("a", 10), slow, watts("b", 20)}, 0)
		time.Sleep(10*time.Second - time.Millisecond)
		series := r.Stop()
		if len(series) != 3 || len(r.Stop()) != 3 {
			t.Fatalf("%d series", len(series))
		}
		for i, name := range []string{"a", "bmc", "b"} {
			if series[i].Info.Name != name {
				t.Errorf("series %d is of %s", i, series[i].Info.Name)
			}
		}
		if n := len(series[0].Samples); n != 201 {
			t.Errorf("%d samples of a register in 10 s", n)
		}
		if n := len(series[1].Samples); n != 11 || series[1].ReadTime != 11*300*time.Millisecond {
			t.Errorf("%d samples of a slow meter in 10 s, %v", n, series[1].ReadTime)
		}
		for i, want := range map[int]float64{0: 80, 1: 250 * 8, 2: 160} {
			a, err := series[i].Energy(begin.Add(time.Second), begin.Add(9*time.Second))
			if err != nil || math.Abs(a.Joules-want) > 1e-6 || a.Uncertainty > 1e-6 {
				t.Errorf("series %d: %+v, %v", i, a, err)
			}
		}
	})
}

// often is an interval of which many fit into a second.
const often = 10 * time.Millisecond

func TestRecorderGoesOnWithoutAMeterThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := unpaced{&scripted{info: Info{Name: "hangs", Quantity: Power}, read: func(_ context.Context, n int) ([]Reading, error) {
			if n == 100 {
				<-release
			}
			return []Reading{{Time: time.Now(), Value: 1}}, nil
		}}}
		r := recordFree(t.Context(), []Meter{watts("before", 10), hangs, watts("after", 20)}, often)
		time.Sleep(10 * time.Second)
		time.Sleep(time.Millisecond)
		close(release) // it comes back, and is read again
		time.Sleep(5 * time.Second)
		series := r.Stop()
		for i, least := range []int{1200, 590, 1200} {
			if n := len(series[i].Samples); n < least {
				t.Errorf("%s: %d samples in 15 s", series[i].Info.Name, n)
			}
		}
		if f := series[1].Faults; len(f) != 1 || f[0].Count != 1 || !strings.Contains(f[0].Text, "did not come back within 2s") {
			t.Errorf("%+v", f)
		}
		if len(series[0].Faults)+len(series[2].Faults) != 0 {
			t.Errorf("%+v %+v", series[0].Faults, series[2].Faults)
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
		r := recordFree(t.Context(), []Meter{watts("good", 10), unpaced{&scripted{info: Info{Name: "hangs"}, read: hang}},
			&scripted{info: Info{Name: "slow hangs"}, pace: time.Second, read: hang}}, often)
		time.Sleep(time.Second + time.Millisecond)
		begin := time.Now()
		series := r.Stop()
		if took := time.Since(begin); took > 2*readLimit {
			t.Errorf("it took %v", took)
		}
		if len(series[1].Samples) != 1 || len(series[2].Samples) != 1 || len(series[1].Faults) != 1 || len(series[2].Faults) != 1 {
			t.Errorf("%+v\n%+v", series[1], series[2])
		}
		close(release)
		synctest.Wait()
		if len(series[1].Samples) != 1 {
			t.Error("a read that came late changed a series that was handed over")
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
		r := recordFree(t.Context(), []Meter{unpaced{gone}, watts("good", 1)}, often)
		time.Sleep(2 * time.Second)
		series := r.Stop()
		if gone.reads != 51 || len(series[0].Samples) != 51 || series[0].Samples[50].Value != 7 {
			t.Errorf("%d reads, %d samples", gone.reads, len(series[0].Samples))
		}
		if f := series[0].Faults; len(f) != 1 || f[0].Text != "the meter is gone: exit status 1" || f[0].Time.IsZero() {
			t.Errorf("%+v", f)
		}
		if n := len(series[1].Samples); n < 200 {
			t.Errorf("the other has %d samples", n)
		}
	})
}

func TestRecorderBoundsFaultsAndMarksBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{info: Info{Name: "m", Quantity: Energy}, read: func(_ context.Context, n int) ([]Reading, error) {
			now := []Reading{{Time: time.Now(), Value: float64(n)}}
			switch {
			case n == 0:
				return now, ErrBreak // what was before the recording
			case n == 10:
				return now, ErrBreak
			case n == 20:
				return append(now, now...), nil
			case n >= 30:
				return nil, fmt.Errorf("fault %d", n)
			}
			return now, nil
		}}
		r := recordFree(t.Context(), []Meter{unpaced{m}}, often)
		time.Sleep(time.Second)
		s := r.Stop()[0]
		breaks := 0
		for i, p := range s.Samples {
			if p.Break {
				breaks++
				if i != 10 {
					t.Errorf("sample %d is after a break", i)
				}
			}
		}
		if breaks != 1 || len(s.Samples) != 30 || len(s.Faults) != mostFaults {
			t.Errorf("%d breaks, %d samples, %d faults", breaks, len(s.Samples), len(s.Faults))
		}
		sum := 0
		for _, f := range s.Faults {
			sum += f.Count
		}
		if sum != 2+m.reads-30 || s.Faults[0].Text != ErrBreak.Error() || !strings.Contains(s.Faults[1].Text, "not later than the one before") {
			t.Errorf("%d faults: %+v", sum, s.Faults)
		}
	})
}

func TestRecorderTakesOnlyWhatBelongsToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		m := unpaced{&scripted{info: Info{Name: "log", Quantity: Power}, read: func(_ context.Context, n int) ([]Reading, error) {
			if n > 0 {
				return nil, nil
			}
			return []Reading{{Time: begin.Add(-time.Hour), Value: 1}, {Time: begin.Add(-4 * time.Second), Value: 2}, {Time: begin, Value: 3}}, nil
		}}}
		r := recordFree(t.Context(), []Meter{m}, often)
		time.Sleep(time.Second)
		if s := r.Stop()[0]; len(s.Samples) != 2 || s.Samples[0].Value != 2 {
			t.Errorf("%+v", s.Samples)
		}
	})
}

func TestRecorderEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := recordFree(ctx, []Meter{watts("a", 1), &scripted{info: Info{Name: "slow"}, pace: time.Second, read: func(ctx context.Context, n int) ([]Reading, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}}, often)
		time.Sleep(100 * time.Millisecond)
		cancel()
		begin := time.Now()
		series := r.Stop()
		synctest.Wait()
		if len(series[0].Samples) == 0 || time.Since(begin) > time.Millisecond || len(series[1].Faults) != 0 {
			t.Errorf("%+v after %v", series, time.Since(begin))
		}
	})
}

func TestRecorderWithoutMeters(t *testing.T) {
	if s := Record(t.Context(), nil, 0).Stop(); len(s) != 0 {
		t.Errorf("%v", s)
	}
}

func TestMeterIsReadByOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := exclusive(&scripted{pace: time.Second, info: Info{Name: "m"}, read: func(context.Context, int) ([]Reading, error) {
			<-release
			return nil, nil
		}})
		if p, ok := m.(Paced); !ok || p.Pace() != time.Second {
			t.Error("the pace is lost")
		}
		if _, ok := exclusive(unpaced{m}).(Paced); ok {
			t.Error("a pace is made up")
		}
		go func() { _, _ = m.Read(t.Context()) }()
		synctest.Wait()
		if _, err := m.Read(t.Context()); !errors.Is(err, errHangs) {
			t.Errorf("%v", err)
		}
		if err := m.Close(); !errors.Is(err, errHangs) {
			t.Errorf("%v", err)
		}
		go func() {
			time.Sleep(readLimit / 2)
			close(release)
		}()
		if err := m.Close(); err != nil {
			t.Errorf("a read that comes back soon is not waited for: %v", err)
		}
	})
}

// The whole way under a simulated clock: a counter as the H200's, read by the recorder itself, over a loop of 10 s.
func TestRecordedCounterIsIntegratedWithinOnePerCent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := curve{ends: []float64{1.03, 11.03, 13}, watts: [][2]float64{{120, 120}, {650, 610}, {125, 125}}, sums: []float64{123.6, 6423.6, 6669.85}, wave: 30, seconds: 0.37}
		begin := time.Now()
		m := unpaced{&scripted{info: Info{Name: "gpu", Quantity: Energy, Period: nvmlPeriod, Step: 1e-3}, read: func(context.Context, int) ([]Reading, error) {
			update := math.Floor((time.Since(begin).Seconds()+0.07)/0.1)*0.1 - 0.07
			return []Reading{{Time: time.Now(), Value: math.Floor(c.energy(max(update, 0))*1e3) / 1e3, Window: time.Microsecond}}, nil
		}}}
		r := recordFree(t.Context(), []Meter{m}, 0)
		time.Sleep(1030 * time.Millisecond)
		from := time.Now()
		time.Sleep(10 * time.Second)
		to := time.Now()
		time.Sleep(Margin([]Meter{m}))
		a, err := r.Stop()[0].Energy(from, to)
		truth := c.energy(11.03) - c.energy(1.03)
		if err != nil || math.Abs(a.Joules-truth) > 0.01*truth || math.Abs(a.Joules-truth) > a.Uncertainty || a.Uncertainty > 0.03*truth || a.Coverage != 1 {
			t.Errorf("%+v, %v; the truth is %.1f J", a, err, truth)
		}
	})
}

// A register that costs much to read is read less often, so that reading it takes a hundredth of a core; where it is not known
// what reads cost, a tenth of the time. But four times a second it is read, however slow.
func TestCostlyRegistersAreReadLessOften(t *testing.T) {
	for _, test := range []struct {
		takes   time.Duration // on the clock
		costs   float64       // the part of that on a processor; negative: the system does not tell
		between time.Duration
	}{
		{0, 0, DefaultInterval},
		{40 * time.Millisecond, 0, DefaultInterval}, // it waits
		{5 * time.Millisecond, 0.1, DefaultInterval},
		{4 * time.Millisecond, 0.25, 103 * time.Millisecond},
		{time.Millisecond, 1, 100 * time.Millisecond},
		{5 * time.Millisecond, 1, 255 * time.Millisecond},
		{5 * time.Millisecond, -1, DefaultInterval},
		{10 * time.Millisecond, -1, 100 * time.Millisecond},
		{100 * time.Millisecond, -1, 350 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var spent time.Duration
			m := unpaced{&scripted{info: Info{Name: "gpu", Quantity: Power}, read: func(context.Context, int) ([]Reading, error) {
				time.Sleep(test.takes)
				spent += time.Duration(test.costs * float64(test.takes))
				return []Reading{{Time: time.Now(), Value: 100}}, nil
			}}}
			r := recordBy(t.Context(), []Meter{m}, 0, func() (time.Duration, bool) { return time.Hour + spent, test.costs >= 0 })
			time.Sleep(10 * time.Second)
			s := r.Stop()[0]
			n := len(s.Samples)
			if want := int(10 * time.Second / test.between); n < want-1 || n > want+3 {
				t.Errorf("reads of %v, %v of it on a processor: %d in 10 s, want about %d", test.takes, test.costs, n, want)
			}
			if want := max(0, time.Duration(n)*time.Duration(test.costs*float64(test.takes))); s.ProcessorTime != want {
				t.Errorf("reads of %v, %v of it on a processor: %d took %v of it, want %v", test.takes, test.costs, n, s.ProcessorTime, want)
			}
		})
	}
}

// What is recorded of a processor is what the reads took: a meter that computes, beside one that sleeps.
func TestRecordKnowsWhatReadsTakeOfAProcessor(t *testing.T) {
	if _, known := threadTime(); !known {
		t.Skip("this system does not tell what a thread took of a processor")
	}
	var computed time.Duration
	busy := unpaced{&scripted{info: Info{Name: "busy", Quantity: Power}, read: func(context.Context, int) ([]Reading, error) {
		begin, _ := threadTime() // reads are made by one thread from begin to end
		for now := begin; now-begin < 2*time.Millisecond; now, _ = threadTime() {
		}
		end, _ := threadTime()
		computed += end - begin
		return []Reading{{Time: time.Now(), Value: 100}}, nil
	}}}
	asleep := unpaced{&scripted{info: Info{Name: "asleep", Quantity: Power}, read: func(context.Context, int) ([]Reading, error) {
		time.Sleep(20 * time.Millisecond)
		return []Reading{{Time: time.Now(), Value: 100}}, nil
	}}}
	r := Record(t.Context(), []Meter{busy, asleep}, 0)
	time.Sleep(500 * time.Millisecond)
	series := r.Stop()
	if got := series[0].ProcessorTime; got < computed {
		t.Errorf("a meter that took %v of a processor was recorded with %v", computed, got)
	}
	if got, most := series[1].ProcessorTime, series[1].ReadTime/2; got == 0 || got > most {
		t.Errorf("a meter that sleeps for %v was recorded with %v of a processor", series[1].ReadTime, got)
	}
}
