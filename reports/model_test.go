package reports

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestInvalidRunIsNotDrawn(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 16)
	r.Runs[0].Roots[0].Rule, r.Runs[0].Roots[0].Violation = 1, "a cycle"
	if got := all(t, r).Figures(); len(got) != 0 {
		t.Errorf("%d figures of an invalid run", len(got))
	}
}

func TestEngineKeepsItsLookWhenOthersFail(t *testing.T) {
	r := samples.Result([]string{"first", "second"}, 16)
	rated := func(run Run) bool { return run.Rates() != nil }
	both := seriesOf(runs(r), rated)
	r.Runs[0].Statistics = nil
	alone := seriesOf(runs(r), rated)
	if len(both) != 2 || len(alone) != 1 {
		t.Fatalf("%d and %d series", len(both), len(alone))
	}
	if diff := cmp.Diff(both[1].look, alone[0].look); diff != "" {
		t.Errorf("the look of second with first and without (-with +without):\n%s", diff)
	}
}

func TestEnginesWithEqualCleanNamesGetNumbers(t *testing.T) {
	r := samples.Result([]string{"a\x00b", "a b"}, 16, 17)
	got := runs(r)
	if got[0].Label != "a b" || got[1].Label != "a b" || got[2].Label != "a b #2" || got[3].Label != "a b #2" {
		t.Errorf("labels are %q %q %q %q", got[0].Label, got[1].Label, got[2].Label, got[3].Label)
	}
	for _, name := range []string{"levels-a-b-s17", "levels-a-b-s17-2"} {
		if _, err := all(t, r).Figure(name); err != nil {
			t.Error(err)
		}
	}
}

func TestMedianRootHasTheMedianTime(t *testing.T) {
	run := samples.Run("cpu", 0, 16, 5)
	for i, seconds := range []float64{5, 1, 4, 2, 3} {
		run.Roots[i].Time = seconds
	}
	if root, found := (Run{Run: run}).medianRoot(); !found || root.Index != 4 {
		t.Errorf("search %d is the median root, want 4", root.Index)
	}
	run.Roots[4].Levels = nil // of the four that are left, the lower of the two in the middle
	if root, found := (Run{Run: run}).medianRoot(); !found || root.Index != 3 {
		t.Errorf("search %d is the median root, want 3", root.Index)
	}
}

func TestMissingNumbersAreShownAsMissing(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{measured(0), Missing}, {measured(90), "90.00 s"}, {optional(nil, units.Integer), Missing}, {Positive(0), Missing},
		{Positive(1234), "1,234"},
		{Count(plugins.Count{}), Missing}, {percentage(1, 0), Missing}, {percentage(1, 8), "12.5 %"},
		{ratio(1, 0), Missing}, {ratio(1, 8), "0.125"},
		{Joined(", ", "", Missing), Missing}, {Joined(", ", "a", Missing, "b"), "a, b"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestDocumentationSaysHowWidePlotsAre(t *testing.T) {
	docs, err := os.ReadFile("../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%v inches wide", FigureWidth); !strings.Contains(string(docs), want) {
		t.Errorf("docs/reports.md does not say that plots are %s", want)
	}
}

func TestScaleAxisLabelsSomeOfManyScales(t *testing.T) {
	for last, want := range map[int]string{14: "2¹⁰ 2¹¹ 2¹² 2¹³ 2¹⁴", 42: "2¹⁰ 2¹³ 2¹⁶ 2¹⁹ 2²² 2²⁵ 2²⁸ 2³¹ 2³⁴ 2³⁷ 2⁴⁰"} {
		var labels []string
		for _, tick := range scaleAxis(span{10, float64(last)}).Ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("ticks are %q, want %q", got, want)
		}
	}
}

func TestCleanLeavesOutCombiningMarks(t *testing.T) {
	if got := Clean("e\u0301 \u0bb2\u0bc7", 40); got != "e \u0bb2" {
		t.Errorf("%q", got)
	}
}

func TestCleanMakesOneShortLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()),
			func(b []byte) string { return string(b) })).Draw(t, "text")
		limit := rapid.IntRange(2, 50).Draw(t, "limit")
		out := Clean(in, limit)
		if n := utf8.RuneCountInString(out); n == 0 || n > limit || !utf8.ValidString(out) {
			t.Fatalf("%q became %q", in, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
				unicode.Is(unicode.Zp, r) || unicode.IsMark(r) {
				t.Fatalf("%q became %q, which has %U", in, out, r)
			}
		}
		if again := Clean(out, limit); again != out {
			t.Fatalf("%q cleaned again became %q", out, again)
		}
		if file := fileName(in); file == "" || strings.ContainsAny(file, "/\\\x00 ") || strings.HasPrefix(file, ".") {
			t.Fatalf("%q became the file name %q", in, file)
		}
	})
}

