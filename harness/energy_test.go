// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// work is when an engine started and stopped being busy, in nanoseconds since 1970; 0: not yet.
type work struct{ from, to atomic.Int64 }

// seconds returns how long it was busy until now.
func (w *work) seconds(until time.Time) float64 {
	from, to := w.from.Load(), w.to.Load()
	if to == 0 {
		to = until.UnixNano()
	}
	if from == 0 {
		return 0
	}
	return max(time.Duration(min(to, until.UnixNano())-from).Seconds(), 0)
}

// synthetic is an energy counter with a step: it shows idle watts, and more while busy.
type synthetic struct {
	info       power.Info
	idle, more float64
	busy       *work
	step       time.Duration
	dies       *atomic.Bool // gone from then on
	closed     *atomic.Int64

	opened, update time.Time
	shown          float64
}

func (m *synthetic) Info() power.Info { return m.info }

func (m *synthetic) Read(context.Context) ([]power.Reading, error) {
	if m.dies != nil && m.dies.Load() {
		return nil, power.ErrGone
	}
	now := time.Now()
	if m.opened.IsZero() {
		m.opened, m.update = now, now
	}
	if now.Sub(m.update) >= m.step {
		m.shown, m.update = m.idle*now.Sub(m.opened).Seconds(), now
		if m.busy != nil {
			m.shown += m.more * m.busy.seconds(now)
		}
	}
	return []power.Reading{{Time: now, Value: m.shown}}, nil
}

func (m *synthetic) Close() error {
	if m.closed != nil {
		m.closed.Add(1)
	}
	return nil
}

// counter returns a meter of the given name and scope.
func counter(name string, scope power.Scope, idle float64) *synthetic {
	const period = 10 * time.Millisecond
	return &synthetic{idle: idle, step: period, info: power.Info{
		Name: name, Source: "test", Scope: scope, Method: power.Measured, Quantity: power.Energy, Period: period,
	}}
}

// looping is a serial engine with a replaceable Repeat.
type looping struct {
	*serial
	busy   work
	repeat func(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error)
	late   time.Duration // from a call of Repeat to its first search
	begun  func()        // before that
	calls  int
	asked  []graph.Vertex // roots of all calls
}

func (l *looping) Repeat(
	ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (n int64, err error) {
	l.calls, l.asked = l.calls+1, append(l.asked, roots...)
	if l.repeat != nil {
		n, err := l.repeat(ctx, roots, duration)
		if n > 0 {
			root := roots[(n-1)%int64(len(roots))]
			out.Parent[root] = root
		}
		return n, err
	}
	time.Sleep(l.late)
	if l.begun != nil {
		l.begun()
	}
	l.busy.from.Store(time.Now().UnixNano())
	defer func() { l.busy.to.Store(time.Now().UnixNano()) }()
	for start := time.Now(); time.Since(start) < duration; n++ {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		found, _, err := l.csr.Search(roots[n%int64(len(roots))])
		if err != nil {
			return n, err
		}
		copy(out.Parent, found)
		time.Sleep(100 * time.Microsecond)
	}
	return n, nil
}

// metering returns a host of one engine with meters.
func metering(engine plugins.Engine, meters ...*synthetic) *inside {
	h := hostOf(map[string]plugins.Engine{"a": engine})
	h.meters = func([]string) (power.Meters, []power.Absence, error) {
		var all power.Here
		for _, m := range meters {
			opened := *m
			all = append(all, &opened)
		}
		return all, nil, nil
	}
	return h
}

func energyPlan(duration time.Duration) record.Plan {
	p := planOf(8, "a")
	p.Energy = duration
	return p
}

const loopTime = 200 * time.Millisecond

func TestEnergyLoopIsMetered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &looping{serial: &serial{}, late: loopTime / 64}
		meter := counter("wall", power.Wall, 50)
		meter.busy, meter.more, meter.closed = &engine.busy, 150, &atomic.Int64{}
		r, _ := must.Get2(runs(t, t.Context(), metering(engine, meter), energyPlan(time.Second)))
		run := r.Runs[0]
		e := run.Energy
		if run.State != record.Complete || !run.Valid || !run.Compliance.Compliant || e == nil || e.Failed() ||
			e.Loop == nil || engine.calls != 32 {
			t.Fatalf("state %s, valid %v, %d calls, energy %+v", run.State, run.Valid, engine.calls, e)
		}
		if n := meter.closed.Load(); n != 2 { // looked at when the run began, and recorded
			t.Errorf("meters were closed %d times", n)
		}
		if slices.EqualFunc(engine.asked, run.Roots, func(v graph.Vertex, r record.RootRecord) bool { return v == r.Root }) {
			t.Error("the loop has the roots in the order of the run")
		}
		if e.Loop.Roots != 64 || e.Loop.Searches < 1 || e.Loop.Elapsed < 1 {
			t.Errorf("loop %+v", e.Loop)
		}
		want := *run.Roots[0].NEdge * e.Loop.Searches // all are in one component
		if e.Loop.NEdge != want || math.Abs(e.Loop.TEPS*e.Loop.Elapsed/float64(want)-1) > 1e-9 {
			t.Errorf("%d edges and %g TEPS, want %d edges", e.Loop.NEdge, e.Loop.TEPS, want)
		}
		f, found := e.Headline()
		if !found || !f.System || f.Of != "wall" {
			t.Fatalf("headline %+v", f)
		}
		truth := 50 + 150*engine.busy.seconds(time.Now())/e.Loop.Elapsed
		if off := math.Abs(f.Watts - truth); off > f.Watts*f.Uncertainty || math.Abs(*f.IdleWatts-50) > 0.5 {
			t.Errorf("%g W ± %.2g, want %g; idle %g W", f.Watts, f.Uncertainty, truth, *f.IdleWatts)
		}
		names := ""
		for i, p := range e.Phases {
			names += p.Name + " "
			if p.To < p.From || i > 0 && p.From < e.Phases[i-1].To {
				t.Errorf("phase %+v after %+v", p, e.Phases[i-1])
			}
		}
		if names != "settle idle loop after " || e.Phases[2].From != 0 {
			t.Errorf("phases %+v", e.Phases)
		}
	})
}

