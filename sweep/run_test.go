package sweep

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// inside is a Host whose engines live in this process: the CPU engine, which may be made to misbehave.
type inside struct {
	wrap func(spec harness.EngineSpec, e plugins.Engine) plugins.Engine

	mu     sync.Mutex
	inputs int // tuples lent
}

func (h *inside) Open(_ context.Context, spec harness.EngineSpec) (plugins.Engine, error) {
	if h.wrap != nil {
		return h.wrap(spec, cpu.New()), nil
	}
	return cpu.New(), nil
}

func (h *inside) Tuples(n int64) ([]graph.Edge, func() error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputs++
	return make([]graph.Edge, n), func() error { return nil }, nil
}

func (h *inside) Parents(n int64) ([]graph.Vertex, func() error, error) {
	return make([]graph.Vertex, n), func() error { return nil }, nil
}

func (h *inside) Meters(context.Context, []string) ([]power.Meter, []power.Absence, error) {
	return nil, nil, nil
}

// wrong hands over a parent array that breaks rule 1, or fails, in every search.
type wrong struct {
	plugins.Engine
	fail error
}

func (w wrong) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	t, err := w.Engine.Search(ctx, root, parent)
	parent[root] = graph.Unreached
	return t, errors.Join(err, w.fail)
}

// quiet is an Observer that keeps what it is told.
type quiet struct {
	harness.Silent
	begun   []string
	left    []Estimate
	waiting int
	began   func(n int)
}

func (q *quiet) Begin(e *Entry, n, _ int, left Estimate) {
	q.begun, q.left = append(q.begun, describe(e.Cell)), append(q.left, left)
	if q.began != nil {
		q.began(n)
	}
}
func (q *quiet) Waiting(e []*Entry) { q.waiting = len(e) }

