// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// made returns a result of one engine at one scale, with a root for each rate.
func made(id, engine string, rates ...float64) record.Result {
	run := record.Run{
		Engine: record.EngineSpec{Name: engine}, GraphID: record.GraphID{Scale: 18},
		State: record.Complete, Sessions: 1, Valid: true,
		Graph:       &record.GraphRecord{Recipe: graph.Kronecker{Scale: 18, EdgeFactor: 16, Seed1: 2, Seed2: 3}},
		Options:     map[string]string{"threads": "2"},
		Description: &plugins.Description{Name: engine, Version: "1.0"},
	}
	for i, rate := range rates {
		nedge := int64(4e6)
		run.Roots = append(run.Roots, record.RootRecord{
			Index: i, Root: graph.Vertex(100 + i), Time: float64(nedge) / rate, Wall: 1, Validated: true, NEdge: &nedge,
		})
	}
	r := record.Result{Runs: []record.Run{run}}
	r.Schema, r.ID = record.Schema, id
	r.Machine = machine.Machine{CPU: "a processor", Threads: 2, OS: "linux"}
	return r
}

// ramp returns n rates that rise tenfold, times factor.
func ramp(n int, factor float64) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = 1e9 * math.Pow(10, float64(i)/float64(n)) * factor
	}
	return rates
}

func of(a, b []record.Result) Comparison {
	return Of(Side{Name: "A", Results: a}, Side{Name: "B", Results: b})
}

// compared returns the only cell of a comparison.
func compared(t *testing.T, a, b []record.Result) Cell {
	t.Helper()
	cells := of(a, b).Cells
	if len(cells) != 1 {
		t.Fatalf("got %d cells, want 1: %+v", len(cells), cells)
	}
	return cells[0]
}

func one(r record.Result) []record.Result { return []record.Result{r} }

func TestAFactorCommonToAllRootsIsFoundExactly(t *testing.T) {
	fast, slow := one(made("a", "cpu", ramp(64, 1)...)), one(made("b", "cpu", ramp(64, 0.95)...))
	c := compared(t, fast, slow)
	if c.Verdict != Slower || c.Common != 64 || c.P > 1e-9 || c.Scatter != nil {
		t.Fatalf("got %+v", c)
	}
	for what, got := range map[string]float64{
		"typical": c.Typical.Estimate, "low": c.Typical.Low, "high": c.Typical.High, "harmonic means": c.TEPSB / c.TEPSA,
	} {
		near(t, what, got, 0.95)
	}
	if !c.SlowerThan(0.04) || c.SlowerThan(0.06) {
		t.Errorf("slower than 4 %%: %v, than 6 %%: %v, want true and false", c.SlowerThan(0.04), c.SlowerThan(0.06))
	}
	back := compared(t, slow, fast)
	if back.Verdict != Faster || back.SlowerThan(0) || math.Abs(back.Typical.Estimate*0.95-1) > 1e-9 {
		t.Errorf("the other way round: got %+v", back)
	}
	var inverse float64
	for _, rate := range ramp(64, 1) {
		inverse += 1 / rate / 64
	}
	near(t, "harmonic mean", c.TEPSA*inverse, 1)
}

func TestRootsArePairedByVertex(t *testing.T) {
	a, b := made("a", "cpu", ramp(20, 1)...), made("b", "cpu", ramp(20, 1)...)
	slices.Reverse(b.Runs[0].Roots)
	if c := compared(t, one(a), one(b)); c.Verdict != Same || *c.Typical != (Ratio{1, 1, 1}) {
		t.Errorf("got %+v", c)
	}
}

func TestOnlyCommonRootsCount(t *testing.T) {
	c := compared(t, one(made("a", "cpu", ramp(64, 1)...)), one(made("b", "cpu", ramp(64, 0.5)[:16]...)))
	if c.Verdict != Slower || c.Common != 16 {
		t.Errorf("got %+v", c)
	}
	near(t, "harmonic means", c.TEPSB/c.TEPSA, 0.5)
	c = compared(t, one(made("a", "cpu", ramp(64, 1)...)), one(made("b", "cpu", ramp(64, 0.5)[:MinPairs]...)))
	if c.Verdict != Slower || c.Common != MinPairs {
		t.Errorf("as few roots as there may be: got %+v", c)
	}
}

