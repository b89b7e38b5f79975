package compare

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// recorded reads a committed record.
func recorded(t *testing.T, name string) harness.Result {
	t.Helper()
	r, err := harness.Load(filepath.Join("..", "docs", "results", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// made is a result of one engine at one scale, with a root for each rate.
func made(id, engine string, rates ...float64) harness.Result {
	r := harness.Result{Manifest: harness.Manifest{Schema: harness.Schema, ID: id, Seal: "s", Machine: harness.Machine{CPU: "a processor", Threads: 2, OS: "linux"}}}
	run := harness.Run{
		Engine: harness.EngineSpec{Name: engine}, Scale: 18, State: harness.Complete, Sessions: 1, Valid: true,
		Graph: &harness.GraphRecord{Recipe: graph.Kronecker{Scale: 18, EdgeFactor: 16, Seed1: 2, Seed2: 3}}, Options: map[string]string{"threads": "2"},
		Description: &plugins.Description{Name: engine, Version: "1.0"},
	}
	for i, rate := range rates {
		nedge := int64(4e6)
		run.Roots = append(run.Roots, harness.RootRecord{Index: i, Root: graph.Vertex(100 + i), Time: float64(nedge) / rate, Wall: 1, Validated: true, NEdge: &nedge})
	}
	r.Runs = []harness.Run{run}
	return r
}

// ramp are n rates that rise tenfold, times factor.
func ramp(n int, factor float64) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = 1e9 * math.Pow(10, float64(i)/float64(n)) * factor
	}
	return rates
}

func TestAFactorThatIsTheSameForAllRootsIsFoundExactly(t *testing.T) {
	c := Of([]harness.Result{made("a", "cpu", ramp(64, 1)...)}, []harness.Result{made("b", "cpu", ramp(64, 0.95)...)})
	cell := c.Cells[0]
	if cell.Verdict != Slower || cell.Method != ByRoot || cell.Matched != 64 || *cell.P > 1e-9 {
		t.Fatalf("got %+v", cell)
	}
	for what, got := range map[string]float64{"typical": cell.Typical.Estimate, "low": *cell.Typical.Low, "high": *cell.Typical.High, "means": cell.Means.Estimate, "GTEPS": cell.TEPSB / cell.TEPSA} {
		if math.Abs(got-0.95) > 1e-9 {
			t.Errorf("%s: the ratio is %g, want 0.95", what, got)
		}
	}
	if !cell.SlowerThan(0.04) || cell.SlowerThan(0.06) || *cell.MannWhitneyP < 0.5 {
		t.Errorf("slower than 4 %%: %v, than 6 %%: %v; Mann-Whitney p %g", cell.SlowerThan(0.04), cell.SlowerThan(0.06), *cell.MannWhitneyP)
	}
	back := Of([]harness.Result{made("b", "cpu", ramp(64, 0.95)...)}, []harness.Result{made("a", "cpu", ramp(64, 1)...)}).Cells[0]
	if back.Verdict != Faster || back.SlowerThan(0) || math.Abs(back.Typical.Estimate*0.95-1) > 1e-9 {
		t.Errorf("the other way round: %+v", back)
	}
	var want float64
	for _, rate := range ramp(64, 1) {
		want += 1 / rate / 64
	}
	if math.Abs(cell.TEPSA*want-1) > 1e-9 {
		t.Errorf("harmonic mean %g, want %g", cell.TEPSA, 1/want)
	}
}

func TestRootsAreMatchedByVertexAndNotByPlace(t *testing.T) {
	a, b := made("a", "cpu", ramp(20, 1)...), made("b", "cpu", ramp(20, 1)...)
	slices.Reverse(b.Runs[0].Roots)
	if cell := Of([]harness.Result{a}, []harness.Result{b}).Cells[0]; cell.Verdict != Same || cell.Typical.Estimate != 1 || *cell.Typical.Low != 1 {
		t.Errorf("got %+v", cell)
	}
}

func TestWhenRootsOrGraphsDifferOnlyRatesAreRanked(t *testing.T) {
	other := made("b", "cpu", ramp(64, 0.95)...)
	for i := range other.Runs[0].Roots {
		other.Runs[0].Roots[i].Root += 1000
	}
	seeds := made("b", "cpu", ramp(64, 0.95)...)
	seeds.Runs[0].Graph = &harness.GraphRecord{Recipe: graph.Kronecker{Scale: 18, EdgeFactor: 16, Seed1: 7, Seed2: 3}}
	none := made("b", "cpu", ramp(64, 0.95)...)
	none.Runs[0].Graph = nil
	for name, b := range map[string]harness.Result{"roots": other, "seeds": seeds, "graph not recorded": none} {
		cell := Of([]harness.Result{made("a", "cpu", ramp(64, 1)...)}, []harness.Result{b}).Cells[0]
		want := OtherGraphs
		if name == "roots" {
			want = OtherRoots
		}
		if cell.Unmatched != want {
			t.Errorf("%s: said that %s, want %s", name, cell.Unmatched, want)
		}
		if cell.Method != ByRate || cell.Matched != 0 || cell.Verdict != Same || *cell.P != *cell.MannWhitneyP || *cell.Visible < 0.3 {
			t.Errorf("%s: %+v; want rates ranked, which cannot see 5 %%", name, cell)
		}
	}
	slow := made("b", "cpu", ramp(64, 0.2)...)
	slow.Runs[0].Graph = nil
	if cell := Of([]harness.Result{made("a", "cpu", ramp(64, 1)...)}, []harness.Result{slow}).Cells[0]; cell.Verdict != Slower {
		t.Errorf("a fifth of the rate: %+v", cell)
	}
}

// The test root by root finds nothing in fewer than six pairs, so rates are ranked; but it is not the roots that differ.
func TestFewCommonRootsAreNotCalledOthers(t *testing.T) {
	for _, c := range []struct {
		a, b, common int
		want         Unmatched
	}{{1, 1, 1, FewRoots}, {5, 5, 5, FewRoots}, {6, 6, 6, ""}, {64, 5, 5, FewRoots}} {
		cell := Of([]harness.Result{made("a", "cpu", ramp(64, 1)[:c.a]...)}, []harness.Result{made("b", "cpu", ramp(64, 1)[:c.b]...)}).Cells[0]
		if cell.Unmatched != c.want || cell.Common != c.common || (cell.Matched > 0) != (c.want == "") {
			t.Errorf("%d and %d roots: %d common, %d matched, %q; want %d and %q", c.a, c.b, cell.Common, cell.Matched, cell.Unmatched, c.common, c.want)
		}
	}
}

func TestRootsThatOneSideLacksAreLeftOut(t *testing.T) {
	cell := Of([]harness.Result{made("a", "cpu", ramp(64, 1)...)}, []harness.Result{made("b", "cpu", ramp(64, 0.5)[:16]...)}).Cells[0]
	if cell.Matched != 16 || cell.RootsA != 64 || cell.RootsB != 16 || len(cell.Warnings) != 1 || math.Abs(cell.Means.Estimate-0.5) > 1e-9 {
		t.Errorf("got %+v", cell)
	}
}

// Two runs a side that differ as wholes: the searches of any two of them say "different", the runs do not.
func TestRepeatsShowThatRunsScatter(t *testing.T) {
	a := []harness.Result{made("a1", "cpu", ramp(64, 1)...), made("a2", "cpu", ramp(64, 1.10)...)}
	b := []harness.Result{made("b1", "cpu", ramp(64, 1.05)...), made("b2", "cpu", ramp(64, 1.16)...)}
	if cell := Of(a[:1], b[:1]).Cells[0]; cell.Verdict != Faster {
		t.Errorf("one run a side: %+v", cell)
	}
	cell := Of(a, b).Cells[0]
	if cell.Method != ByRun || cell.Verdict != Same || cell.RunsA != 2 || cell.RunsB != 2 {
		t.Errorf("two runs a side: %+v", cell)
	}
	want := math.Sqrt(1.05 * 1.16 / 1.10)
	if math.Abs(cell.Typical.Estimate-want) > 1e-9 {
		t.Errorf("typical ratio %g, want %g", cell.Typical.Estimate, want)
	}
	if cell := Of(a, b[:1]).Cells[0]; cell.Method != ByRoot { // nothing tells how B scatters
		t.Errorf("two runs against one: %+v", cell)
	}
}

func TestWhatCannotBeComparedSaysWhy(t *testing.T) {
	wrong := made("b", "cpu", ramp(8, 1)...)
	wrong.Runs[0].Roots[3].Violation, wrong.Runs[0].Roots[3].Rule = "rule 3", 3
	failed := made("b", "cpu")
	failed.Runs[0].State, failed.Runs[0].Failure = harness.Failed, "no GPU"
	crashed := made("b", "cpu", ramp(8, 1)...)
	crashed.Runs[0].State, crashed.Runs[0].Failure = harness.Failed, "it crashed"
	empty := made("b", "cpu")
	uncounted := made("b", "cpu", ramp(8, 1)...)
	for i := range uncounted.Runs[0].Roots {
		uncounted.Runs[0].Roots[i].NEdge = nil
	}
	for want, b := range map[string]harness.Result{
		"B has searches that are wrong": wrong, "B failed: no GPU": failed, "B failed after 8 of its searches: it crashed": crashed, "B has no search": empty, "no root has a rate": uncounted,
	} {
		cell := Of([]harness.Result{made("a", "cpu", ramp(8, 1)...)}, []harness.Result{b}).Cells[0]
		if cell.Verdict != NotCompared || !strings.Contains(cell.Reason, want) || cell.Typical != nil {
			t.Errorf("%s: got %+v", want, cell)
		}
	}
	two := made("a", "cpu", ramp(8, 1)...)
	two.Runs = append(two.Runs, made("", "gpu", ramp(8, 9)...).Runs...)
	c := Of([]harness.Result{two}, []harness.Result{made("b", "gpu", ramp(8, 9)...)})
	if len(c.Cells) != 2 || c.Cells[0].Reason != "only A has it" || c.Cells[1].Verdict != Same {
		t.Errorf("got %+v", c.Cells)
	}
}

func TestEnginesThatAreAloneAreMatchedWhateverTheirLabels(t *testing.T) {
	c := Of([]harness.Result{made("a", "old", ramp(8, 1)...)}, []harness.Result{made("b", "new", ramp(8, 2)...)})
	if len(c.Cells) != 1 || c.Cells[0].Engine != "old" || c.Cells[0].EngineB != "new" || c.Cells[0].Verdict != Faster {
		t.Errorf("got %+v", c.Cells)
	}
}

func TestFewRootsSayNothing(t *testing.T) {
	cell := Of([]harness.Result{made("a", "cpu", ramp(5, 1)...)}, []harness.Result{made("b", "cpu", ramp(5, 0.1)...)}).Cells[0]
	if cell.Method != ByRate || cell.SlowerThan(0) != (cell.Verdict == Slower) {
		t.Errorf("got %+v", cell)
	}
	one := Of([]harness.Result{made("a", "cpu", 1e9)}, []harness.Result{made("b", "cpu", 1e8)}).Cells[0]
	if one.Verdict != Same || one.Typical.Low != nil || one.SlowerThan(0) {
		t.Errorf("one root: %+v", one)
	}
	if _, err := json.Marshal(one); err != nil {
		t.Errorf("one root as JSON: %v", err)
	}
}

func TestDifferencesAreTold(t *testing.T) {
	a, b := made("a", "cpu", ramp(8, 1)...), made("b", "cpu", ramp(8, 1)...)
	a.Machine.Governor = "" // not recorded: not known to differ
	b.Machine.Governor = "powersave"
	b.Machine.Threads = 4
	a.Machine.Clocks.Turbo, b.Machine.Clocks.Turbo = "on", "off"
	b.Plan.WarmUps = 3
	a.Environment = map[string]string{"GOGC": "off"}
	b.Runs[0].Options = map[string]string{"threads": "4", "new": "1"}
	b.Runs[0].Description.Version = "1.1"
	b.Runs[0].Roots[2].Validated = false
	b.Runs[0].Compliance.Rules = []harness.Check{{Rule: "64 roots"}}
	c := Of([]harness.Result{a}, []harness.Result{b})
	for what, want := range map[string]Difference{
		"threads": {A: []string{"2"}, B: []string{"4"}}, "turbo": {A: []string{"on"}, B: []string{"off"}},
		"warm-up searches": {A: []string{"0"}, B: []string{"3"}}, "environment: GOGC": {A: []string{"off"}, B: []string{"not set"}},
		"option threads": {A: []string{"2"}, B: []string{"4"}}, "option new": {A: []string{"not set"}, B: []string{"1"}},
		"engine": {A: []string{"cpu 1.0"}, B: []string{"cpu 1.1"}}, "validated": {A: []string{"8"}, B: []string{"7"}},
		"rules of the benchmark that do not hold": {A: []string{"none"}, B: []string{"64 roots"}},
	} {
		all := append(c.Differences, c.Cells[0].Differences...)
		i := slices.IndexFunc(all, func(d Difference) bool { return d.What == what })
		if i < 0 || !slices.Equal(all[i].A, want.A) || !slices.Equal(all[i].B, want.B) {
			t.Errorf("%s: not in %+v", what, all)
		}
	}
	if n := len(c.Differences); n != 4 {
		t.Errorf("%d differences of the records, want 4: %+v", n, c.Differences)
	}
	b.Seal = ""
	if c := Of([]harness.Result{a}, []harness.Result{b}); !strings.Contains(strings.Join(c.Warnings, " "), "1 of 2 records have no seals") {
		t.Errorf("warnings: %q", c.Warnings)
	}
	if c := Of([]harness.Result{a}, []harness.Result{a}); !strings.Contains(strings.Join(c.Warnings, " "), "compared with itself") || len(c.Differences) != 0 {
		t.Errorf("a run and itself: %q, %+v", c.Warnings, c.Differences)
	}
}

func TestCommittedRecordsAreCompared(t *testing.T) {
	c := Of([]harness.Result{recorded(t, "runs/s18")}, []harness.Result{recorded(t, "runs/s16-22")})
	compared := 0
	for _, cell := range c.Cells {
		if cell.Verdict != NotCompared {
			compared++
			if cell.Engine != "cpu" || cell.Scale != 18 || cell.Matched != 64 {
				t.Errorf("compared %+v", cell)
			}
		}
	}
	if compared != 1 || len(c.Cells) != 9 {
		t.Errorf("%d of %d cells compared, want cpu at scale 18 of 9", compared, len(c.Cells))
	}
}
