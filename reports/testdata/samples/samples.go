// SPDX-License-Identifier: Apache-2.0

// Package samples makes up records for the tests of reports: the rates, their spread and the levels look like those of
// real searches of Kronecker graphs, and are always the same for the same arguments.
package samples

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Result is the result of engines at scales, 64 valid roots each.
func Result(engines []string, scales ...int) record.Result {
	r := record.Result{Manifest: record.Manifest{
		Schema: record.Schema, ID: "20260314-091500-s16", Started: time.Date(2026, 3, 14, 9, 15, 0, 0, time.UTC),
		Command:  []string{"teps", "run", "--engine", "cpu,distributed", "--scale", "16-20"},
		Software: record.Software{Version: "0.1.0", Commit: "0f1e2d3c4b5a", Compiler: "go1.26.1 linux/amd64"},
		Machine: machine.Machine{
			Hostname: "node17", CPU: "AMD EPYC 9354 32-Core Processor", Sockets: 1, Cores: 1, Threads: 2, CacheBytes: 32 << 20,
			MemoryBytes: 24 << 30, NUMANodes: 1, HugePages: "madvise", OS: "debian 12", Kernel: "6.1.0", Virtual: "kvm",
		},
		Plan: record.Plan{Scales: scales, EdgeFactor: 16, Seed1: 2, Seed2: 3, Roots: 64, Validate: -1, WarmUps: 1,
			Timeout: 10 * time.Minute},
	}}
	for i, name := range engines {
		r.Plan.Engines = append(r.Plan.Engines, record.EngineSpec{Name: name})
		for _, scale := range scales {
			r.Runs = append(r.Runs, Run(name, i, scale, 64))
		}
	}
	return r
}

// Run is a run with valid roots.
func Run(name string, speed, scale, roots int) record.Run {
	random := rand.New(rand.NewPCG(uint64(speed), uint64(scale)))
	tuples := int64(16) << scale
	run := record.Run{
		Engine:  record.EngineSpec{Name: name, Options: map[string]string{"threads": "2"}},
		GraphID: record.GraphID{Scale: scale}, Sessions: 1,
		Description: &plugins.Description{
			Name: name, Version: "0.1.0", Summary: "direction-optimizing search by goroutines",
			Devices: []plugins.Device{{Kind: "cpu", Name: "AMD EPYC 9354 32-Core Processor", Units: 2, MemoryBytes: 24 << 30}},
			Options: []plugins.Option{{Name: "threads", Kind: plugins.Int, Default: "2", Meaning: "goroutines that search"}},
		},
		Options: map[string]string{"threads": "2", "alpha": "15"},
		Graph: &record.GraphRecord{Recipe: graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3},
			Tuples: tuples, Generation: float64(tuples) * 8e-8, RejectedDraws: 23, RootsFound: roots},
		Construction: &plugins.Construction{Elapsed: time.Duration(tuples * 60), Bytes: tuples * 9,
			Entries: plugins.Counted(tuples * 19 / 10), Phases: []plugins.Phase{{Name: "degrees",
				Elapsed: time.Duration(tuples * 12)}, {Name: "sort", Elapsed: time.Duration(tuples * 40)}},
			Claims: plugins.Claims{OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 32,
				Tuning: "fixed: alpha 15, beta 18, from runs on other graphs"}},
		ConstructWall: float64(tuples) * 61e-9,
		State:         record.Complete, Valid: true,
		Compliance: record.Compliance{Compliant: true, Rules: []record.Check{
			{Rule: "edgefactor is 16", Holds: true, Detail: "16"},
			{Rule: "64 distinct roots", Holds: true, Detail: "64 of 87 draws"},
			{Rule: "every search validated against the input tuples", Holds: true, Detail: "64 of 64"},
			{Rule: "parents reach their original labels inside the clock", Holds: true, Detail: "the engine claims so"},
		}},
	}
	nedge := tuples - 491
	base := []float64{1.2e9, 0.16e9, 3.1e9, 0.7e9}[speed%4] * (1 + float64(speed/4)*0.4)
	base *= math.Exp(-math.Pow(float64(scale)-18, 2) / 40) // best at scale 18
	for i := range roots {
		seconds := float64(nedge) / base * (1 + 0.18*math.Abs(random.NormFloat64()) + 0.02*random.Float64())
		if i%17 == 5 {
			seconds *= 1.5
		}
		reached, m, depth := int64(1)<<scale*7/10, tuples, 6
		root := record.RootRecord{Index: i, Root: graph.Vertex(random.Int64N(1 << scale)), Time: seconds, Wall: seconds +
			9e-5, Validated: true, Validation: float64(tuples) * 2e-9, NEdge: &nedge, M: &m, Reached: &reached, Depth: &depth}
		for level, share := range []float64{1e-6, 5e-4, 0.08, 0.62, 0.28, 0.011, 1e-5} {
			direction := graph.TopDown
			if level == 3 || level == 4 {
				direction = graph.BottomUp
			}
			root.Levels = append(root.Levels, plugins.Level{
				Direction: direction, Frontier: 1 + int64(share*float64(reached)),
				Edges:   plugins.Counted(int64(share * float64(tuples) / (1 + float64(level)/2))),
				Elapsed: time.Duration(seconds * 1e9 * []float64{0.01, 0.04, 0.31, 0.36, 0.17, 0.06, 0.02}[level]),
			})
		}
		run.Roots = append(run.Roots, root)
	}
	run.Statistics = record.Summarize(run.Roots)
	return run
}

