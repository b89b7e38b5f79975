package harness

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// planOf returns the official plan at a small scale.
func planOf(scale int, engines ...string) record.Plan {
	p := record.DefaultPlan()
	p.Scales = []int{scale}
	for _, name := range engines {
		p.Engines = append(p.Engines, record.EngineSpec{Name: name, Builtin: name})
	}
	return p
}

// runs executes plan on host in a new directory.
func runs(t *testing.T, ctx context.Context, host *inside, plan record.Plan) (record.Result, *record.Store, error) {
	t.Helper()
	store, err := record.Create(filepath.Join(t.TempDir(), "run"),
		record.NewManifest([]string{"teps", "run"}, plan, someSoftware, someMachine))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Execute(ctx, host, store, Silent{})
	if closing := store.Close(); closing != nil {
		t.Fatal(closing)
	}
	if host.lent != 0 {
		t.Errorf("%d blocks of memory were not released", host.lent)
	}
	return r, store, err
}

func resume(t *testing.T, host *inside, dir string) record.Result {
	t.Helper()
	store, err := record.Resume(dir, someSoftware, someMachine)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r, err := Execute(context.Background(), host, store, Silent{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOfficialRunIsValidAndCompliant(t *testing.T) {
	closed := 0
	host := hostOf(map[string]*serial{"a": {closed: &closed}})
	r, store, err := runs(t, context.Background(), host, planOf(10, "a"))
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if run.State != record.Complete || !run.Valid || len(run.Roots) != 64 || run.Statistics.NBFS != 64 {
		t.Fatalf("state %s, valid %v, %d roots", run.State, run.Valid, len(run.Roots))
	}
	if !run.Compliance.Compliant {
		for _, c := range run.Compliance.Rules {
			if !c.Holds {
				t.Errorf("rule violated: %s: %s", c.Rule, c.Detail)
			}
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
	if closed != 1 {
		t.Errorf("engine closed %d times", closed)
	}
	var file record.Result
	data, err := os.ReadFile(filepath.Join(store.Dir(), record.ResultFile))
	if err != nil || json.Unmarshal(data, &file) != nil || len(file.Runs[0].Roots) != 64 {
		t.Errorf("%s does not contain the result: %v", record.ResultFile, err)
	}
}

func TestDeviationsAreNotCompliant(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Plan)
		claims func(*plugins.Claims)
		rule   string
	}{
		"other seeds":       {change: func(p *record.Plan) { p.Seed1 = 5 }, rule: "seeds"},
		"other edge factor": {change: func(p *record.Plan) { p.EdgeFactor = 8 }, rule: "edge factor"},
		"fewer roots":       {change: func(p *record.Plan) { p.Roots = 8 }, rule: "64 distinct"},
		"not all validated": {change: func(p *record.Plan) { p.Validate = 63 }, rule: "validated"},
		"none validated":    {change: func(p *record.Plan) { p.Validate = 0 }, rule: "validated"},
		"many warm-ups":     {change: func(p *record.Plan) { p.WarmUps = 5 }, rule: "warm-up"},
		"labels outside clock": {
			claims: func(c *plugins.Claims) { c.OriginalLabelsInClock = false }, rule: "original labels",
		},
		"clearing outside clock": {claims: func(c *plugins.Claims) { c.ClearingInClock = false }, rule: "cleared"},
		"narrow parents":         {claims: func(c *plugins.Claims) { c.ParentBits = 32 }, rule: "48 bits wide when"},
		"tuning not declared":    {claims: func(c *plugins.Claims) { c.Tuning = "" }, rule: "Tuning"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(8, "a")
			if c.change != nil {
				c.change(&plan)
			}
			e := &serial{build: func(built *plugins.Construction) error {
				if c.claims != nil {
					c.claims(&built.Claims)
				}
				return nil
			}}
			r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e}), plan)
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, rule := range r.Runs[0].Compliance.Rules {
				if !rule.Holds {
					broken = append(broken, rule.Rule)
				}
			}
			if len(broken) != 1 || !strings.Contains(broken[0], c.rule) || r.Runs[0].Compliance.Compliant {
				t.Errorf("rules that do not hold: %q, compliant %v; want the one with %q", broken, r.Runs[0].Compliance.Compliant,
					c.rule)
			}
		})
	}
}

