package harness

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func recipe(scale, edgeFactor int) graph.Kronecker {
	return graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor, Seed1: 2, Seed2: 3}
}

func TestEstimateCountsTuplesParentsValidatorAndEngine(t *testing.T) {
	m := plugins.Memory{Fixed: 1000, PerVertex: 2.5, PerTuple: 4}
	got := EstimateMemory(recipe(20, 16), m)
	const vertices, tuples = 1 << 20, 16 << 20
	want := Needs{
		Tuples: 12 * tuples, Parents: 8 * vertices, Validator: graph.ValidatorBytes(vertices, tuples),
		Engine: 1000 + 5*vertices/2 + 4*tuples,
	}
	if got != want || got.Validator <= 0 {
		t.Errorf("want %+v, got %+v", want, got)
	}
	if total := want.Tuples + want.Parents + want.Validator + want.Engine; got.Total() != total {
		t.Errorf("want %d in all, got %d", total, got.Total())
	}
}

func TestEstimateBeyondAnInt64IsTheLargestNumber(t *testing.T) {
	for _, r := range []graph.Kronecker{recipe(42, 16), recipe(graph.MaxScale, 150_000), recipe(1, math.MaxInt64/48)} {
		if err := r.Check(); err != nil {
			t.Fatalf("the test's recipe: %v", err)
		}
		n := EstimateMemory(r, plugins.Memory{Fixed: math.MaxInt64, PerVertex: 1e300, PerTuple: 1e300})
		if n.Engine != math.MaxInt64 || n.Total() != math.MaxInt64 || n.Tuples <= 0 || n.Parents <= 0 {
			t.Errorf("scale %d, edgefactor %d: want saturated numbers, got %+v, total %d", r.Scale, r.EdgeFactor, n, n.Total())
		}
	}
}

func TestFormulaOfNoNumberNeedsNothing(t *testing.T) {
	for _, x := range []float64{math.NaN(), -1, math.Inf(-1)} {
		if n := EstimateMemory(recipe(10, 16), plugins.Memory{PerVertex: x}); n.Engine != 0 {
			t.Errorf("per vertex %g: want 0, got %d", x, n.Engine)
		}
	}
}

func planAt(scales ...int) Plan {
	p := DefaultPlan()
	p.Scales = scales
	return p
}

func TestRefusalNamesNeedsAvailableMemoryAndTheLargestScale(t *testing.T) {
	engines := map[string]plugins.Memory{
		"cpu":   {PerTuple: 6.5, PerVertex: 8},
		"small": {Fixed: 1},
	}
	err := fitsInto(planAt(18, 30, 26), engines, 19*gibibyte+gibibyte/10, "MemAvailable")
	if !errors.Is(err, plugins.ErrMemory) {
		t.Fatalf("want a plugins.ErrMemory, got %v", err)
	}
	for _, part := range []string{
		"scale 30 needs ", " GiB (tuples 192, parents 8, validator ", ", engine cpu 112), this machine has 19.1 GiB available (MemAvailable); ",
		"the largest scale that fits is 25: --scale 25",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want %q in the refusal, got: %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("want one line, got: %v", err)
	}
	again := planAt(25)
	if err := fitsInto(again, engines, 19*gibibyte, "MemAvailable"); err != nil {
		t.Errorf("the recommended scale is refused: %v", err)
	}
}

func TestRefusalOfASmallGraphCountsMebibytes(t *testing.T) {
	err := fitsInto(planAt(18), map[string]plugins.Memory{"cpu": {}}, 40*mebibyte, "cgroup v2 limit of /x")
	for _, part := range []string{" MiB (tuples 48, parents 2, validator ", "has 40 MiB available (cgroup v2 limit of /x)", "largest scale that fits is 17"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("want %q in the refusal, got: %v", part, err)
		}
	}
}

