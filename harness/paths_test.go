// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// finder is serial with kernel 3, which follows change after every search.
type finder struct {
	*serial
	weighted *graph.CSR
	weights  []float32
	official map[graph.Vertex]bool // the roots of kernel 2
	found    int
	change   func(n int, root graph.Vertex, parent []graph.Vertex, distance []float32) error
}

func (f *finder) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := f.serial.Describe(ctx)
	d.ShortestPaths, d.PathMemory = true, plugins.Memory{PerTuple: 12}
	return d, err
}

func (f *finder) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	if f.roots != nil {
		f.official = f.roots
	}
	c, err := f.serial.Construct(ctx, in)
	if err == nil && in.ShortestPaths {
		f.weights = in.Weights
		f.weighted, err = graph.NewWeightedCSR(in.Tuples, in.Weights, f.csr.NumVertices())
	}
	return c, err
}

func (f *finder) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	if out.Distance == nil {
		return f.serial.Search(ctx, root, out)
	}
	start, parent, distance := time.Now(), out.Parent, out.Distance
	for v := range parent {
		parent[v], distance[v] = graph.Unreached, graph.Infinity()
	}
	parent[root], distance[root] = root, 0
	if int64(root) < f.weighted.NumVertices() {
		parents, distances, err := f.weighted.ShortestPaths(root)
		if err != nil {
			return plugins.Traversal{}, err
		}
		copy(parent, parents)
		copy(distance, distances)
	}
	time.Sleep(100 * time.Microsecond)
	t := plugins.Traversal{Elapsed: time.Since(start), Levels: make([]plugins.Level, 40)} // steps, not levels
	if f.official[root] && f.change != nil {
		f.found++
		return t, f.change(f.found, root, parent, distance)
	}
	return t, ctx.Err()
}

func (f *finder) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	int64, error) {
	return plugins.InTurn(ctx, roots, duration, func(root graph.Vertex) error {
		_, err := f.Search(ctx, root, out)
		return err
	})
}

func both(scale int) record.Plan {
	p := planOf(scale, "finder")
	p.Kernels = []record.Kernel{record.BFS, record.SSSP}
	return p
}

func TestKernel3FollowsKernel2(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &finder{serial: &serial{}}
		r, _, err := runs(t, t.Context(), hostOf(map[string]*finder{"finder": f}), both(8))
		if err != nil || len(r.Runs) != 2 {
			t.Fatalf("%d runs, %v", len(r.Runs), err)
		}
		bfs, sssp := r.Runs[0], r.Runs[1]
		if bfs.Kernel != record.BFS || sssp.Kernel != record.SSSP || bfs.Graph.Weights != "" ||
			sssp.Graph.Weights != record.ReferenceWeights {
			t.Errorf("kernels %v and %v, weights %q and %q", bfs.Kernel, sssp.Kernel, bfs.Graph.Weights, sssp.Graph.Weights)
		}
		for i, root := range sssp.Roots {
			b := bfs.Roots[i]
			if root.Root != b.Root || *root.NEdge != *b.NEdge || *root.Depth < *b.Depth || !(*root.Farthest > 0) ||
				b.Farthest != nil || r.Runs[0].LevelFault(root) != "" {
				t.Errorf("root %d: %+v after kernel 2: %+v", i, root, b)
			}
		}
		for _, run := range r.Runs {
			if !run.Valid || run.Statistics.NBFS != 64 {
				t.Errorf("%v: valid %v, %+v", run.GraphID, run.Valid, run.Statistics)
			}
		}
		stated := func(run record.Run) bool {
			return slices.ContainsFunc(run.Compliance.Rules, func(c record.Check) bool {
				return strings.HasPrefix(c.Rule, "The weights are") && c.Holds
			})
		}
		if stated(bfs) || !stated(sssp) {
			t.Errorf("compliance: %+v", sssp.Compliance.Rules)
		}
	})
}

func TestWrongDistancesAreRecorded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &finder{serial: &serial{}}
		f.change = func(n int, root graph.Vertex, _ []graph.Vertex, distance []float32) error {
			if n == 4 {
				distance[root] = 0.5
			}
			return nil
		}
		r, _, err := runs(t, t.Context(), hostOf(map[string]*finder{"finder": f}), both(8))
		wrong := r.Runs[1].Roots[2] // after the warm-up
		if err != nil || !r.Runs[0].Valid || r.Runs[1].BrokenRoots() != 1 ||
			wrong.Rule != int(validate.RulePathDistance) || !strings.Contains(wrong.Violation, "it is the root: want 0") {
			t.Errorf("%v, rule %d: %s", err, wrong.Rule, wrong.Violation)
		}
	})
}

func TestKernel3IsResumed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &finder{serial: &serial{}}
		ctx, cancel := context.WithCancel(t.Context())
		f.change = func(n int, _ graph.Vertex, _ []graph.Vertex, _ []float32) error {
			if n == 20 {
				cancel()
				return ctx.Err()
			}
			return nil
		}
		host := hostOf(map[string]*finder{"finder": f})
		r, store, _ := runs(t, ctx, host, both(8))
		if n := len(r.Runs[1].Roots); r.Runs[0].State != record.Complete || r.Runs[1].State != record.Interrupted || n == 0 {
			t.Fatalf("states %v and %v, %d roots of kernel 3", r.Runs[0].State, r.Runs[1].State, n)
		}
		searches := f.searches
		r = resume(t, t.Context(), host, store.Dir())
		if !r.Runs[1].Valid || len(r.Runs[1].Roots) != 64 || f.searches != searches || r.Runs[0].Sessions != 1 {
			t.Errorf("after a resume: %d roots, valid %v, %d searches of kernel 2, %d before", len(r.Runs[1].Roots),
				r.Runs[1].Valid, f.searches, searches)
		}
	})
}