func TestUnvalidatedRootsAreCounted(t *testing.T) {
	plan := planOf(9, "a")
	plan.Validate = 3
	some, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": {}}), plan)
	if err != nil {
		t.Fatal(err)
	}
	plan.Validate = record.AllRoots
	all, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": {}}), plan)
	if err != nil {
		t.Fatal(err)
	}
	for i, root := range some.Runs[0].Roots {
		want := all.Runs[0].Roots[i]
		if *root.M != *want.M || *root.NEdge != *want.NEdge || *root.Reached != *want.Reached {
			t.Errorf("root %d: m %d nedge %d reached %d, validated %d %d %d", i, *root.M, *root.NEdge, *root.Reached, *want.M,
				*want.NEdge, *want.Reached)
		}
		if root.Validated != (i < 3) {
			t.Errorf("root %d: validated %v", i, root.Validated)
		}
	}
}

func TestWrongParentsMakeRunInvalid(t *testing.T) {
	e := &serial{after: func(n int, root graph.Vertex, parent []graph.Vertex, _ *plugins.Traversal) error {
		switch n { // the first is the warm-up
		case 3:
			parent[root] = graph.Unreached
		case 5:
			for v, p := range parent {
				if p != graph.Unreached && graph.Vertex(v) != root {
					parent[v] = graph.Unwritten
					break
				}
			}
		}
		return nil
	}}
	r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e, "b": {}}), planOf(8, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	bad, good := r.Runs[0], r.Runs[1]
	if bad.Valid || bad.State != record.Complete || bad.Roots[1].Rule != 1 || bad.Roots[3].Rule != 1 ||
		bad.Roots[2].Violation != "" {
		t.Errorf("valid %v, state %s, rules %d %d", bad.Valid, bad.State, bad.Roots[1].Rule, bad.Roots[3].Rule)
	}
	if !strings.Contains(bad.Roots[3].Violation, "never written") {
		t.Errorf("an unwritten entry is reported as %q", bad.Roots[3].Violation)
	}
	if bad.Compliance.Compliant || !good.Valid {
		t.Errorf("bad compliant %v, good valid %v", bad.Compliance.Compliant, good.Valid)
	}
}

func TestDelayedSearchIsRepeated(t *testing.T) {
	t.Parallel()
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
		if n == 4 { // a busy machine stops the engine's process after its clock
			time.Sleep(maxDelay + 300*time.Millisecond)
		}
		return nil
	}}
	r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e}), planOf(8, "a"))
	if err != nil || !r.Runs[0].Valid || r.Runs[0].Roots[2].Repeats != 1 {
		t.Errorf("%v, %q, %d repeats", err, r.Runs[0].Failure, r.Runs[0].Roots[2].Repeats)
	}
}

func TestTimeMuchShorterThanCallIsRejected(t *testing.T) {
	t.Parallel()
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, tr *plugins.Traversal) error {
		if n >= 4 {
			time.Sleep(maxDelay + 300*time.Millisecond)
			tr.Elapsed = time.Nanosecond
		}
		return nil
	}}
	r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e}), planOf(8, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Runs[0]; got.State != record.Failed || len(got.Roots) != 2 ||
		!strings.Contains(got.Failure, "cannot be trusted") {
		t.Errorf("state %s, %d roots kept, %q", got.State, len(got.Roots), got.Failure)
	}
}

func TestRecipeIsGivenOnRequestOnly(t *testing.T) {
	for _, asks := range []bool{false, true} {
		e := &asking{serial: &serial{describe: func(d *plugins.Description) { d.WantsRecipe = asks }}}
		r, _, err := runs(t, context.Background(), hostOf(map[string]*asking{"a": e}), planOf(7, "a"))
		if err != nil {
			t.Fatal(err)
		}
		if e.given != asks || r.Runs[0].Compliance.Compliant == asks {
			t.Errorf("requested %v, given %v, compliant %v", asks, e.given, r.Runs[0].Compliance.Compliant)
		}
	}
}

