// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// numbered returns an engine that numbers its constructions in Details, from 1.
func numbered() *looping {
	n := 0
	return &looping{serial: &serial{build: func(c *plugins.Construction) error {
		n++
		c.Details = []plugins.Fact{{Name: "construction", Value: strconv.Itoa(n)}}
		return nil
	}}}
}

// construction returns the numbers of the constructions that were searched and looped over; empty if not rebuilt.
func construction(r record.Run) (searched, looped string) {
	if r.Construction != nil {
		searched = r.Construction.Details[0].Value
	}
	if r.Rebuilt != nil {
		looped = r.Rebuilt.Construction.Details[0].Value
	}
	return searched, looped
}

// stopping cancels a context when the loop begins.
func stopping(cancel context.CancelFunc) func(context.Context, []graph.Vertex, time.Duration) (int64, error) {
	return func(ctx context.Context, _ []graph.Vertex, _ time.Duration) (int64, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}
}

// stoppedInLoop executes a run that a user stops when its energy loop begins.
func stoppedInLoop(t *testing.T) (*looping, *inside, *record.Store, record.Run) {
	t.Helper()
	engine := numbered()
	host := metering(engine, counter("node", power.Node, 70))
	ctx, cancel := context.WithCancel(t.Context())
	engine.repeat = stopping(cancel)
	r, store, err := runs(t, ctx, host, energyPlan(loopTime))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return engine, host, store, r.Runs[0]
}

func rule(t *testing.T, r record.Run, words string) record.Check {
	t.Helper()
	for _, c := range r.Compliance.Rules {
		if strings.Contains(c.Rule, words) {
			return c
		}
	}
	t.Fatalf("no rule of %q", words)
	return record.Check{}
}

// All timed searches use the graph of the first session, and later sessions do not change its record.
func TestResumeOfEnergyLoopKeepsConstructionAndCompliance(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine, host, store, before := stoppedInLoop(t)
		if before.State != record.Interrupted || before.Energy != nil || len(before.Roots) != 64 {
			t.Errorf("stopped: %s, %d roots, energy %+v", before.State, len(before.Roots), before.Energy)
		}
		ctx, cancel := context.WithCancel(t.Context())
		engine.repeat = stopping(cancel) // and once more
		if run := resume(t, ctx, host, store.Dir()).Runs[0]; run.State != record.Interrupted || run.Energy != nil ||
			run.Sessions != 1 {
			t.Fatalf("stopped again: %s, %d sessions, energy %+v", run.State, run.Sessions, run.Energy)
		}
		engine.repeat = nil
		run := resume(t, t.Context(), host, store.Dir()).Runs[0]
		if run.State != record.Complete || !run.Valid || !run.Compliance.Compliant || run.Sessions != 1 ||
			run.Energy.Failed() || len(run.Energy.Figures) != 1 {
			t.Errorf("%s, valid %v, %d sessions, energy %+v, %+v", run.State, run.Valid, run.Sessions, run.Energy,
				run.Compliance)
		}
		if searched, looped := construction(run); searched != "1" || looped != "3" {
			t.Errorf("searched construction %s, looped over %s; want 1 and 3", searched, looped)
		}
		if run.ConstructWall != before.ConstructWall || !reflect.DeepEqual(run.Construction, before.Construction) ||
			!reflect.DeepEqual(run.Graph, before.Graph) {
			t.Errorf("construction or graph have changed: %+v was %+v, %+v was %+v", run.Construction, before.Construction,
				run.Graph, before.Graph)
		}
		kernel1 := rule(t, run, "Kernel 1 was timed, and ran once")
		want := fmt.Sprintf("built the graph again (%.6g s), for the energy loop only",
			run.Rebuilt.Construction.Elapsed.Seconds())
		if !kernel1.Holds || !strings.Contains(kernel1.Detail, want) {
			t.Errorf("%+v, want %q", kernel1, want)
		}
		if !strings.HasSuffix(run.Compliance.Power, "; the loop searched a graph that a resume built again") {
			t.Errorf("power: %s", run.Compliance.Power)
		}
		if loaded, err := record.Load(store.Dir()); err != nil || !reflect.DeepEqual(loaded.Runs[0].Rebuilt, run.Rebuilt) {
			t.Errorf("loaded: %v, %+v", err, loaded.Runs[0].Rebuilt)
		}
		calls := engine.calls
		if run := resume(t, t.Context(), host, store.Dir()).Runs[0]; run.State != record.Complete || engine.calls != calls {
			t.Errorf("a complete run was metered again")
		}
	})
}

// A run with searches over two constructions stays noncompliant, however often its loop is repeated.
func TestResumeWithMissingSearchesIsNotCompliant(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := numbered()
		host := metering(engine, counter("node", power.Node, 70))
		ctx, cancel := context.WithCancel(t.Context())
		engine.after = func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
			if n == 1+64 { // the last search of all
				cancel()
			}
			return ctx.Err()
		}
		_, store, err := runs(t, ctx, host, energyPlan(loopTime))
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		engine.after, engine.repeat = nil, stopping(cancel)
		resume(t, ctx, host, store.Dir())
		engine.repeat = nil
		run := resume(t, t.Context(), host, store.Dir()).Runs[0]
		searched, looped := construction(run)
		if run.State != record.Complete || run.Sessions != 2 || searched != "2" || looped != "3" ||
			run.Compliance.Compliant || rule(t, run, "Kernel 1 was timed").Holds {
			t.Errorf("%s, %d sessions, constructions %s and %s, compliant %v", run.State, run.Sessions, searched, looped,
				run.Compliance.Compliant)
		}
	})
}

// An engine that does not start again fails the energy loop only.
func TestFailureBeforeRepeatedLoopKeepsSearches(t *testing.T) {
	fault := errors.New("no GPU here any more")
	for name, disturb := range map[string]func(*inside, *looping){
		"does not open": func(h *inside, _ *looping) {
			h.engines["a"] = func() (plugins.Engine, error) { return nil, fault }
		},
		"does not construct": func(_ *inside, e *looping) { e.build = func(*plugins.Construction) error { return fault } },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				engine, host, store, _ := stoppedInLoop(t)
				sound := host.engines["a"]
				build := engine.build
				disturb(host, engine)
				run := resume(t, t.Context(), host, store.Dir()).Runs[0]
				if run.State != record.Complete || !run.Valid || !run.Compliance.Compliant || !run.Energy.Failed() ||
					!strings.Contains(run.Energy.Failure, fault.Error()) {
					t.Errorf("%s %q, valid %v, compliant %v, energy %+v", run.State, run.Failure, run.Valid, run.Compliance.Compliant,
						run.Energy)
				}
				host.engines["a"], engine.build, engine.repeat = sound, build, nil
				run = resume(t, t.Context(), host, store.Dir()).Runs[0]
				if run.State != record.Complete || !run.Compliance.Compliant || run.Energy.Failed() ||
					len(run.Energy.Figures) != 1 {
					t.Errorf("after another resume: %s, compliant %v, energy %+v", run.State, run.Compliance.Compliant, run.Energy)
				}
			})
		})
	}
}
