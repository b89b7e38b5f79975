// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestMissingNumbersAreShownAsMissing(t *testing.T) {
	a, b, signed := record.Result{}, record.Result{}, record.Result{Digest: "ab12"}
	a.ID, b.ID = "a", "b"
	for _, c := range []struct{ got, want string }{
		{Measured(0), Missing}, {Measured(90), "90.00 s"}, {Optional(nil, units.Integer), Missing}, {Positive(0), Missing},
		{Positive(1234), "1,234"},
		{Count(plugins.Count{}), Missing}, {Count(plugins.Counted(9)), "9"}, {Optional(new(int64(9)), units.Integer), "9"},
		{Percentage(1, 0), Missing}, {Percentage(1, 8), "12.5 %"},
		{Quotient(1, 0), Missing}, {Quotient(1, 8), "0.125"},
		{Joined(", ", "", Missing), Missing}, {Joined(", ", "a", Missing, "b"), "a, b"}, {NoDigest(), ""},
		{NoDigest(a, a, signed), "Record a has no digest: nothing shows that it is unchanged."},
		{NoDigest(a, b), "2 records have no digest, such as a: nothing shows that they are unchanged."},
	} {
		must.Equal(t, c.got, c.want)
	}
}

func TestDocumentationSaysHowWidePlotsAre(t *testing.T) {
	docs := must.Get(os.ReadFile("../docs/reports.md"))
	if want := fmt.Sprintf("%v inches wide", FigureWidth); !strings.Contains(string(docs), want) {
		t.Errorf("docs/reports.md does not say that plots are %s", want)
	}
}

func TestCleanLeavesOutCombiningMarks(t *testing.T) {
	must.Equal(t, Clean("e\u0301 \u0bb2\u0bc7", 40), "e \u0bb2")
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
		if file := FileName(in); file == "" || strings.ContainsAny(file, "/\\\x00 ") || strings.HasPrefix(file, ".") {
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
			if got[0] == got[1] || name == "end" && got[0] != got[2] || name == "front" && got[2] != "cpu" ||
				text.StringWidth(got[0]) > width {
				t.Errorf("%s, %d columns: %q", name, width, got)
			}
		}
	}
	// No single cut keeps these apart.
	texts := []string{"1:" + strings.Repeat("x", 30) + ":1", "2:" + strings.Repeat("x", 30) + ":1",
		"1:" + strings.Repeat("x", 15) + "y" + strings.Repeat("x", 14) + ":1", "1:" + strings.Repeat("x", 30) + ":2"}
	must.Equal(t, Shorten(8, texts...), texts, "no single cut keeps these apart")
	// Without the names of their options these do.
	texts = []string{"cpu:threads=1:adjacency=csr", "cpu:threads=1:adjacency=packed", "cpu:threads=2:adjacency=packed"}
	want := []string{"cpu:1:csr", "cpu:1:packed", "cpu:2:packed"}
	must.Equal(t, Shorten(20, texts...), want, "variants")
	texts = []string{"cpu:a=1:b=" + strings.Repeat("2", 20), "cpu:a=3:b=" + strings.Repeat("2", 20),
		"cpu:b=1:a=" + strings.Repeat("2", 20)} // the first and the last would be the same
	must.Equal(t, Shorten(5, texts...), texts, "same values")
}

// Engines may know only the architecture of a processor, while the machine records its name. Other devices name
// themselves.
func TestDevicePrefersTheMachineNameOfAProcessor(t *testing.T) {
	r := samples.Result([]string{"distributed"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "cpu", Name: "amd64", Units: 2}}
	device := func(r record.Result) string {
		result := all(r).Results[0]
		return result.Runs[0].Device()
	}
	must.Equal(t, device(r), r.Machine.CPU, "the name that the machine has for its processor")
	r.Machine.CPU = ""
	must.Equal(t, device(r), "amd64", "without a name from the machine")
	r = samples.Result([]string{"cuda"}, 26)
	r.Runs[0].Description.Devices = []plugins.Device{{Kind: "gpu", Name: "H200"}, {Kind: "gpu", Name: "H200"}}
	must.Equal(t, device(r), "2 × H200", "two devices")
}

func TestOfficialTextCountsTheProcessesOfMPI(t *testing.T) {
	for _, c := range []struct {
		builtin, ranks string
		spreads        bool
		want           int
	}{{"mpi", "6", true, 6}, {"mpi", "", false, 1}, {"", "4", true, 4}, {"distributed", "4", false, 1}} {
		s := Summary{Run: record.Run{Engine: record.EngineSpec{Builtin: c.builtin},
			Options: map[string]string{"ranks": c.ranks}, Description: &plugins.Description{Spreads: c.spreads}}}
		if got := s.MPIProcesses(); got != c.want {
			t.Errorf("%+v: %d processes", c, got)
		}
	}
}

// A wait inside the clock of a search delays it; one that may have been outside does not.
func TestDisturbedSearches(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 16)
	run := Summary{Run: r.Runs[0]}
	n := 0
	for i := range run.Roots {
		root := &run.Roots[i]
		root.Interference = &machine.Interference{Period: root.Time * 1.5, Waited: root.Time * 0.55}
		if i%8 == 0 {
			root.Interference.Stolen = root.Time * 0.1
			n++
		}
	}
	want := fmt.Sprintf("%d of %d searches of ", n, len(run.Roots))
	if got := Disturbance(run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
	for i := range run.Roots {
		if run.Roots[i].Interference.Stolen = 0; i == 0 {
			run.Roots[i].Interference.Stolen = run.Roots[i].Time
		}
	}
	must.Equal(t, Disturbance(run), "", "a single delayed search")
	calm := run
	calm.Roots, run.Roots = run.Roots[8:], run.Roots[:8]
	want = "1 of 8 searches of " + run.Label + " at scale 16 was delayed by more than a tenth of its time, "
	if got := Disturbance(run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
	want = fmt.Sprintf("2 of %d searches, among them 1 of 8 searches of ", 16+len(calm.Roots)) // of all runs
	if got := Disturbance(run, calm, run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
}

// all is a report of everything.
func all(records ...record.Result) Report {
	return must.Get(New(nil, records...))
}
