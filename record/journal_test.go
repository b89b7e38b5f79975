// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// officialRun returns the manifest and the entries of a compliant run of one engine.
func officialRun() (Manifest, []Entry) {
	plan := somePlan()
	plan.Engines = plan.Engines[:1]
	m := NewManifest([]string{"teps", "run"}, plan, someSoftware, someMachine)
	k := plan.Recipe(6)
	entries := []Entry{
		{Session: &Session{}},
		{GraphID: six, Graph: &GraphRecord{Recipe: k, Tuples: k.Tuples(), RootsFound: 64, RejectedDraws: 3}},
		{Engine: "one", GraphID: six, Description: &plugins.Description{Name: "one", Version: "1"}},
		kernel1Entry(time.Second),
	}
	for i := range 64 {
		root := RootRecord{Index: i, Root: graph.Vertex(i), Time: 0.001, Wall: 0.0011, Validated: true}
		root.SetTree(validate.Tree{Tuples: 1000, SelfLoops: 10, Reached: 50})
		entries = append(entries, Entry{Engine: "one", GraphID: six, Root: &root})
	}
	return m, append(entries, Entry{Engine: "one", GraphID: six, End: &End{State: Complete}})
}

func kernel1Entry(elapsed time.Duration) Entry {
	return Entry{Engine: "one", GraphID: six, Kernel1: &Kernel1{
		Options: map[string]string{"threads": "2"},
		Construction: plugins.Construction{Elapsed: elapsed, Claims: plugins.Claims{
			OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 32, Tuning: "none",
		}},
		Wall: 2 * elapsed.Seconds(),
	}}
}

func replayed(m Manifest, entries []Entry) Run {
	r := must.Get(replay(m, entries))
	return r.Runs[0]
}

func TestReplayOfOfficialRun(t *testing.T) {
	m, entries := officialRun()
	run := replayed(m, entries)
	if run.State != Complete || !run.Valid || !run.Sound() || run.Sessions != 1 || run.Statistics.NBFS != 64 ||
		run.Options["threads"] != "2" || !math.IsNaN(run.MeanDepth()) {
		t.Errorf("got state %s, valid %v, %d sessions, options %v, mean depth %g", run.State, run.Valid, run.Sessions,
			run.Options, run.MeanDepth())
	}
	must.Equal(t, *run.Roots[63].NEdge, 990, "1000 tuples less 10 self-loops")
	for _, c := range run.Compliance.Rules {
		if !c.Holds || strings.Contains(c.Detail, "recipe for each") || strings.Contains(c.Detail, "killed") {
			t.Errorf("%s: holds %v, %s", c.Rule, c.Holds, c.Detail)
		}
	}
	if !run.Compliance.Compliant {
		t.Error("the run is not compliant")
	}
}

