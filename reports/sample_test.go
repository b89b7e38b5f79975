package reports

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// The tests render made-up results that look like measured ones: the rates, their spread and the levels of real
// searches of Kronecker graphs, always the same for the same arguments.

// sample is the result of engines at scales, 64 valid roots each.
func sample(engines []string, scales ...int) harness.Result {
	r := harness.Result{Manifest: harness.Manifest{
		Schema: harness.Schema, ID: "20260314-091500-s16", Started: time.Date(2026, 3, 14, 9, 15, 0, 0, time.UTC),
		Command:  []string{"teps", "run", "--engine", "cpu,distributed", "--scale", "16-20"},
		Software: harness.Software{Version: "0.1.0", Commit: "0f1e2d3c4b5a", Compiler: "go1.26.1 linux/amd64"},
		Machine: harness.Machine{
			Hostname: "node17", CPU: "AMD EPYC 9354 32-Core Processor", Sockets: 1, Cores: 1, Threads: 2, CacheBytes: 32 << 20,
			MemoryBytes: 24 << 30, NUMANodes: 1, HugePages: "madvise", OS: "debian 12", Kernel: "6.1.0", Virtual: "kvm",
		},
		Plan: harness.Plan{Scales: scales, EdgeFactor: 16, Seed1: 2, Seed2: 3, Roots: 64, Validate: -1, WarmUps: 1, Timeout: 10 * time.Minute},
	}}
	for i, name := range engines {
		r.Plan.Engines = append(r.Plan.Engines, harness.EngineSpec{Name: name})
		for _, scale := range scales {
			r.Runs = append(r.Runs, sampleRun(name, i, scale, 64))
		}
	}
	return r
}

func sampleRun(name string, speed, scale, roots int) harness.Run {
	random := rand.New(rand.NewPCG(uint64(speed), uint64(scale)))
	tuples := int64(16) << scale
	run := harness.Run{
		Engine: harness.EngineSpec{Name: name, Options: map[string]string{"threads": "2"}}, Scale: scale, Sessions: 1,
		Description: &plugins.Description{
			Name: name, Version: "0.1.0", Summary: "direction-optimising search by goroutines",
			Devices: []plugins.Device{{Kind: "cpu", Name: "AMD EPYC 9354 32-Core Processor", Units: 2, MemoryBytes: 24 << 30}},
			Options: []plugins.Option{{Name: "threads", Kind: plugins.Int, Default: "2", Meaning: "goroutines that search"}},
		},
		Options:       map[string]string{"threads": "2", "alpha": "15"},
		Graph:         &harness.GraphRecord{Recipe: graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}, Tuples: tuples, Generation: float64(tuples) * 8e-8, RejectedDraws: 23, RootsFound: roots},
		Construction:  &plugins.Construction{Elapsed: time.Duration(tuples * 60), Bytes: tuples * 9, Entries: plugins.Counted(tuples * 19 / 10), Phases: []plugins.Phase{{Name: "degrees", Elapsed: time.Duration(tuples * 12)}, {Name: "sort", Elapsed: time.Duration(tuples * 40)}}, Claims: plugins.Claims{OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 32, Tuning: "fixed: alpha 15, beta 18, from runs on other graphs"}},
		ConstructWall: float64(tuples) * 61e-9,
		State:         harness.Complete, Valid: true,
		Compliance: harness.Compliance{Compliant: true, Rules: []harness.Check{
			{Rule: "edgefactor is 16", Holds: true, Detail: "16"},
			{Rule: "64 distinct roots", Holds: true, Detail: "64 of 87 draws"},
			{Rule: "every search validated against the input tuples", Holds: true, Detail: "64 of 64"},
			{Rule: "parents reach their original labels inside the clock", Holds: true, Detail: "the engine claims so"},
		}},
	}
	nedge := tuples - 491
	base := []float64{1.2e9, 0.16e9, 3.1e9, 0.7e9}[speed%4] * (1 + float64(speed/4)*0.4) * math.Exp(-math.Pow(float64(scale)-18, 2)/40)
	for i := range roots {
		seconds := float64(nedge) / base * (1 + 0.18*math.Abs(random.NormFloat64()) + 0.02*random.Float64())
		if i%17 == 5 {
			seconds *= 1.5
		}
		reached, m, depth := int64(1)<<scale*7/10, tuples, 6
		root := harness.RootRecord{Index: i, Root: graph.Vertex(random.Int64N(1 << scale)), Time: seconds, Wall: seconds + 9e-5, Validated: true, Validation: float64(tuples) * 2e-9, NEdge: &nedge, M: &m, Reached: &reached, Depth: &depth}
		for level, share := range []float64{1e-6, 5e-4, 0.08, 0.62, 0.28, 0.011, 1e-5} {
			direction := graph.TopDown
			if level == 3 || level == 4 {
				direction = graph.BottomUp
			}
			root.Levels = append(root.Levels, plugins.Level{
				Direction: direction, Frontier: 1 + int64(share*float64(reached)), Edges: plugins.Counted(int64(share * float64(tuples) / (1 + float64(level)/2))),
				Elapsed: time.Duration(seconds * 1e9 * []float64{0.01, 0.04, 0.31, 0.36, 0.17, 0.06, 0.02}[level]),
			})
		}
		run.Roots = append(run.Roots, root)
	}
	run.Statistics = statisticsOf(run.Roots)
	return run
}

// statisticsOf is Graph500's summary, written for the tests alone.
func statisticsOf(roots []harness.RootRecord) *harness.Statistics {
	var times, edges, cost, validation []float64
	for _, root := range roots {
		times = append(times, root.Time)
		edges = append(edges, float64(*root.NEdge))
		cost = append(cost, root.Time/float64(*root.NEdge))
		validation = append(validation, root.Validation)
	}
	c, v := spreadOf(cost), spreadOf(validation)
	teps := harness.Spread{Min: 1 / c.Max, FirstQuartile: 1 / c.ThirdQuartile, Median: 1 / c.Median, ThirdQuartile: 1 / c.FirstQuartile, Max: 1 / c.Min, Mean: 1 / c.Mean}
	if c.StdDev != nil {
		deviation := *c.StdDev / (c.Mean * c.Mean * math.Sqrt(float64(len(cost)-1)))
		teps.StdDev = &deviation
	}
	return &harness.Statistics{NBFS: len(roots), Time: spreadOf(times), NEdge: spreadOf(edges), TEPS: teps, Validation: &v}
}

func spreadOf(x []float64) harness.Spread {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	s := harness.Spread{
		Min: x[0], Max: x[n-1], FirstQuartile: (x[(n-1)/4] + x[n/4]) / 2, Median: (x[(n-1)/2] + x[n/2]) / 2,
		ThirdQuartile: (x[n-1-(n-1)/4] + x[n-1-n/4]) / 2,
	}
	for _, v := range x {
		s.Mean += v / float64(n)
	}
	if n > 1 {
		sum := 0.0
		for _, v := range x {
			sum += (v - s.Mean) * (v - s.Mean)
		}
		deviation := math.Sqrt(sum / float64(n-1))
		s.StdDev = &deviation
	}
	return s
}

// load reads a committed record.
func load(t *testing.T, dir string) harness.Result {
	t.Helper()
	r, err := harness.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