// TestDeviceValidatesAfterLoop counts: the device is closed during the loop, and validates its last search.
func TestDeviceValidatesAfterLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		device := &slow{}
		h := metering(&looping{serial: &serial{}}, counter("wall", power.Wall, 50))
		h.engines["device"] = func() (plugins.Engine, error) { return device, nil }
		plan := energyPlan(loopTime)
		plan.HostDevice = &record.EngineSpec{Name: "device"}
		r, _ := must.Get2(runs(t, t.Context(), h, plan))
		if want := len(r.Runs[0].Roots) + 1; device.validated != want {
			t.Errorf("the device validated %d searches, want %d", device.validated, want)
		}
	})
}

func TestRunWithoutMeterIsCompleteWithOneNote(t *testing.T) {
	engine := &looping{serial: &serial{}}
	host := metering(engine)
	host.engines["b"] = host.engines["a"]
	host.meters = nil
	plan := planOf(8, "a", "b")
	plan.Energy = time.Hour
	if err := Prepare(t.Context(), host, plan); err != nil {
		t.Errorf("Prepare: %v", err)
	}
	r, notes := noted(t, host, plan)
	if len(notes) != 1 || !strings.Contains(notes[0], "no power meter found") ||
		!strings.Contains(notes[0], "teps machine") {
		t.Errorf("notes %q", notes)
	}
	for _, run := range r.Runs {
		e := run.Energy
		if run.State != record.Complete || !run.Valid || e == nil || e.Failed() || e.Loop != nil || len(e.Absent) != 1 ||
			len(e.Figures) != 0 || e.Green != nil {
			t.Errorf("state %s, %+v", run.State, e)
		}
		if !strings.HasPrefix(run.Compliance.Power, "not measured") {
			t.Errorf("power: %s", run.Compliance.Power)
		}
	}
}

