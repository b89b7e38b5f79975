package harness

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// What a run needs is known before anything is allocated: tuples, parents and the validator are the host's own arrays,
// and an engine says what it needs for a graph of a given size. A graph that does not fit is refused with the largest
// scale that does, because a machine that begins to swap or kills a process half way through says nothing useful.

// Needs is the memory of one engine at one scale, in bytes, at the peak of the run.
type Needs struct {
	Tuples    int64 // the input list
	Parents   int64 // one parent array
	Validator int64 // scratch of the validator
	Engine    int64 // by the engine's own formula
}

// Total is the sum, or MaxInt64 when that is more than an int64 holds.
func (n Needs) Total() int64 {
	return saturatingAdd(n.Tuples, n.Parents, n.Validator, n.Engine)
}

// EstimateMemory returns what a run over the recipe's graph needs with an engine of the formula m. A number too large
// for an int64 becomes MaxInt64. The recipe must pass Check.
func EstimateMemory(recipe graph.Kronecker, m plugins.Memory) Needs {
	vertices, tuples := recipe.Vertices(), recipe.Tuples()
	return Needs{
		Tuples:    tuples * graph.EdgeBytes, // fits: Check bounds it
		Parents:   saturatingBytes(float64(vertices) * 8),
		Validator: graph.ValidatorBytes(vertices, tuples),
		Engine: saturatingBytes(float64(m.Fixed) + m.PerVertex*float64(vertices) +
			m.PerTuple*float64(tuples)),
	}
}

// fits returns an error that refuses the plan when one of its scales needs more memory than there is for the hungriest
// of the engines. Where the machine does not tell what it has, everything fits.
func fits(ctx context.Context, plan Plan, engines map[string]plugins.Memory) error {
	available, source, err := AvailableMemory(ctx)
	if err != nil {
		return nil
	}
	return fitsInto(plan, engines, available, source)
}

func fitsInto(plan Plan, engines map[string]plugins.Memory, available int64, source string) error {
	var worst *refusal
	for _, scale := range plan.Scales {
		recipe := plan.Recipe(scale)
		for name, m := range engines {
			r := &refusal{recipe: recipe, engine: name, memory: m, needs: EstimateMemory(recipe, m), available: available, source: source,
				instead: "a smaller --edgefactor or another engine"}
			if r.needs.Total() > available && (worst == nil || r.moreThan(worst)) {
				worst = r
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}

// CheckMemory refuses a graph that needs more memory than there is, with the largest scale that fits (a plugins.ErrMemory). m is
// what is needed beside tuples, one parent array and the validator, name says by whom, and instead what else than a smaller
// scale would help. Where the machine does not tell what it has, everything fits. The recipe must pass Check.
func CheckMemory(ctx context.Context, recipe graph.Kronecker, name string, m plugins.Memory, instead string) error {
	available, source, err := AvailableMemory(ctx)
	if err != nil {
		return nil
	}
	return checkInto(recipe, name, m, instead, available, source)
}

func checkInto(recipe graph.Kronecker, name string, m plugins.Memory, instead string, available int64, source string) error {
	r := &refusal{recipe: recipe, engine: name, memory: m, needs: EstimateMemory(recipe, m), available: available, source: source, instead: instead}
	if r.needs.Total() <= available {
		return nil
	}
	return r
}

// refusal is the error of a graph that does not fit. It is a plugins.ErrMemory.
type refusal struct {
	recipe    graph.Kronecker
	engine    string
	memory    plugins.Memory
	needs     Needs
	available int64
	source    string // of available
	instead   string // what helps where no scale does
}

// moreThan orders refusals, so that the same one is reported each time.
func (r *refusal) moreThan(other *refusal) bool {
	a, b := r.needs.Total(), other.needs.Total()
	return a > b || a == b && r.engine < other.engine
}

func (r *refusal) Is(target error) bool { return target == plugins.ErrMemory }

func (r *refusal) Error() string {
	unit, name := gibibyte, "GiB"
	if r.needs.Total() < gibibyte {
		unit, name = mebibyte, "MiB"
	}
	in := func(bytes int64) string { return short(float64(bytes) / float64(unit)) }
	text := fmt.Sprintf("scale %d needs %s %s (tuples %s, parents %s, validator %s, engine %s %s), this machine has %s %s available (%s); ",
		r.recipe.Scale, in(r.needs.Total()), name, in(r.needs.Tuples), in(r.needs.Parents), in(r.needs.Validator),
		r.engine, in(r.needs.Engine), in(r.available), name, r.source)
	if factor := r.largestEdgeFactor(); factor > 0 {
		return text + fmt.Sprintf("edge factor %d is what makes it large; the largest that fits at this scale is %d: --edgefactor %d", r.recipe.EdgeFactor, factor, factor)
	}
	if scale := r.largestScale(); scale > 0 {
		return text + fmt.Sprintf("the largest scale that fits is %d: --scale %d", scale, scale)
	}
	return text + "no scale fits: free some memory, or take " + r.instead
}

// largestEdgeFactor returns the largest edge factor that fits at this scale, or 0 where a smaller one than the
// benchmark's would be needed: the scale is to blame then.
func (r *refusal) largestEdgeFactor() int {
	fits := func(factor int) bool {
		smaller := r.recipe
		smaller.EdgeFactor = factor
		return EstimateMemory(smaller, r.memory).Total() <= r.available
	}
	if r.recipe.EdgeFactor <= OfficialEdgeFactor || !fits(OfficialEdgeFactor) {
		return 0
	}
	above := sort.Search(r.recipe.EdgeFactor-OfficialEdgeFactor, func(i int) bool { return !fits(OfficialEdgeFactor + 1 + i) })
	return OfficialEdgeFactor + above
}

// largestScale returns the largest smaller scale that fits, or 0.
func (r *refusal) largestScale() int {
	for smaller := r.recipe; smaller.Scale > graph.MinScale; {
		smaller.Scale--
		if EstimateMemory(smaller, r.memory).Total() <= r.available {
			return smaller.Scale
		}
	}
	return 0
}

const (
	mebibyte int64 = 1 << 20
	gibibyte int64 = 1 << 30
)

// short is a number with one decimal where that says something.
func short(x float64) string {
	if x >= 100 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// saturatingBytes is a size that was calculated in floating point, from 0 to MaxInt64.
func saturatingBytes(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x > 0:
		return int64(math.Ceil(x))
	}
	return 0 // negative, or no number: a formula that the conformance suite refuses
}

func saturatingAdd(sizes ...int64) (sum int64) {
	for _, n := range sizes {
		if sum > math.MaxInt64-n {
			return math.MaxInt64
		}
		sum += n
	}
	return sum
}