// A deviation breaks a rule, and the details of the statement have what was found. One without a rule is none.
func TestDeviationsAreNotCompliant(t *testing.T) {
	details := func(run Run) (text string) {
		for _, rule := range run.Compliance.Rules {
			text += rule.Detail + "\n"
		}
		return text
	}
	m, entries := officialRun()
	official := details(replayed(m, entries))
	for name, c := range map[string]struct {
		change       func(m *Manifest, entries []Entry)
		rule, detail string
	}{
		"edge factor": {
			func(m *Manifest, e []Entry) { m.Plan.EdgeFactor, e[1].Graph.Recipe.EdgeFactor = 8, 8 }, "edge factor", "factor 8",
		},
		"seeds": {func(m *Manifest, e []Entry) { m.Plan.Seed1, e[1].Graph.Recipe.Seed1 = 5, 5 }, "its seeds",
			"seeds 5 and 3; official are 2 and 3"},
		"roots":         {func(m *Manifest, _ []Entry) { m.Plan.Roots = 65 }, "64 distinct", "64 of 65 roots drawn"},
		"given roots":   {func(_ *Manifest, e []Entry) { e[1].Graph.RootsGiven = true }, "64 distinct", "the user gave them"},
		"repeated root": {func(_ *Manifest, e []Entry) { e[5].Root.Root = 0 }, "64 distinct", "63 distinct roots searched"},
		"missing root": {func(m *Manifest, e []Entry) { m.Plan.Roots, e[1].Graph.RootsFound = 65, 65 }, "Every root",
			"64 of 65 searches done; the run is"},
		"interrupted":  {func(_ *Manifest, e []Entry) { e[68].End.State = Interrupted }, "Every root", "is interrupted"},
		"wrong search": {func(_ *Manifest, e []Entry) { e[10].Root.Rule = 3 }, "is valid", "1 broke one"},
		"without a check": {func(_ *Manifest, e []Entry) { e[10].Root.Validated = false }, "is valid",
			"63 of 64 searches validated"},
		"late clock":    {func(_ *Manifest, e []Entry) { e[10].Root.Time = 9 }, "wall clock", "1 of 64 searches are"},
		"late kernel 1": {func(_ *Manifest, e []Entry) { e[3].Kernel1.Wall = 0.5 }, "wall clock", "1 of 0.5 s"},
		"negative time": {func(_ *Manifest, e []Entry) { e[10].Root.Time = -1 }, "wall clock", "1 of 64 searches are"},
		"no kernel 1": {func(_ *Manifest, e []Entry) { e[3].Kernel1.Construction.Elapsed = 0 }, "Kernel 1 was timed",
			"kernel 1 did not finish"},
		"tuples on a GPU": {func(_ *Manifest, e []Entry) { e[3].Kernel1.DeviceTuples = true }, "", "memory of the GPU"},
		"warm-ups":        {func(m *Manifest, _ []Entry) { m.Plan.WarmUps = 2 }, "warm-up", "2 before the first"},
		"labels": {func(_ *Manifest, e []Entry) { claims(e).OriginalLabelsInClock = false }, "original labels",
			"engine: no"},
		"clearing": {func(_ *Manifest, e []Entry) { claims(e).ClearingInClock = false }, "cleared", "engine: no"},
		"32-bit parents": {func(_ *Manifest, e []Entry) { claims(e).ParentBits = 32 }, "48 bits wide when",
			"engine: 32 bits"},
		"no tuning": {func(_ *Manifest, e []Entry) { claims(e).Tuning = "" }, "Tuning", "engine: missing"},
		"regenerated": {func(_ *Manifest, e []Entry) { e[1].Graph.Regenerated = true }, "nothing but the tuples",
			"recipe for each of them"},
		"on a device only": {func(_ *Manifest, e []Entry) {
			for i := range 64 {
				e[4+i].Root.ValidatedBy = "gpu"
			}
		}, "is valid", "64 on the host's device gpu, 0 of these by the CPU"},
		"on a device, with one on the CPU": {func(_ *Manifest, e []Entry) {
			for i := range 64 {
				e[4+i].Root.ValidatedBy, e[4+i].Root.Confirmed = "gpu", i == 9
			}
		}, "", "64 on the host's device gpu, 1 of these by the CPU"},
		"killed and resumed": {func(_ *Manifest, e []Entry) { e[67] = Entry{Session: &Session{}} }, "is valid", "was killed"},
		"unknown version": {func(_ *Manifest, e []Entry) { e[2].Description.Version = "" }, "Engine, version",
			"without a version"},
		"no checksum": {func(m *Manifest, _ []Entry) { m.Plan.Engines[0].Path = "./engine" }, "Engine, version",
			"program SHA-256 missing"},
		"unknown processor": {func(m *Manifest, _ []Entry) { m.Machine.CPU = "" }, "Machine, memory", "missing, 2 threads"},
		"known clock":       {func(m *Manifest, _ []Entry) { m.Machine.ClockMHz = 2100 }, "", "2100 MHz, 1024 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			m, entries := officialRun()
			c.change(&m, entries)
			run := replayed(m, entries)
			violated := c.rule == ""
			for _, check := range run.Compliance.Rules {
				violated = violated || !check.Holds && strings.Contains(check.Rule, c.rule)
			}
			if !violated || run.Compliance.Compliant != (c.rule == "") {
				t.Errorf("compliant %v, rule %q violated %v", run.Compliance.Compliant, c.rule, violated)
			}
			if text := details(run); !strings.Contains(text, c.detail) || text == official {
				t.Errorf("want %q in\n%s", c.detail, text)
			}
		})
	}
}

// Records of teps/2.0 confirm searches of a device after the last one.
func TestReplayOfConfirmations(t *testing.T) {
	m, entries := officialRun()
	for i := range 64 {
		entries[4+i].Root.ValidatedBy = "gpu"
	}
	confirm := Entry{Engine: "one", GraphID: six, Confirm: &Confirmation{Roots: []int{0, 63}, Time: 3}}
	run := replayed(m, append(entries[:68:68], confirm, entries[68]))
	if !run.Compliance.Compliant || !run.Roots[0].Confirmed || run.Roots[1].Confirmed || !run.Roots[63].Confirmed ||
		run.Roots[63].Validation != 1.5 {
		t.Errorf("compliant %v, %+v", run.Compliance.Compliant, run.Roots[63])
	}
	for _, root := range []int{-1, 64} {
		confirm.Confirm.Roots = []int{root}
		if _, err := replay(m, append(entries[:68:68], confirm)); err == nil {
			t.Errorf("root %d was not searched, but is confirmed", root)
		}
	}
}