func TestFailureInEnergyLoopKeepsResultsAndIsRetried(t *testing.T) {
	fault := errors.New("the GPU has fallen off the bus")
	for name, c := range map[string]struct {
		repeat func(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error)
		says   string
	}{
		"dies": {
			repeat: func(context.Context, []graph.Vertex, time.Duration) (int64, error) { return 0, fault }, says: "fallen off",
		},
		"does not repeat": {repeat: func(context.Context, []graph.Vertex, time.Duration) (int64, error) {
			return 0, errors.ErrUnsupported
		}, says: "unsupported"},
		"hangs": {repeat: func(ctx context.Context, _ []graph.Vertex, _ time.Duration) (int64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}, says: "exceeded the timeout of 50"},
		"ends early": {
			repeat: func(context.Context, []graph.Vertex, time.Duration) (int64, error) { return 5, nil },
			says:   "5 searches in ",
		},
		"does none": {repeat: func(_ context.Context, _ []graph.Vertex, d time.Duration) (int64, error) {
			time.Sleep(d)
			return 0, nil
		}, says: "0 searches in "},
		"sleeps and counts": {repeat: func(_ context.Context, _ []graph.Vertex, d time.Duration) (int64, error) {
			time.Sleep(d)
			return 1 << 53, nil
		}, says: "is invalid"},
		"sleeps and counts with care": {repeat: func(_ context.Context, _ []graph.Vertex, d time.Duration) (int64, error) {
			time.Sleep(d)
			return int64(d / (100 * time.Microsecond)), nil
		}, says: "is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine := &looping{serial: &serial{}, repeat: c.repeat}
				host := metering(engine, counter("node", power.Node, 70))
				plan := energyPlan(loopTime)
				plan.Timeout = 500 * time.Millisecond
				r, store := must.Get2(runs(t, t.Context(), host, plan))
				run := r.Runs[0]
				if run.State != record.Complete || !run.Valid || !run.Compliance.Compliant || len(run.Roots) != 64 {
					t.Errorf("state %s, valid %v, %d roots", run.State, run.Valid, len(run.Roots))
				}
				if !run.Energy.Failed() || !strings.Contains(run.Energy.Failure, c.says) || len(run.Energy.Figures) != 0 ||
					run.Energy.Green != nil {
					t.Errorf("energy %+v, want %q", run.Energy, c.says)
				}
				if loop := run.Energy.Loop; loop != nil && loop.NEdge < 0 {
					t.Errorf("%d tuples in the loop", loop.NEdge)
				}
				if !strings.HasPrefix(run.Compliance.Power, "not measured: ") {
					t.Errorf("power: %s", run.Compliance.Power)
				}
				engine.serial, engine.repeat = &serial{}, nil
				again := resume(t, t.Context(), host, store.Dir()).Runs[0]
				if again.State != record.Complete || again.Energy.Failed() || len(again.Energy.Figures) != 1 ||
					again.Roots[63].Time != run.Roots[63].Time {
					t.Errorf("after the resume: %s, %+v", again.State, again.Energy)
				}
				if engine.searches != 0 {
					t.Errorf("%d timed searches after the resume", engine.searches)
				}
			})
		})
	}
}

// A meter of the plan that dies fails the loop. Another one leaves the figures of other parts, but no headline.
func TestMeterThatFailsInLoopHasNoFigure(t *testing.T) {
	for _, asked := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			dead := &atomic.Bool{}
			engine := &looping{serial: &serial{}, late: loopTime / 192, begun: func() { dead.Store(true) }}
			dying := counter("wall", power.Wall, 300)
			dying.dies, dying.info.Asked = dead, asked
			host := metering(engine, dying, counter("socket", power.Package, 70))
			r, _ := must.Get2(runs(t, t.Context(), host, energyPlan(loopTime)))
			run := r.Runs[0]
			e := run.Energy
			_, headline := e.Headline()
			if run.State != record.Complete || e.Failed() != asked || (len(e.Figures) == 0) != asked || headline {
				t.Fatalf("state %s, failure %q, figures %+v, a headline: %v", run.State, e.Failure, e.Figures, headline)
			}
			if !strings.Contains(run.Compliance.Power, "wall") || asked && !strings.Contains(e.Failure, "meter wall") {
				t.Errorf("power: %s; failure: %s", run.Compliance.Power, e.Failure)
			}
			if m := e.Meters[0]; m.NoLoop == "" && m.Loop.Coverage > 0.9 || len(m.Faults) == 0 {
				t.Errorf("the dead meter: %+v", m)
			}
		})
	}
}

func TestRunWithWrongSearchesIsNotMetered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &looping{serial: &serial{after: loseRoot(10)}}
		r, _ := must.Get2(runs(t, t.Context(), metering(engine, counter("node", power.Node, 70)), energyPlan(time.Hour)))
		if run := r.Runs[0]; run.Valid || engine.calls != 0 ||
			!strings.Contains(run.Energy.Failure, "1 of 64 searches are wrong") {
			t.Errorf("valid %v, %d loops, %+v", run.Valid, engine.calls, run.Energy)
		}
	})
}