// Store is the store of one machine: two engines at a scale, measured on days in a row by a build each, several times.
// The rates of the first engine are those of the first build times the factors; repeats differ by up to 4 %.
func Store(repeats int, factors ...float64) (all []record.Result) {
	for build, factor := range factors {
		for repeat := range repeats {
			r := Result([]string{"cpu", "serial"}, 18)
			r.Started = r.Started.AddDate(0, 0, build).Add(time.Duration(repeat) * time.Minute)
			r.ID = r.Started.Format("20060102-150405")
			r.Software.Commit = fmt.Sprintf("%07x", (build+17)*9973531%(1<<28))
			for i := range r.Runs {
				for k := range r.Runs[i].Roots {
					root := &r.Runs[i].Roots[k]
					random := rand.New(rand.NewPCG(uint64(build*repeats+repeat), uint64(i*64+k)))
					stretch(root, 1/((1+0.01*float64(repeat%3))*(1+0.02*random.Float64())))
					if i == 0 {
						stretch(root, 1/factor)
					}
				}
				r.Runs[i].Statistics = record.Summarize(r.Runs[i].Roots)
			}
			all = append(all, r)
		}
	}
	return all
}

// WithRanks gives the searches of a made-up run ranks: rank k scans k+1 ms a search, expands for 1 ms in each of two
// levels with 10 messages of 100 bytes, and waits so that all end together.
func WithRanks(run record.Run, ranks int, cut string) record.Run {
	ms := time.Millisecond
	run.Options = map[string]string{"partition": cut}
	run.Engine.Builtin, run.Engine.Options = "distributed", map[string]string{"ranks": strconv.Itoa(ranks),
		"partition": cut}
	for i := range run.Roots {
		root := &run.Roots[i]
		root.Levels = root.Levels[:2]
		for l := range root.Levels {
			level := &root.Levels[l]
			level.Phases = []plugins.Phase{
				{Name: "expand", Elapsed: ms, Slowest: ms, Messages: plugins.Counted(10), Bytes: plugins.Counted(1000)},
				{Name: "scan", Elapsed: time.Duration(ranks+1) * ms / 4, Slowest: time.Duration(ranks) * ms / 2},
				{Name: "reduce", Elapsed: time.Duration(ranks-1) * ms / 4, Slowest: time.Duration(ranks-1) * ms / 2},
			}
		}
		root.Phases = []plugins.Phase{{Name: "output", Elapsed: ms, Slowest: ms}}
		for k := range ranks {
			root.Ranks = append(root.Ranks, plugins.Rank{Phases: []plugins.Phase{
				{Name: "expand", Elapsed: 2 * ms}, {Name: "scan", Elapsed: time.Duration(k+1) * ms},
				{Name: "reduce", Elapsed: time.Duration(ranks-1-k) * ms}, {Name: "output", Elapsed: ms},
			}})
		}
	}
	return run
}

// Ranked is a result of one engine without ranks and of both cuts with 2 and 4 ranks.
func Ranked() record.Result {
	r := Result([]string{"cpu", "two", "twofour", "one", "onefour"}, 16, 17)
	for i, run := range r.Runs {
		switch run.Engine.Name {
		case "two":
			r.Runs[i] = WithRanks(run, 2, "2d")
		case "twofour":
			r.Runs[i] = WithRanks(run, 4, "2d")
		case "one":
			r.Runs[i] = WithRanks(run, 2, "1d")
		case "onefour":
			r.Runs[i] = WithRanks(run, 4, "1d")
		}
	}
	return r
}

