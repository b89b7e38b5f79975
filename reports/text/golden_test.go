package text

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

var update = flag.Bool("update", false, "write the golden files of texts; read what changes before you commit it")

// golden compares a text with a file of testdata, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s differs; see what changes, then run the test with -update:\n%s", path, differingLines(want, got))
	}
}

// differingLines are the lines that only one of two texts has.
func differingLines(want, got string) string {
	var out strings.Builder
	for _, side := range [][3]string{{"- ", want, got}, {"+ ", got, want}} {
		for line := range strings.Lines(side[1]) {
			if !strings.Contains(side[2], line) {
				out.WriteString(side[0] + line)
			}
		}
	}
	return out.String()
}

// fewRoots is a result with a few searches, so that its texts can be read.
func fewRoots(engines []string, scales ...int) record.Result {
	r := samples.Result(nil, scales...)
	for i, engine := range engines {
		for _, scale := range scales {
			r.Runs = append(r.Runs, samples.Run(engine, i, scale, 3))
		}
	}
	return r
}

// several are two engines, one with a wrong search, names that formats have to escape, and a second record.
func several() []record.Result {
	a := fewRoots([]string{"cpu", "a,\"b\"/c|d=1"}, 16, 17)
	a.Runs[3].Valid, a.Runs[3].Roots[1].Rule = false, 4
	a.Runs[3].Roots[1].Violation = "vertex 5 is reachable\x1b[2J\nSCALE: 1"
	a.Runs[0].Roots[2].NEdge, a.Runs[0].Roots[2].Depth, a.Runs[0].Roots[2].Validated = nil, nil, false
	b := fewRoots([]string{"=cmd|'/c calc'!A1"}, 18)
	b.ID, b.Machine.Hostname, b.Environment = "second", "", map[string]string{"TEPS_NOTE": "after the BIOS update"}
	b.Runs[0].GraphID, b.Runs[0].Graph = record.GraphID{Source: "roads.mtx"},
		&record.GraphRecord{Vertices: 1000, Tuples: 5000, SHA256: "ab12"}
	return []record.Result{a, b}
}

// unofficial are runs without official numbers, each for a reason of its own.
func unofficial() []record.Result {
	r := fewRoots([]string{"interrupted", "failed", "invalid", "no roots", "no statistics", "no graph", "no kernel 1",
		"impossible", "no time", "no state", "unchecked", "valid"}, 16)
	r.Runs[0].State, r.Runs[0].Valid = record.Interrupted, false
	r.Runs[1].State, r.Runs[1].Failure = record.Failed, "the engine's process ended\nSCALE:                          42"
	r.Runs[2].Valid = false
	r.Runs[3].Roots, r.Runs[3].Statistics = nil, nil
	r.Runs[4].Statistics = nil
	r.Runs[5].Graph = nil
	r.Runs[6].Construction = nil
	r.Runs[7].Statistics.TEPS.Max = 1e300
	r.Runs[8].Statistics.Time.Min = 0
	r.Runs[9].State = ""
	for i := range r.Runs[10].Roots {
		r.Runs[10].Roots[i].Validated = false
	}
	r.Runs[10].Statistics.Validation = nil
	return []record.Result{r}
}

// green are energy loops; only the first two are submissions.
func green() []record.Result {
	r := fewRoots([]string{"system", "gpus", "invalid", "loop failed", "not compliant", "no level", "component",
		"no system power", "estimated", "no meter"}, 20)
	for i := range r.Runs {
		r.Runs[i] = samples.WithMeters(r.Runs[i], power.Package, power.Wall)
	}
	d := *r.Runs[1].Description
	d.Devices = []plugins.Device{{Kind: "gpu", Name: "NVIDIA H200"}, {Kind: "gpu", Name: "NVIDIA H200"}}
	r.Runs[1].Description, r.Runs[1].Rebuilt = &d, &record.Kernel1{}
	r.Runs[2].Roots[1].Violation, r.Runs[2].Roots[1].Rule = "a tuple skips a level", 3
	r.Runs[3].Energy.Failure, r.Runs[3].Energy.Figures = "it died", nil
	r.Runs[4].Compliance.Rules[1].Holds, r.Runs[4].Compliance.Compliant = false, false
	r.Runs[5].Energy.Green = &record.Green{Class: record.SmallData, Meter: "wall-0",
		Missing: []string{"a loop of at least 60 s"}}
	r.Runs[6].Energy.Figures, r.Runs[6].Energy.Green = r.Runs[6].Energy.Figures[:1],
		&record.Green{Class: record.SmallData, Missing: []string{"a meter of the whole system; metered instead: package"}}
	r.Runs[7].Energy.Green = nil
	r.Runs[8].Energy.Figures[0].Method, r.Runs[8].Energy.Figures = power.Estimated, r.Runs[8].Energy.Figures[:1]
	r.Runs[9].Energy = &record.EnergyRecord{Absent: []power.Absence{{Source: "rapl", Reason: "no powercap here"}}}
	return []record.Result{r}
}