func TestRunsThatCannotBeCompared(t *testing.T) {
	change := func(f func(*record.Run)) record.Result {
		r := made("b", "cpu", ramp(8, 1)...)
		f(&r.Runs[0])
		return r
	}
	for want, b := range map[string]record.Result{
		"B has wrong searches": change(func(r *record.Run) { r.Roots[3].Rule = 3 }),
		"B failed after 8 searches: it crashed": change(func(r *record.Run) {
			r.State, r.Failure = record.Failed, "it crashed"
		}),
		"B has no searches":                       change(func(r *record.Run) { r.Roots = nil }),
		"the graphs differ or were not recorded":  change(func(r *record.Run) { r.Graph = nil }),
		"the graphs differ or were not recorded ": change(func(r *record.Run) { r.Graph = &record.GraphRecord{} }),
		"5 roots with a rate in common, but 6":    change(func(r *record.Run) { r.Roots = r.Roots[3:] }),
		"0 roots with a rate in common": change(func(r *record.Run) {
			for i := range r.Roots {
				r.Roots[i].NEdge = nil
			}
		}),
	} {
		c := compared(t, one(made("a", "cpu", ramp(8, 1)...)), one(b))
		if c.Verdict != Undecided || !strings.Contains(c.Reason, strings.TrimSpace(want)) || c.Compared() || c.SlowerThan(0) {
			t.Errorf("got %+v, want %s", c, want)
		}
	}
	none := made("a", "cpu", ramp(8, 1)...)
	none.Runs[0].Graph = nil
	if c := compared(t, one(none), one(made("b", "cpu", ramp(8, 1)...))); c.Compared() {
		t.Errorf("the graph of A is not recorded: got %+v", c)
	}
}

func TestEnginesAndScalesAreMatched(t *testing.T) {
	two := made("a", "cpu", ramp(8, 1)...)
	two.Runs = append(two.Runs, made("", "gpu", ramp(8, 9)...).Runs...)
	c := of(one(two), one(made("b", "gpu", ramp(8, 9)...)))
	if len(c.Cells) != 2 || c.Cells[0].Reason != "only A has it" || c.Cells[1].Verdict != Same {
		t.Errorf("two engines and one: got %+v", c.Cells)
	}
	c = of(one(made("b", "gpu", ramp(8, 9)...)), one(two))
	if len(c.Cells) != 2 || c.Cells[0].Verdict != Same || c.Cells[1].Engine != "cpu" ||
		c.Cells[1].Reason != "only B has it" {
		t.Errorf("one engine and two: got %+v", c.Cells)
	}
	renamed := compared(t, one(made("a", "old", ramp(8, 1)...)), one(made("b", "new", ramp(8, 2)...)))
	if renamed.Engine != "old" || renamed.EngineB != "new" || renamed.Verdict != Faster {
		t.Errorf("one engine a side: got %+v", renamed)
	}
}

