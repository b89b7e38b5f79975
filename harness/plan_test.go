// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

func recipe(scale, edgeFactor int) graph.Kronecker {
	return graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor, Seed1: 2, Seed2: 3}
}

func TestEstimateMemory(t *testing.T) {
	m := plugins.Memory{Fixed: 1000, PerVertex: 2.5, PerTuple: 4}
	got := EstimateMemory(recipe(20, 16), m)
	const vertices, tuples = 1 << 20, 16 << 20
	want := Needs{
		Tuples: 12 * tuples, Parents: 8 * vertices, Validator: validate.Bytes(vertices),
		Engine: 1000 + 5*vertices/2 + 4*tuples,
	}
	if got != want || got.Validator <= 0 {
		t.Errorf("want %+v, got %+v", want, got)
	}
	if total := want.Tuples + want.Parents + want.Validator + want.Engine; got.Total() != total {
		t.Errorf("total: want %d, got %d", total, got.Total())
	}
}

func TestEstimateIsBounded(t *testing.T) {
	for _, r := range []graph.Kronecker{recipe(42, 16), recipe(graph.MaxScale, 150_000), recipe(1, math.MaxInt64/48)} {
		if err := r.Check(); err != nil {
			t.Fatalf("the test's recipe: %v", err)
		}
		n := EstimateMemory(r, plugins.Memory{Fixed: math.MaxInt64, PerVertex: 1e300, PerTuple: 1e300})
		if n.Engine != math.MaxInt64 || n.Total() != math.MaxInt64 || n.Tuples <= 0 || n.Parents <= 0 {
			t.Errorf("scale %d, edgefactor %d: want saturated numbers, got %+v, total %d", r.Scale, r.EdgeFactor, n, n.Total())
		}
	}
	for _, x := range []float64{math.NaN(), -1, math.Inf(-1)} { // malformed formulas
		if n := EstimateMemory(recipe(10, 16), plugins.Memory{PerVertex: x}); n.Engine != 0 {
			t.Errorf("per vertex %g: want 0, got %d", x, n.Engine)
		}
	}
}

func planAt(scales ...int) record.Plan {
	p := record.DefaultPlan()
	p.Scales = scales
	return p
}

func TestMemoryErrorNamesNeedsAndLargestScale(t *testing.T) {
	both := map[string]plugins.Memory{"cpu": {PerTuple: 6.5, PerVertex: 8}, "small": {Fixed: 1}}
	equal := map[string]plugins.Memory{}
	for _, name := range strings.Fields("a b c d e f g h i j") {
		equal[name] = plugins.Memory{PerTuple: 100}
	}
	exact := EstimateMemory(recipe(18, 16), plugins.Memory{PerTuple: 3}).Total()
	regenerated, wide := planAt(30), planAt(34)
	regenerated.Regenerate, wide.EdgeFactor = true, 32
	for name, c := range map[string]struct {
		plan      record.Plan
		engines   map[string]plugins.Memory
		available int64
		want      []string // parts of the error; none: it fits
	}{
		"one engine of two": {planAt(18, 30, 26), both, 19*units.GiB + units.GiB/10, []string{
			"scale 30 needs ", " GiB (tuples 192 GiB, parents 8.00 GiB, validator ", ", engine cpu 112 GiB), ",
			"but this machine has 19.1 GiB available (a test); ", "the largest scale that fits is 25",
		}},
		"the advised scale": {planAt(25), both, 19 * units.GiB, nil},
		"without tuples":    {regenerated, map[string]plugins.Memory{"small": {Fixed: 1}}, 19 * units.GiB, nil},
		"mebibytes": {planAt(18), map[string]plugins.Memory{"cpu": {}}, 40 * units.MiB, []string{
			" MiB (tuples 48.0 MiB, parents 2.00 MiB, validator ", "has 40.0 MiB available (a test)",
			"largest scale that fits is 17",
		}},
		"edge factor 32": {wide, both, 19 * units.GiB, []string{"at edge factor 32, the largest scale that fits is 24"}},
		"no scale fits": {
			planAt(10), map[string]plugins.Memory{"gpu": {Fixed: 8 * units.GiB}}, units.GiB, []string{"no scale fits"},
		},
		"equal needs": {planAt(22), equal, units.GiB, []string{"engine a "}},
		"exactly":     {planAt(12, 18), map[string]plugins.Memory{"cpu": {PerTuple: 3}}, exact, nil},
		"a byte less": {planAt(12, 18), map[string]plugins.Memory{"cpu": {PerTuple: 3}}, exact - 1, []string{"is 17"}},
	} {
		err := fitsInto(c.plan, c.engines, 1, c.available, "a test")
		if fits := len(c.want) == 0; fits != (err == nil) || !fits && !errors.Is(err, plugins.ErrMemory) {
			t.Errorf("%s: got %v", name, err)
		}
		for _, part := range c.want {
			if text := fmt.Sprint(err); !strings.Contains(text, part) || strings.Contains(text, "\n") {
				t.Errorf("%s: got %v, want a line with %q", name, err, part)
			}
		}
	}
}