func prepared(t *testing.T, host harness.Host, s Sweep, dir string) *Schedule {
	t.Helper()
	out, err := Prepare(t.Context(), host, s, NewStore(dir), []string{"teps", "sweep"}, someSoftware, someMachine)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func states(s *Schedule) map[State]int {
	n := map[State]int{}
	for _, e := range s.Entries {
		n[e.State]++
	}
	return n
}

func TestASweepMeasuresEveryCellOnceAndGeneratesAScaleOnce(t *testing.T) {
	dir, host := filepath.Join(t.TempDir(), "store"), &inside{}
	s := prepared(t, host, someSweep(), dir)
	if _, err := os.Stat(dir); err == nil {
		t.Error("Prepare made the store")
	}
	see := &quiet{}
	if err := s.Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if host.inputs != 2 {
		t.Errorf("tuples were generated %d times for 2 scales", host.inputs)
	}
	if len(see.begun) != 20 || len(slices.Compact(slices.Sorted(slices.Values(see.begun)))) != 20 {
		t.Errorf("begun: %v", see.begun)
	}
	for _, e := range s.Entries {
		r, err := harness.Load(s.Store.Path(e.Cell))
		if err != nil {
			t.Fatal(err)
		}
		if run := r.Runs[0]; e.State != Done || !run.Valid || len(run.Roots) != 4 || run.Sessions != 1 || run.Graph == nil || run.Engine.Options["threads"] != e.Engine().Options["threads"] {
			t.Errorf("%s: state %s, record %+v", describe(e.Cell), e.State, run)
		}
	}

	// Again: nothing is done twice, and a sweep that has grown measures what is new.
	again := prepared(t, host, someSweep(), dir)
	if n := states(again); n[Done] != 20 {
		t.Errorf("states after the sweep: %v", n)
	}
	grown := someSweep()
	grown.Repeats, see = 3, &quiet{}
	if err := prepared(t, host, grown, dir).Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if len(see.begun) != 10 || !strings.HasSuffix(see.begun[0], "#3") {
		t.Errorf("with one more repeat, measured: %v", see.begun)
	}
}

func TestAnInterruptedSweepMeasuresTheRest(t *testing.T) {
	dir, host := t.TempDir(), &inside{}
	ctx, cancel := context.WithCancel(t.Context())
	see := &quiet{began: func(n int) {
		if n == 7 {
			cancel()
		}
	}}
	if err := prepared(t, host, someSweep(), dir).Run(ctx, host, see); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	s := prepared(t, host, someSweep(), dir)
	if n := states(s); n[Done] != 6 || n[Stopped] != 1 || n[Missing] != 13 {
		t.Errorf("states after the interruption: %v", n)
	}
	see = &quiet{}
	if err := s.Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if n := states(s); n[Done] != 20 || len(see.begun) != 14 {
		t.Errorf("states in the end: %v; %d measured", n, len(see.begun))
	}
	for _, e := range s.Entries {
		if r, err := harness.Load(s.Store.Path(e.Cell)); err != nil || r.Runs[0].Sessions != 1 {
			t.Errorf("%s was not measured in one piece: %v", e.Folder, err)
		}
	}
}

func TestCellsThatGoWrongDoNotEndTheSweepAndAreRetriedOnDemand(t *testing.T) {
	sick := true
	host := &inside{wrap: func(spec harness.EngineSpec, e plugins.Engine) plugins.Engine {
		switch {
		case sick && spec.Options["threads"] == "2":
			return wrong{Engine: e, fail: errors.New("the device is on fire")}
		case sick && spec.Name == "mine":
			return wrong{Engine: e}
		}
		return e
	}}
	dir := t.TempDir()
	s := prepared(t, host, someSweep(), dir)
	if err := s.Run(t.Context(), host, &quiet{}); err != nil {
		t.Fatal(err)
	}
	if n := states(s); n[Done] != 8 || n[Failed] != 8 || n[Invalid] != 4 {
		t.Errorf("states: %v", n)
	}
	for _, e := range s.Entries {
		if e.State == Failed && !strings.Contains(e.Why, "on fire") || e.State == Invalid && !strings.Contains(e.Why, "4 of 4 searches wrong: ") || e.State == Done && e.Why != "" {
			t.Errorf("%s is %s because %q", describe(e.Cell), e.State, e.Why)
		}
	}
	sick = false
	// Not asked for, nothing is measured again, and the reasons are those of the records.
	s = prepared(t, host, someSweep(), dir)
	see := &quiet{}
	if err := s.Run(t.Context(), host, see); err != nil || len(see.begun) != 0 {
		t.Errorf("without a retry: %v, %v", see.begun, err)
	}
	if n := states(s); n[Failed] != 8 || n[Invalid] != 4 {
		t.Errorf("states: %v", n)
	}
	if err := s.Retry(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if n := states(s); n[Done] != 20 || len(see.begun) != 12 {
		t.Errorf("after a retry: %v; %d measured", n, len(see.begun))
	}
}

// Several sweeps of one file at once share the cells: each is measured once, and everybody learns of all of them.
func TestSweepsAtOnceShareTheWork(t *testing.T) {
	dir := t.TempDir()
	const sweeps = 4
	var wg sync.WaitGroup
	var begun [sweeps]quiet
	for i := range sweeps {
		host := &inside{}
		s := prepared(t, host, someSweep(), dir)
		wg.Go(func() {
			if err := s.Run(t.Context(), host, &begun[i]); err != nil {
				t.Error(err)
			}
			if n := states(s); n[Done] != 20 {
				t.Errorf("sweep %d ends with %v", i, n)
			}
		})
	}
	wg.Wait()
	var all []string
	for i := range begun {
		all = append(all, begun[i].begun...)
	}
	slices.Sort(all)
	if len(all) != 20 || len(slices.Compact(all)) != 20 {
		t.Errorf("%d measured by all together: %v", len(all), all)
	}
}

func TestAnUnreadableRecordIsLeftAlone(t *testing.T) {
	dir, host := t.TempDir(), &inside{}
	s := prepared(t, host, someSweep(), dir)
	if err := s.Run(t.Context(), host, &quiet{}); err != nil {
		t.Fatal(err)
	}
	path := s.Store.Path(s.Entries[0].Cell)
	if err := os.WriteFile(filepath.Join(path, harness.ManifestFile), []byte("{torn"), 0o666); err != nil {
		t.Fatal(err)
	}
	other := s.Store.Path(s.Entries[1].Cell)
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other, os.DirFS(s.Store.Path(s.Entries[2].Cell))); err != nil {
		t.Fatal(err)
	}
	s = prepared(t, host, someSweep(), dir)
	if err := s.Retry(); err != nil {
		t.Fatal(err)
	}
	see := &quiet{}
	if err := s.Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if n := states(s); n[Done] != 18 || n[Damaged] != 2 || len(see.begun) != 0 {
		t.Errorf("states %v, measured %v", n, see.begun)
	}
	if why := s.Entries[0].Why; !strings.Contains(why, "out of the store") {
		t.Errorf("the torn record: %s", why)
	}
	if why := s.Entries[1].Why; !strings.Contains(why, "another run") {
		t.Errorf("the record of another cell: %s", why)
	}
}

// An engine that cannot run here keeps nobody from measuring the others.
func TestAnUnavailableEngineIsReported(t *testing.T) {
	host := &inside{wrap: func(spec harness.EngineSpec, e plugins.Engine) plugins.Engine {
		if spec.Builtin == "gpu" {
			return absent{e}
		}
		return e
	}}
	x := someSweep()
	x.Engines[1].Spec.Builtin = "gpu"
	s := prepared(t, host, x, t.TempDir())
	if err := s.Run(t.Context(), host, &quiet{}); err != nil {
		t.Fatal(err)
	}
	if n := states(s); n[Done] != 16 || n[Absent] != 4 {
		t.Errorf("states %v", n)
	}
	x.Engines = x.Engines[1:]
	_, err := Prepare(t.Context(), host, x, NewStore(t.TempDir()), nil, someSoftware, someMachine)
	if !errors.Is(err, plugins.ErrUnavailable) {
		t.Errorf("a sweep of unavailable engines alone: %v", err)
	}
}

type absent struct{ plugins.Engine }

func (a absent) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := a.Engine.Describe(ctx)
	d.Unavailable = "there is no device"
	return d, err
}

