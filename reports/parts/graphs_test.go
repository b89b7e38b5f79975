package parts

import (
	"github.com/tepsbench/teps/reports"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// onGraph is a run on a graph without a scale.
func onGraph(engine, source string, tuples int64, gteps float64) record.Run {
	run := samples.Run(engine, 0, 16, 2)
	run.GraphID = record.GraphID{Source: source}
	run.Graph = &record.GraphRecord{Vertices: 1000, Tuples: tuples, SHA256: "ab12"}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// drawnRows are the names and the texts of the rows of the figure over graphs.
func drawnRows(f reports.Figure) (rows []string) {
	var texts []string
	for _, shape := range f.Panels[0].Shapes {
		if t, ok := shape.(reports.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	for i, tick := range f.Panels[0].Y.Ticks {
		rows = append(rows, tick.Label+": "+texts[i])
	}
	return rows
}

// A published rate is drawn next to runs on its graph only, in tuples a second: Merrill counts both directions of an
// edge and the diagonal of a grid, Bisson each tuple once.
func TestRatesOverGraphsComparesLikeCounts(t *testing.T) {
	r := samples.Result(nil)
	r.Runs = []record.Run{
		onGraph("cpu", "grid2d:5000", 49_990_000, 0.5), onGraph("cpu", "com-lj.ungraph.txt.gz", 34_681_189, 2),
		onGraph("two", "grid2d:5000", 49_990_000, 0.25), onGraph("two", "europe_osm.mtx", 54_054_660, 0.1),
	}
	want := []string{
		"grid2d:5000: 1,000 vertices, 49,990,000 tuples, depth 6", "cpu: 0.500", "two: 0.250",
		"Merrill et al. 2012: CPU, sequential: 0.0324 (0.081 / 2.5)",
		"Merrill et al. 2012: Tesla C2050, hybrid, distances: 0.240 (0.6 / 2.5)",
		"Merrill et al. 2012: Tesla C2050, hybrid, predecessors: 0.228 (0.57 / 2.5)",
		"com-lj.ungraph.txt.gz: 1,000 vertices, 34,681,189 tuples, depth 6", "cpu: 2.00",
		"Bisson et al. 2014: 2 Tesla K20X: 0.77", "Bisson et al. 2014: 2 Tesla K20X, the authors’ earlier code: 0.43",
		"europe_osm.mtx: 1,000 vertices, 54,054,660 tuples, depth 6", "two: 0.100",
		"Merrill et al. 2012: CPU, sequential: 0.0145 (0.029 / 2)",
		"Merrill et al. 2012: Tesla C2050, hybrid, distances: 0.155 (0.31 / 2)",
		"Merrill et al. 2012: Tesla C2050, hybrid, predecessors: 0.155 (0.31 / 2)",
	}
	f := graphsFigure(all(t, r).All, references(t, "all"), rateOnGraphs())
	if diff := cmp.Diff(want, drawnRows(f)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !f.Panels[0].X.Log {
		t.Error("rates from 0.01 to 2 are on a linear axis")
	}
}

func TestPublishedRatesOfOtherCountsAreNotDrawn(t *testing.T) {
	for name, run := range map[string]record.Run{
		"both arcs in the file": onGraph("cpu", "europe_osm.mtx", 108_109_320, 1),
		"a directed graph":      onGraph("cpu", "wikipedia-20070206.mtx", 45_030_389, 1),
		"a part of the graph":   onGraph("cpu", "com-orkut.ungraph.txt", 1000, 1),
		"another graph":         onGraph("cpu", "grid2d:4999", 49_970_006, 1),
	} {
		r := samples.Result(nil)
		r.Runs = []record.Run{run}
		if rows := drawnRows(graphsFigure(all(t, r).All, references(t, "all"), rateOnGraphs())); len(rows) != 2 {
			t.Errorf("%s: %q", name, rows)
		}
	}
}

func TestPublishedRatesOverScalesCountTuplesOnce(t *testing.T) {
	for _, v := range published(references(t, "habr-2014", "merrill-2012"), func(r reports.ReferenceRow) (_, _,
		_ float64) {
		return r.GTEPS, r.Min, r.Max
	}) {
		if !v.divided || !strings.HasSuffix(v.label, ", divided by 2") {
			t.Errorf("%s counts both directions", v.label)
		}
		if v.scale == 19 && v.label == "Habr article 2014: GTX Titan, divided by 2" && v.mean != 2.1 {
			t.Errorf("%s: %v, want half of 4.2", v.label, v.mean)
		}
	}
}

func TestFiguresOverScalesNameGraphsThatTheyLeaveOut(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 16)
	const note = "Runs on graphs without a scale are left out; the table has them."
	if notes := strings.Join(scaleFigure(all(t, r).All, nil).Notes, " "); strings.Contains(notes, note) {
		t.Errorf("nothing is left out, but the notes are %q", notes)
	}
	r.Runs = append(r.Runs, onGraph("cpu", "grid2d:300", 1, 1))
	if notes := strings.Join(scaleFigure(all(t, r).All, nil).Notes, " "); !strings.Contains(notes, note) {
		t.Errorf("notes are %q", notes)
	}
}

func TestLongNamesOfGraphsAreCutAndStayDifferent(t *testing.T) {
	r := samples.Result(nil)
	name := strings.Repeat("collection-of-networks-", 3)
	r.Runs = []record.Run{onGraph("cpu", name+"a.el", 1, 1), onGraph("cpu", name+"b.el", 1, 1)}
	rows := all(t, r).All
	if a, b := rows[0].GraphCell(), rows[1].GraphCell(); a == b || len([]rune(a)) > 30 {
		t.Errorf("the graphs are %q and %q", a, b)
	}
}

// A search of a path has a level for each vertex: the figure shows the whole of it, several levels in a bar.
func TestDeepSearchesAreDrawnToTheirEnd(t *testing.T) {
	run := onGraph("cpu", "path:1000", 999, 1)
	for i := range run.Roots {
		run.Roots[i].Levels = nil
		for range 1000 {
			run.Roots[i].Levels = append(run.Roots[i].Levels,
				plugins.Level{Frontier: 2, Edges: plugins.Counted(4), Elapsed: time.Microsecond})
		}
	}
	f := levelsFigure(reports.Summary{Run: run, Label: "cpu"})
	bars, last := 0, reports.Bar{}
	for _, shape := range f.Panels[1].Shapes {
		if bar, ok := shape.(reports.Bar); ok {
			bars, last = bars+1, bar
		}
	}
	if bars != 200 || last.At != 997 || last.To != 0.005 || f.Panels[1].X.Max != 999.5 {
		t.Errorf("%d bars on an axis to %v, the last is %+v; want 200 of 5 levels", bars, f.Panels[1].X.Max, last)
	}
	if want := "A bar is the time of 5 levels together, a point the mean of their counts."; f.Notes[1] != want {
		t.Errorf("the note is %q, want %q", f.Notes[1], want)
	}
}

// Engines are compared in the levels of one root, which the first engine's median is. Others have it elsewhere or not.
func TestLevelsOfEnginesAreThoseOfOneRoot(t *testing.T) {
	ms := time.Millisecond
	run := func(label string, scale int, roots ...graph.Vertex) reports.Summary {
		r := samples.Run(label, 0, scale, len(roots))
		for i, root := range roots {
			r.Roots[i].Root, r.Roots[i].Time = root, float64(1+i)/1e3
			r.Roots[i].Levels = []plugins.Level{{Frontier: 1, Edges: plugins.Counted(int64(root)), Elapsed: ms},
				{Frontier: 2, Edges: plugins.Counted(0), Elapsed: 2 * ms}}
		}
		return reports.Summary{Run: r, Label: label}
	}
	small, first, second := run("first", 15, 9), run("first", 16, 7, 9), run("second", 16, 8, 7)
	figures := levelsTogether([]reports.Summary{small, first, second, run("third", 16, 9)})
	if len(figures) != 1 || figures[0].Name != "levels-s16" || len(figures[0].Legend) != 2 {
		t.Fatalf("got %d figures %+v, want one of scale 16 with two engines", len(figures), figures)
	}
	marks := 0
	for _, shape := range figures[0].Panels[0].Shapes {
		if mark, ok := shape.(reports.Mark); ok {
			marks++
			if mark.At != (xy(0, 7)) {
				t.Errorf("got a mark at %v, want the 7 entries of root 7 in level 0", mark.At)
			}
		}
	}
	if marks != 2 {
		t.Errorf("got %d marks of entries, want one for each engine", marks)
	}
	if got := levelsTogether([]reports.Summary{first}); len(got) != 0 {
		t.Errorf("one engine: got %d figures, want none", len(got))
	}
}

// The figure of levels draws counters, but not launches of kernels.
func TestLevelsFigureHasCounters(t *testing.T) {
	run := samples.Run("cpu", 0, 16, 1)
	counted := func(n int64) []plugins.Counter {
		return []plugins.Counter{{Name: "kept", Value: n}, {Name: "culled"}, {Name: plugins.KernelLaunches, Value: 2}}
	}
	run.Roots[0].Levels[1].Counters, run.Roots[0].Levels[3].Counters = counted(5), counted(6)
	curves, values := counterCurves(run.Roots[0].Levels)
	if len(curves) != 1 || curves[0].label != "kept" || values != (span{5, 6}) ||
		!slices.Equal(curves[0].points, []reports.Point{xy(1, 5), xy(3, 6)}) {
		t.Errorf("got %+v from %v, want what was kept in levels 1 and 3", curves, values)
	}
	if f := levelsFigure(reports.Summary{Run: run, Label: "cpu"}); len(f.Panels) != 3 {
		t.Errorf("got %d panels, want one of counters, too", len(f.Panels))
	}
}
