// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// inside is a Host that runs the CPU engine in this process. wrap can make it misbehave.
type inside struct {
	*rpc.Host // its memory

	wrap   func(spec record.EngineSpec, e plugins.Engine) plugins.Engine
	inputs int // generated
}

func newInside() *inside {
	return &inside{
		Host: rpc.NewHost(slog.New(slog.DiscardHandler)),
		wrap: func(_ record.EngineSpec, e plugins.Engine) plugins.Engine { return e },
	}
}

func (h *inside) Open(_ context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	return h.wrap(spec, cpu.New()), nil
}

func (h *inside) Tuples(n int64) ([]graph.Edge, func() error, error) {
	h.inputs++
	return h.Host.Tuples(n)
}

func (h *inside) Meters(_ context.Context, specifications []string) (power.Meters, []power.Absence, error) {
	if len(specifications) > 0 {
		return nil, nil, record.Usage("unknown source %q", specifications[0])
	}
	return power.Here{}, nil, nil
}

// wrong returns a parent array that breaks rule 1, or fails, in every search.
type wrong struct {
	plugins.Engine
	fail error
}

func (w wrong) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	t, err := w.Engine.Search(ctx, root, out)
	out.Parent[root] = graph.Unreached
	return t, errors.Join(err, w.fail)
}

func prepared(t *testing.T, host harness.Host, s Sweep, dir string) *Schedule {
	t.Helper()
	out := must.Get(Prepare(t.Context(), host, s, dir))
	return out
}

// measured runs a schedule and returns its jobs in the order in which they were measured.
func measured(t *testing.T, s *Schedule, host harness.Host) (begun []string) {
	t.Helper()
	begin := func(j *Job, _, _ int) { begun = append(begun, describe(j)) }
	must.Do(s.Run(t.Context(), host, []string{"teps", "sweep"}, harness.Silent{}, begin))
	return begun
}

func ignore(*Job, int, int) {}

func states(s *Schedule) map[State]int {
	n := map[State]int{}
	for _, j := range s.Jobs {
		n[j.State]++
	}
	return n
}

func TestRunContinuesAnInterruptedSweep(t *testing.T) {
	t.Parallel()
	dir, host := t.TempDir(), newInside()
	ctx, cancel := context.WithCancel(t.Context())
	err := prepared(t, host, someSweep(), dir).Run(ctx, host, nil, harness.Silent{}, func(_ *Job, n, _ int) {
		if n == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	// What processes leave that are killed at other moments.
	s := prepared(t, host, someSweep(), dir)
	for i, files := range [][]string{{}, {record.JournalFile}, {record.ManifestFile, record.JournalFile}} {
		path := filepath.Join(dir, s.Jobs[6+i].Directory)
		must.Do(os.MkdirAll(path, 0o777))
		for _, name := range files {
			must.Do(os.WriteFile(filepath.Join(path, name), nil, 0o666))
		}
	}
	s = prepared(t, host, someSweep(), dir)
	if n := states(s); n[Done] != 4 || n[Missing] != 8 {
		t.Errorf("states after the interruption: %v", n)
	}
	begun := measured(t, s, host)
	if n := states(s); n[Done] != 12 || len(begun) != 8 {
		t.Errorf("states in the end: %v; %d measured", n, len(begun))
	}
	for _, j := range s.Jobs {
		must.Equal(t, must.Get(record.Load(filepath.Join(dir, j.Directory))).Runs[0].Sessions, 1, j.Directory)
	}
}

func TestFailedJobsDoNotEndTheSweepAndAreRetriedOnDemand(t *testing.T) {
	t.Parallel()
	sick := true
	host := newInside()
	host.wrap = func(spec record.EngineSpec, e plugins.Engine) plugins.Engine {
		switch {
		case sick && spec.Options["threads"] == "2":
			return wrong{Engine: e, fail: errors.New("the device is on fire")}
		case sick && spec.Name == "mine":
			return wrong{Engine: e}
		}
		return e
	}
	dir := t.TempDir()
	s := prepared(t, host, someSweep(), dir)
	measured(t, s, host)
	if n := states(s); n[Done] != 4 || n[Failed] != 4 || n[Invalid] != 4 || len(s.Bad()) != 8 {
		t.Errorf("states: %v", n)
	}
	for _, j := range s.Jobs {
		if j.State == Failed && !strings.Contains(j.Reason, "on fire") ||
			j.State == Invalid && !strings.Contains(j.Reason, "4 of 4 searches are wrong: ") ||
			j.State == Done && j.Reason != "" {
			t.Errorf("%s is %s because %q", describe(j), j.State, j.Reason)
		}
	}
	sick = false
	// Nothing is measured again before its directory is removed, and the reasons are those of the records.
	s = prepared(t, host, someSweep(), dir)
	must.Equal(t, len(measured(t, s, host)), 0, "measured again")
	if n := states(s); n[Failed] != 4 || n[Invalid] != 4 {
		t.Errorf("states: %v", n)
	}
	for _, j := range s.Bad() {
		must.Do(os.RemoveAll(filepath.Join(dir, j.Directory)))
	}
	s = prepared(t, host, someSweep(), dir)
	begun := measured(t, s, host)
	if n := states(s); n[Done] != 12 || len(begun) != 8 {
		t.Errorf("after removing what was bad: %v; %d measured", n, len(begun))
	}
	// An unreadable record is kept, too.
	path := filepath.Join(dir, s.Jobs[0].Directory)
	must.Do(os.WriteFile(filepath.Join(path, record.ManifestFile), []byte("{torn"), 0o666))
	s = prepared(t, host, someSweep(), dir)
	if n := states(s); n[Done] != 11 || n[Unreadable] != 1 || len(measured(t, s, host)) != 0 ||
		!strings.Contains(s.Jobs[0].Reason, "remove "+path+" to measure it again") {
		t.Errorf("states %v: %s", n, s.Jobs[0].Reason)
	}
}

func TestRunRefusesASecondSweepInOneStore(t *testing.T) {
	t.Parallel()
	dir, host := t.TempDir(), newInside()
	first, second := prepared(t, host, someSweep(), dir), prepared(t, host, someSweep(), dir)
	var refusal error
	must.Do(first.Run(t.Context(), host, nil, harness.Silent{}, func(_ *Job, n, _ int) {
		if n == 2 {
			refusal = second.Run(t.Context(), host, nil, harness.Silent{}, ignore)
		}
	}))
	if !errors.Is(refusal, record.ErrUsage) || !strings.Contains(refusal.Error(), "another sweep is writing to "+dir) {
		t.Errorf("the second sweep: %v", refusal)
	}
	must.Equal(t, states(first)[Done], 12, "states")
	first.Dir = filepath.Join(dir, first.Jobs[0].Directory, record.ManifestFile)
	first.Jobs[0].State = Missing
	if err := first.Run(t.Context(), host, nil, harness.Silent{}, ignore); err == nil ||
		!strings.Contains(err.Error(), "choose another store") {
		t.Errorf("a file as the store: %v", err)
	}
}

func TestUnavailableEngineDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	host := newInside()
	host.wrap = func(spec record.EngineSpec, e plugins.Engine) plugins.Engine {
		if spec.Builtin == "gpu" {
			return absent{e}
		}
		return e
	}
	x := someSweep()
	x.Engines[1].Spec.Builtin = "gpu"
	s := prepared(t, host, x, t.TempDir())
	measured(t, s, host)
	if n := states(s); n[Done] != 8 || n[Unavailable] != 4 {
		t.Errorf("states %v", n)
	}
	must.Equal(t, host.inputs, 2, "inputs of 2 scales")
	wrong := someSweep()
	wrong.Engines[1].Spec.Builtin, wrong.Engines[1].Spec.Options = "gpu", map[string]string{"gears": "5"}
	must.Is(t, must.Err(Prepare(t.Context(), host, wrong, t.TempDir())), record.ErrUsage)
	x.Engines = x.Engines[1:]
	must.Is(t, must.Err(Prepare(t.Context(), host, x, t.TempDir())), plugins.ErrUnavailable)
	x.Plan.Kernels = []record.Kernel{record.SSSP}
	must.Is(t, must.Err(Prepare(t.Context(), host, x, t.TempDir())), record.ErrUsage, "has no kernel 3")
}

type absent struct{ plugins.Engine }

func (a absent) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := a.Engine.Describe(ctx)
	d.Unavailable, d.ShortestPaths = "no device was found", false
	return d, err
}

