package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

const hostile = `<script>alert("1")</script>&'` + "\x1b[31m\x00\n\u202e\xff" + ` style="fill:#222222"`

// partial are results as they are left by whatever can go wrong.
func partial() map[string]harness.Result {
	interrupted := sample([]string{"cpu", "distributed"}, 16, 17)
	interrupted.Runs[3].State, interrupted.Runs[3].Valid = harness.Interrupted, false
	interrupted.Runs[3].Roots = interrupted.Runs[3].Roots[:5]
	interrupted.Runs[3].Statistics = statisticsOf(interrupted.Runs[3].Roots)

	failed := sample([]string{"cpu"}, 16, 17)
	failed.Runs[1] = harness.Run{Engine: failed.Runs[1].Engine, Scale: 17, State: harness.Failed, Failure: "rpc: the engine's process ended: signal 9"}

	invalid := sample([]string{"cpu"}, 16)
	invalid.Runs[0].Roots[3].Rule, invalid.Runs[0].Roots[3].Violation, invalid.Runs[0].Valid = 4, "vertex 5 is reachable and was not reached", false

	unchecked := sample([]string{"cpu"}, 16)
	for i := range unchecked.Runs[0].Roots {
		root := &unchecked.Runs[0].Roots[i]
		*root = harness.RootRecord{Index: root.Index, Root: root.Root, Time: root.Time, Wall: root.Wall}
	}
	unchecked.Runs[0].Statistics = nil
	unchecked.Runs[0].Compliance = harness.Compliance{Rules: []harness.Check{{Rule: "every search validated", Detail: "0 of 64"}}}

	notFinite := sample([]string{"cpu"}, 16)
	notFinite.Runs[0].Statistics.TEPS.Min = math.Inf(-1)
	notFinite.Runs[0].Statistics.Time.Max = math.NaN()
	notFinite.Runs[0].Roots[0].Time = math.NaN()
	notFinite.Runs[0].Roots[1].Time = 0

	damaged := sample([]string{"cpu"}, 16)
	damaged.Runs[0].Statistics.TEPS.Max = 1e-300
	damaged.Runs[0].Roots[0].Time = 1e300

	instant := sample([]string{"cpu"}, 16) // levels that are beyond any multiple of their search
	for i := range instant.Runs[0].Roots {
		instant.Runs[0].Roots[i].Time = 1e-300
		instant.Runs[0].Roots[i].Levels = []plugins.Level{{Frontier: 1, Elapsed: 500 * time.Hour}}
	}

	evil := sample([]string{hostile, hostile + "2"}, 16)
	evil.ID, evil.Machine.CPU, evil.Command = hostile, hostile, []string{hostile}
	evil.Runs[0].Failure, evil.Runs[0].State = hostile, harness.Failed
	evil.Runs[1].Description.Summary, evil.Runs[1].Options = hostile, map[string]string{hostile: hostile}
	evil.Runs[1].Compliance.Rules[0].Detail = hostile
	evil.Runs[1].Roots[0].Violation = hostile

	deep := sample([]string{"cpu"}, 16)
	for i := range 5000 {
		deep.Runs[0].Roots[0].Levels = append(deep.Runs[0].Roots[0].Levels, plugins.Level{Frontier: 1, Elapsed: time.Duration(i)})
	}

	many := sample(nil, 16)
	for i := range 40 {
		name := fmt.Sprintf("engine-%02d", i)
		many.Plan.Engines = append(many.Plan.Engines, harness.EngineSpec{Name: name})
		many.Runs = append(many.Runs, sampleRun(name, i, 16, 64), sampleRun(name, i, 18, 64))
	}
	thousands := sample([]string{"cpu"}, 16)
	thousands.Runs[0] = sampleRun("cpu", 0, 16, 5000)

	bare := sample([]string{"cpu", strings.Repeat("a name without end ", 30)}, 16)
	for i := range bare.Runs {
		bare.Runs[i].Description, bare.Runs[i].Construction, bare.Runs[i].Graph, bare.Runs[i].Options = nil, nil, nil, nil
		for k := range bare.Runs[i].Roots {
			bare.Runs[i].Roots[k].Levels = nil
		}
	}

	silent := rankedSample() // ranks, and levels without times
	for i := range silent.Runs {
		for k := range silent.Runs[i].Roots {
			for l := range silent.Runs[i].Roots[k].Levels {
				silent.Runs[i].Roots[k].Levels[l].Elapsed = 0
			}
		}
	}

	return map[string]harness.Result{
		"nothing at all": {}, "no runs": sample(nil), "zero run": {Runs: make([]harness.Run, 3)},
		"interrupted": interrupted, "failed engine": failed, "invalid": invalid, "unchecked": unchecked, "not finite": notFinite, "rates beyond belief": damaged,
		"levels beyond their search": instant,
		"hostile names":              evil, "five thousand levels": deep, "forty engines": many, "five thousand roots": thousands,
		"nothing but rates": bare, "levels without times": silent, "ranks": rankedSample(),
		"one root": {Runs: []harness.Run{sampleRun("cpu", 0, 16, 1)}},
	}
}

