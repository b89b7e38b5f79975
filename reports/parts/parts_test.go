// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestDirectionsAreMeansOverSearches(t *testing.T) {
	ms := time.Millisecond
	run := samples.Run("cpu", 0, 16, 2)
	for i := range run.Roots {
		n := int64(100)
		run.Roots[i].Time, run.Roots[i].NEdge = 0.010, &n
		run.Roots[i].Levels = []plugins.Level{
			{Direction: graph.TopDown, Elapsed: time.Duration(1+2*i) * ms, Edges: plugins.Counted(10)},
			{Direction: graph.BottomUp, Elapsed: 4 * ms, Edges: plugins.Counted(30)},
		}
	}
	got := directionShares([]reports.Summary{{Run: run, Label: "cpu"}})
	if len(got) != 1 {
		t.Fatalf("%d rows", len(got))
	}
	d := got[0]
	if !near(d.time, 0.010) || !near(d.seconds[0], 0.002) || !near(d.seconds[1], 0.004) || !near(d.outside(), 0.004) ||
		d.levels != [2]float64{1, 1} || d.entries != [2]float64{10, 30} || d.tuples != 100 {
		t.Errorf("got %+v", d)
	}
	if row := directionsTable(got).Rows[0]; row[len(row)-1].Text != "0.400" {
		t.Errorf("entries a tuple: %s, want 0.400", row[len(row)-1].Text)
	}
	run.Roots[1].Levels[0].Edges = plugins.Count{}
	without := directionsTable(directionShares([]reports.Summary{{Run: run, Label: "cpu"}}))
	if last := without.Head[len(without.Head)-1].Text; last != "outside levels" {
		t.Errorf("a search without counts has the column %q", last)
	}
	for i := range run.Roots {
		run.Roots[i].Levels[0].Elapsed = time.Hour
	}
	if len(directionShares([]reports.Summary{{Run: run, Label: "cpu"}})) != 0 {
		t.Error("levels that take longer than their search are drawn")
	}
}