// sweep is ten repeats of three variants, one of them with a wrong search, by two builds.
func sweep() (all []record.Result) {
	for i := range 10 {
		for speed, name := range []string{"cpu", "cpu:adjacency=csr", "distributed"} {
			r := samples.Result(nil, 16)
			r.Started = r.Started.Add(time.Duration(i) * time.Hour)
			r.Runs = []record.Run{samples.Run(name, speed, 16, 3)}
			samples.SetRate(&r.Runs[0], float64(10*speed+10+i)*1e9)
			if r.ID = name + "-" + string(rune('0'+i)); i > 5 {
				r.Software.Commit = "feedbeef1234"
			}
			all = append(all, r)
		}
	}
	all[2].Runs[0].Roots[1].Rule, all[2].Runs[0].Roots[1].Violation = 3, "it skips a level"
	return all
}

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
	for _, c := range []struct {
		name    string
		records []record.Result
		formats map[string]write
	}{
		{"several", several(), map[string]write{"text": tables, "csv": CSV, "bench": Bench, "markdown": Markdown,
			"graph500": each(Graph500)}},
		{"unofficial", unofficial(), map[string]write{"text": tables, "bench": Bench, "graph500": each(Graph500)}},
		{"valid", []record.Result{fewRoots([]string{"cpu"}, 16)}, map[string]write{"text": tables,
			"graph500": each(Graph500)}},
		{"green", green(), map[string]write{"text": tables, "green": each(Green)}},
		{"sweep", sweep(), map[string]write{"text": tables}},
		{"days", samples.Store(3, 1, 1, 0.85), map[string]write{"text": tables}},
		{"empty", []record.Result{{}}, map[string]write{"graph500": each(Graph500), "green": each(Green)}},
	} {
		for format, write := range c.formats {
			var b bytes.Buffer
			if err := write(&b, report(t, c.records...)); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+"."+format, b.String())
			if err := write(broken{}, report(t, c.records...)); !errors.Is(err, errBroken) {
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

// read is the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestListsAreAsTheyWere(t *testing.T) {
	long := fewRoots([]string{"cpu", "distributed", "an-engine-with-a-very-long-name"}, 16, 18)
	long.Digest, long.Machine.Hostname, long.Runs[0].State = "s", "node17.cluster.example.org", record.Interrupted
	listed := []Listed{List("results/20260314-091500", long, nil),
		List("c", record.Result{}, errors.New("line 7 is not what was written\x1b[31m\nthere"))}
	for i, r := range append(several(), unofficial()...) {
		listed = append(listed, List(string(rune('a'+i)), r, nil))
	}
	var b strings.Builder
	for _, width := range []int{80, 0} {
		if err := errors.Join(ListTable(&b, listed, width), ListTable(&b, nil, width)); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "list", b.String())
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
	var b strings.Builder
	for _, sides := range [][][]record.Result{
		{{a}, {other}}, {{other}, {a}}, {{a}, {noise}}, {{a}, {roots}}, {{a}, {seeds}}, {{a}, {renamed}}, {{a}, {fewer}},
		{{a, slower(a, "a2", 1.01)}, {slower(a, "b1", 1.3), slower(a, "b2", 1.31)}},
		{{a}, {other}, {slower(a, "c", 0.25)}},
	} {
		var all []compare.Comparison
		for i, side := range sides[1:] {
			all = append(all, compare.Of(compare.Side{Name: "A", Results: sides[0]},
				compare.Side{Name: string(rune('B' + i)), Results: side}))
		}
		limit := 0.05
		if err := errors.Join(Comparison(&b, all, 0), ComparisonMarkdown(&b, all)); err != nil {
			t.Fatal(err)
		}
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
	if err := Comparison(&b, all, 0); err != nil {
		t.Fatal(err)
	}
	b.WriteString(strings.Join(Engines(store[0]), "\n"))
	golden(t, "comparisons", b.String())
}