func TestCheckMemoryRejectsLargestGraph(t *testing.T) {
	hosts, available, source, unknown := memoryOf(t.Context(), nil)
	if unknown != nil {
		t.Skip(unknown)
	}
	err := fitsInto(planAt(graph.MaxScale), map[string]plugins.Memory{"x": {PerTuple: 64}}, hosts, available, source)
	if !errors.Is(err, plugins.ErrMemory) || errors.Is(err, record.ErrUsage) {
		t.Errorf("got %v, want a plugins.ErrMemory that is not an ErrUsage", err)
	}
}

func TestPrepareRejectsWrongMeters(t *testing.T) {
	plan := energyPlan(time.Second)
	host := metering(&serial{}, counter("wall", power.Wall, 50))
	notes := must.Get(CheckMeters(t.Context(), host, plan))
	must.Equal(t, notes, []string{"an energy loop of 1.000 s is short; GreenGraph500 requires 1 min, and the slowest " +
		"meter is updated every 10.00 ms"})
	host.meters = func([]string) (power.Meters, []power.Absence, error) {
		return nil, nil, record.Usage(`unknown source "coal"`)
	}
	if err := Prepare(t.Context(), host, plan); !errors.Is(err, record.ErrUsage) ||
		!strings.Contains(err.Error(), `unknown source "coal"`) {
		t.Errorf("wrong specification: %v", err)
	}
	host.meters = func([]string) (power.Meters, []power.Absence, error) {
		return power.Here{}, []power.Absence{{Source: "ipmi", Reason: "ipmitool is not installed", Asked: true}}, nil
	}
	if err := Prepare(t.Context(), host, plan); err == nil || errors.Is(err, record.ErrUsage) ||
		!strings.Contains(err.Error(), "meter ipmi is not available: ipmitool") {
		t.Errorf("unavailable meter: %v", err)
	}
}

func TestPrepareRejectsImpossiblePlans(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Plan)
		want   string
		usage  bool
	}{
		"scale 99": {func(p *record.Plan) { p.Scales = []int{99} }, "scale", true},
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
			err := Prepare(t.Context(), host, plan)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, record.ErrUsage) != c.usage {
				t.Errorf("got %v (usage %v), want an error with %q (usage %v)", err, errors.Is(err, record.ErrUsage), c.want,
					c.usage)
			}
		})
	}
	if err := Prepare(t.Context(), hostOf(map[string]*serial{"a": {}}), planOf(8, "a", "missing")); err != nil {
		t.Errorf("one engine of two that does not start: %v", err)
	}
}