// The roots of two runs differ clearly, but so do runs of the same side.
func TestADifferenceWithinTheScatterOfRunsIsNoVerdict(t *testing.T) {
	a := []record.Result{made("a1", "cpu", ramp(64, 1)...), made("a2", "cpu", ramp(64, 1.10)...)}
	b := []record.Result{made("b1", "cpu", ramp(64, 1.05)...), made("b2", "cpu", ramp(64, 1.16)...)}
	must.Equal(t, compared(t, a[:1], b[:1]).Verdict, Faster, "one run a side")
	c := compared(t, a, b)
	const reason = "runs of the same side differ by up to 10 %, the sides by 5.2 %"
	if c.Verdict != Undecided || c.Reason != reason || !c.Compared() {
		t.Errorf("two runs a side: got %+v", c)
	}
	near(t, "typical", c.Typical.Estimate, math.Sqrt(1.05*1.16/1.10))
	near(t, "scatter", *c.Scatter, 1.16/1.05-1)
	if c := compared(t, a, b[:1]); c.Scatter == nil || c.Verdict != Same && c.Verdict != Undecided {
		t.Errorf("two runs against one: got %+v", c)
	}
	a, b = nil, nil
	for i, factor := range []float64{1, 1.1, 1.05, 0.95, 1.02, 0.9} {
		a = append(a, made("a"+string(rune('0'+i)), "cpu", ramp(64, factor)...))
		b = append(b, made("b"+string(rune('0'+i)), "cpu", ramp(64, factor*1.05)...))
	}
	if c := compared(t, a, b); c.Verdict != Faster || c.Unit != ByRun || c.Scatter != nil ||
		math.Abs(c.Typical.Low-1.05) > 1e-9 {
		t.Errorf("six runs a side, each 5 %% faster than its partner: got %+v", c)
	}
	far := []record.Result{made("b1", "cpu", ramp(64, 0.5)...), made("b2", "cpu", ramp(64, 0.55)...)}
	must.Equal(t, compared(t, a[:2], far).Verdict, Slower, "a difference beyond the scatter")
}

func TestOtherDifferencesAreListed(t *testing.T) {
	a, b := made("a", "cpu", ramp(8, 1)...), made("b", "cpu", ramp(8, 1)...)
	a.Machine.Governor = "" // not recorded, so not known to differ
	b.Machine.Governor = "powersave"
	b.Machine.Threads = 4
	a.Machine.CacheBytes, b.Machine.CacheBytes = 3<<20, 5<<20
	b.Plan.WarmUps, b.Plan.Validate = 3, record.AllRoots
	a.Environment = map[string]string{"GOGC": "off"}
	b.Machine.GPUs = []machine.GPU{{PCI: "10de:2335"}, {PCI: "10de:2335"}}
	a.Machine.GPUs = []machine.GPU{{PCI: "10de:2335"}}
	b.Runs[0].Options = map[string]string{"threads": "4", "new": "1"}
	b.Runs[0].Description.Version = "1.1"
	b.Runs[0].Roots[2].Validated = false
	b.Runs[0].Compliance.Rules = []record.Check{{Rule: "64 roots"}}
	difference := func(what, a, b string) Difference { return Difference{what, []string{a}, []string{b}} }
	c := of(one(a), one(b))
	if diff := cmp.Diff([]Difference{
		difference("threads", "2", "4"), difference("last-level cache in MiB", "3", "5"),
		difference("GPUs", "10de:2335", "10de:2335, 10de:2335"),
		difference("roots to validate", "0", "all"), difference("warm-up searches", "0", "3"),
		difference("variable GOGC", "off", "not set"),
	}, c.Differences); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Difference{
		difference("validated searches", "8", "7"), difference("violated rules of the benchmark", "none", "64 roots"),
		difference("engine", "cpu 1.0", "cpu 1.1"), difference("option new", "not set", "1"),
		difference("option threads", "2", "4"),
	}, c.Cells[0].Differences); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	c = of(one(a), one(a))
	must.Equal(t, len(c.Differences), 0, c.Differences)
}

// Options of different engines are not comparable; those of an engine that has not described itself may be.
func TestOptionsAreComparedWithinAnEngineOnly(t *testing.T) {
	described := func(id, name string) record.Result {
		r := made(id, "cpu", ramp(8, 1)...)
		r.Runs[0].Options = map[string]string{"threads": id}
		if r.Runs[0].Description = nil; name != "" {
			r.Runs[0].Description = &plugins.Description{Name: name, Version: "1.0"}
		}
		return r
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"cpu", "cpu", true}, {"cpu", "gpu", false}, {"", "gpu", true}, {"cpu", "", true}, {"", "", true}} {
		cell := compared(t, one(described("1", c.a)), one(described("2", c.b)))
		got := slices.ContainsFunc(cell.Differences, func(d Difference) bool { return d.What == "option threads" })
		must.Equal(t, got, c.want, c.a, c.b)
	}
}

