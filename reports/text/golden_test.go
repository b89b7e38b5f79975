// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// Every text is as it was: the file of a format and a set of records has all of it.
func TestTextsAreAsTheyWere(t *testing.T) {
	type write = func(io.Writer, reports.Report) error
	each := func(one func(io.Writer, reports.Result) error) write {
		return func(w io.Writer, r reports.Report) (err error) {
			for _, result := range r.Results {
				err = errors.Join(err, one(w, result))
			}
			return err
		}
	}
	tables := func(w io.Writer, r reports.Report) error { return Tables(w, r, 0) }
	draft := samples.Green()[0]
	draft.Runs = draft.Runs[:1]
	for _, c := range []struct {
		name    string
		records []record.Result
		formats map[string]write
	}{
		{"several", samples.Several(), map[string]write{"text": tables, "csv": CSV, "bench": Bench, "markdown": Markdown,
			"junit": JUnit, "openmetrics": OpenMetrics,
			"graph500": each(Graph500)}},
		{"unofficial", samples.Unofficial(), map[string]write{"text": tables, "bench": Bench, "graph500": each(Graph500)}},
		{"valid", []record.Result{samples.FewRoots([]string{"cpu"}, 16)}, map[string]write{"text": tables,
			"graph500": each(Graph500)}},
		{"green", samples.Green(), map[string]write{"text": tables, "submission": Submission}},
		{"drafts", append(samples.Several(), draft), map[string]write{"submission": Submission}},
		{"sweep", samples.Sweep(), map[string]write{"text": tables}},
		{"days", samples.Store(3, 1, 1, 0.85), map[string]write{"text": tables}},
		{"empty", []record.Result{{}}, map[string]write{"graph500": each(Graph500), "submission": Submission}},
	} {
		for format, write := range c.formats {
			var b bytes.Buffer
			must.Do(write(&b, report(c.records...)))
			samples.Golden(t, c.name+"."+format, b.String())
			if err := write(broken{}, report(c.records...)); !errors.Is(err, errBroken) {
				t.Errorf("%s to a writer that fails: %v", format, err)
			}
			if format == "markdown" {
				goodMarkdown(t, b.String())
			}
			for r := benchfmt.NewReader(&b, c.name); format == "bench" && r.Scan(); {
				if wrong, ok := r.Result().(*benchfmt.SyntaxError); ok {
					t.Errorf("benchstat cannot read this: %v", wrong)
				}
			}
		}
	}
}

var errBroken = errors.New("no room")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestListsAreAsTheyWere(t *testing.T) {
	long := samples.FewRoots([]string{"cpu", "distributed", "an-engine-with-a-very-long-name"}, 16, 18)
	long.Digest, long.Machine.Hostname, long.Runs[0].State = "s", "node17.cluster.example.org", record.Interrupted
	listed := []Listed{List("teps-results/20260314-091500.000", long, nil),
		List("c", record.Result{}, errors.New("line 7 is not what was written\x1b[31m\nthere"))}
	for i, r := range append(samples.Several(), samples.Unofficial()...) {
		listed = append(listed, List(string(rune('a'+i)), r, nil))
	}
	var b strings.Builder
	for _, width := range []int{80, 0} {
		must.Do(ListTable(&b, listed, width), ListTable(&b, listed[:1], width), ListTable(&b, nil, width))
	}
	samples.Golden(t, "list", b.String())
}

// slower is a result in which searches take factor times as long.
func slower(r record.Result, id string, factor float64) record.Result {
	r.ID = id
	var runs []record.Run
	for _, run := range r.Runs {
		roots := append([]record.RootRecord(nil), run.Roots...)
		for i := range roots {
			roots[i].Time *= factor * (1 + 1e-3*float64(i%3))
		}
		run.Roots, run.Statistics = roots, record.Summarize(roots)
		runs = append(runs, run)
	}
	r.Runs = runs
	return r
}