// WithMeters adds an energy loop of 60 s to a run, on meters of the given scopes with 100 ms updates.
func WithMeters(run record.Run, scopes ...power.Scope) record.Run {
	const idle, seconds = 10.0, 60.0
	e := &record.EnergyRecord{
		Loop: &record.EnergyLoop{Elapsed: seconds, Searches: 12000, Roots: 64,
			NEdge: int64(run.Statistics.TEPS.Mean * seconds), TEPS: run.Statistics.TEPS.Mean},
		Phases: []record.EnergyPhase{
			{Name: record.PhaseRest, From: -12 * time.Second, To: -10 * time.Second},
			{Name: record.PhaseIdle, From: -10 * time.Second},
			{Name: record.PhaseLoop, To: 60 * time.Second}, {Name: record.PhaseAfter, From: 60 * time.Second,
				To: 63 * time.Second},
		},
		Green: &record.Green{Class: record.SmallData, Missing: []string{"a meter of the whole system"}},
	}
	for i, scope := range scopes {
		base := 60 + 40*float64(i)
		m := record.Metered{
			Meter: power.Info{Name: string(scope) + "-0", Source: "test", Scope: scope, Method: power.Measured,
				Quantity: power.Energy, Error: 0.01, Detail: "model 17"}, Used: true,
			Loop: &power.Amount{Joules: float64(3 * base * seconds), Watts: float64(3 * base),
				Uncertainty: float64(base), Coverage: 1, LargestGap: 100 * time.Millisecond, Updates: 600},
			Idle: &power.Amount{Joules: float64(base * idle), Watts: float64(base),
				Uncertainty: float64(base / 10), Coverage: 1, LargestGap: 100 * time.Millisecond, Updates: 100},
			ReadTime: 0.2,
		}
		joules := 0.0
		for n := range 751 {
			at := time.Duration(n-120) * 100 * time.Millisecond
			watts := base
			if at > 0 && at <= 60*time.Second {
				watts = base*3 + 12*math.Sin(float64(n)/5)
			}
			joules += watts / 10
			m.Curve.At, m.Curve.Joules = append(m.Curve.At, at), append(m.Curve.Joules, joules)
		}
		m.Curve.Of = len(m.Curve.At)
		e.Meters = append(e.Meters, m)
		over, off := e.Loop.TEPS/1e6/(2*base), 0.02
		idleWatts := base
		e.Figures = append(e.Figures, record.PowerFigure{
			Of: m.Meter.Name, Meters: []string{m.Meter.Name}, Scope: scope, System: scope.System(), Method: power.Measured,
			Joules: 3 * base * seconds, Watts: 3 * base,
			Uncertainty: 0.0055, SensorError: 0.01, MTEPSPerWatt: e.Loop.TEPS / 1e6 / (3 * base),
			JoulesPerSearch: 3 * base * seconds / 12000,
			IdleWatts:       &idleWatts, MTEPSPerWattOverIdle: &over, UncertaintyOverIdle: &off,
		})
		if scope.System() {
			e.Green.Level, e.Green.Meter, e.Green.Missing = 1, m.Meter.Name, []string{"readings over the whole run"}
		}
	}
	run.Energy = e
	return run
}

// Metered is a result with an energy loop in every run.
func Metered(scopes ...power.Scope) record.Result {
	r := Result([]string{"cpu", "cuda"}, 18, 20, 22)
	for i := range r.Runs {
		if r.Runs[i].Engine.Name == "cuda" {
			r.Runs[i] = WithMeters(r.Runs[i], append([]power.Scope{power.GPU}, scopes...)...)
		} else {
			r.Runs[i] = WithMeters(r.Runs[i], append([]power.Scope{power.Package, power.DRAM}, scopes...)...)
		}
	}
	return r
}

// SetRate makes all searches of a run faster or slower, so that its harmonic mean is that many TEPS.
func SetRate(run *record.Run, teps float64) {
	factor := run.Statistics.TEPS.Mean / teps
	for i := range run.Roots {
		stretch(&run.Roots[i], factor)
	}
	run.Statistics = record.Summarize(run.Roots)
}

// stretch multiplies the time of a search and of its levels.
func stretch(root *record.RootRecord, factor float64) {
	root.Time *= factor
	root.Levels = slices.Clone(root.Levels)
	for i := range root.Levels {
		root.Levels[i].Elapsed = time.Duration(float64(root.Levels[i].Elapsed) * factor)
	}
}