func TestWhatDoesNotFitIsRefusedByName(t *testing.T) {
	s := someSweep()
	s.Plan.Scales = []int{6, 33, 34}
	_, err := Prepare(t.Context(), &inside{}, s, NewStore(t.TempDir()), nil, someSoftware, someMachine)
	if !errors.Is(err, plugins.ErrMemory) || !strings.Contains(err.Error(), "mine at scale 33 needs") || strings.Contains(err.Error(), "scale 6 needs") || !strings.Contains(err.Error(), "exclude: [{scales: 33") {
		t.Errorf("the refusal: %v", err)
	}
	s.Engines[0].Options[0].Values[0] = "many"
	if _, err := Prepare(t.Context(), &inside{}, s, NewStore(t.TempDir()), nil, someSoftware, someMachine); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("a value that no engine takes: %v", err)
	}
}

func TestTheEstimateIsOfWhatWasMeasured(t *testing.T) {
	host := &inside{}
	s := prepared(t, host, someSweep(), filepath.Join(t.TempDir(), "store"))
	if left := s.Model.Left(s.ToDo()); left.Unknown != 20 || left.Seconds != 0 {
		t.Errorf("before anything was measured: %+v", left)
	}
	if err := s.Calibrate(t.Context(), host, time.Minute, harness.Silent{}); err != nil {
		t.Fatal(err)
	}
	if left := s.Model.Left(s.ToDo()); left.Unknown != 0 || left.Seconds <= 0 {
		t.Errorf("after the calibration: %+v", left)
	}
	if list, _ := os.ReadDir(s.Store.Dir()); len(list) != 0 {
		t.Errorf("the calibration left %v in the store", list)
	}
	see := &quiet{}
	if err := s.Run(t.Context(), host, see); err != nil {
		t.Fatal(err)
	}
	if left := s.Model.Left(s.ToDo()); left.Seconds != 0 || left.Unknown != 0 {
		t.Errorf("in the end: %+v", left)
	}

	// A run of a known time is estimated at that time, one of twice the tuples at twice the time.
	m := NewModel()
	c := s.Entries[0].Cell
	run := harness.Run{Engine: c.Engine(), Graph: &harness.GraphRecord{Tuples: c.Tuples(), Generation: 3}, Construction: &plugins.Construction{}, ConstructWall: 10}
	for range 4 {
		run.Roots = append(run.Roots, harness.RootRecord{Wall: 2, Validated: true, Validation: 1})
	}
	m.learnWall(harness.Result{Manifest: harness.Manifest{Plan: c.Plan}, Runs: []harness.Run{run}}, 30) // 10 + 5 x 2 + 4 x 1, and 6 beside
	if got, _ := m.Cell(c); math.Abs(got-30) > 1e-9 {
		t.Errorf("the run of 30 s is estimated at %v s", got)
	}
	c.Plan.Scales = []int{c.Scale() + 1}
	if got, _ := m.Cell(c); math.Abs(got-54) > 1e-9 {
		t.Errorf("with twice the tuples: %v s, want 54", got)
	}
	c.Plan.Energy = time.Minute
	if got, _ := m.Cell(c); math.Abs(got-54-74) > 1e-9 {
		t.Errorf("with an energy loop of a minute: %v s, want 128", got)
	}
	c.Plan.Energy, c.Plan.Validate = 0, 1
	if got, _ := m.Cell(c); math.Abs(got-48) > 1e-9 {
		t.Errorf("with one validation: %v s, want 48", got)
	}
	if got, _ := m.Generation(c.Tuples()); math.Abs(got-6) > 1e-9 {
		t.Errorf("generation of twice the tuples: %v s, want 6", got)
	}
}

// A graph whose vertices have no neighbours gives no result, and no engine is to blame.
func TestACellWithoutRootsSaysSo(t *testing.T) {
	s := someSweep()
	s.Plan.EdgeFactor, s.Plan.Scales = 1, []int{1}
	out := prepared(t, &inside{}, s, t.TempDir())
	if err := out.Run(t.Context(), &inside{}, &quiet{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Entries {
		if e.State == Done || !strings.Contains(e.Why, "no vertex of the graph has a neighbour") {
			t.Errorf("%s is %s because %q", describe(e.Cell), e.State, e.Why)
		}
	}
}