func TestRefusalOfAHugeEdgeFactorAdvisesASmallerOne(t *testing.T) {
	engines := map[string]plugins.Memory{"cpu": {PerTuple: 6.5, PerVertex: 8}}
	plan := planAt(18)
	plan.EdgeFactor = 1_000_000
	err := fitsInto(plan, engines, 19*gibibyte, "MemAvailable")
	_, advice, ok := strings.Cut(fmt.Sprint(err), "the largest that fits at this scale is ")
	var factor int
	if n, _ := fmt.Sscanf(advice, "%d: --edgefactor", &factor); !ok || n != 1 || strings.Contains(err.Error(), "--scale") {
		t.Fatalf("want a smaller edge factor advised, got %v", err)
	}
	if plan.EdgeFactor = factor; fitsInto(plan, engines, 19*gibibyte, "x") != nil {
		t.Errorf("the advised edge factor %d is refused", factor)
	}
	if plan.EdgeFactor = factor + 1; fitsInto(plan, engines, 19*gibibyte, "x") == nil {
		t.Errorf("edge factor %d fits, and %d was called the largest", factor+1, factor)
	}
	// Where the benchmark's own edge factor would not fit either, the scale is to blame.
	plan = planAt(34)
	plan.EdgeFactor = 32
	if err := fitsInto(plan, engines, 19*gibibyte, "x"); err == nil || !strings.Contains(err.Error(), "--scale 24") {
		t.Errorf("want a smaller scale advised, got %v", err)
	}
}

func TestRefusalSaysWhenNoScaleFits(t *testing.T) {
	err := fitsInto(planAt(10), map[string]plugins.Memory{"gpu": {Fixed: 8 * gibibyte}}, gibibyte, "MemAvailable")
	if err == nil || !strings.Contains(err.Error(), "no scale fits") {
		t.Errorf("want it said that none fits, got %v", err)
	}
}

func TestAGraphThatDoesNotFitIsRefusedWithoutAPlan(t *testing.T) {
	m := plugins.Memory{PerTuple: 64, PerVertex: 160}
	err := checkInto(recipe(34, 16), "distributed:ranks=16", m, "fewer --ranks", 19*gibibyte, "MemAvailable")
	if !errors.Is(err, plugins.ErrMemory) || errors.Is(err, ErrUsage) {
		t.Fatalf("want a plugins.ErrMemory and no ErrUsage, got %v", err)
	}
	var scale int
	_, advice, _ := strings.Cut(err.Error(), "the largest scale that fits is ")
	if n, _ := fmt.Sscanf(advice, "%d: --scale", &scale); n != 1 || !strings.Contains(err.Error(), "engine distributed:ranks=16 ") {
		t.Fatalf("got %v", err)
	}
	if checkInto(recipe(scale, 16), "x", m, "", 19*gibibyte, "") != nil || checkInto(recipe(scale+1, 16), "x", m, "", 19*gibibyte, "") == nil {
		t.Errorf("scale %d is not the largest that fits", scale)
	}
	if err := checkInto(recipe(14, 16), "x", plugins.Memory{Fixed: 20 * gibibyte}, "fewer --ranks", 19*gibibyte, ""); err == nil || !strings.HasSuffix(err.Error(), "or take fewer --ranks") {
		t.Errorf("got %v", err)
	}
	if err := CheckMemory(t.Context(), recipe(graph.MaxScale, 16), "x", m, "fewer --ranks"); err == nil {
		if _, _, unknown := AvailableMemory(t.Context()); unknown == nil {
			t.Error("the largest graph of all fits here")
		}
	}
}

func TestRefusalIsTheSameEachTime(t *testing.T) {
	engines := map[string]plugins.Memory{}
	for _, name := range strings.Fields("a b c d e f g h i j") {
		engines[name] = plugins.Memory{PerTuple: 100}
	}
	for range 50 {
		if err := fitsInto(planAt(22), engines, gibibyte, "x"); err == nil || !strings.Contains(err.Error(), "engine a ") {
			t.Fatalf("want the first of equally hungry engines, got %v", err)
		}
	}
}

func TestPlanThatFitsExactlyIsTaken(t *testing.T) {
	engines := map[string]plugins.Memory{"cpu": {PerTuple: 3}}
	exact := EstimateMemory(recipe(18, 16), engines["cpu"]).Total()
	if err := fitsInto(planAt(12, 18), engines, exact, "x"); err != nil {
		t.Errorf("exactly enough: %v", err)
	}
	if err := fitsInto(planAt(12, 18), engines, exact-1, "x"); err == nil {
		t.Error("one byte less than needed was taken")
	}
}