// The rules of docs/clocks.md. Times are in milliseconds.
func TestClockRules(t *testing.T) {
	const (
		searches  = "The engine's clock accounts for the time of searches"
		kernel1   = "The engine's clock accounts for the time of kernel 1"
		confirmed = "The host's clock confirms the engine's"
		after     = "Nothing goes on after a call has returned"
	)
	loop := func(each, single float64) *EnergyLoop {
		return &EnergyLoop{Elapsed: 1, Each: each / 1e3, Single: single / 1e3}
	}
	type change func(k *Kernel1, roots []*RootRecord)
	wall := func(n int, ms float64) change {
		return func(_ *Kernel1, roots []*RootRecord) {
			for _, r := range roots[:n] {
				r.Wall = ms / 1e3
			}
		}
	}
	later := func(s float64) change { return func(_ *Kernel1, roots []*RootRecord) { roots[7].After = s } }
	construct := func(s float64) change { return func(k *Kernel1, _ []*RootRecord) { k.Wall = s } }
	for name, c := range map[string]struct {
		builtin bool
		change  change
		loop    *EnergyLoop
		rule    string // that does not hold
	}{
		"a call and a twentieth":             {change: wall(64, 11.4)},
		"more":                               {change: wall(64, 11.6), rule: searches},
		"more in three quarters":             {change: wall(48, 15)},
		"more in 49":                         {change: wall(49, 15), rule: searches},
		"more, by an engine of teps":         {builtin: true, change: wall(64, 15)},
		"no loop":                            {loop: &EnergyLoop{}, rule: confirmed},
		"no loop, an engine of teps":         {builtin: true},
		"a slower loop":                      {loop: loop(10, 9.05)},
		"a loop that is too slow":            {loop: loop(10, 8.95), rule: confirmed},
		"a faster loop":                      {loop: loop(5.1, 10)},
		"a loop with a wrong tree":           {loop: &EnergyLoop{Elapsed: 1, Violation: "wrong"}, rule: confirmed},
		"kernel 1":                           {change: construct(1.599)},
		"kernel 1 and work before its clock": {change: construct(1.601), rule: kernel1},
		"work afterwards":                    {change: later(0.033), rule: after},
		"noise afterwards":                   {change: later(0.031)},
	} {
		m, entries := officialRun()
		if !c.builtin {
			m.Plan.Engines[0].Path, m.Plan.Engines[0].Builtin = "engine", ""
		}
		k := entries[3].Kernel1
		k.Cost = &Cost{Call: 0.001, Kernel1: 0.1}
		k.Construction.Elapsed, k.Wall = time.Second, 1
		var roots []*RootRecord
		for i := range 64 {
			roots = append(roots, entries[4+i].Root)
			roots[i].Time, roots[i].Wall = 0.010, 0.010
		}
		if c.change != nil {
			c.change(k, roots)
		}
		at := entries[4]
		if c.loop == nil {
			c.loop = loop(10, 10)
		}
		if c.loop.Elapsed > 0 || c.loop.Violation != "" {
			entries = append(entries, Entry{Engine: at.Engine, GraphID: at.GraphID, Clock: c.loop})
		}
		for _, rule := range replayed(m, entries).Compliance.Rules {
			if slices.Contains([]string{searches, kernel1, confirmed, after}, rule.Rule) &&
				rule.Holds != (rule.Rule != c.rule) {
				t.Errorf("%s: %q: %v, %s", name, rule.Rule, rule.Holds, rule.Detail)
			}
		}
	}
}

func claims(entries []Entry) *plugins.Claims { return &entries[3].Kernel1.Construction.Claims }