func TestComparisonsAreAsTheyWere(t *testing.T) {
	a := samples.Result([]string{"cpu", "an-engine-with-a-very-long-name", "gone"}, 16, 17)
	other := slower(samples.Result([]string{"cpu", "an-engine-with-a-very-long-name"}, 16, 17), "b", 1.25)
	other.Machine.CPU = "AMD\x1b[31m EPYC 9754 128-Core Processor"
	noise, roots, seeds := slower(a, "n", 1), slower(a, "r", 1), slower(a, "s", 1)
	renamed, fewer := slower(a, "renamed", 2), slower(a, "fewer", 2)
	for i := range a.Runs {
		for k := range noise.Runs[i].Roots {
			noise.Runs[i].Roots[k].Time *= 1 + 0.01*float64(k%7-3)
			roots.Runs[i].Roots[k].Root += 1 << 20
		}
		seeds.Runs[i].Graph = nil
		renamed.Runs[i].Engine.Name = "new " + renamed.Runs[i].Engine.Name
		fewer.Runs[i].Roots = fewer.Runs[i].Roots[:16]
	}
	var runs, others []record.Result // enough for pairs of runs
	for i := range compare.MinPairs {
		drift := 1 + float64(i)/50
		runs = append(runs, slower(a, fmt.Sprint("r", i), drift))
		others = append(others, slower(a, fmt.Sprint("o", i), 2*drift))
	}
	var b strings.Builder
	for _, sides := range [][][]record.Result{
		{{a}, {other}}, {{other}, {a}}, {{a}, {noise}}, {{a}, {roots}}, {{a}, {seeds}}, {{a}, {renamed}}, {{a}, {fewer}},
		{{a, slower(a, "a2", 1.01)}, {slower(a, "b1", 1.3), slower(a, "b2", 1.31)}},
		{{a}, {other}, {slower(a, "c", 0.25)}}, {runs, others},
	} {
		var all []compare.Comparison
		for i, side := range sides[1:] {
			all = append(all, compare.Of(compare.Side{Name: "A", From: "results/a", Results: sides[0]},
				compare.Side{Name: string(rune('B' + i)), From: "results/b,c\x1b[31m", Results: side}))
		}
		limit := 0.05
		must.Do(Comparison(&b, all, 0), ComparisonMarkdown(&b, all))
		b.WriteString("\nfailures:\n" + strings.Join(ComparisonFailures(all, &limit), "\n") + "\n\n----\n\n")
	}
	store := []record.Result{samples.Result([]string{"cpu", "serial"}, 16), samples.Result([]string{"cpu", "mine"}, 17)}
	store[0].Runs[1].Roots = store[0].Runs[0].Roots
	store[1].ID, store[1].Runs[0].GraphID, store[1].Runs[0].Engine.Name = "second", record.GraphID{Scale: 18}, "other"
	sides := compare.Engines(store)
	var all []compare.Comparison
	for _, side := range sides[1:] {
		all = append(all, compare.Of(sides[0], side))
	}
	must.Do(Comparison(&b, all, 0))
	apart := compare.Of(sides[0], compare.Side{Name: "mine", Results: store[1:]})
	b.WriteString(strings.Join(append(Engines(store[0]), ComparisonFailures([]compare.Comparison{apart}, nil)...), "\n"))
	samples.Golden(t, "comparisons", b.String())
}

// The sentence that compares two engines says that one of them waited for processors.
func TestEnginesThatWaitedAreNamedInTheirSentence(t *testing.T) {
	r := samples.Result([]string{"cpu", "gapbs"}, 16)
	for i := range r.Runs[1].Roots {
		root := &r.Runs[1].Roots[i]
		if root.Root = r.Runs[0].Roots[i].Root; i%2 == 0 {
			root.Interference = &machine.Interference{Period: root.Time, Waited: root.Time / 2}
		}
	}
	lines := Engines(r)
	const want = "; waits for processors: gapbs in 32 of 64 searches."
	if len(lines) != 1 || !strings.HasSuffix(lines[0], want) {
		t.Errorf("got %q, want a sentence that ends in %q", lines, want)
	}
}

// The golden file is the whole standard output of the Graph500 reference program 3.0 (one rank, scale 10). Its numbers
// are read into a record, and the record must come out as the same bytes.
func TestGraph500ReproducesTheReferenceOutput(t *testing.T) {
	want := must.Get(os.ReadFile("testdata/graph500-reference-s10.txt"))
	var got bytes.Buffer
	must.Do(Graph500(&got, result(runFromText(t, want))))
	must.Equal(t, got.String(), string(want))
}

// runFromText reads an official text into a run with validated searches.
func runFromText(t *testing.T, text []byte) record.Run {
	t.Helper()
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		label, value, _ := strings.Cut(line, ":")
		x, err := strconv.ParseFloat(strings.Trim(value, " !\n"), 64)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		values[label] = x
	}
	spread := func(mean, deviation, quantity string) record.Spread {
		prefix := "bfs  "
		if quantity == "nedge" {
			prefix = ""
		}
		at := func(name string) float64 {
			x, known := values[prefix+name+"_"+quantity]
			if !known {
				t.Fatalf("the text has no %s%s_%s", prefix, name, quantity)
			}
			return x
		}
		d := at(deviation)
		return record.Spread{Min: at("min"), FirstQuartile: at("firstquartile"), Median: at("median"),
			ThirdQuartile: at("thirdquartile"), Max: at("max"), Mean: at(mean), StdDev: &d}
	}
	validation := spread("mean", "stddev", "validate")
	run := record.Run{
		GraphID: record.GraphID{Scale: int(values["SCALE"])}, State: record.Complete, Valid: true,
		Graph: &record.GraphRecord{Recipe: graph.Kronecker{Scale: int(values["SCALE"]),
			EdgeFactor: int(values["edgefactor"])}, Generation: values["graph_generation"]},
		Construction: &plugins.Construction{Elapsed: time.Duration(math.Round(values["construction_time"] * 1e9))},
		Statistics: &record.Statistics{
			NBFS: int(values["NBFS"]), Time: spread("mean", "stddev", "time"), NEdge: spread("mean", "stddev", "nedge"),
			TEPS: spread("harmonic_mean", "harmonic_stddev", "TEPS"), Validation: &validation,
		},
	}
	run.Roots = make([]record.RootRecord, run.Statistics.NBFS)
	for i := range run.Roots {
		run.Roots[i].Validated = true
	}
	return run
}

// report makes a report of records.
func report(records ...record.Result) reports.Report {
	return must.Get(reports.New(nil, records...))
}

// result is a result of single runs.
func result(runs ...record.Run) reports.Result {
	return report(record.Result{Runs: runs}).Results[0]
}
