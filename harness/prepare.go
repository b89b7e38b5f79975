package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Prepare checks that a plan can succeed on this machine, before anything large is allocated or written: the plan
// itself, the options of every engine, the limits of its graphs, meters and memory. A record.ErrUsage explains what
// to change; any other error explains why the run cannot succeed here. An engine that does not start is an error only
// if no other starts, because the run records it as failed.
func Prepare(ctx context.Context, host Host, plan record.Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	var failures []error
	var limits error
	memory := map[string]plugins.Memory{}
	for _, spec := range plan.Engines {
		d, err := Describe(ctx, host, spec)
		if err == nil && d.Unavailable != "" {
			err = fmt.Errorf("%w: %s", plugins.ErrUnavailable, d.Unavailable)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failures = append(failures, fmt.Errorf("engine %s: %w", spec.Name, err))
			continue
		}
		if _, err := Resolve(spec, d); err != nil {
			return err
		}
		limits = errors.Join(limits, checkLimits(plan, spec.Name, d.Limits))
		memory[spec.Name] = d.Memory
	}
	if len(memory) == 0 {
		return errors.Join(failures...)
	}
	if _, err := CheckMeters(ctx, host, plan); err != nil {
		return err
	}
	if err := checkMemory(ctx, plan, memory); err != nil {
		return err
	}
	return limits
}

// checkLimits refuses a graph that an engine must refuse for its size; the error is a plugins.ErrTuples.
func checkLimits(plan record.Plan, engine string, limits plugins.Limits) error {
	scale := slices.Max(plan.Scales)
	for largest := scale; ; largest-- {
		recipe := plan.Recipe(largest)
		if largest > 0 && (limits.Vertices > 0 && recipe.Vertices() > limits.Vertices ||
			limits.Tuples > 0 && recipe.Tuples() > limits.Tuples) {
			continue
		}
		if largest == scale {
			return nil
		}
		return fmt.Errorf("scale %d is too large for engine %s; the largest that it takes at edge factor %d is %d: %w",
			scale, engine, plan.EdgeFactor, largest, plugins.ErrTuples)
	}
}

// Describe opens an engine only to get its description. Errors do not name the engine.
func Describe(ctx context.Context, host Host, spec record.EngineSpec) (plugins.Description, error) {
	engine, err := host.Open(ctx, spec)
	if err != nil {
		return plugins.Description{}, err
	}
	d, err := describe(ctx, engine)
	return d, cmp.Or(err, closeEngine(engine))
}

func describe(ctx context.Context, engine plugins.Engine) (plugins.Description, error) {
	d, err := engine.Describe(ctx)
	if err != nil {
		err = fmt.Errorf("describe: %w", err)
	}
	return d, err
}

func closeEngine(engine plugins.Engine) error {
	if err := engine.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// Needs is the memory of one engine at one scale, in bytes, at the peak of a run. It is known before anything is
// allocated, so a graph that does not fit is refused with the largest scale that does, instead of making the machine
// swap or kill processes.
type Needs struct {
	Tuples    int64 // the input list
	Parents   int64 // one parent array
	Validator int64
	Engine    int64 // by the engine's own estimate
}

// Total is the sum, or MaxInt64 if it overflows.
func (n Needs) Total() int64 {
	return saturate(float64(n.Tuples) + float64(n.Parents) + float64(n.Validator) + float64(n.Engine))
}

// EstimateMemory returns what a run on the recipe's graph needs, with an engine that needs m. A number that overflows
// is MaxInt64. The recipe must pass Check.
func EstimateMemory(recipe graph.Kronecker, m plugins.Memory) Needs {
	vertices, tuples := recipe.Vertices(), recipe.Tuples()
	return Needs{
		Tuples:    tuples * graph.EdgeBytes, // does not overflow, by Check
		Parents:   saturate(float64(vertices) * 8),
		Validator: graph.ValidatorBytes(vertices),
		Engine:    saturate(float64(m.Fixed) + m.PerVertex*float64(vertices) + m.PerTuple*float64(tuples)),
	}
}

// saturate converts a size to the range 0 to MaxInt64.
func saturate(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x > 0:
		return int64(math.Ceil(x))
	}
	return 0 // negative or NaN: an estimate that the conformance suite refuses
}

// checkMemory refuses a plan if one of its scales does not fit for one of the engines, by name. The error is a
// plugins.ErrMemory. If the available memory is unknown, everything fits.
func checkMemory(ctx context.Context, plan record.Plan, engines map[string]plugins.Memory) error {
	available, source, err := machine.AvailableMemory(ctx)
	if err != nil {
		return nil
	}
	return fitsInto(plan, engines, available, source)
}

// fitsInto reports the engine and scale with the largest needs if they exceed the available bytes.
func fitsInto(plan record.Plan, engines map[string]plugins.Memory, available int64, source string) error {
	scale := slices.Max(plan.Scales)
	engine, worst := "", Needs{}
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		if n := EstimateMemory(plan.Recipe(scale), engines[name]); n.Total() > worst.Total() {
			engine, worst = name, n
		}
	}
	if worst.Total() <= available {
		return nil
	}
	advice := "no scale fits: free some memory, or use a smaller edge factor or another engine"
	for smaller := scale - 1; smaller >= graph.MinScale; smaller-- {
		if EstimateMemory(plan.Recipe(smaller), engines[engine]).Total() <= available {
			advice = fmt.Sprintf("at edge factor %d, the largest scale that fits is %d", plan.EdgeFactor, smaller)
			break
		}
	}
	return fmt.Errorf("%w: scale %d needs %s (tuples %s, parents %s, validator %s, engine %s %s), "+
		"but this machine has %s available (%s); %s", plugins.ErrMemory,
		scale, units.Bytes(worst.Total()), units.Bytes(worst.Tuples), units.Bytes(worst.Parents),
		units.Bytes(worst.Validator), engine, units.Bytes(worst.Engine), units.Bytes(available), source, advice)
}