func TestReplayOfResumes(t *testing.T) {
	m, entries := officialRun()
	// All searches were done: another construction serves the energy loop only.
	end := Entry{Engine: "one", GraphID: six, End: &End{State: Complete}}
	failed := Entry{Engine: "one", GraphID: six, Energy: &EnergyRecord{Failure: "it died"}}
	session := Entry{Session: &Session{}}
	again := append(entries[:68:68], failed, end, session)
	run := replayed(m, again)
	if run.State != Interrupted || run.Energy != nil {
		t.Errorf("a resume must repeat a failed energy loop: got %s, %+v", run.State, run.Energy)
	}
	newer := Entry{Engine: "one", GraphID: six, Description: &plugins.Description{Version: "2"}}
	again = append(again, entries[1], newer, kernel1Entry(2*time.Second), Entry{
		Engine: "one", GraphID: six, Energy: &EnergyRecord{},
	}, end)
	run = replayed(m, again)
	if run.Sessions != 1 || run.Construction.Elapsed != time.Second || run.Rebuilt.Construction.Elapsed != 2*time.Second ||
		!run.Compliance.Compliant || run.Description.Version != "1" {
		t.Errorf("got %d sessions, construction %v, rebuilt %+v, version %s", run.Sessions, run.Construction.Elapsed,
			run.Rebuilt, run.Description.Version)
	}
	if run = replayed(m, append(again, session)); run.State != Complete || run.Energy == nil {
		t.Errorf("a resume must not repeat what is complete: got %s, %+v", run.State, run.Energy)
	}

	// Searches were missing, so kernel 1 ran twice.
	died := Entry{Engine: "one", GraphID: six, End: &End{State: Failed, Failure: "it died"}}
	again = append(append(entries[:41:41], died, session, entries[1], kernel1Entry(2*time.Second)), entries[41:]...)
	run = replayed(m, again)
	if run.State != Complete || run.Failure != "" || run.Sessions != 2 || run.Construction.Elapsed != 2*time.Second ||
		run.Compliance.Compliant {
		t.Errorf("got %s %q, %d sessions, compliant %v", run.State, run.Failure, run.Sessions, run.Compliance.Compliant)
	}
}

func TestReplayRejectsEntriesOutsideThePlan(t *testing.T) {
	m, entries := officialRun()
	graphEntry := func(roots int) Entry {
		g := *entries[1].Graph
		g.RootsFound = roots
		return Entry{GraphID: six, Graph: &g}
	}
	for want, e := range map[string]Entry{
		`line 70: engine "two" at scale 6 is not in the plan`: {Engine: "two", GraphID: six, End: &End{}},
		"line 70: root 3 where root 64 is expected":           {Engine: "one", GraphID: six, Root: &RootRecord{Index: 3}},
		"line 70: the graph was generated from":               {GraphID: six, Graph: &GraphRecord{}},
		"line 70: root 64 of a graph that has fewer roots":    {Engine: "one", GraphID: six, Root: &RootRecord{Index: 64}},
		"line 70: scale 6 has 65 roots, but the plan has 64":  graphEntry(65),
		"line 70: the tuples or roots of scale 6 are not":     graphEntry(16),
	} {
		must.Fail(t, must.Err(replay(m, append(entries, e))), want)
	}
	must.Fail(t, must.Err(replay(m, slices.Delete(entries, 3, 4))), "line 4: root 0 before kernel 1")
}

