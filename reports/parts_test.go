package reports

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

func TestEveryFigureHasATableWithItsNumbers(t *testing.T) {
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	parts := p.parts(labels(rankedSample()), nil)
	if len(parts) != 6 {
		t.Errorf("%d parts, want all six", len(parts))
	}
	for _, c := range parts {
		if len(c.figures) == 0 || len(c.table.Rows) == 0 || c.title == "" || c.says == "" {
			t.Errorf("%q lacks figures, rows or words", c.title)
		}
		for _, row := range c.table.Rows {
			if len(row) != len(c.table.Head) {
				t.Errorf("%s: %d cells under %d", c.title, len(row), len(c.table.Head))
			}
		}
	}
}

// Runs whose power could not be read have a table that says why, and no figure.
func TestEnergyIsShownWithItsMetersAndWithoutFigures(t *testing.T) {
	r := meteredSample(power.Node)
	got := page(t, r)
	for _, want := range []string{"<h3>Energy: search rate per watt</h3>", "<summary>Meters</summary>", "--picture mteps-per-watt-over-scale"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for i := range r.Runs {
		r.Runs[i].Energy = &harness.EnergyRecord{Failure: "the loop was interrupted"}
	}
	if got := page(t, r); !strings.Contains(got, "no figure: the loop was interrupted") || strings.Contains(got, "mteps-per-watt") {
		t.Error("a page about runs without figures of power does not say why, or draws some")
	}
}

func TestDirectionsAreMeansOverSearches(t *testing.T) {
	ms := time.Millisecond
	run := sampleRun("cpu", 0, 16, 2)
	for i := range run.Roots {
		n := int64(100)
		run.Roots[i].Time, run.Roots[i].NEdge = 0.010, &n
		run.Roots[i].Levels = []plugins.Level{
			{Direction: graph.TopDown, Elapsed: time.Duration(1+2*i) * ms, Edges: plugins.Counted(10)},
			{Direction: graph.BottomUp, Elapsed: 4 * ms, Edges: plugins.Counted(30)},
		}
	}
	got := directionShares([]labelled{{label: "cpu", run: run}})
	if len(got) != 1 {
		t.Fatalf("%d rows", len(got))
	}
	d := got[0]
	if !near(d.time, 0.010) || !near(d.seconds[0], 0.002) || !near(d.seconds[1], 0.004) || !near(d.outside(), 0.004) || d.levels != [2]float64{1, 1} || d.entries != [2]float64{10, 30} || d.tuples != 100 {
		t.Errorf("got %+v", d)
	}
	if row := directionsTable(got).Rows[0]; row[len(row)-1].Text != "0.400" {
		t.Errorf("entries a tuple: %s, want 0.400", row[len(row)-1].Text)
	}
	run.Roots[1].Levels[0].Edges = plugins.Count{}
	if table := directionsTable(directionShares([]labelled{{label: "cpu", run: run}})); strings.Contains(table.Note, "Entries") {
		t.Error("a search without counts is counted")
	}
	run.Roots[0].Levels[0].Elapsed = time.Hour
	if len(directionShares([]labelled{{label: "cpu", run: run}})) != 0 {
		t.Error("levels that take longer than their search are drawn")
	}
}

// threads gives a run a number of threads, and a rate.
func threads(run harness.Run, label, option, detail string, gteps float64) harness.Run {
	run.Engine = harness.EngineSpec{Name: label, Builtin: "cpu", Options: map[string]string{"threads": option}}
	run.Options = map[string]string{"threads": option}
	run.Construction.Details = []plugins.Fact{{Name: "threads", Value: detail}}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

func TestRunsThatDifferInThreadsAloneAreScaling(t *testing.T) {
	r := sample(nil, 18)
	r.Runs = []harness.Run{
		threads(sampleRun("a", 0, 18, 4), "two", "2", "2", 1.5),
		threads(sampleRun("b", 0, 18, 4), "one", "1", "1", 1),
		threads(sampleRun("c", 0, 18, 4), "all", "0", "8", 4), // 0 is what the machine has: the engine says how many
		threads(sampleRun("d", 0, 19, 4), "two", "2", "2", 1.8),
	}
	other := threads(sampleRun("e", 0, 18, 4), "packed", "4", "4", 2)
	other.Engine.Options["adjacency"] = "packed"
	r.Runs = append(r.Runs, other) // another option, so on no line
	lines := scalingLines(labels(r))
	if len(lines) != 2 || lines[0].weak || !lines[1].weak {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	strong := lines[0]
	if strong.name != "cpu, scale 18" || len(strong.points) != 3 || strong.points[0].workers != 1 || strong.points[2].workers != 8 {
		t.Errorf("strong scaling is %+v", strong)
	}
	if !near(strong.speedUp(2), 4) || !near(strong.efficiency(2), 0.5) || !near(strong.efficiency(1), 0.75) {
		t.Errorf("speed-up %v, efficiency %v and %v", strong.speedUp(2), strong.efficiency(2), strong.efficiency(1))
	}
	if weak := lines[1]; weak.name != "cpu, 2¹⁸ vertices a thread" || len(weak.points) != 2 || !near(weak.efficiency(1), 0.9) {
		t.Errorf("weak scaling is %+v", weak)
	}
	if row := scalingTable(lines).Rows[2]; row[2].Text != "8 threads" || row[6].Text != "4.00" || row[7].Text != "50.0 %" {
		t.Errorf("the row of 8 threads is %v", row)
	}
}

func TestMachinesDoNotShareALine(t *testing.T) {
	one, two := sample(nil, 18), sample(nil, 18)
	one.Runs = []harness.Run{threads(sampleRun("a", 0, 18, 4), "one", "1", "1", 1)}
	two.Runs = []harness.Run{threads(sampleRun("b", 0, 18, 4), "two", "2", "2", 3), threads(sampleRun("c", 0, 18, 4), "four", "4", "4", 5)}
	if lines := scalingLines(labels(one, two)); len(lines) != 1 || len(lines[0].points) != 3 {
		t.Errorf("records of one machine: %+v", lines)
	}
	two.Machine.Hostname = "node18"
	if lines := scalingLines(labels(one, two)); len(lines) != 1 || len(lines[0].points) != 2 || !strings.Contains(lines[0].name, "node18") {
		t.Errorf("records of two machines: %+v", lines)
	}
}

// scaled is a run of an engine with a number of threads, all of it the same whatever the number.
func scaled(label, threadCount string, gteps float64) harness.Run {
	return threads(sampleRun(label, 0, 18, 4), label, threadCount, threadCount, gteps)
}

func TestRunsOfDifferentGraphsVersionsAndGridsDoNotShareALine(t *testing.T) {
	gridded := func(run harness.Run, rows string) harness.Run {
		run.Engine.Builtin, run.Options = "distributed", map[string]string{"ranks": run.Options["threads"]}
		run.Engine.Options = map[string]string{"ranks": run.Options["ranks"]}
		if rows != "" {
			run.Engine.Options["rows"] = rows
		}
		run.Construction.Details = nil
		return run
	}
	for name, change := range map[string]func(run *harness.Run){
		"edge factor": func(run *harness.Run) { run.Graph.Recipe.EdgeFactor = 64 },
		"first seed":  func(run *harness.Run) { run.Graph.Recipe.Seed1 = 7 },
		"second seed": func(run *harness.Run) { run.Graph.Recipe.Seed2 = 7 },
		"version":     func(run *harness.Run) { run.Description.Version = "0.2.0" },
		"program":     func(run *harness.Run) { run.Engine.Checksum = "ab12" },
		"grid":        func(run *harness.Run) { *run = gridded(*run, "2") },
		"no graph":    func(run *harness.Run) { run.Graph = nil },
		"failed":      func(run *harness.Run) { run.State, run.Failure = harness.Failed, "it fell over" },
		"interrupted": func(run *harness.Run) { run.State = harness.Interrupted },
		"invalid":     func(run *harness.Run) { run.Valid = false },
	} {
		r := sample(nil, 18)
		r.Runs = []harness.Run{scaled("one", "1", 1), scaled("two", "2", 1.5)}
		if name == "grid" {
			r.Runs[0] = gridded(r.Runs[0], "")
		}
		change(&r.Runs[1])
		if lines := scalingLines(labels(r)); len(lines) != 0 {
			t.Errorf("%s: runs that differ share %q", name, lines[0].name)
		}
	}
	r := sample(nil, 18)
	r.Runs = []harness.Run{gridded(scaled("one", "1", 1), "0"), gridded(scaled("two", "2", 1.5), "")}
	if lines := scalingLines(labels(r)); len(lines) != 1 {
		t.Errorf("grids that the engine chose itself: %+v", lines)
	}
}

func TestNamesOfLinesSayWhatTheyDifferIn(t *testing.T) {
	r := sample(nil, 18)
	for i, factor := range []int{16, 64} {
		for _, n := range []string{"1", "2"} {
			run := scaled("e"+n+strconv.Itoa(i), n, 1)
			run.Graph.Recipe.EdgeFactor = factor
			run.Description.Name, run.Description.Version = "cpu", []string{"0.1.0", "0.2.0"}[i]
			r.Runs = append(r.Runs, run)
		}
	}
	var got []string
	for _, l := range scalingLines(labels(r)) {
		got = append(got, l.name)
	}
	if want := "cpu version 0.1.0, scale 18, edgefactor 16; cpu version 0.2.0, scale 18, edgefactor 64"; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOfRepeatedRunsTheMedianCounts(t *testing.T) {
	r := sample(nil, 18)
	r.Runs = []harness.Run{scaled("a", "1", 9), scaled("b", "1", 1), scaled("c", "1", 2), scaled("d", "2", 3)}
	lines := scalingLines(labels(r))
	if len(lines) != 1 || !near(lines[0].points[0].gteps(), 2) || lines[0].points[0].repeats != 3 || lines[0].points[1].repeats != 1 {
		t.Fatalf("got %+v", lines)
	}
	table := scalingTable(lines)
	last := len(table.Head) - 1
	if table.Head[last].Text != "runs" || table.Rows[0][last].Text != "3" || table.Rows[1][last].Text != "1" || !strings.Contains(table.Note, "median rate") {
		t.Errorf("the table does not say that 3 runs were repeats: %+v", table)
	}
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	if notes := overWorkers(p, lines)[0].notes; !strings.Contains(strings.Join(notes, " "), "up to 3 of them") {
		t.Errorf("the figure says %q", notes)
	}
	r.Runs = r.Runs[2:]
	if table := scalingTable(scalingLines(labels(r))); len(table.Head) != last || strings.Contains(table.Note, "median rate") {
		t.Errorf("without repeats the table says %+v", table)
	}
}

func TestAFigureOfScalingKeepsALineOfEveryEngine(t *testing.T) {
	var lines []scalingLine
	for _, family := range []string{"a", "b", "c"} {
		for scale := 16; scale <= 20; scale++ {
			lines = append(lines, scalingLine{family: family, name: family, points: []scalingPoint{{1, harness.Run{Scale: scale}, 1}}})
		}
	}
	var got []string
	for _, l := range largest(lines) {
		got = append(got, l.family+superscript(l.points[0].run.Scale))
	}
	if strings.Join(got, " ") != "a¹⁹ a²⁰ b¹⁹ b²⁰ c¹⁹ c²⁰" {
		t.Errorf("kept %v", got)
	}
}

func TestKernel1IsComparedByTupleAndBySearch(t *testing.T) {
	run := sampleRun("cpu", 0, 16, 4)
	run.Construction.Elapsed = 100 * time.Millisecond
	run.Construction.Bytes = 8 << 20
	run.Statistics.Time.Median = 0.001
	row := constructionTable([]labelled{{label: "cpu", run: run}}).Rows[0]
	if row[4].Text != "10.5" || row[5].Text != "100" || row[7].Text != "8.00" {
		t.Errorf("the row is %v: want 10.5 million tuples a second, 100 searches, 8 bytes a tuple", row)
	}
	run.Graph = nil
	if row := constructionTable([]labelled{{label: "cpu", run: run}}).Rows[0]; row[4].Text != missing || row[7].Text != missing {
		t.Errorf("without a graph the row is %v", row)
	}
}

// Beside the longest time stands the root that took it, whatever the size of its component.
func TestTheSlowestRootIsTheOneThatTookLongest(t *testing.T) {
	run := sampleRun("cpu", 0, 16, 4)
	few := int64(2)
	for i, seconds := range []float64{0.5, 0.001, 2, 1} {
		run.Roots[i].Time = seconds
	}
	run.Roots[1].NEdge = &few // the lowest rate of all
	run.Roots[3].Time, run.Roots[3].NEdge = 9, nil
	run.Statistics = statisticsOf(run.Roots[:3])
	row := timesTable([]labelled{{label: "cpu", run: run}}).Rows[0]
	if want := strconv.FormatInt(int64(run.Roots[2].Root), 10); row[4].Text != "2.000 s" || row[6].Text != want {
		t.Errorf("the slowest search takes %s from %s, want 2.000 s from %s", row[4].Text, row[6].Text, want)
	}
}