func TestEnginesOfOneStoreAreSides(t *testing.T) {
	first, second := made("a", "cpu", ramp(8, 1)...), made("b", "cpu", ramp(8, 1)...)
	first.Runs = append(first.Runs, made("", "gpu", ramp(8, 2)...).Runs...)
	sides := Engines([]record.Result{first, second})
	if len(sides) != 2 || sides[0].Name != "cpu" || sides[1].Name != "gpu" ||
		len(sides[0].Results) != 2 || len(sides[1].Results) != 1 || len(first.Runs) != 2 {
		t.Fatalf("got %+v", sides)
	}
	for _, side := range sides {
		for _, r := range side.Results {
			if len(r.Runs) != 1 || r.Runs[0].Engine.Name != side.Name {
				t.Errorf("side %s has runs %+v", side.Name, r.Runs)
			}
		}
	}
	c := Of(sides[0], sides[1])
	if len(c.Cells) != 1 || c.Cells[0].Verdict != Faster {
		t.Errorf("two engines of one run: got %+v", c.Cells)
	}
}

// A single ratio keeps its interval; several have a geometric mean and extremes. Cells without a ratio do not count.
func TestOverallIsTheGeometricMean(t *testing.T) {
	cells := []Cell{{}, {Typical: &Ratio{2, 1, 3}}, {Typical: &Ratio{8, 7, 9}}}
	for n, want := range []Ratio{{}, {}, {2, 1, 3}, {4, 2, 8}} {
		c := Comparison{A: "A", B: "B", Cells: cells[:n]}
		got, compared := c.Overall()
		must.Equal(t, c.Summary(), []string{"", "", "No difference found between A and B (ratio 2.000, 1.000 to 3.000)",
			"No difference found between A and B in 2 comparisons (ratio 4.000, 2.000 … 8.000)"}[n])
		near(t, "mean", got.Estimate, want.Estimate)
		if compared != max(n-1, 0) || got.Low != want.Low || got.High != want.High {
			t.Errorf("%d cells: got %+v of %d, want %+v", n, got, compared, want)
		}
	}
}

// A search without tuples or without a time has no rate.
func TestImpossibleRatesDoNotCount(t *testing.T) {
	a, b := made("a", "cpu", ramp(10, 1)...), made("b", "cpu", ramp(10, 1)...)
	b.Runs[0].Roots[0].NEdge = new(int64(0))
	b.Runs[0].Roots[1].Time = 0
	if c := compared(t, one(a), one(b)); c.Common != 8 || c.Verdict != Same {
		t.Errorf("got %+v", c)
	}
}

// Ratios that scatter so much that nothing could be found do not count as no difference.
func TestAComparisonThatCouldFindNothingCannotTell(t *testing.T) {
	rates := ramp(MinPairs, 1)
	for i := range rates {
		rates[i] *= math.Pow(100, float64(i%2*2-1))
	}
	if c := compared(t, one(made("a", "cpu", ramp(MinPairs, 1)...)), one(made("b", "cpu", rates...))); !c.Compared() ||
		c.Verdict != Undecided || c.Reason == "" {
		t.Errorf("got %+v", c)
	}
}

func TestASpeedIsOneWordForARatio(t *testing.T) {
	for ratio, want := range map[float64]string{0.0363: "27.5 times slower", 0.5: "2.00 times slower",
		0.96: "4.0 % slower", 1.054: "5.4 % faster", 1.99: "99 % faster", 7.68: "7.68 times faster"} {
		if got := (Ratio{Estimate: ratio}).Speed(); got != want {
			t.Errorf("%g: got %q, want %q", ratio, got, want)
		}
	}
}

func TestARatioHasThreeDigitsOrDecimals(t *testing.T) {
	for want, r := range map[string]Ratio{
		"ratio 0.130, 0.101 to 0.156": {0.13, 0.101, 0.156}, "ratio 27.5, 9.000 to 31.0": {27.5, 9, 31},
	} {
		must.Equal(t, r.Text("to"), want)
	}
}