func TestShortNamesStayDifferent(t *testing.T) {
	const long = "cpu:threads=%d:adjacency=packed:latency=%d:segments=64"
	for name, texts := range map[string][]string{
		"front": {fmt.Sprintf(long, 1, 1), fmt.Sprintf(long, 2, 1), "cpu"},
		"end":   {fmt.Sprintf(long, 1, 1), fmt.Sprintf(long, 1, 2), fmt.Sprintf(long, 1, 1)},
	} {
		for width := 20; width < 50; width++ {
			got := Shorten(width, texts...)
			if got[0] == got[1] || name == "end" && got[0] != got[2] || name == "front" && got[2] != "cpu" {
				t.Errorf("%s, %d columns: %q", name, width, got)
			}
			if n := text.StringWidth(got[0]); n != width {
				t.Errorf("%q has %d columns, want %d", got[0], n, width)
			}
		}
	}
	// No single cut keeps these apart.
	texts := []string{"1:" + strings.Repeat("x", 30) + ":1", "2:" + strings.Repeat("x", 30) + ":1",
		"1:" + strings.Repeat("x", 15) + "y" + strings.Repeat("x", 14) + ":1", "1:" + strings.Repeat("x", 30) + ":2"}
	if diff := cmp.Diff(texts, Shorten(8, texts...)); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	// Without the names of their options these do.
	texts = []string{"cpu:threads=1:adjacency=csr", "cpu:threads=1:adjacency=packed", "cpu:threads=2:adjacency=packed"}
	want := []string{"cpu:1:csr", "cpu:1:packed", "cpu:2:packed"}
	if diff := cmp.Diff(want, Shorten(13, texts...)); diff != "" {
		t.Errorf("variants (-want +got):\n%s", diff)
	}
	texts = []string{"cpu:a=1:b=" + strings.Repeat("2", 20), "cpu:a=3:b=" + strings.Repeat("2", 20),
		"cpu:b=1:a=" + strings.Repeat("2", 20)} // the first and the last would be the same
	if diff := cmp.Diff(texts, Shorten(5, texts...)); diff != "" {
		t.Errorf("same values (-want +got):\n%s", diff)
	}
}

// Variants of an engine keep different names in every figure and table.
func TestVariantsWithLongNamesHaveDifferentLabels(t *testing.T) {
	const one, two = "cpu:adjacency=packed:alpha=15:latency=csr", "cpu:adjacency=plain:alpha=15:latency=csr"
	r := samples.Result([]string{one, two}, 16)
	for _, label := range []string{runs(r)[0].Label, runs(r, r)[0].Label} {
		if !strings.Contains(label, "packed") || strings.Contains(label, "#") {
			t.Errorf("the label of %s is %s", one, label)
		}
	}
	f, err := all(t, r).Figure("directions")
	if err != nil {
		t.Fatal(err)
	}
	if names := f.Panels[0].Y.Ticks; names[0].Label == names[1].Label {
		t.Errorf("both rows are %s", names[0].Label)
	}
}

