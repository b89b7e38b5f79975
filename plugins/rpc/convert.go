package rpc

// Conversions between the types of package plugins and their wire format. Values from an engine that cannot be true,
// such as negative times, are refused with ErrAnswer. Whether a possible value is true is for the host to judge.

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// each converts the elements of a list. The result for an empty list is nil.
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
			return &enginepb.Device{
				Kind: d.Kind, Name: d.Name, Units: int64(d.Units), MemoryBytes: d.MemoryBytes,
				Details: each(d.Details, factToWire),
			}
		}),
		Options: each(d.Options, func(o plugins.Option) *enginepb.Option {
			return &enginepb.Option{
				Name: o.Name, Kind: string(o.Kind), Default: o.Default, Min: o.Min, Max: o.Max,
				Choices: slices.Clone(o.Choices), Meaning: o.Meaning, Divides: o.Divides, Needs: o.Needs,
			}
		}),
		Memory: &enginepb.Memory{Fixed: d.Memory.Fixed, PerVertex: d.Memory.PerVertex, PerTuple: d.Memory.PerTuple},
		Limits: &enginepb.Limits{Vertices: d.Limits.Vertices, Tuples: d.Limits.Tuples},
	}
}

func descriptionFromWire(d *enginepb.Description) (plugins.Description, error) {
	var check checker
	memory, limits := d.GetMemory(), d.GetLimits()
	return plugins.Description{
		Name: d.GetName(), Version: d.GetVersion(), Summary: d.GetSummary(),
		Unavailable: d.GetUnavailable(), WantsRecipe: d.GetWantsRecipe(),
		Devices: each(d.GetDevices(), func(d *enginepb.Device) plugins.Device {
			return plugins.Device{
				Kind: d.GetKind(), Name: d.GetName(), Units: int(d.GetUnits()),
				MemoryBytes: check.size("device.memory_bytes", d.GetMemoryBytes()),
				Details:     each(d.GetDetails(), factFromWire),
			}
		}),
		Options: each(d.GetOptions(), func(o *enginepb.Option) plugins.Option {
			return plugins.Option{
				Name: o.GetName(), Kind: plugins.Kind(o.GetKind()), Default: o.GetDefault(),
				Min: check.bound("option.min", o.Min, math.Inf(-1)), Max: check.bound("option.max", o.Max, math.Inf(1)),
				Choices: o.GetChoices(), Meaning: o.GetMeaning(), Divides: o.GetDivides(), Needs: o.GetNeeds(),
			}
		}),
		Memory: plugins.Memory{
			Fixed:     check.size("memory.fixed", memory.GetFixed()),
			PerVertex: check.amount("memory.per_vertex", memory.GetPerVertex()),
			PerTuple:  check.amount("memory.per_tuple", memory.GetPerTuple()),
		},
		Limits: plugins.Limits{
			Vertices: check.size("limits.vertices", limits.GetVertices()),
			Tuples:   check.size("limits.tuples", limits.GetTuples()),
		},
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
	return &graph.Kronecker{
		Scale: int(r.GetScale()), EdgeFactor: int(r.GetEdgeFactor()), Seed1: r.GetSeed1(), Seed2: r.GetSeed2(),
	}
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
	var check checker
	return plugins.Construction{
		Elapsed: check.time("elapsed", c.GetElapsedNs()), Bytes: check.size("bytes", c.GetBytes()),
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
		Ranks: each(t.Ranks, func(r plugins.Rank) *enginepb.Rank {
			return &enginepb.Rank{Phases: each(r.Phases, phaseToWire)}
		}),
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
	var check checker
	return plugins.Traversal{
		Elapsed: check.time("elapsed", t.GetElapsedNs()), Phases: check.phases(t.GetPhases()),
		Ranks: each(t.GetRanks(), func(r *enginepb.Rank) plugins.Rank {
			return plugins.Rank{Phases: check.phases(r.GetPhases())}
		}),
		Levels: each(t.GetLevels(), func(l *enginepb.Level) plugins.Level {
			return plugins.Level{
				Direction: check.direction(l.GetDirection()), Frontier: check.size("level.frontier", l.GetFrontier()),
				Edges: check.count("level.edges", l.Edges), Bytes: check.count("level.bytes", l.Bytes),
				Messages: check.count("level.messages", l.Messages),
				Elapsed:  check.time("level.elapsed", l.GetElapsedNs()), Phases: check.phases(l.GetPhases()),
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
		Name: p.Name, ElapsedNs: int64(p.Elapsed), SlowestNs: int64(p.Slowest),
		Bytes: countToWire(p.Bytes), Messages: countToWire(p.Messages),
	}
}

func countToWire(c plugins.Count) *int64 {
	if n, known := c.Get(); known {
		return &n
	}
	return nil
}

// checker remembers the first value of an answer that cannot be true.
type checker struct{ err error }

func (c *checker) refuse(what string, value any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s is %v: %w", what, value, ErrAnswer)
	}
}

func (c *checker) size(what string, n int64) int64 {
	if n < 0 {
		c.refuse(what, n)
	}
	return n
}

func (c *checker) time(what string, ns int64) time.Duration { return time.Duration(c.size(what, ns)) }

func (c *checker) amount(what string, x float64) float64 {
	if !(x >= 0) || math.IsInf(x, 1) {
		c.refuse(what, x)
	}
	return x
}

func (c *checker) count(what string, n *int64) plugins.Count {
	if n == nil {
		return plugins.Count{}
	}
	return plugins.Counted(c.size(what, *n))
}

// bound returns a bound of an option. An infinite bound that excludes nothing becomes nil: records, which are JSON,
// cannot hold it.
func (c *checker) bound(what string, x *float64, boundless float64) *float64 {
	if x == nil || *x == boundless {
		return nil
	}
	if math.IsNaN(*x) || math.IsInf(*x, 0) {
		c.refuse(what, *x)
	}
	return x
}

func (c *checker) phases(list []*enginepb.Phase) []plugins.Phase {
	return each(list, func(p *enginepb.Phase) plugins.Phase {
		name := "phase " + p.GetName()
		return plugins.Phase{
			Name: p.GetName(), Elapsed: c.time(name, p.GetElapsedNs()), Slowest: c.time(name, p.GetSlowestNs()),
			Bytes: c.count(name+" bytes", p.Bytes), Messages: c.count(name+" messages", p.Messages),
		}
	})
}

func (c *checker) direction(d enginepb.Level_Direction) graph.Direction {
	if d != enginepb.Level_TOP_DOWN && d != enginepb.Level_BOTTOM_UP {
		c.refuse("level.direction", int32(d))
	}
	return graph.Direction(d)
}
