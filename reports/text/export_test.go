package text

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestCSVHasARowForEverySearch(t *testing.T) {
	a, b := samples.Result([]string{"cpu", "a,\"b\""}, 16, 17), samples.Result([]string{"cpu"}, 18)
	a.Runs[0].Roots[3].Rule, a.Runs[0].Roots[3].Violation = 4, "rule 4"
	a.Runs[0].Roots[4].NEdge, a.Runs[0].Roots[4].Depth, a.Runs[0].Roots[4].Validated = nil, nil, false
	var text bytes.Buffer
	if err := CSV(&text, report(t, a, b)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+5*64 {
		t.Fatalf("%d rows, want one for the names and 5 runs of 64", len(rows))
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		if _, twice := column[name]; twice {
			t.Errorf("column %s is there twice", name)
		}
		column[name] = i
	}
	get := func(row int, name string) string { return rows[row][column[name]] }
	root := a.Runs[2].Roots[0] // the second engine at the first scale
	for name, want := range map[string]string{
		"run": a.ID, "started": "2026-03-14T09:15:00Z", "checksummed": "false", "processor": a.Machine.CPU, "engine": `a,"b"`,
		"engine_name":    `a,"b"`,
		"engine_version": "0.1.0", "options": "alpha=15;threads=2", "scale": "16", "edgefactor": "16", "seed1": "2",
		"index": "0",
		"root":  strconv.FormatInt(int64(root.Root), 10), "nedge": strconv.FormatInt(*root.NEdge, 10), "validated": "true",
		"broken_rule": "", "state": "complete", "compliant": "true",
	} {
		if got := get(1+2*64, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	seconds, _ := strconv.ParseFloat(get(1+2*64, "time_s"), 64)
	teps, _ := strconv.ParseFloat(get(1+2*64, "teps"), 64)
	if seconds != root.Time || teps != float64(*root.NEdge)/root.Time {
		t.Errorf("time %v and rate %v; want %v and their quotient, not rounded", seconds, teps, root.Time)
	}
	if get(4, "broken_rule") != "4" || get(4, "teps") != "" {
		t.Errorf("a wrong search: rule %q, rate %q; want the rule and no rate", get(4, "broken_rule"), get(4, "teps"))
	}
	for _, name := range []string{"nedge", "teps", "depth", "validation_s"} {
		if get(5, name) != "" {
			t.Errorf("%s that was not measured is %q", name, get(5, name))
		}
	}
}

// A record names its engines, options and host. None of these is a formula to a spreadsheet that opens the table.
func TestCSVHasNoFormulas(t *testing.T) {
	for _, text := range []string{"=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"} {
		r := samples.Result([]string{text}, 16)
		r.ID, r.Machine.Hostname, r.Machine.CPU, r.Software.Commit = text, text, text, text
		r.Runs[0].Description.Version, r.Runs[0].Options = text, map[string]string{text: "1"}
		var b bytes.Buffer
		if err := CSV(&b, report(t, r)); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, cell := range rows[1] {
			if strings.HasPrefix(cell, "'"+text) {
				kept++
			}
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("a cell is %q, which a spreadsheet runs", cell)
			}
		}
		if kept != 8 {
			t.Errorf("%q is in %d cells, want 8", text, kept)
		}
	}
}

var errBroken = errors.New("no room")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// benchmarks reads what benchstat reads.
func benchmarks(t *testing.T, text string) (results []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(text), "records")
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.Result:
			results = append(results, record.Clone())
		case *benchfmt.SyntaxError:
			t.Errorf("syntax: %v", record)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return results, r.Units()
}

func TestBenchstatReadsEverySearch(t *testing.T) {
	a, b := samples.Result([]string{"cpu", "distributed"}, 16, 17), samples.Result([]string{"cpu"}, 18)
	b.Machine.CPU, b.Machine.Hostname = "another processor", ""
	var text bytes.Buffer
	if err := Bench(&text, report(t, a, b)); err != nil {
		t.Fatal(err)
	}
	results, units := benchmarks(t, text.String())
	if len(results) != 5*(64+2) {
		t.Fatalf("%d results, want 64 searches, a kernel 1 and a summary for each of 5 runs", len(results))
	}
	for _, unit := range []string{"TEPS", "harmonic-mean-TEPS"} {
		if units.GetBetter(unit) != 1 {
			t.Errorf("more %s is not better", unit)
		}
	}
	first, root := results[0], a.Runs[0].Roots[0]
	seconds, _ := first.Value("sec/op")
	teps, _ := first.Value("TEPS")
	if math.Abs(seconds/root.Time-1) > 1e-12 || math.Abs(teps*root.Time/float64(*root.NEdge)-1) > 1e-12 ||
		string(first.Name) != "Search/engine=cpu/scale=16" {
		t.Errorf("%s: %v s, %v TEPS; want %v s", first.Name, seconds, teps, root.Time)
	}
	for _, c := range []struct {
		result     int
		key, value string
	}{{0, "cpu", a.Machine.CPU}, {0, "machine", "node17"}, {0, "threads", "2"}, {0, "edgefactor", "16"},
		{0, "goos", "linux"}, {0, "seeds", "2,3"}, {5*66 - 1, "cpu", "another processor"}, {5*66 - 1, "machine", ""}} {
		if got := results[c.result].GetConfig(c.key); got != c.value {
			t.Errorf("result %d: %s is %q, want %q", c.result, c.key, got, c.value)
		}
	}
	last := results[65]
	if mean, _ := last.Value("harmonic-mean-TEPS"); mean != a.Runs[0].Statistics.TEPS.Mean ||
		string(last.Name) != "Graph500/engine=cpu/scale=16" || last.Iters != 64 {
		t.Errorf("%s: %v of %d searches", last.Name, mean, last.Iters)
	}
	if built, _ := results[64].Value("sec/op"); math.Abs(built/a.Runs[0].Construction.Elapsed.Seconds()-1) > 1e-12 {
		t.Errorf("kernel 1 took %v", built)
	}
}

func TestBenchLeavesOutWrongSearches(t *testing.T) {
	r := samples.Result([]string{"cpu", "wrong"}, 16)
	r.Runs[0].Roots[0].NEdge = nil
	r.Runs[1].Roots[0].Rule, r.Runs[1].Roots[0].Violation = 3, "rule 3"
	var text bytes.Buffer
	if err := Bench(&text, report(t, r, record.Result{})); err != nil {
		t.Fatal(err)
	}
	results, _ := benchmarks(t, text.String())
	if len(results) != 63+2 {
		t.Errorf("%d results, want 63 searches, kernel 1 and the summary of the one run that is right", len(results))
	}
}

// Each label is a benchmark of its own, and benchstat reads it as one part of the name.
func TestBenchGivesEveryEngineItsOwnName(t *testing.T) {
	long := strings.Repeat("distributed-ranks=16-", 4)
	names := []string{long + "owner=block", long + "owner=modulo", "a/b", "a-b", "a b", "-a-b-", "a%2Fb", "cpu:threads=1",
		"cpu-threads=1", "\xff", "\xfe", "\ufffd", "引擎", "引\n擎"}
	var text bytes.Buffer
	if err := Bench(&text, report(t, samples.Result(names, 16))); err != nil {
		t.Fatal(err)
	}
	results, _ := benchmarks(t, text.String())
	seen := map[string]int{}
	for _, r := range results {
		_, parts := r.Name.Parts()
		if len(parts) != 2 || string(parts[1]) != "/scale=16" {
			t.Fatalf("the name is %s", r.Name)
		}
		seen[string(parts[0])]++
	}
	if len(seen) != len(names) || len(results) != len(names)*66 {
		t.Errorf("%d results under %d names, want %d names: %v", len(results), len(seen), len(names), seen)
	}
	if seen["/engine=cpu:threads=1"] != 66 || seen["/engine=a%2Fb"] != 66 {
		t.Errorf("names are %v", seen)
	}
}

func TestBenchSummarizesOnlyOfficialRuns(t *testing.T) {
	r := samples.Result([]string{"cpu", "interrupted", "failed", "built nothing", "unchecked"}, 16)
	for i := range r.Runs[4].Roots {
		r.Runs[4].Roots[i].Validated = false
	}
	r.Runs[1].State = record.Interrupted
	r.Runs[2].State, r.Runs[2].Failure = record.Failed, "signal 9"
	r.Runs[3].Construction = nil
	var text bytes.Buffer
	if err := Bench(&text, report(t, r)); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"cpu", "interrupted", "failed", "built%20nothing", "unchecked"} {
		if got, want := strings.Contains(text.String(), "BenchmarkGraph500/engine="+engine+"/"),
			engine == "cpu"; got != want {
			t.Errorf("%s has a mean that Graph500 ranks by: %v", engine, got)
		}
		if !strings.Contains(text.String(), "BenchmarkSearch/engine="+engine+"/") {
			t.Errorf("the searches of %s are not there", engine)
		}
	}
}
