// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// lying is an engine of another process: every call costs something outside its clock, and it may report any time.
type lying struct {
	*serial
	cost, work   time.Duration
	noLoop       bool                  // it does not repeat searches
	noWork       bool                  // in its loop
	prepared     bool                  // the roots of the run take no work
	busy         time.Duration         // by which other programs delay every fourth of its single searches
	first, count int64                 // in its loop: the number of roots, a factor of the searches reported; 0: all, 1
	known        map[graph.Vertex]bool // roots whose trees it keeps; nil: none
	kernel1      func(time.Duration) time.Duration
	search       func(time.Duration) time.Duration
}

func (e lying) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	start := time.Now()
	built, err := e.serial.Construct(ctx, in)
	time.Sleep(e.work)
	built.Elapsed = e.kernel1(time.Since(start))
	return built, err
}

func (e lying) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	time.Sleep(e.cost)
	start := time.Now()
	t, err := e.serial.Search(ctx, root, out)
	e.delay(root)
	if e.searches%4 == 3 {
		time.Sleep(e.busy)
	}
	t.Elapsed = e.search(time.Since(start))
	return t, err
}

func (e lying) delay(root graph.Vertex) {
	if len(e.csr.Neighbors(root)) > 0 && !e.known[root] && !(e.prepared && e.roots[root]) {
		time.Sleep(e.work)
	}
	if e.known != nil {
		e.known[root] = true
	}
}

// Repeat is the loop of the searches, whose time is that of the host.
func (e lying) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	int64, error) {
	if e.noLoop {
		return 0, errors.ErrUnsupported
	}
	if e.first > 0 {
		roots = roots[:min(e.first, int64(len(roots)))]
	}
	n, err := plugins.InTurn(ctx, roots, duration, func(root graph.Vertex) error {
		if !e.noWork {
			e.delay(root)
		}
		_, err := e.serial.Search(ctx, root, out)
		return err
	})
	return n * max(e.count, 1), err
}

// dear is a Host whose calls cost something.
type dear struct {
	*inside
	cost time.Duration
}

type dearNothing struct {
	plugins.Engine
	cost time.Duration
}

func (e dearNothing) Search(ctx context.Context, r graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	time.Sleep(e.cost)
	return e.Engine.Search(ctx, r, out)
}

func (h dear) Open(ctx context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	if spec.Name == record.Nothing {
		return dearNothing{Nothing(), h.cost}, nil
	}
	return h.inside.Open(ctx, spec)
}

func TestClockLiesAreNotCompliant(t *testing.T) {
	honest := func(d time.Duration) time.Duration { return d }
	divided := func(n time.Duration) func(time.Duration) time.Duration {
		return func(d time.Duration) time.Duration { return max(d/n, 1) }
	}
	const (
		every     = "The engine's clock accounts for the time of searches"
		kernel1   = "The engine's clock accounts for the time of kernel 1"
		confirmed = "The host's clock confirms the engine's"
		ms        = time.Millisecond
	)
	for name, c := range map[string]struct {
		engine lying
		cost   time.Duration     // of a call of the host's own
		want   map[string]string // by rule that does not hold: a part of why
		energy string            // a part of why there is none although all rules hold
	}{
		"honest":                        {engine: lying{work: 5 * ms}},
		"honest, calls are dear":        {engine: lying{cost: ms, work: 5 * ms}, cost: ms},
		"honest, short, calls are dear": {engine: lying{cost: ms}, cost: ms},
		"no loop": {engine: lying{work: 5 * ms, noLoop: true},
			want: map[string]string{confirmed: "does not repeat"}},
		"dear calls of the engine only": {engine: lying{cost: ms, work: 5 * ms},
			want: map[string]string{every: "more than the engine says"}},
		"a nanosecond of a short search": {engine: lying{work: ms / 10, search: divided(1e9)}, cost: ms,
			want: map[string]string{confirmed: ""}},
		"a third": {engine: lying{work: 15 * ms, search: divided(3)},
			want: map[string]string{every: "more than the engine says", confirmed: ""}},
		"a third of what a call costs": {engine: lying{work: ms, search: divided(3)}, cost: ms,
			want: map[string]string{confirmed: ""}},
		"0.7 of the time while other programs delay some searches": {cost: 2 * ms,
			engine: lying{work: 5 * ms, busy: 20 * ms, search: func(d time.Duration) time.Duration { return d * 7 / 10 }},
			want:   map[string]string{confirmed: "3.9"}},
		"a loop without work":       {engine: lying{work: 5 * ms, noWork: true}, want: map[string]string{confirmed: ""}},
		"a loop from one root":      {engine: lying{work: 7 * ms, first: 1}, energy: "not from root"},
		"a loop that counts double": {engine: lying{work: 6 * ms, count: 2}, energy: "not from root"},
		"trees prepared for the roots": {engine: lying{work: 5 * ms, prepared: true},
			want: map[string]string{confirmed: "in a loop on the host's clock"}},
		"trees from a cache, the first one after the warm-up": {
			engine: lying{work: 5 * ms, known: map[graph.Vertex]bool{}}, energy: "a loop may be 3 times as fast"},
		"kernel 1 in a nanosecond": {engine: lying{work: 300 * ms, kernel1: divided(1e9)},
			want: map[string]string{kernel1: "are allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				e := c.engine
				e.serial = &serial{}
				if e.kernel1 == nil {
					e.kernel1 = honest
				}
				if e.search == nil {
					e.search = honest
				}
				plan := planOf(8, "a")
				plan.Roots = 16
				if e.prepared {
					plan.Scales = []int{14} // so that hardly a root drawn at random is one of the run
				}
				plan.Engines[0] = record.EngineSpec{Name: "a", Path: "/an/engine"}
				plan.Energy = loopTime
				host := dear{metering(e, counter("node", power.Node, 70)), c.cost}
				r, err := Execute(t.Context(), host, createStore(t, plan), Silent{})
				if err != nil || r.Runs[0].State != record.Complete {
					t.Fatal(err, r.Runs[0].Failure)
				}
				broken := c.energy != "" || len(c.want) > 0
				if e := r.Runs[0].Energy; e.Failed() != broken || !strings.Contains(e.Failure, c.energy) {
					t.Errorf("energy: %q, want %q", e.Failure, c.energy)
				}
				for _, rule := range r.Runs[0].Compliance.Rules {
					why, broken := c.want[rule.Rule]
					right := rule.Holds != broken && strings.Contains(rule.Detail, why)
					if strings.Contains(rule.Rule, "clock") && !right {
						t.Errorf("%s: %v, %q; want %q", rule.Rule, rule.Holds, rule.Detail, why)
					}
				}
			})
		})
	}
}

