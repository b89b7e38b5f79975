// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

func TestOfficialRunIsValidAndCompliant(t *testing.T) {
	e := &serial{}
	r, store := must.Get2(runs(t, t.Context(), hostOf(map[string]*serial{"a": e}), planOf(10, "a")))
	run := r.Runs[0]
	if run.State != record.Complete || !run.Valid || len(run.Roots) != 64 || run.Statistics.NBFS != 64 {
		t.Fatalf("state %s, valid %v, %d roots", run.State, run.Valid, len(run.Roots))
	}
	for _, c := range run.Compliance.Rules {
		if !c.Holds {
			t.Errorf("rule violated: %s: %s", c.Rule, c.Detail)
		}
	}
	// Golden values of scale 10: the first roots, the draws used for 64 roots, nedge and m of the giant component.
	if run.Roots[0].Root != 458 || run.Roots[7].Root != 777 || run.Graph.RejectedDraws != 75-64 {
		t.Errorf("roots %d ... %d, %d rejected", run.Roots[0].Root, run.Roots[7].Root, run.Graph.RejectedDraws)
	}
	if got := run.Statistics.NEdge.Max; got != 16239 {
		t.Errorf("largest nedge %g, want 16239", got)
	}
	if got := *run.Roots[0].M; got != 16383 {
		t.Errorf("m of the first root %d, want 16383", got)
	}
	if e.closed != 1 {
		t.Errorf("engine closed %d times", e.closed)
	}
	var file record.Result
	data, err := os.ReadFile(filepath.Join(store.Dir(), record.ResultFile))
	if err != nil || json.Unmarshal(data, &file) != nil || len(file.Runs[0].Roots) != 64 {
		t.Errorf("%s does not contain the result: %v", record.ResultFile, err)
	}
}

// Searches that are not validated are counted, and make no run valid.
func TestValidateSomeRoots(t *testing.T) {
	var all []record.RootRecord
	for _, validate := range []int{record.AllRoots, 64, 63, 3, 0} {
		plan := planOf(8, "a")
		plan.Validate = validate
		r, _ := must.Get2(runs(t, t.Context(), hostOf(map[string]*serial{"a": {}}), plan))
		run := r.Runs[0]
		if whole := validate < 0 || validate == 64; run.Valid != whole || !run.Sound() {
			t.Errorf("validate %d: valid %v, sound %v", validate, run.Valid, run.Sound())
		}
		if all == nil {
			all = run.Roots
		}
		for i, root := range run.Roots {
			want := all[i]
			if *root.M != *want.M || *root.NEdge != *want.NEdge || *root.Reached != *want.Reached ||
				root.Validated != (validate < 0 || i < validate) {
				t.Errorf("validate %d: root %+v, want %+v", validate, root, want)
			}
		}
	}
}

func TestWrongParentsMakeRunInvalid(t *testing.T) {
	e := &serial{after: func(n int, root graph.Vertex, parents []graph.Vertex, _ *plugins.Traversal) error {
		switch n {
		case 3:
			parents[root] = graph.Unreached
		case 5:
			parents[parents[root]] = graph.Unwritten
		}
		return nil
	}}
	r, _ := must.Get2(runs(t, t.Context(), hostOf(map[string]*serial{"a": e, "b": {}}), planOf(8, "a", "b")))
	bad, good := r.Runs[0], r.Runs[1]
	if bad.Valid || bad.State != record.Complete || bad.Roots[1].Rule != 1 || bad.Roots[3].Rule != 1 ||
		bad.Roots[2].Violation != "" || !strings.Contains(bad.Roots[3].Violation, "never written") {
		t.Errorf("valid %v, state %s, rules %d %d, %q", bad.Valid, bad.State, bad.Roots[1].Rule, bad.Roots[3].Rule,
			bad.Roots[3].Violation)
	}
	if bad.Compliance.Compliant || !good.Valid {
		t.Errorf("bad compliant %v, good valid %v", bad.Compliance.Compliant, good.Valid)
	}
}

// lazy writes only the entries of the vertices that it reaches, from its third search on. What it leaves is right by
// chance if the array has the parents of the search before.
type lazy struct{ *serial }

func (l lazy) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	before := slices.Clone(out.Parent)
	t, err := l.serial.Search(ctx, root, out)
	for v, p := range out.Parent {
		if l.searches >= 3 && p == graph.Unreached {
			out.Parent[v] = before[v]
		}
	}
	return t, err
}

func TestParentsAreOverwrittenBetweenSearches(t *testing.T) {
	r, _ := must.Get2(runs(t, t.Context(), hostOf(map[string]lazy{"a": {&serial{}}}), planOf(8, "a")))
	run := r.Runs[0]
	if run.Valid || run.State != record.Complete || len(run.Roots) != 64 {
		t.Fatalf("valid %v, state %s, %d roots", run.Valid, run.State, len(run.Roots))
	}
	for i, root := range run.Roots {
		if wrong := root.Broken(); wrong != (i >= 1) {
			t.Errorf("search %d: violation %q", i, root.Violation)
		}
	}
}