func TestPrepareRefusesImpossibleJobs(t *testing.T) {
	for want, c := range map[string]struct {
		change func(*Sweep)
		kind   error
	}{
		"at scale 33 needs": {func(s *Sweep) { s.Plan.Scales = []int{6, 33, 34} }, plugins.ErrMemory},
		`source "coal"`: {func(s *Sweep) {
			s.Plan.Energy, s.Plan.Meters = time.Second, []string{"coal"}
		}, record.ErrUsage},
		"many": {func(s *Sweep) { s.Engines[0].Options[0].Values[0] = "many" }, record.ErrUsage},
	} {
		s := someSweep()
		c.change(&s)
		if _, err := Prepare(t.Context(), newInside(), s, t.TempDir()); !errors.Is(err, c.kind) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestStateOfAJob(t *testing.T) {
	good := record.RootRecord{Validated: true}
	wrong := record.RootRecord{Rule: 1, Violation: "no tree"}
	for _, c := range []struct {
		run    record.Run
		state  State
		reason string
	}{
		{record.Run{State: record.Complete, Roots: []record.RootRecord{good}}, Done, ""},
		{record.Run{State: record.Complete, Roots: []record.RootRecord{good, wrong}}, Invalid,
			"1 of 2 searches are wrong: no tree"},
		{record.Run{State: record.Complete}, Invalid,
			"no vertex of the graph has a neighbor, so it has no root to search from"},
		{record.Run{State: record.Interrupted, Roots: []record.RootRecord{good}}, Missing, ""},
		{record.Run{State: record.Failed, Failure: "on fire"}, Failed, "on fire"},
		{record.Run{
			State: record.Complete, Roots: []record.RootRecord{good}, Energy: &record.EnergyRecord{Failure: "on fire"},
		}, Failed, "energy: on fire"},
	} {
		var j Job
		if j.keep(c.run); j.State != c.state || j.Reason != c.reason || j.Run.Roots != nil {
			t.Errorf("%+v: %s, %q; want %s, %q", c.run, j.State, j.Reason, c.state, c.reason)
		}
	}
}
