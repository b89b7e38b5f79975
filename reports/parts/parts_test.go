// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// scaled is a run that differs from others in its number of threads only.
func scaled(label, threads string, gteps float64) record.Run {
	run := samples.Run(label, 0, 18, 4)
	run.Engine = record.EngineSpec{Name: label, Builtin: "cpu", Options: map[string]string{"threads": threads}}
	run.Options = map[string]string{"threads": threads}
	run.Construction.Details = []plugins.Fact{{Name: "threads", Value: threads}}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// Lines of scaling, their figures and their tables are as they were. A line differs in its number of threads or ranks
// only; a line of each kind, with the most points, comes first.
func TestScalingIsAsItWas(t *testing.T) {
	ofRanks := func(run record.Run, rows string) record.Run {
		run.Engine.Builtin, run.Options = "distributed", map[string]string{"ranks": run.Options["threads"]}
		run.Engine.Options = map[string]string{"ranks": run.Options["ranks"]}
		if rows != "" {
			run.Engine.Options["rows"] = rows
		}
		run.Construction.Details = nil
		return run
	}
	whole, larger, other := scaled("all", "8", 4), scaled("larger", "2", 1.8), scaled("packed", "4", 2)
	whole.Options["threads"], whole.Engine.Options["threads"] = "0", "0" // what the machine has: the engine says how many
	larger.Scale, larger.Graph.Recipe.Scale = 19, 19
	other.Engine.Options["adjacency"] = "packed"
	var versions, threaded, matrix []record.Run
	for i, factor := range []int{16, 64} {
		for _, n := range []string{"1", "2"} {
			run := scaled("e"+n+strconv.Itoa(i), n, 1)
			run.Graph.Recipe.EdgeFactor = factor
			run.Description.Name, run.Description.Version = "cpu", []string{"0.1.0", "0.2.0"}[i]
			versions = append(versions, run)
		}
		run := samples.WithRanks(samples.Run("e"+strconv.Itoa(i), 0, 18, 4), 1+3*i, "2d")
		run.Options["threads"], run.Engine.Options["threads"] = "4", "4"
		threaded = append(threaded, run)
		for k, ranks := range []int{1, 2, 4, 8} {
			for scale := 16; scale <= 19; scale++ {
				partition := []string{"1d-dest", "2d"}[i]
				run := samples.Run("e"+strconv.Itoa(ranks)+partition, i+k, scale, 4)
				matrix = append(matrix, samples.WithRanks(run, ranks, partition))
			}
		}
	}
	var b strings.Builder
	write := func(name string, records ...record.Result) {
		fmt.Fprintf(&b, "\n# %s\n", name)
		written(&b, scaling(all(records...).All, nil))
	}
	single := func(runs ...record.Run) record.Result {
		r := samples.Result(nil)
		r.Runs = runs
		return r
	}
	write("threads", single(scaled("two", "2", 1.5), scaled("one", "1", 1), whole, larger, other))
	write("repeats", single(scaled("a", "1", 9), scaled("b", "1", 1), scaled("c", "1", 2), scaled("d", "2", 3)))
	write("two versions and edge factors", single(versions...))
	write("ranks with threads", single(threaded...))
	write("ranks and scales", single(matrix...))
	write("rows that the engine chose", single(ofRanks(scaled("one", "1", 1), "0"), ofRanks(scaled("two", "2", 1.5), "")))
	for _, host := range []string{"node17", "node18"} {
		another := single(scaled("two", "2", 3), scaled("four", "4", 5))
		another.Machine.Hostname = host
		write("node17 and "+host, single(scaled("one", "1", 1)), another)
	}
	samples.Golden(t, "scaling", b.String())
	for name, change := range map[string]func(run *record.Run){
		"edge factor": func(run *record.Run) { run.Graph.Recipe.EdgeFactor = 64 },
		"first seed":  func(run *record.Run) { run.Graph.Recipe.Seed1 = 7 },
		"second seed": func(run *record.Run) { run.Graph.Recipe.Seed2 = 7 },
		"version":     func(run *record.Run) { run.Description.Version = "0.2.0" },
		"program":     func(run *record.Run) { run.Engine.Checksum = "ab12" },
		"grid":        func(run *record.Run) { *run = ofRanks(*run, "2") },
		"no graph":    func(run *record.Run) { run.Graph = nil },
		"failed":      func(run *record.Run) { run.State, run.Failure = record.Failed, "it fell over" },
		"interrupted": func(run *record.Run) { run.State = record.Interrupted },
		"invalid":     func(run *record.Run) { run.Roots[0].Rule = 1 },
	} {
		one, two := scaled("one", "1", 1), scaled("two", "2", 1.5)
		if name == "grid" {
			one = ofRanks(one, "")
		}
		if change(&two); len(scalingLines(all(single(one, two)).All)) != 0 {
			t.Errorf("%s: runs that differ share a line", name)
		}
	}
}

// all is a report of everything.
func all(records ...record.Result) reports.Report {
	return must.Get(reports.New(nil, records...))
}

// references are publications by name.
func references(names ...string) []reports.Reference {
	return must.Get(reports.References(names...))
}

// onGraph is a run on a graph without a scale.
func onGraph(engine, source string, tuples int64, gteps float64) record.Run {
	run := samples.Run(engine, 0, 16, 2)
	run.GraphID = record.GraphID{Source: source}
	run.Graph = &record.GraphRecord{Vertices: 1000, Tuples: max(tuples, 1<<20), SHA256: "ab12"}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// Every phase of the engines with ranks has its color.
func TestPhasesHaveDistinctColors(t *testing.T) {
	run, colors := rankedRun{}, map[reports.Color]string{}
	for p := distributed.Phase(0); p <= distributed.Output; p++ {
		run.phases = append(run.phases, rankedPhase{name: p.String(), seconds: 1})
	}
	f := phaseFigure([]rankedRun{run})
	for _, key := range f.Legend {
		if other, taken := colors[key.Look.Color]; taken {
			t.Errorf("%s and %s have the same color", other, key.Label)
		}
		colors[key.Look.Color] = key.Label
	}
	var drawn []string
	for _, shape := range f.Panels[0].Shapes {
		if bar, ok := shape.(reports.Bar); ok {
			drawn = append(drawn, colors[bar.Color])
		}
	}
	must.Equal(t, strings.Join(drawn, " "), "expand scan fold update reduce clear predecessors output")
}

func TestEngineKeepsItsLookWhenOthersFail(t *testing.T) {
	r := samples.Result([]string{"first", "second"}, 16)
	rated := func(run reports.Summary) bool { return run.Rates() != nil }
	both := seriesOf(all(r).All, rated)
	r.Runs[0].Statistics = nil
	alone := seriesOf(all(r).All, rated)
	if len(both) != 2 || len(alone) != 1 {
		t.Fatalf("%d and %d series", len(both), len(alone))
	}
	must.Equal(t, alone[0].look, both[1].look, "the look of second without first")
}

func TestScaleAxisLabelsSomeOfManyScales(t *testing.T) {
	for last, want := range map[int]string{14: "2¹⁰ 2¹¹ 2¹² 2¹³ 2¹⁴", 42: "2¹⁰ 2¹³ 2¹⁶ 2¹⁹ 2²² 2²⁵ 2²⁸ 2³¹ 2³⁴ 2³⁷ 2⁴⁰"} {
		var labels []string
		for _, tick := range scaleAxis(span{10, float64(last)}).Ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		must.Equal(t, strings.Join(labels, " "), want)
	}
}

func TestUnknownFigureIsRejectedWithTheKnownOnes(t *testing.T) {
	if _, err := Figure(all(samples.Result([]string{"cpu"}, 16)), "rates"); err == nil ||
		!strings.Contains(err.Error(), `no figure "rates"; they have gteps-over-scale, roots`) {
		t.Errorf("got %v", err)
	}
	if _, err := Figure(all(record.Result{}), "rates"); err == nil || !strings.Contains(err.Error(),
		"nothing to draw") {
		t.Errorf("without runs: %v", err)
	}
}

// Levels that do not fit the time of their search or its tree are left out of figures and tables, and the facts say so.
func TestLevelsThatDoNotFitAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*record.RootRecord)
		want   string
	}{
		"frontiers": {func(r *record.RootRecord) { r.Levels[3].Frontier *= 10 }, "its frontiers have 3"},
		"depth":     {func(r *record.RootRecord) { r.Depth = new(4) }, "it has 7 levels and a tree of depth 4"},
		"time":      {func(r *record.RootRecord) { r.Levels[1].Elapsed *= 1e6 }, "its levels take"},
		"entries":   {func(r *record.RootRecord) { r.Levels[3].Edges = plugins.Counted(1 << 50) }, "level 3 looks at"},
		"negative":  {func(r *record.RootRecord) { r.Levels[2].Elapsed = -1 }, "level 2 has a negative number"},
	} {
		r := samples.FewRoots([]string{"cpu"}, 16)
		if len(LevelFigures(all(r).All)) != 1 || reports.LevelFaults(all(r).All[0]) != "" {
			t.Fatal("levels that fit are left out")
		}
		for i := range r.Runs[0].Roots {
			c.damage(&r.Runs[0].Roots[i])
		}
		runs := all(r).All
		if len(LevelFigures(runs)) != 0 || len(Levels(runs[0]).Rows) != 0 || len(directions(runs, nil).Table.Rows) != 0 {
			t.Errorf("%s: levels are shown", name)
		}
		want := "those of 3 of 3 searches; search 0: " + c.want
		if got := reports.LevelFaults(runs[0]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the facts say %q, want %q", name, got, want)
		}
	}
}
