package rpc

// Conversions between the types of package plugins and their wire form, field by field, both ways. What comes from an
// engine is checked as far as a value can be impossible in itself (ErrAnswer); whether it is true is the host's matter.

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// each converts the elements of a list; an empty list stays nil.
func each[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = convert(a)
	}
	return converted
}

func descriptionToWire(d plugins.Description) *enginepb.Description {
	return &enginepb.Description{
		Name: d.Name, Version: d.Version, Summary: d.Summary, Unavailable: d.Unavailable, WantsRecipe: d.WantsRecipe,
		Devices: each(d.Devices, func(d plugins.Device) *enginepb.Device {
			return &enginepb.Device{Kind: d.Kind, Name: d.Name, Units: int64(d.Units), MemoryBytes: d.MemoryBytes, Details: each(d.Details, factToWire)}
		}),
		Options: each(d.Options, func(o plugins.Option) *enginepb.Option {
			return &enginepb.Option{
				Name: o.Name, Kind: string(o.Kind), Default: o.Default, Min: o.Min, Max: o.Max,
				Choices: slices.Clone(o.Choices), Meaning: o.Meaning,
			}
		}),
		Memory: &enginepb.Memory{Fixed: d.Memory.Fixed, PerVertex: d.Memory.PerVertex, PerTuple: d.Memory.PerTuple},
	}
}

func descriptionFromWire(d *enginepb.Description) (plugins.Description, error) {
	m := plugins.Memory{Fixed: d.GetMemory().GetFixed(), PerVertex: d.GetMemory().GetPerVertex(), PerTuple: d.GetMemory().GetPerTuple()}
	var check impossible
	check.negative("memory.fixed", m.Fixed)
	check.notAnAmount("memory.per_vertex", m.PerVertex)
	check.notAnAmount("memory.per_tuple", m.PerTuple)
	return plugins.Description{
		Name: d.GetName(), Version: d.GetVersion(), Summary: d.GetSummary(), Unavailable: d.GetUnavailable(), WantsRecipe: d.GetWantsRecipe(),
		Devices: each(d.GetDevices(), func(d *enginepb.Device) plugins.Device {
			check.negative("device.memory_bytes", d.GetMemoryBytes())
			return plugins.Device{
				Kind: d.GetKind(), Name: d.GetName(), Units: int(d.GetUnits()), MemoryBytes: d.GetMemoryBytes(),
				Details: each(d.GetDetails(), factFromWire),
			}
		}),
		Options: each(d.GetOptions(), func(o *enginepb.Option) plugins.Option {
			return plugins.Option{
				Name: o.GetName(), Kind: plugins.Kind(o.GetKind()), Default: o.GetDefault(),
				Min: check.bound("option.min", o.Min, math.Inf(-1)), Max: check.bound("option.max", o.Max, math.Inf(1)),
				Choices: o.GetChoices(), Meaning: o.GetMeaning(),
			}
		}),
		Memory: m,
	}, check.err
}

func recipeToWire(k *graph.Kronecker) *enginepb.Recipe {
	if k == nil {
		return nil
	}
	return &enginepb.Recipe{Scale: int64(k.Scale), EdgeFactor: int64(k.EdgeFactor), Seed1: k.Seed1, Seed2: k.Seed2}
}

func recipeFromWire(r *enginepb.Recipe) *graph.Kronecker {
	if r == nil {
		return nil
	}
	return &graph.Kronecker{Scale: int(r.GetScale()), EdgeFactor: int(r.GetEdgeFactor()), Seed1: r.GetSeed1(), Seed2: r.GetSeed2()}
}

func constructionToWire(c plugins.Construction) *enginepb.Construction {
	return &enginepb.Construction{
		ElapsedNs: int64(c.Elapsed), Bytes: c.Bytes, Entries: countToWire(c.Entries), Phases: each(c.Phases, phaseToWire),
		Claims: &enginepb.Claims{
			OriginalLabelsInClock: c.Claims.OriginalLabelsInClock, ClearingInClock: c.Claims.ClearingInClock,
			ParentBits: int64(c.Claims.ParentBits), VertexBits: int64(c.Claims.VertexBits), Tuning: c.Claims.Tuning,
		},
		Details: each(c.Details, factToWire),
	}
}

func constructionFromWire(c *enginepb.Construction) (plugins.Construction, error) {
	claims := c.GetClaims()
	var check impossible
	check.negative("elapsed", c.GetElapsedNs())
	check.negative("bytes", c.GetBytes())
	return plugins.Construction{
		Elapsed: time.Duration(c.GetElapsedNs()), Bytes: c.GetBytes(),
		Entries: check.count("entries", c.Entries), Phases: check.phases(c.GetPhases()),
		Claims: plugins.Claims{
			OriginalLabelsInClock: claims.GetOriginalLabelsInClock(), ClearingInClock: claims.GetClearingInClock(),
			ParentBits: int(claims.GetParentBits()), VertexBits: int(claims.GetVertexBits()), Tuning: claims.GetTuning(),
		},
		Details: each(c.GetDetails(), factFromWire),
	}, check.err
}