func TestEveryPartialResultIsRendered(t *testing.T) {
	for name, r := range partial() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var page, text, table, markdown bytes.Buffer
			if err := errors.Join(HTML(&page, r), Text(&text, r), Table(&table, r, true), Options{}.Markdown(&markdown, r)); err != nil {
				t.Fatal(err)
			}
			goodMarkdown(t, markdown.String())
			shortForms(t, r)
			safePage(t, page.Bytes())
			if page.Len() > 16<<20 {
				t.Error("the page is larger than 16 MiB")
			}
			if text.Len() == 0 {
				t.Error("the text is empty")
			}
			narrow(t, table.String())
			for name, f := range drawings(t, r) {
				svg, err := f.svg()
				if err != nil {
					t.Fatal(err)
				}
				wellFormed(t, name, svg)
				if pdf, err := f.pdf(); err != nil || len(pdf) < 1000 {
					t.Errorf("%s.pdf has %d bytes: %v", name, len(pdf), err)
				}
			}
		})
	}
}

func TestAPartialResultIsWrittenToFiles(t *testing.T) {
	dir := t.TempDir()
	if err := WriteAll(dir, partial()["interrupted"]); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"graph500.txt", "report.html", "gteps-over-scale.svg", "roots.png", "levels-cpu-s17.png", "levels-distributed-s17.svg"} {
		if len(data(t, filepath.Join(dir, name))) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

func data(t *testing.T, path string) []byte {
	t.Helper()
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wellFormed(t *testing.T, name string, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s is not XML: %v", filepath.Base(name), err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
			t.Errorf("%s has a script", filepath.Base(name))
		}
	}
}

func safePage(t *testing.T, page []byte) {
	t.Helper()
	for _, bad := range []string{"<script", "http-equiv", "<link", "src=", "@import", "NaN", "+Inf", "-Inf", "<no value>", "\x1b", "\x00", "\u202e", "%!"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page contains %q", bad)
		}
	}
	links := regexp.MustCompile(`<a href="https://doi\.org/[^"<>]*">https://doi\.org/[^"<>]*</a>`) // what a reader may follow
	for _, address := range []string{"http://", "https://", "href="} {
		rest := links.ReplaceAll(bytes.ReplaceAll(page, []byte(`xmlns="http://www.w3.org/2000/svg"`), nil), nil)
		if bytes.Contains(rest, []byte(address)) {
			t.Errorf("the page names the address %s", address)
		}
	}
	if !utf8.Valid(page) {
		t.Error("the page is not UTF-8")
	}
}

func narrow(t interface {
	Helper()
	Errorf(string, ...any)
}, table string) {
	t.Helper()
	for line := range strings.Lines(table) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestTheTableKeepsToItsWidthAndItsVerdicts(t *testing.T) {
	r := sample([]string{strings.Repeat("long-engine-name-", 9)}, 42)
	r.Runs[0].Statistics.TEPS = harness.Spread{Min: 123456.789e9, FirstQuartile: 2e14, Median: 2e14, ThirdQuartile: 2e14, Max: 987654.321e9, Mean: 23456.789e9}
	r.Runs[0].Roots[0].Validated = false
	for _, color := range []bool{false, true} {
		var b strings.Builder
		if err := Table(&b, r, color); err != nil {
			t.Fatal(err)
		}
		narrow(t, b.String())
		if !strings.Contains(b.String(), "PARTLY CHECKED") || !strings.Contains(b.String(), "63/64") || strings.Contains(b.String(), "\x1b") != color {
			t.Errorf("color %v:\n%s", color, b.String())
		}
	}
}

func TestTheTableHasALineForEveryRun(t *testing.T) {
	r := sample([]string{"cpu", "名前がとても長い引擎の名前です"}, 16)
	r.Runs[1] = harness.Run{Engine: r.Runs[1].Engine, Scale: 16, State: harness.Failed, Failure: "crashed"}
	var b strings.Builder
	if err := Table(&b, r, false); err != nil {
		t.Fatal(err)
	}
	narrow(t, b.String())
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"engine scale valid kernel 1 s median ms GTEPS min … max state", got[1],
		"cpu 16 64/64 0.06291 1.121 0.8841 0.573 … 1.07 VALID", "名前がとても長い引擎の名前です 16 0/0 – – – – FAILED",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table is\n%s", b.String())
	}
}

func TestACleanTextIsOneShortLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		limit := rapid.IntRange(2, 50).Draw(t, "limit")
		out := clean(in, limit)
		if n := utf8.RuneCountInString(out); n == 0 || n > limit || !utf8.ValidString(out) {
			t.Fatalf("%q became %q", in, out)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
				t.Fatalf("%q became %q, which has %U", in, out, r)
			}
		}
		if again := clean(out, limit); again != out {
			t.Fatalf("%q cleaned again became %q", out, again)
		}
		if file := safeFile(in); file == "" || strings.ContainsAny(file, "/\\\x00 ") || strings.HasPrefix(file, ".") {
			t.Fatalf("%q became the file name %q", in, file)
		}
	})
}

// A record that came from a file can hold anything that JSON can: no rendering may fall over it.
func TestRenderingsTakeAnyRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, 1e-300, 1e300, math.NaN(), math.Inf(1), math.Inf(-1)}))
		count := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 100))
		some := func(name string) *int64 {
			if !rapid.Bool().Draw(t, name+" known") {
				return nil
			}
			n := count.Draw(t, name)
			return &n
		}
		spread := func(name string) harness.Spread {
			x := func(part string) float64 { return number.Draw(t, name+" "+part) }
			return harness.Spread{Min: x("min"), FirstQuartile: x("q1"), Median: x("median"), ThirdQuartile: x("q3"), Max: x("max"), Mean: x("mean")}
		}
		r := harness.Result{}
		r.ID = rapid.String().Draw(t, "id")
		for range rapid.IntRange(0, 3).Draw(t, "runs") {
			run := harness.Run{
				Engine: harness.EngineSpec{Name: rapid.String().Draw(t, "engine")}, Scale: rapid.IntRange(-5, 60).Draw(t, "scale"),
				State: rapid.SampledFrom([]harness.State{harness.Complete, harness.Failed, harness.Interrupted, "?"}).Draw(t, "state"),
				Valid: rapid.Bool().Draw(t, "valid"),
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "roots") {
				run.Roots = append(run.Roots, harness.RootRecord{Index: i, Time: number.Draw(t, "time"), NEdge: some("nedge"), M: some("m"), Validated: rapid.Bool().Draw(t, "validated"),
					Levels: []plugins.Level{{Frontier: count.Draw(t, "frontier"), Elapsed: time.Duration(count.Draw(t, "elapsed")), Edges: plugins.Counted(count.Draw(t, "edges"))}}})
			}
			if rapid.Bool().Draw(t, "statistics") {
				run.Statistics = &harness.Statistics{NBFS: rapid.IntRange(-1, 70).Draw(t, "nbfs"), Time: spread("time"), NEdge: spread("nedge"), TEPS: spread("teps")}
			}
			if rapid.Bool().Draw(t, "graph") {
				run.Graph = &harness.GraphRecord{Generation: number.Draw(t, "generation")}
				run.Construction = &plugins.Construction{Elapsed: time.Duration(count.Draw(t, "construction")), Bytes: count.Draw(t, "bytes")}
			}
			r.Runs = append(r.Runs, run)
		}
		var page, text, table bytes.Buffer
		for _, err := range []error{HTML(&page, r), Text(&text, r), Table(&table, r, false)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		narrow(t, table.String())
		p, err := newPen()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.draw(labels(r), nil).all() {
			svg, err := f.svg()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Fatalf("%s is drawn with what is not a number", f.name)
			}
		}
	})
}

// What goes through a file and back renders the same: reports are made from records.
func TestARecordReadBackRendersTheSame(t *testing.T) {
	r := sample([]string{"cpu", "distributed"}, 16, 17)
	stored, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back harness.Result
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := errors.Join(HTML(&first, r), HTML(&second, back)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the page of the stored record differs")
	}
}