// An engine with the recipe may start programs and generate tuples before the clock of kernel 1 starts.
func TestOnlyRecipeEnginesMayWorkBeforeTheirClock(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		e := &asking{
			before: maxDelay + 300*time.Millisecond,
			serial: &serial{describe: func(d *plugins.Description) { d.WantsRecipe = asks }},
		}
		r, _, err := runs(t, context.Background(), hostOf(map[string]*asking{"a": e}), planOf(7, "a"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Runs[0]; got.Valid != asks || !asks && !strings.Contains(got.Failure, "cannot be trusted") {
			t.Errorf("asked %v: valid %v, %q", asks, got.Valid, got.Failure)
		}
	}
}

// asking remembers whether it was given the recipe, and waits before kernel 1.
type asking struct {
	*serial
	given  bool
	before time.Duration
}

func (a *asking) Construct(ctx context.Context, g plugins.Input) (plugins.Construction, error) {
	a.given = g.Recipe != nil
	time.Sleep(a.before)
	return a.serial.Construct(ctx, g)
}

func TestOnlyValidatedRunsAreValid(t *testing.T) {
	for validate, valid := range map[int]bool{0: false, 63: false, 64: true, record.AllRoots: true} {
		plan := planOf(8, "a")
		plan.Validate = validate
		r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": {}}), plan)
		if err != nil {
			t.Fatal(err)
		}
		if run := r.Runs[0]; run.Valid != valid || !run.Sound() {
			t.Errorf("validate %d: valid %v, sound %v", validate, run.Valid, run.Sound())
		}
	}
}

func TestImpossibleTimesAreRejected(t *testing.T) {
	for name, lie := range map[string]time.Duration{"longer than the wall clock": time.Hour, "zero": 0, "negative": -1} {
		t.Run(name, func(t *testing.T) {
			e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, tr *plugins.Traversal) error {
				if n == 4 {
					tr.Elapsed = lie
				}
				return nil
			}}
			r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e, "b": {}}), planOf(8, "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Runs[0]; got.State != record.Failed || len(got.Roots) != 2 ||
				!strings.Contains(got.Failure, "cannot be trusted") {
				t.Errorf("state %s, %d roots kept, %q", got.State, len(got.Roots), got.Failure)
			}
			if !r.Runs[1].Valid {
				t.Error("the other engine did not finish")
			}
		})
	}
	e := &serial{build: func(c *plugins.Construction) error { c.Elapsed = time.Hour; return nil }}
	r, _, _ := runs(t, context.Background(), hostOf(map[string]*serial{"a": e}), planOf(8, "a"))
	if r.Runs[0].State != record.Failed || r.Runs[0].Construction != nil {
		t.Errorf("a wrong time of kernel 1 was accepted: %+v", r.Runs[0].State)
	}
}

func TestMoreLevelsThanTheTreeHasAreRejected(t *testing.T) {
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, tr *plugins.Traversal) error {
		if n == 4 {
			tr.Levels = make([]plugins.Level, 60)
		}
		return nil
	}}
	r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e, "b": {}}), planOf(8, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Runs[0], "reports 60 levels of a search of depth"
	if got.State != record.Failed || !strings.Contains(got.Failure, want) {
		t.Errorf("state %s, %q", got.State, got.Failure)
	}
	if !r.Runs[1].Valid {
		t.Error("the other engine did not finish")
	}
}