func TestChangedWeightsVoidTheSearches(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &finder{serial: &serial{}}
		f.change = func(n int, _ graph.Vertex, _ []graph.Vertex, _ []float32) error {
			if n == 10 {
				f.weights[0] = 0.123
			}
			return nil
		}
		r, _, err := runs(t, t.Context(), hostOf(map[string]*finder{"finder": f}), both(8))
		if err != nil || !r.Runs[0].Valid || !r.Runs[1].Void {
			t.Errorf("%v, void %v: %s", err, r.Runs[1].Void, r.Runs[1].Failure)
		}
	})
}

// TestDeviceOfKernel3 has a device make the weights and validate kernel 3 after kernel 2, or fail or lie in it.
func TestDeviceOfKernel3(t *testing.T) {
	fails := func(call string) func(context.Context, string) error {
		calls := map[string]int{}
		return func(_ context.Context, c string) error {
			if calls[c]++; fmt.Sprint(c, " ", calls[c]) == call {
				return fmt.Errorf("GPU is lost: %w", plugins.ErrMemory)
			}
			return nil
		}
	}
	lies := func(lie func(*validate.Tree) error) func(*validate.Tree, error) error {
		return func(t *validate.Tree, err error) error {
			if t.Farthest != 0 && err == nil {
				return lie(t)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		device              slow
		breaks              bool // the engine returns a wrong distance
		byDevice, confirmed int
		note, failure       string
	}{
		"works":                  {byDevice: 64, confirmed: 2},
		"finds a wrong distance": {breaks: true, byDevice: 64, confirmed: 2, note: "want 0"},
		"makes wrong weights":    {device: slow{wrongWeight: true}, byDevice: 64, confirmed: 2, note: "not those of the"},
		"makes no weights": {device: slow{fault: fails("generate weights 1")}, byDevice: 64, confirmed: 2,
			note: "GPU is lost"},
		"has no room": {device: slow{fault: fails("load 2")}, note: "GPU is lost"},
		"is lost":     {device: slow{fault: fails("validate 100")}, byDevice: 35, confirmed: 1, note: "GPU is lost"},
		"miscounts": {device: slow{lie: lies(func(t *validate.Tree) error { t.Farthest++; return nil })},
			failure: "disagree"},
		"refuses right results": {device: slow{lie: lies(func(*validate.Tree) error {
			return &validate.Violation{Rule: validate.RulePathSpan, Vertices: []graph.Vertex{1, 2}}
		})}, failure: "disagree"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := &finder{serial: &serial{}}
				f.change = func(n int, root graph.Vertex, _ []graph.Vertex, distance []float32) error {
					if c.breaks && n == 40 {
						distance[root] = 0.5
					}
					return nil
				}
				plan := both(8)
				plan.HostDevice = &record.EngineSpec{Name: "device"}
				result, notes := noted(t, hostOf(map[string]plugins.Engine{"finder": f, "device": &c.device}), plan)
				bfs, run := result.Runs[0], result.Runs[1]
				by, confirmed := validatedBy(run)
				if !bfs.Valid || strings.Contains(run.Failure, "disagree") != (c.failure != "") || c.failure == "" &&
					(run.Valid == c.breaks || by != c.byDevice || confirmed < c.confirmed) {
					t.Errorf("valid %v and %v, %d by the device, %d confirmed: %s", bfs.Valid, run.Valid, by, confirmed, run.Failure)
				}
				if got := strings.Join(notes, "; "); c.failure == "" && (len(notes) > 1 || !strings.Contains(got, c.note) ||
					c.note == "" && got != "") {
					t.Errorf("notes %q, want %q", notes, c.note)
				}
			})
		})
	}
}

func TestEnergyOfKernel3(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f, p := &finder{serial: &serial{}}, both(8)
		p.Energy = 2 * time.Second
		host := hostOf(map[string]*finder{"finder": f})
		r, _, err := runs(t, t.Context(), host, p)
		if err != nil || r.Runs[1].Energy == nil || r.Runs[0].Energy == nil {
			t.Errorf("%v, %+v", err, r.Runs[1].Energy)
		}
	})
}

func TestEnginesWithoutKernel3AreRefused(t *testing.T) {
	p := planOf(8, "serial")
	p.Kernels = []record.Kernel{record.SSSP}
	err := Prepare(t.Context(), hostOf(map[string]*serial{"serial": {}}), p)
	if !errors.Is(err, record.ErrUsage) || !strings.Contains(err.Error(), "no kernel 3") {
		t.Errorf("got %v", err)
	}
	p.Regenerate = true
	if err := p.Check(); !errors.Is(err, record.ErrUsage) {
		t.Errorf("with --regenerate: %v", err)
	}
}
