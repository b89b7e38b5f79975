package harness

import (
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// AllRoots as Plan.Validate asks for the validation of every search.
const AllRoots = -1

// MaxRoots bounds Plan.Roots; the specification asks for 64.
const MaxRoots = 1 << 20

// Official parameters of Graph500 (specification 2.0; the seeds are those of the reference program).
const (
	OfficialEdgeFactor = 16
	OfficialRoots      = 64
	OfficialSeed1      = 2
	OfficialSeed2      = 3
)

// ErrUsage marks what the user asked for wrongly: nothing was started, and asking again in the same way cannot help.
var ErrUsage = errors.New("wrong usage")

// Usage makes an error of ErrUsage whose text is the message alone.
func Usage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

type usageError struct{ error }

func (e *usageError) Is(target error) bool { return target == ErrUsage }
func (e *usageError) Unwrap() error        { return e.error }

// DefaultPlan is the plan of `teps run` without flags, less its engines: the official protocol at scale 18.
func DefaultPlan() Plan {
	return Plan{
		Scales:     []int{18},
		EdgeFactor: OfficialEdgeFactor,
		Seed1:      OfficialSeed1,
		Seed2:      OfficialSeed2,
		Roots:      OfficialRoots,
		Validate:   AllRoots,
		WarmUps:    1,
		Timeout:    10 * time.Minute,
	}
}

// Recipe is the input of the plan at a scale.
func (p Plan) Recipe(scale int) graph.Kronecker {
	return graph.Kronecker{Scale: scale, EdgeFactor: p.EdgeFactor, Seed1: p.Seed1, Seed2: p.Seed2}
}

// Check returns an ErrUsage that says what is wrong with the plan and what would do.
func (p Plan) Check() error {
	if len(p.Engines) == 0 {
		return Usage("no engine: name at least one with --engine")
	}
	if len(p.Scales) == 0 {
		return Usage("no scale: name at least one with --scale")
	}
	seen := map[string]bool{}
	for _, e := range p.Engines {
		if seen[e.Name] {
			return Usage("engine %s is named twice; give one a label of its own: --engine other=%s", e.Name, e.Name)
		}
		seen[e.Name] = true
	}
	scales := map[int]bool{}
	for _, s := range p.Scales {
		if err := p.Recipe(s).Check(); err != nil {
			return Usage("%w", err)
		}
		if scales[s] {
			return Usage("scale %d is named twice", s)
		}
		scales[s] = true
	}
	switch {
	case p.Roots < 1 || p.Roots > MaxRoots:
		return Usage("%d roots: --roots takes 1 to %d (the benchmark asks for %d)", p.Roots, MaxRoots, OfficialRoots)
	case p.Validate < AllRoots:
		return Usage("--validate takes all, none or a number of roots, not %d", p.Validate)
	case p.WarmUps < 0 || p.WarmUps > MaxRoots:
		return Usage("%d warm-up searches: --warmup takes 0 to %d", p.WarmUps, MaxRoots)
	case p.Timeout <= 0:
		return Usage("--timeout %v: want a positive duration such as 10m", p.Timeout)
	case p.Energy < 0:
		return Usage("--energy %v: want a positive duration such as 60s, or 0 to measure no energy", p.Energy)
	case p.Energy == 0 && len(p.Meters) > 0:
		return Usage("--meter %s is of no use without an energy loop; add one such as --energy 60s", p.Meters[0])
	}
	return nil
}

// settle checks the user's options of one engine against its description.
func settle(spec EngineSpec, d plugins.Description) (plugins.Settings, error) {
	s, err := plugins.Settle(d.Options, spec.Options)
	if err != nil {
		return s, Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	return s, nil
}
