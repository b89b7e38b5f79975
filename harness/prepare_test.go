package harness

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
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

func TestEstimateSaturates(t *testing.T) {
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

func TestEstimateOfMalformedFormulaIsZero(t *testing.T) {
	for _, x := range []float64{math.NaN(), -1, math.Inf(-1)} {
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
	engines := map[string]plugins.Memory{
		"cpu":   {PerTuple: 6.5, PerVertex: 8},
		"small": {Fixed: 1},
	}
	err := fitsInto(planAt(18, 30, 26), engines, 19*units.GiB+units.GiB/10, "MemAvailable")
	if !errors.Is(err, plugins.ErrMemory) {
		t.Fatalf("want a plugins.ErrMemory, got %v", err)
	}
	for _, part := range []string{
		"scale 30 needs ", " GiB (tuples 192 GiB, parents 8.00 GiB, validator ", ", engine cpu 112 GiB), ",
		"but this machine has 19.1 GiB available (MemAvailable); ",
		"the largest scale that fits is 25",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want %q in the error, got: %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("want one line, got: %v", err)
	}
	without := planAt(30)
	without.Regenerate = true
	if err := fitsInto(without, map[string]plugins.Memory{"small": {Fixed: 1}}, 19*units.GiB, "MemAvailable"); err != nil {
		t.Errorf("without tuples: %v", err)
	}
	again := planAt(25)
	if err := fitsInto(again, engines, 19*units.GiB, "MemAvailable"); err != nil {
		t.Errorf("the recommended scale is refused: %v", err)
	}
}

func TestMemoryErrorOfSmallGraphUsesMebibytes(t *testing.T) {
	err := fitsInto(planAt(18), map[string]plugins.Memory{"cpu": {}}, 40*units.MiB, "cgroup v2 limit of /x")
	for _, part := range []string{
		" MiB (tuples 48.0 MiB, parents 2.00 MiB, validator ", "has 40.0 MiB available (cgroup v2 limit of /x)",
		"largest scale that fits is 17",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("want %q in the error, got: %v", part, err)
		}
	}
}

func TestMemoryErrorOfHugeEdgeFactorNamesLargestScale(t *testing.T) {
	engines := map[string]plugins.Memory{"cpu": {PerTuple: 6.5, PerVertex: 8}}
	plan := planAt(18)
	plan.EdgeFactor = 1_000_000
	err := fitsInto(plan, engines, 19*units.GiB, "MemAvailable")
	_, advice, ok := strings.Cut(fmt.Sprint(err), "at edge factor 1000000, the largest scale that fits is ")
	var scale int
	if n, _ := fmt.Sscanf(advice, "%d", &scale); !ok || n != 1 {
		t.Fatalf("want a smaller scale advised, got %v", err)
	}
	if plan.Scales = []int{scale}; fitsInto(plan, engines, 19*units.GiB, "x") != nil {
		t.Errorf("the advised scale %d is refused", scale)
	}
	if plan.Scales = []int{scale + 1}; fitsInto(plan, engines, 19*units.GiB, "x") == nil {
		t.Errorf("scale %d fits, but %d was reported as the largest", scale+1, scale)
	}
	plan = planAt(34)
	plan.EdgeFactor = 32
	if err := fitsInto(plan, engines, 19*units.GiB, "x"); err == nil ||
		!strings.Contains(err.Error(), "largest scale that fits is 24") {
		t.Errorf("want a smaller scale advised, got %v", err)
	}
}

func TestMemoryErrorWhenNoScaleFits(t *testing.T) {
	err := fitsInto(planAt(10), map[string]plugins.Memory{"gpu": {Fixed: 8 * units.GiB}}, units.GiB, "MemAvailable")
	if err == nil || !strings.Contains(err.Error(), "no scale fits") {
		t.Errorf("got %v, want an error that no scale fits", err)
	}
}

func TestCheckMemoryRejectsLargestGraph(t *testing.T) {
	err := checkMemory(t.Context(), planAt(graph.MaxScale), map[string]plugins.Memory{"x": {PerTuple: 64}})
	if _, _, unknown := machine.AvailableMemory(t.Context()); unknown != nil {
		t.Skip(unknown)
	}
	if !errors.Is(err, plugins.ErrMemory) || errors.Is(err, record.ErrUsage) {
		t.Errorf("got %v, want a plugins.ErrMemory that is not an ErrUsage", err)
	}
}

func TestMemoryErrorIsDeterministic(t *testing.T) {
	engines := map[string]plugins.Memory{}
	for _, name := range strings.Fields("a b c d e f g h i j") {
		engines[name] = plugins.Memory{PerTuple: 100}
	}
	for range 50 {
		if err := fitsInto(planAt(22), engines, units.GiB, "x"); err == nil || !strings.Contains(err.Error(), "engine a ") {
			t.Fatalf("want the first of engines with equal needs, got %v", err)
		}
	}
}

func TestPlanThatFitsExactlyIsAccepted(t *testing.T) {
	engines := map[string]plugins.Memory{"cpu": {PerTuple: 3}}
	exact := EstimateMemory(recipe(18, 16), engines["cpu"]).Total()
	if err := fitsInto(planAt(12, 18), engines, exact, "x"); err != nil {
		t.Errorf("exactly enough: %v", err)
	}
	if err := fitsInto(planAt(12, 18), engines, exact-1, "x"); err == nil {
		t.Error("one byte less than needed was accepted")
	}
}
