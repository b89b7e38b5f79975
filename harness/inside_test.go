// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

var (
	someSoftware = record.Software{Version: "v0", Compiler: "go", Program: strings.Repeat("0123456789abcdef", 4)}
	someMachine  = machine.Machine{CPU: "a processor", Threads: 2, MemoryBytes: 1 << 30, OS: "linux"}
)

// hook follows the n-th search from a root of the run. The first is the warm-up.
type hook = func(n int, root graph.Vertex, parents []graph.Vertex, t *plugins.Traversal) error

// serial is an engine that uses the oracle, with hooks to make it misbehave.
type serial struct {
	csr      *graph.CSR
	roots    map[graph.Vertex]bool // of the official plan
	searches int
	describe func(*plugins.Description)
	input    func(plugins.Input) // comes before kernel 1
	build    func(*plugins.Construction) error
	after    hook
	closed   int
}

// failIn returns a hook that fails in search n.
func failIn(n int, err error) hook {
	return func(at int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
		if at == n {
			return err
		}
		return nil
	}
}

// loseRoot returns a hook that makes the parents of search n wrong, or those of all searches if n is 0.
func loseRoot(n int) hook {
	return func(at int, root graph.Vertex, parents []graph.Vertex, _ *plugins.Traversal) error {
		if n == 0 || at == n {
			parents[root] = graph.Unreached
		}
		return nil
	}
}

// report returns a hook that changes what search n reports.
func report(n int, change func(*plugins.Traversal)) hook {
	return func(at int, _ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) error {
		if at == n {
			change(t)
		}
		return nil
	}
}

func (s *serial) Describe(context.Context) (plugins.Description, error) {
	d := plugins.Description{Name: "serial", Version: "1", Summary: "the oracle",
		Options: []plugins.Option{
			{Name: "speed", Kind: plugins.Int, Default: "1", Min: plugins.Bound(1), Meaning: "nothing"},
		}}
	if s.describe != nil {
		s.describe(&d)
	}
	return d, nil
}

func (s *serial) Construct(ctx context.Context, g plugins.Input) (plugins.Construction, error) {
	if s.input != nil {
		s.input(g)
	}
	start := time.Now()
	var err error
	if len(g.Tuples) == 0 && g.Recipe != nil {
		g.Tuples = make([]graph.Edge, g.Recipe.Tuples())
		err = g.Recipe.Generate(ctx, g.Tuples, 0, 0)
	}
	n := graph.Vertex(0)
	for _, t := range g.Tuples {
		u, v := t.Ends()
		n = max(n, u+1, v+1)
	}
	if err == nil {
		s.csr, err = graph.NewCSR(g.Tuples, int64(n))
		s.roots = nil
	}
	time.Sleep(100 * time.Microsecond) // in a bubble of synctest nothing else takes time
	c := plugins.Construction{Elapsed: time.Since(start), Claims: plugins.Claims{
		OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 64, Tuning: "nothing to tune"}}
	if err == nil && s.build != nil {
		err = s.build(&c)
	}
	return c, err
}

func (s *serial) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	if err := ctx.Err(); err != nil {
		return plugins.Traversal{}, err
	}
	start := time.Now()
	found, _, err := s.csr.Search(root)
	if err != nil {
		return plugins.Traversal{}, err
	}
	for i := copy(out.Parent, found); i < len(out.Parent); i++ {
		out.Parent[i] = graph.Unreached
	}
	time.Sleep(100 * time.Microsecond)
	t := plugins.Traversal{Elapsed: time.Since(start)}
	if s.roots == nil {
		all := 0
		joined := func(some []graph.Vertex) ([]bool, error) {
			has := make([]bool, len(some))
			for i, v := range some {
				has[i] = int64(v) < s.csr.NumVertices() &&
					slices.ContainsFunc(s.csr.Neighbors(v), func(u graph.Vertex) bool { return u != v })
			}
			return has, nil
		}
		for v := range graph.Vertex(s.csr.NumVertices()) {
			if has, _ := joined([]graph.Vertex{v}); has[0] {
				all++
			}
		}
		s.roots = map[graph.Vertex]bool{}
		roots, _, err := DrawRoots(int64(len(out.Parent)), record.OfficialSeed1, record.OfficialSeed2, joined,
			min(all, record.OfficialRoots))
		if err != nil {
			return t, err
		}
		for _, root := range roots {
			s.roots[root] = true
		}
	}
	if !s.roots[root] {
		return t, nil // it wakes the engine, or was drawn at random
	}
	if s.searches++; s.after != nil {
		err = s.after(s.searches, root, out.Parent, &t)
	}
	return t, err
}