func traversalToWire(t plugins.Traversal) *enginepb.Traversal {
	return &enginepb.Traversal{
		ElapsedNs: int64(t.Elapsed), Phases: each(t.Phases, phaseToWire),
		Ranks: each(t.Ranks, func(r plugins.Rank) *enginepb.Rank { return &enginepb.Rank{Phases: each(r.Phases, phaseToWire)} }),
		Levels: each(t.Levels, func(l plugins.Level) *enginepb.Level {
			return &enginepb.Level{
				Direction: enginepb.Level_Direction(l.Direction), Frontier: l.Frontier, Edges: countToWire(l.Edges),
				Bytes: countToWire(l.Bytes), Messages: countToWire(l.Messages), ElapsedNs: int64(l.Elapsed),
				Phases: each(l.Phases, phaseToWire),
			}
		}),
	}
}

func traversalFromWire(t *enginepb.Traversal) (plugins.Traversal, error) {
	var check impossible
	check.negative("elapsed", t.GetElapsedNs())
	return plugins.Traversal{
		Elapsed: time.Duration(t.GetElapsedNs()), Phases: check.phases(t.GetPhases()),
		Ranks: each(t.GetRanks(), func(r *enginepb.Rank) plugins.Rank { return plugins.Rank{Phases: check.phases(r.GetPhases())} }),
		Levels: each(t.GetLevels(), func(l *enginepb.Level) plugins.Level {
			check.negative("level.elapsed", l.GetElapsedNs())
			check.negative("level.frontier", l.GetFrontier())
			return plugins.Level{
				Direction: check.direction(l.GetDirection()), Frontier: l.GetFrontier(),
				Edges: check.count("level.edges", l.Edges), Bytes: check.count("level.bytes", l.Bytes),
				Messages: check.count("level.messages", l.Messages),
				Elapsed:  time.Duration(l.GetElapsedNs()), Phases: check.phases(l.GetPhases()),
			}
		}),
	}, check.err
}

func factToWire(f plugins.Fact) *enginepb.Fact { return &enginepb.Fact{Name: f.Name, Value: f.Value} }
func factFromWire(f *enginepb.Fact) plugins.Fact {
	return plugins.Fact{Name: f.GetName(), Value: f.GetValue()}
}

func phaseToWire(p plugins.Phase) *enginepb.Phase {
	return &enginepb.Phase{
		Name: p.Name, ElapsedNs: int64(p.Elapsed), SlowestNs: int64(p.Slowest), Bytes: countToWire(p.Bytes), Messages: countToWire(p.Messages),
	}
}

func countToWire(c plugins.Count) *int64 {
	if n, known := c.Get(); known {
		return &n
	}
	return nil
}

// impossible keeps the first value of an answer that cannot be.
type impossible struct{ err error }

func (i *impossible) found(what string, value any) {
	if i.err == nil {
		i.err = fmt.Errorf("%s is %v: %w", what, value, ErrAnswer)
	}
}

func (i *impossible) negative(what string, value int64) {
	if value < 0 {
		i.found(what, value)
	}
}

func (i *impossible) notAnAmount(what string, value float64) {
	if !(value >= 0) || math.IsInf(value, 1) {
		i.found(what, value)
	}
}

func (i *impossible) count(what string, n *int64) plugins.Count {
	if n == nil {
		return plugins.Count{}
	}
	i.negative(what, *n)
	return plugins.Counted(*n)
}

// bound is a bound of an option. An infinite one that bounds nothing is none: JSON, in which the record holds it, has no infinity.
func (i *impossible) bound(what string, x *float64, boundless float64) *float64 {
	if x == nil || *x == boundless {
		return nil
	}
	if math.IsNaN(*x) || math.IsInf(*x, 0) {
		i.found(what, *x)
	}
	return x
}

func (i *impossible) phases(list []*enginepb.Phase) []plugins.Phase {
	return each(list, func(p *enginepb.Phase) plugins.Phase {
		i.negative("phase "+p.GetName(), p.GetElapsedNs())
		i.negative("phase "+p.GetName()+" slowest", p.GetSlowestNs())
		return plugins.Phase{
			Name: p.GetName(), Elapsed: time.Duration(p.GetElapsedNs()), Slowest: time.Duration(p.GetSlowestNs()),
			Bytes: i.count("phase "+p.GetName()+" bytes", p.Bytes), Messages: i.count("phase "+p.GetName()+" messages", p.Messages),
		}
	})
}

func (i *impossible) direction(d enginepb.Level_Direction) graph.Direction {
	if d != enginepb.Level_TOP_DOWN && d != enginepb.Level_BOTTOM_UP {
		i.found("level.direction", int32(d))
	}
	return graph.Direction(d)
}