func TestPlanCheck(t *testing.T) {
	if diff := cmp.Diff(Plan{
		Scales: []int{18}, EdgeFactor: 16, Seed1: 2, Seed2: 3, Roots: 64, Validate: -1, WarmUps: 1, Wake: 10,
		Timeout: 10 * time.Minute,
	}, DefaultPlan()); diff != "" {
		t.Errorf("the default plan (-want +got):\n%s", diff)
	}
	for want, change := range map[string]func(*Plan){
		"no engine is named":         func(p *Plan) { p.Engines = nil },
		"no scale or graph is named": func(p *Plan) { p.Scales = nil },
		"more than a run can have":   func(p *Plan) { p.Engines = make([]EngineSpec, maxRuns+1) },
		"has 2000 bytes":             func(p *Plan) { p.Engines = []EngineSpec{{Name: strings.Repeat("x", 2000)}} },
		"number of roots":            func(p *Plan) { p.Roots = 0 },
		"must be 1 to 1048576":       func(p *Plan) { p.Roots = maxRoots + 1 },
		"must be 0 to 1048576":       func(p *Plan) { p.WarmUps = maxRoots + 1 },
		"roots to validate":          func(p *Plan) { p.Validate = -2 },
		"warm-up searches":           func(p *Plan) { p.WarmUps = -1 },
		"timeout must be":            func(p *Plan) { p.Timeout = 0 },
		"must be a positive duration such as 60s, or 0 for none, not -1s": func(p *Plan) { p.Energy = -time.Second },
		"meter rapl requires an energy loop":                              func(p *Plan) { p.Meters = []string{"rapl"} },
	} {
		p := somePlan()
		change(&p)
		err := p.Check()
		if must.Is(t, err, ErrUsage, want); strings.Contains(fmt.Sprint(err), "--") {
			t.Errorf("the error of a plan names a flag: %v", err)
		}
	}
	for want, change := range map[string]func(*Plan){
		"leave out --regenerate":               func(p *Plan) { p.Regenerate = true },
		"a.gr is a file, which is not divided": func(p *Plan) { p.Graphs = []GraphSpec{{Name: "a.gr", Path: "/a.gr"}} },
		"a,b,a; want each one once":            func(p *Plan) { p.Cluster.Hosts = []string{"a", "b", "a"} },
		`a host is named "-x y"`:               func(p *Plan) { p.Cluster.Hosts = []string{"user@a-1.b_c", "-x y"} },
		"the number of hosts is 3, but 1":      func(p *Plan) { p.Cluster.Hosts, p.Cluster.Nodes = []string{"a"}, 3 },
	} {
		p := somePlan()
		p.Cluster = &Cluster{Launcher: "srun"}
		change(&p)
		must.Is(t, p.Check(), ErrUsage, want)
		if p.Cluster.Launcher = ""; p.Check() != nil { // one host
			t.Errorf("%s: one host is refused, too: %v", want, p.Check())
		}
	}
	largest := somePlan()
	largest.Roots, largest.WarmUps, largest.Validate = maxRoots, maxRoots, 0
	largest.Scales, largest.Engines[1].Name = []int{6}, strings.Repeat("x", plugins.MaxText)
	for _, p := range []Plan{somePlan(), largest} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestNewMetered(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := power.Series{Info: power.Info{Name: "wall", Quantity: power.Power}, Period: time.Second}
	for i := range 31 {
		watts := 50.0
		if i > 10 {
			watts = 150
		}
		s.Readings = append(s.Readings, power.Reading{Time: start.Add(time.Duration(i-10) * time.Second), Value: watts})
	}
	s.Faults = []power.Fault{{Text: "timeout", Count: 2}}
	m := NewMetered(s, start, []EnergyPhase{
		{PhaseIdle, -8 * time.Second, -2 * time.Second}, {PhaseLoop, 5 * time.Second, 15 * time.Second},
	})
	if m.Idle == nil || m.Idle.Watts != 50 || m.Loop == nil || m.Loop.Watts != 150 || m.NoLoop != "" {
		t.Errorf("got idle %+v, loop %+v %s", m.Idle, m.Loop, m.NoLoop)
	}
	if diff := cmp.Diff([]power.Fault{{Text: "timeout", Count: 2}}, m.Faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	m = NewMetered(power.Series{}, start, []EnergyPhase{{PhaseIdle, -2, -1}, {PhaseLoop, 0, 1}})
	if m.Idle != nil || m.Loop != nil || m.NoIdle == "" || m.NoLoop == "" {
		t.Errorf("without readings: %+v", m)
	}
}

// s is a session, r a search of the engine, o one of another engine, e the end of the engine, and v one after which no
// search counts.
func TestSearchesWithoutAnEndAreUnchecked(t *testing.T) {
	for script, want := range map[string]int{
		"srre":     0,
		"sresre":   0, // stopped and resumed
		"srrsroe":  2, // killed and resumed
		"srsrse":   2, // killed twice
		"sreoso":   0, // killed with another engine
		"srsrvsre": 0, // killed, then all is repeated
	} {
		k := somePlan().Recipe(6)
		other := kernel1Entry(time.Second)
		other.Engine = "two"
		entries := []Entry{{GraphID: six, Graph: &GraphRecord{Recipe: k, RootsFound: 9}}, kernel1Entry(time.Second), other}
		roots, others, void := 0, 0, false
		for _, kind := range script {
			e := Entry{Engine: "one", GraphID: six}
			switch kind {
			case 's':
				if e = (Entry{Session: &Session{}}); void {
					roots, void = 0, false
					entries = append(entries, e, entries[0])
					e = entries[1]
				}
			case 'r':
				e.Root = &RootRecord{Index: roots}
				roots++
			case 'o':
				e.Engine, e.Root = "two", &RootRecord{Index: others}
				others++
			default:
				void = kind == 'v'
				e.End = &End{Void: void}
			}
			entries = append(entries, e)
		}
		if got := replayed(Manifest{Plan: somePlan()}, entries).Unchecked; got != want {
			t.Errorf("%s: got %d, want %d", script, got, want)
		}
	}
}