// frozen is an engine that is stopped when a search has returned, and then uses processor time nevertheless.
type frozen struct {
	*serial
	stops int
}

func (e *frozen) PID() int { return os.Getpid() }
func (e *frozen) Freeze()  { e.stops++ }

func TestEngineIsStoppedAfterEachSearch(t *testing.T) {
	e, after := &frozen{serial: &serial{}}, 0.0
	r, _ := must.Get2(runs(t, t.Context(), hostOf(map[string]*frozen{"a": e}), planOf(10, "a")))
	for _, root := range r.Runs[0].Roots {
		after += root.After
	}
	if e.stops != 65 { // and the warm-up, but no search that wakes
		t.Errorf("stopped %d times", e.stops)
	}
	if _, err := os.Stat("/proc/self/schedstat"); err == nil && after <= 0 {
		t.Errorf("it used %g s of processor time after its searches", after)
	}
}

// sleepy is an engine whose searches from a vertex without neighbors take half the time of the one before.
type sleepy struct {
	*serial
	first, next, shortest time.Duration
	woken                 int
}

func (e *sleepy) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	if len(e.csr.Neighbors(root)) > 0 {
		e.next = e.first
	} else {
		e.woken++
		time.Sleep(e.next)
		e.next = max(e.next/2, e.shortest)
	}
	return e.serial.Search(ctx, root, out)
}

func TestEngineIsWokenUntilItsCallsGetNoFaster(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		first, shortest time.Duration
		wake, want      int // calls before each search
	}{{8 * ms, ms, 10, 5}, {8 * ms, ms, 3, 3}, {ms, ms, 10, 2}, {80 * ms, ms, 10, 2}, {ms, ms, 0, 0}} {
		inBubble(t, func(t *testing.T) {
			e, plan := &sleepy{serial: &serial{}, first: c.first, next: c.first, shortest: c.shortest}, planOf(8, "a")
			plan.Wake = c.wake
			must.Get2(runs(t, t.Context(), hostOf(map[string]*sleepy{"a": e}), plan))
			if want := 65 * c.want; e.woken != want { // and for the warm-up
				t.Errorf("%+v: %d calls, want %d", c, e.woken, want)
			}
		})
	}
}

// forgetful is an engine that writes only the parents of vertices that it reaches, except when it is woken.
type forgetful struct{ *serial }

func (e forgetful) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	own := plugins.Output{Parent: make([]graph.Vertex, len(out.Parent))}
	t, err := e.serial.Search(ctx, root, own)
	for v, parent := range own.Parent {
		if parent != graph.Unreached || len(e.csr.Neighbors(root)) == 0 {
			out.Parent[v] = parent
		}
	}
	return t, err
}

func TestCallsThatWakeAnEngineHideNoEntryThatItDoesNotWrite(t *testing.T) {
	e := map[string]forgetful{"a": {&serial{}}}
	r, _ := must.Get2(runs(t, t.Context(), hostOf(e), planOf(10, "a")))
	if r.Runs[0].BrokenRoots() == 0 {
		t.Error("all searches are valid")
	}
}