// scaled is a run that differs from others in its number of threads only.
func scaled(label, threads string, gteps float64) record.Run {
	run := samples.Run(label, 0, 18, 4)
	run.Engine = record.EngineSpec{Name: label, Builtin: "cpu", Options: map[string]string{"threads": threads}}
	run.Options = map[string]string{"threads": threads}
	run.Construction.Details = []plugins.Fact{{Name: "threads", Value: threads}}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// linesOf are the scaling lines of a record with these runs.
func linesOf(runs ...record.Run) []scalingLine {
	r := samples.Result(nil)
	r.Runs = runs
	return scalingLines(all(r).All)
}

func TestScalingLineVariesOnlyInThreads(t *testing.T) {
	whole, larger, other := scaled("all", "8", 4), scaled("larger", "2", 1.8), scaled("packed", "4", 2)
	whole.Options["threads"], whole.Engine.Options["threads"] = "0", "0" // what the machine has: the engine says how many
	larger.Scale, larger.Graph.Recipe.Scale = 19, 19
	other.Engine.Options["adjacency"] = "packed" // another option, so on no line
	lines := linesOf(scaled("two", "2", 1.5), scaled("one", "1", 1), whole, larger, other)
	if len(lines) != 2 || lines[0].weak || !lines[1].weak {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	strong := lines[0]
	if strong.name != "cpu, scale 18" || len(strong.points) != 3 || strong.points[0].Label != "one" ||
		strong.points[2].Label != "all" {
		t.Errorf("strong scaling is %+v", strong)
	}
	if weak := lines[1]; weak.name != "cpu, 2¹⁸ vertices per thread" || len(weak.points) != 2 {
		t.Errorf("weak scaling is %+v", weak)
	}
	rows := scalingTable(lines).Rows
	for i, want := range []string{"100 %", "75.0 %", "50.0 %", "100 %", "90.0 %"} {
		if got := rows[i][7].Text; got != want {
			t.Errorf("the efficiency in row %d is %s, want %s", i, got, want)
		}
	}
	if row := rows[2]; row[2].Text != "8 threads" || row[6].Text != "4.00" {
		t.Errorf("the row of 8 threads is %v", row)
	}
}

func TestScalingSeparatesMachines(t *testing.T) {
	one, two := samples.Result(nil), samples.Result(nil)
	one.Runs = []record.Run{scaled("one", "1", 1)}
	two.Runs = []record.Run{scaled("two", "2", 3), scaled("four", "4", 5)}
	for host, points := range map[string]int{"node17": 3, "node18": 2} {
		two.Machine.Hostname = host
		if lines := scalingLines(all(one, two).All); len(lines) != 1 || len(lines[0].points) != points {
			t.Errorf("records of node17 and %s: %+v", host, lines)
		}
	}
}

func TestScalingSeparatesGraphsVersionsAndGrids(t *testing.T) {
	gridded := func(run record.Run, rows string) record.Run {
		run.Engine.Builtin, run.Options = "distributed", map[string]string{"ranks": run.Options["threads"]}
		run.Engine.Options = map[string]string{"ranks": run.Options["ranks"]}
		if rows != "" {
			run.Engine.Options["rows"] = rows
		}
		run.Construction.Details = nil
		return run
	}
	for name, change := range map[string]func(run *record.Run){
		"edge factor": func(run *record.Run) { run.Graph.Recipe.EdgeFactor = 64 },
		"first seed":  func(run *record.Run) { run.Graph.Recipe.Seed1 = 7 },
		"second seed": func(run *record.Run) { run.Graph.Recipe.Seed2 = 7 },
		"version":     func(run *record.Run) { run.Description.Version = "0.2.0" },
		"program":     func(run *record.Run) { run.Engine.Checksum = "ab12" },
		"grid":        func(run *record.Run) { *run = gridded(*run, "2") },
		"no graph":    func(run *record.Run) { run.Graph = nil },
		"failed":      func(run *record.Run) { run.State, run.Failure = record.Failed, "it fell over" },
		"interrupted": func(run *record.Run) { run.State = record.Interrupted },
		"invalid":     func(run *record.Run) { run.Valid = false },
	} {
		one, two := scaled("one", "1", 1), scaled("two", "2", 1.5)
		if name == "grid" {
			one = gridded(one, "")
		}
		change(&two)
		if lines := linesOf(one, two); len(lines) != 0 {
			t.Errorf("%s: runs that differ share %q", name, lines[0].name)
		}
	}
	lines := linesOf(gridded(scaled("one", "1", 1), "0"), gridded(scaled("two", "2", 1.5), ""))
	if len(lines) != 1 {
		t.Errorf("grids that the engine chose itself: %+v", lines)
	}
}

func TestNamesOfScalingLinesDiffer(t *testing.T) {
	var runs []record.Run
	for i, factor := range []int{16, 64} {
		for _, n := range []string{"1", "2"} {
			run := scaled("e"+n+strconv.Itoa(i), n, 1)
			run.Graph.Recipe.EdgeFactor = factor
			run.Description.Name, run.Description.Version = "cpu", []string{"0.1.0", "0.2.0"}[i]
			runs = append(runs, run)
		}
	}
	var got []string
	for _, l := range linesOf(runs...) {
		got = append(got, l.name)
	}
	const machine = "node17, AMD EPYC 9354 32-Core Processor, edge factor "
	want := []string{
		"cpu, scale 18, version 0.1.0, build 0f1e2d3, " + machine + "16, seeds 2 and 3",
		"cpu, scale 18, version 0.2.0, build 0f1e2d3, " + machine + "64, seeds 2 and 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of lines (-want +got):\n%s", diff)
	}
}

func TestScalingTakesTheMedianOfRepeats(t *testing.T) {
	lines := linesOf(scaled("a", "1", 9), scaled("b", "1", 1), scaled("c", "1", 2), scaled("d", "2", 3))
	if len(lines) != 1 || lines[0].points[0].Rates().TEPS.Mean != 2e9 {
		t.Fatalf("%d lines", len(lines))
	}
}

// A sweep over ranks and scales has lines of several lengths: the longest diagonal of weak scaling comes first.
func TestScalingPutsTheLinesWithTheMostPointsFirst(t *testing.T) {
	r := samples.Result(nil, 16)
	for i, partition := range []string{"1d-dest", "2d"} {
		for k, ranks := range []int{1, 2, 4, 8} {
			for scale := 16; scale <= 19; scale++ {
				run := samples.Run("e"+strconv.Itoa(ranks)+partition, i+k, scale, 4)
				r.Runs = append(r.Runs, samples.WithRanks(run, ranks, partition))
			}
		}
	}
	figures := scaling(all(r).All, nil).Figures
	for i, want := range []string{
		"distributed 1D-dest, scale 19", "distributed 1D-dest, 2¹⁶ vertices per thread",
	} {
		if got := figures[i].Legend[0].Label; got != want {
			t.Errorf("the first line of %s is %q, want %q", figures[i].Name, got, want)
		}
		if len(figures[i].Panels) != 3 {
			t.Errorf("%s has %d panels, want rates, messages and bytes", figures[i].Name, len(figures[i].Panels))
		}
	}
	table := scalingTable(scalingLines(all(r).All))
	if row := table.Rows[1]; row[8].Text != "20" || row[9].Text != "2,000" {
		t.Errorf("messages and bytes of %v: want 20 and 2,000", row)
	}
}

// Ranks of several threads stand where as many ranks of one thread do.
func TestScalingCountsTheThreadsOfAllRanks(t *testing.T) {
	var runs []record.Run
	for _, ranks := range []int{1, 4} {
		run := samples.WithRanks(samples.Run("e"+strconv.Itoa(ranks), 0, 18, 4), ranks, "2d")
		run.Options["threads"], run.Engine.Options["threads"] = "4", "4"
		runs = append(runs, run)
	}
	lines := linesOf(runs...)
	if len(lines) != 1 || lines[0].name != "distributed 2D threads=4, scale 18" {
		t.Fatalf("the lines are %+v", lines)
	}
	row := scalingTable(lines).Rows[1]
	f := scalingFigure("", "", lines)
	if x := f.Panels[2].X; row[2].Text != "4 ranks × 4 threads" ||
		x.Title != "Number of threads, in all ranks, scale 18" ||
		x.Ticks[0].At != 4 || x.Ticks[1].At != 16 {
		t.Errorf("the row is %v, the axis %+v", row, x)
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