func TestLabelsOfAnyLengthFitFiguresAndFileNames(t *testing.T) {
	long := strings.Repeat("engine", 1000)
	r := samples.Result([]string{long + "1", long + "2"}, 16)
	got := runs(r)
	if got[0].Label == got[1].Label {
		t.Errorf("both engines are %s", got[0].Label)
	}
	for _, run := range got {
		if n := text.StringWidth(run.Label); n > NameLength+len(" #2") {
			t.Errorf("a label has %d columns: %s", n, run.Label)
		}
	}
	for _, f := range all(t, r).Figures() {
		if len(f.Name) > 80 || len(f.Title) > 200 {
			t.Errorf("the figure %s has a title of %d letters", f.Name, len(f.Title))
		}
	}
}

func TestLevelsTableHasTheColumnsThatWereCounted(t *testing.T) {
	head := func(levels ...plugins.Level) string {
		var out []string
		table := Run{Run: record.Run{Roots: []record.RootRecord{{Time: 1, Levels: levels}}}}.Levels()
		for _, c := range table.Head {
			out = append(out, c.Text)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("a line of %d cells under %d", len(row), len(table.Head))
			}
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ got, want string }{
		{head(plugins.Level{Frontier: 1}), "level, direction, vertices expanded"},
		{head(plugins.Level{Frontier: 1, Elapsed: 5}, plugins.Level{Frontier: 3, Edges: plugins.Counted(0)}),
			"level, direction, vertices expanded, entries looked at, time, share"},
		{head(plugins.Level{Messages: plugins.Counted(4), Phases: []plugins.Phase{{Name: "fold", Elapsed: 7}}}),
			"level, direction, vertices expanded, messages, phases"},
		{head(plugins.Level{Counters: []plugins.Counter{{Name: "culled", Value: 7}}}),
			"level, direction, vertices expanded, counters"},
	} {
		if c.got != c.want {
			t.Errorf("columns are %q, want %q", c.got, c.want)
		}
	}
}

func TestProfileIsATableOfLaunches(t *testing.T) {
	share, rate, level := 0.5, 2.5e11, 1
	r := Run{Run: record.Run{Roots: []record.RootRecord{{Time: 1, Levels: []plugins.Level{{Frontier: 1}},
		Profile: []record.Launch{{Kernel: "search", Occupancy: &share}, {Kernel: "step", Level: &level, L2: &rate}}}}}}
	table := r.Profile()
	got := ""
	for _, row := range append([][]Cell{table.Head}, table.Rows...) {
		for _, cell := range row {
			got += cell.Text + "|"
		}
	}
	want := "level|kernel|occupancy|L2, GB/s||search|50.0 %||1|step||250|"
	if got = strings.ReplaceAll(got, Missing, ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if rows := (Run{}).Profile().Rows; len(rows) > 0 {
		t.Errorf("a run without a profile has %v", rows)
	}
}

// Engines may know only the architecture of a processor, while the machine records its name. Other devices name
// themselves.
func TestDevicePrefersTheMachineNameOfAProcessor(t *testing.T) {
	r := samples.Result([]string{"distributed"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "cpu", Name: "amd64", Units: 2}}
	device := func(r record.Result) string {
		result := all(t, r).Results[0]
		return result.Device(result.Runs[0])
	}
	if got := device(r); got != r.Machine.CPU {
		t.Errorf("the processor is called %q, want the machine's name %q", got, r.Machine.CPU)
	}
	r.Machine.CPU = ""
	if got := device(r); got != "amd64" {
		t.Errorf("without a name from the machine the device is %q", got)
	}
	r = samples.Result([]string{"cuda"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "gpu", Name: "H200"}, {Kind: "gpu", Name: "H200"}}
	if got := device(r); got != "2 × H200" {
		t.Errorf("two devices are %q", got)
	}
}