func TestGraphBeyondLimits(t *testing.T) {
	const scale, path = "scale 8 is too large for engine a; the largest that it takes at edge factor 16 is 7",
		"path:64 is too large for engine a, which takes at most "
	other := planOf(8, "a")
	must.Do(other.AddGraph("path:64"))
	other.Scales = []int{}
	for _, c := range []struct {
		plan   record.Plan
		limits plugins.Limits
		want   string
	}{
		{planOf(8, "a"), plugins.Limits{Vertices: 1<<8 - 1}, scale},
		{planOf(8, "a"), plugins.Limits{Tuples: 1<<12 - 1}, scale},
		{planOf(8, "a"), plugins.Limits{Vertices: 1 << 8, Tuples: 1 << 12}, ""},
		{other, plugins.Limits{Vertices: 63}, path + "63 vertices"},
		{other, plugins.Limits{Tuples: 62}, path + "62 tuples"},
		{other, plugins.Limits{Vertices: 64, Tuples: 62}, path + "64 vertices and 62 tuples"},
		{other, plugins.Limits{Vertices: 64, Tuples: 63}, ""},
	} {
		for _, ofChoice := range []bool{false, true} {
			e := &serial{describe: func(d *plugins.Description) {
				if d.Limits = c.limits; ofChoice {
					d.Limits = plugins.Limits{Tuples: 1 << 30}
					d.Options = append(d.Options, plugins.Option{Name: "device", Kind: plugins.Choice, Default: "0",
						Choices: []string{"1", "0"}, Limits: []plugins.Limits{{Vertices: 1}, c.limits}})
				}
			}}
			err := Prepare(t.Context(), hostOf(map[string]*serial{"a": e}), c.plan)
			if c.want == "" && err != nil ||
				c.want != "" && (!errors.Is(err, plugins.ErrTuples) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("limits %+v, of a choice: %v: got %v, want %q", c.limits, ofChoice, err, c.want)
			}
		}
	}
	// The size of a file is known once it is read. Then the engine fails.
	name := filepath.Join(t.TempDir(), "a.el")
	writeFile(t, name, "0 1\n1 2\n")
	for _, engine := range []*serial{
		{describe: func(d *plugins.Description) { d.Limits.Vertices = 2 }},
		{describe: func(d *plugins.Description) { d.Memory.Fixed = math.MaxInt64 }},
	} {
		r, _, err := runs(t, t.Context(), hostOf(map[string]*serial{"a": engine}), planOn(t, name, "a"))
		if err != nil || r.Runs[0].State != record.Failed || !strings.Contains(r.Runs[0].Failure, "a.el") {
			t.Errorf("%v, %q", err, r.Runs[0].Failure)
		}
	}
}

// Wrong paths are refused before anything is read.
func TestCheckFiles(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "missing"): "does not exist", dir: "is a directory", "/dev/null": "is a pipe or a device",
		filepath.Join(dir, "grid2d"): "want it with numbers", "-": "",
	} {
		err := CheckFiles(t.Context(), planOn(t, path, "a"))
		if want == "" && err != nil ||
			want != "" && (!errors.Is(err, record.ErrUsage) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	sparse := filepath.Join(dir, "huge.el")
	writeFile(t, sparse, "")
	if err := os.Truncate(sparse, 1<<46); err != nil {
		t.Skip(err)
	}
	if err := CheckFiles(t.Context(), planOn(t, sparse, "a")); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("a file of 64 TiB: %v", err)
	}
}

func TestRanksAreDividedEvenlyAmongHosts(t *testing.T) {
	d := plugins.Description{Options: []plugins.Option{{Name: "ranks", Kind: plugins.Int, Default: "0"}}}
	for _, c := range []struct{ ranks, hosts, want int }{{0, 1, 0}, {3, 1, 3}, {6, 2, 3}, {5, 2, -1}, {0, 2, -1}} {
		got, err := ProcessesOf(d, map[string]string{"ranks": fmt.Sprint(c.ranks)}, c.hosts)
		if wrong := errors.Is(err, plugins.ErrOption); wrong != (c.want < 0) || !wrong && got != c.want {
			t.Errorf("%+v: got %d and %v", c, got, err)
		}
	}
}