func TestFailingEngineKeepsRootsAndLeavesOthers(t *testing.T) {
	bang := errors.New("bang")
	for name, e := range map[string]*serial{
		"in a search": {after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
			if n == 11 {
				return bang
			}
			return nil
		}},
		"in kernel 1": {build: func(*plugins.Construction) error { return bang }},
		"unavailable": {describe: func(d *plugins.Description) { d.Unavailable = "bang" }},
	} {
		t.Run(name, func(t *testing.T) {
			closed := 0
			e.closed = &closed
			r, _, err := runs(t, context.Background(), hostOf(map[string]*serial{"a": e, "b": {}}), planOf(8, "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			got := r.Runs[0]
			if got.State != record.Failed || got.Valid || !strings.Contains(got.Failure, "bang") || closed != 1 {
				t.Errorf("state %s, failure %q, closed %d times", got.State, got.Failure, closed)
			}
			if name == "in a search" && len(got.Roots) != 9 {
				t.Errorf("%d roots kept, want 9", len(got.Roots))
			}
			if !r.Runs[1].Valid {
				t.Error("the other engine did not finish")
			}
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
	full := resume(t, host, store.Dir())
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
	again := resume(t, host, store.Dir())
	if again.Runs[0].Sessions != 2 || !again.Runs[3].Valid {
		t.Errorf("a resume of a finished run did something: %d sessions", again.Runs[0].Sessions)
	}
}

func TestResumeRetriesFailedEngine(t *testing.T) {
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
		if n == 3 {
			return errors.New("bang")
		}
		return nil
	}}
	host := hostOf(map[string]*serial{"a": e})
	_, store, err := runs(t, context.Background(), host, planOf(7, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if r := resume(t, host, store.Dir()); !r.Runs[0].Valid || r.Runs[0].Failure != "" {
		t.Errorf("after the resume: %s %q", r.Runs[0].State, r.Runs[0].Failure)
	}
}

func TestSearchExceedingTimeoutFails(t *testing.T) {
	plan := planOf(7, "a")
	plan.Timeout = 50 * time.Millisecond
	r, _, err := runs(t, context.Background(), hostOf(map[string]sleeper{"a": {&serial{}}}), plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Runs[0]; got.State != record.Failed || !strings.HasSuffix(got.Failure, "exceeded the timeout of 50ms") {
		t.Errorf("state %s, %q", got.State, got.Failure)
	}
}

// sleeper searches until its context ends.
type sleeper struct{ *serial }

func (s sleeper) Search(ctx context.Context, _ graph.Vertex, _ []graph.Vertex) (plugins.Traversal, error) {
	<-ctx.Done()
	return plugins.Traversal{}, ctx.Err()
}

func TestPrepareRejectsImpossiblePlans(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Plan)
		want   string
		usage  bool
	}{
		"scale 0":       {func(p *record.Plan) { p.Scales = []int{0} }, "scale", true},
		"scale 99":      {func(p *record.Plan) { p.Scales = []int{99} }, "scale", true},
		"edge factor 0": {func(p *record.Plan) { p.EdgeFactor = 0 }, "edge", true},
		"engine twice":  {func(p *record.Plan) { p.Engines = append(p.Engines, p.Engines[0]) }, "twice", true},
		"scale twice":   {func(p *record.Plan) { p.Scales = []int{8, 8} }, "twice", true},
		"unknown option": {
			func(p *record.Plan) { p.Engines[0].Options = map[string]string{"sped": "1"} }, "speed", true,
		},
		"bad option": {
			func(p *record.Plan) { p.Engines[0].Options = map[string]string{"speed": "0"} }, "at least 1", true,
		},
		"more than the memory": {func(p *record.Plan) { p.Scales = []int{8, 40} }, "scale 40", false},
		"unknown engine":       {func(p *record.Plan) { p.Engines[0].Name = "z" }, "no engine z", false},
	} {
		t.Run(name, func(t *testing.T) {
			host := hostOf(map[string]*serial{"a": {}})
			plan := planOf(8, "a")
			c.change(&plan)
			err := Prepare(context.Background(), host, plan)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, record.ErrUsage) != c.usage {
				t.Errorf("got %v (usage %v), want an error with %q (usage %v)", err, errors.Is(err, record.ErrUsage), c.want,
					c.usage)
			}
		})
	}
	if err := Prepare(context.Background(), hostOf(map[string]*serial{"a": {}}), planOf(8, "a", "missing")); err != nil {
		t.Errorf("one engine of two that does not start: %v", err)
	}
}

func TestPrepareRejectsGraphBeyondLimits(t *testing.T) {
	for _, c := range []struct {
		limits plugins.Limits
		want   string
	}{
		{
			plugins.Limits{Vertices: 1<<8 - 1},
			"scale 8 is too large for engine a; the largest that it takes at edge factor 16 is 7",
		},
		{
			plugins.Limits{Tuples: 1<<12 - 1},
			"scale 8 is too large for engine a; the largest that it takes at edge factor 16 is 7",
		},
		{plugins.Limits{Vertices: 1 << 8, Tuples: 1 << 12}, ""},
	} {
		e := &serial{describe: func(d *plugins.Description) { d.Limits = c.limits }}
		err := Prepare(t.Context(), hostOf(map[string]*serial{"a": e}), planOf(8, "a"))
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, plugins.ErrTuples) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("limits %+v: got %v, want %q", c.limits, err, c.want)
		}
	}
}