// sleeper searches until its context ends, while its serial engine has a hook.
type sleeper struct{ *serial }

func (s sleeper) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	if s.after != nil {
		<-ctx.Done()
		return plugins.Traversal{}, ctx.Err()
	}
	return s.serial.Search(ctx, root, out)
}

// A fault of one engine ends its own part of the run only. A resume repeats that part.
func TestFaultOfOneEngine(t *testing.T) {
	bang := errors.New("bang")
	const untrusted = "cannot be trusted"
	elapsed := func(d time.Duration) hook { return report(4, func(t *plugins.Traversal) { t.Elapsed = d }) }
	for name, c := range map[string]struct {
		engine  serial
		hangs   bool
		kept    int // roots
		failure string
	}{
		"search fails":   {engine: serial{after: failIn(11, bang)}, kept: 9, failure: "bang"},
		"kernel 1 fails": {engine: serial{build: func(*plugins.Construction) error { return bang }}, failure: "bang"},
		"unavailable": {
			engine: serial{describe: func(d *plugins.Description) { d.Unavailable = "bang" }}, failure: "bang",
		},
		"search hangs":  {engine: serial{after: loseRoot(1)}, hangs: true, failure: "exceeded the timeout of 10m0s"},
		"time too long": {engine: serial{after: elapsed(time.Hour)}, kept: 2, failure: untrusted},
		"no time":       {engine: serial{after: elapsed(0)}, kept: 2, failure: untrusted},
		"negative time": {engine: serial{after: elapsed(-1)}, kept: 2, failure: untrusted},
		"kernel 1's time": {
			engine:  serial{build: func(c *plugins.Construction) error { c.Elapsed = time.Hour; return nil }},
			failure: untrusted,
		},
		"more than a line of the record": {
			engine: serial{after: report(4, func(t *plugins.Traversal) { t.Phases = make([]plugins.Phase, 600_000) })},
			kept:   2, failure: "but at most 8 MiB are recorded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				e := &c.engine
				engines := map[string]plugins.Engine{"a": e, "b": &serial{}}
				if c.hangs {
					engines["a"] = sleeper{e}
				}
				host := hostOf(engines)
				r, store := must.Get2(runs(t, t.Context(), host, planOf(8, "a", "b")))
				got := r.Runs[0]
				if got.State != record.Failed || got.Valid || len(got.Roots) != c.kept || e.closed != 1 ||
					!strings.Contains(got.Failure, c.failure) {
					t.Errorf("state %s, %d roots, failure %q, closed %d times", got.State, len(got.Roots), got.Failure, e.closed)
				}
				if !r.Runs[1].Valid {
					t.Error("the other engine did not finish")
				}
				e.describe, e.input, e.build, e.after = nil, nil, nil, nil
				if again := resume(t, t.Context(), host, store.Dir()).Runs[0]; !again.Valid || again.Failure != "" {
					t.Errorf("after the resume: %s %q", again.State, again.Failure)
				}
			})
		})
	}
}

func TestResumeContinuesInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
		if n == 21 {
			cancel()
			return ctx.Err()
		}
		return nil
	}}
	plan := planOf(8, "a", "b")
	plan.Scales = []int{7, 8}
	host := hostOf(map[string]*serial{"a": e, "b": {}})
	r, store, err := runs(t, ctx, host, plan)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a canceled run", err)
	}
	if got := r.Runs[0]; got.State != record.Interrupted || len(got.Roots) != 19 {
		t.Fatalf("state %s, %d roots; want 19 of an interrupted run", got.State, len(got.Roots))
	}
	if _, err := os.Stat(filepath.Join(store.Dir(), record.ResultFile)); err != nil {
		t.Errorf("an interrupted run has no result: %v", err)
	}

	e.after = nil
	full := resume(t, t.Context(), host, store.Dir())
	for _, run := range full.Runs {
		if run.State != record.Complete || !run.Valid || len(run.Roots) != 64 {
			t.Errorf("%s at %d: %s, %d roots", run.Engine.Name, run.Scale, run.State, len(run.Roots))
		}
	}
	if full.Runs[0].Sessions != 2 || full.Runs[0].Compliance.Compliant {
		t.Errorf("a resumed run: %d sessions, compliant %v", full.Runs[0].Sessions, full.Runs[0].Compliance.Compliant)
	}
	for i := range 19 {
		if full.Runs[0].Roots[i].Time != r.Runs[0].Roots[i].Time {
			t.Errorf("root %d was measured again", i)
		}
	}
	// Everything is done: another resume measures nothing and keeps the result.
	again := resume(t, t.Context(), host, store.Dir())
	if again.Runs[0].Sessions != 2 || !again.Runs[3].Valid {
		t.Errorf("a resume of a finished run did something: %d sessions", again.Runs[0].Sessions)
	}
}