func (s *serial) Close() error {
	s.closed++
	return nil
}

// inside is a Host whose engines run in this process.
type inside struct {
	engines map[string]func() (plugins.Engine, error)
	lent    int
	meters  func(specifications []string) (power.Meters, []power.Absence, error) // nil: no meters
}

func (h *inside) Meters(_ context.Context, specifications []string) (power.Meters, []power.Absence, error) {
	if h.meters == nil {
		return power.Here{}, []power.Absence{{Source: "rapl", Reason: "the directory powercap is missing"}}, nil
	}
	return h.meters(specifications)
}

// hostOf is a host of engines of any kind.
func hostOf[E plugins.Engine](engines map[string]E) *inside {
	h := &inside{engines: map[string]func() (plugins.Engine, error){}}
	for name, e := range engines {
		h.engines[name] = func() (plugins.Engine, error) { return e, nil }
	}
	return h
}

func (h *inside) Open(_ context.Context, spec record.EngineSpec) (plugins.Engine, error) {
	if spec.Name == record.Nothing {
		return Nothing(), nil
	}
	open, ok := h.engines[spec.Name]
	if !ok {
		return nil, fmt.Errorf("no engine %s", spec.Name)
	}
	return open()
}

func (h *inside) Tuples(n int64) ([]graph.Edge, func() error, error) {
	h.lent++
	return make([]graph.Edge, n), h.release, nil
}

func (h *inside) Reserve(n int64) ([]graph.Edge, func() error, error) { return h.Tuples(min(n, 1<<16)) }

func (h *inside) Trim([]graph.Edge) error { return nil }

func (h *inside) Parents(n int64) ([]graph.Vertex, func() error, error) {
	h.lent++
	return make([]graph.Vertex, n), h.release, nil
}

func (h *inside) Weights(n int64) ([]float32, func() error, error) {
	h.lent++
	return make([]float32, n), h.release, nil
}

func (h *inside) Distances(n int64) ([]float32, func() error, error) { return h.Weights(n) }

func (h *inside) release() error {
	if h.lent--; h.lent < 0 {
		return errors.New("released twice")
	}
	return nil
}

// note collects the notes of a run.
type note struct {
	Silent
	notes []string
}

func (n *note) Note(text string) { n.notes = append(n.notes, text) }

// planOf returns the official plan at a small scale.
func planOf(scale int, engines ...string) record.Plan {
	p := record.DefaultPlan()
	p.Scales = []int{scale}
	for _, name := range engines {
		p.Engines = append(p.Engines, record.EngineSpec{Name: name, Builtin: name})
	}
	return p
}

func createStore(t *testing.T, plan record.Plan) *record.Store {
	t.Helper()
	store := must.Get(record.Create(filepath.Join(t.TempDir(), "run"),
		record.NewManifest([]string{"teps", "run"}, plan, someSoftware, someMachine)))
	t.Cleanup(func() { store.Close() })
	return store
}

// runs executes plan on host in a new directory.
func runs(t *testing.T, ctx context.Context, host *inside, plan record.Plan) (record.Result, *record.Store, error) {
	t.Helper()
	store := createStore(t, plan)
	r, err := Execute(ctx, host, store, Silent{})
	if closing := store.Close(); closing != nil {
		t.Fatal(closing)
	}
	if host.lent != 0 {
		t.Errorf("%d blocks of memory were not released", host.lent)
	}
	return r, store, err
}

// noted executes plan on host and returns the notes of the run as well.
func noted(t *testing.T, host *inside, plan record.Plan) (record.Result, []string) {
	t.Helper()
	n := &note{}
	r := must.Get(Execute(t.Context(), host, createStore(t, plan), n))
	return r, n.notes
}

// resume continues a run, which ctx may interrupt.
func resume(t *testing.T, ctx context.Context, host *inside, dir string) record.Result {
	t.Helper()
	store := must.Get(record.Resume(dir, someSoftware, someMachine))
	defer store.Close()
	r, err := Execute(ctx, host, store, Silent{})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return r
}

// inBubble runs a test whose clock no other program delays.
func inBubble(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Second) // until goroutines that look at the time have ended
		test(t)
	})
}
