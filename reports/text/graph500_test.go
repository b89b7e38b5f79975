package text

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// The golden file is the whole standard output of the Graph500 reference program 3.0 (one rank, scale 10). Its numbers
// are read into a record, and the record must come out as the same bytes.
func TestGraph500ReproducesTheReferenceOutput(t *testing.T) {
	want, err := os.ReadFile("testdata/graph500-reference-s10.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := Graph500(&got, result(t, runFromText(t, want))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", got.Bytes(), want)
	}
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

// The table was printed by C's printf("%s %g %.11g\n", text, x, x).
func TestPercentGAgreesWithPrintf(t *testing.T) {
	file, err := os.Open("testdata/printf-g.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for s := bufio.NewScanner(file); s.Scan(); lines++ {
		fields := strings.Fields(s.Text())
		x, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := percentG(6, x); got != fields[1] {
			t.Errorf("%%g of %s: got %s, want %s", fields[0], got, fields[1])
		}
		if got := percentG(11, x); got != fields[2] {
			t.Errorf("%%.11g of %s: got %s, want %s", fields[0], got, fields[2])
		}
	}
	if lines < 30 {
		t.Errorf("the table has only %d lines", lines)
	}
}

func TestPercentGReadBackIsWithinItsPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		precision := rapid.SampledFrom([]int{6, 11}).Draw(t, "precision")
		text := percentG(precision, x)
		back, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(back, 0) { // the largest numbers may round up beyond the range
			t.Fatalf("%q: %v", text, err)
		}
		if math.IsInf(back, 0) && math.Abs(x) < 1.7e308 || !math.IsInf(back, 0) &&
			math.Abs(back-x) > math.Abs(x)*0.51*math.Pow10(1-precision)+5e-324 {
			t.Fatalf("%v became %q", x, text)
		}
		mantissa, _, _ := strings.Cut(text, "e")
		if strings.Contains(mantissa, ".") && strings.HasSuffix(mantissa, "0") ||
			len(strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0")) > precision {
			t.Fatalf("%q has too many digits", text)
		}
	})
}

func TestGraph500OfOneValidRunHasNoComments(t *testing.T) {
	var b strings.Builder
	if err := Graph500(&b, report(t, samples.Result([]string{"cpu"}, 16)).Results[0]); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "#") || strings.Count(b.String(), "\n") != 34 {
		t.Errorf("got:\n%s", b.String())
	}
}

func TestGraph500SeparatesRuns(t *testing.T) {
	var b strings.Builder
	if err := Graph500(&b, report(t, samples.Result([]string{"cpu", "distributed"}, 16, 17)).Results[0]); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(b.String(), "\n\n")
	if len(blocks) != 4 {
		t.Fatalf("%d blocks, want 4", len(blocks))
	}
	for i, head := range []string{"# cpu scale 16\nSCALE:  ", "# cpu scale 17\n", "# distributed scale 16\n",
		"# distributed scale 17\n"} {
		if !strings.HasPrefix(blocks[i], head) {
			t.Errorf("block %d begins %q, want %q", i, blocks[i][:30], head)
		}
	}
}

// A run without a result gets one line without a label of the official text.
func TestGraph500PrintsNumbersOnlyOfValidRuns(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*record.Run)
		says   string
	}{
		"interrupted": {func(r *record.Run) { r.State, r.Valid = record.Interrupted, false },
			"interrupted after 64 searches"},
		"failed": {func(r *record.Run) { r.State, r.Failure = record.Failed, "the plugin crashed" },
			"the plugin crashed"},
		"one broken root": {func(r *record.Run) { r.Roots[7].Rule, r.Roots[7].Violation = 3, "tuple (1,2) skips a level" },
			"search 7 from vertex"},
		"marked as invalid": {func(r *record.Run) { r.Valid = false }, "invalid"},
		"no roots":          {func(r *record.Run) { r.Roots, r.Statistics = nil, nil }, "no root"},
		"no statistics":     {func(r *record.Run) { r.Statistics = nil }, "no search has a count"},
		"no graph":          {func(r *record.Run) { r.Graph = nil }, "which graph"},
		"no construction":   {func(r *record.Run) { r.Construction = nil }, "kernel 1"},
		"NaN":               {func(r *record.Run) { r.Statistics.TEPS.Mean = math.NaN() }, "impossible"},
		"infinite TEPS":     {func(r *record.Run) { r.Statistics.TEPS.Max = math.Inf(1) }, "impossible"},
		"no time":           {func(r *record.Run) { r.Statistics.Time.Min = 0 }, "impossible"},
		"no state":          {func(r *record.Run) { r.State = "" }, "complete"},
		"the zero run":      {func(r *record.Run) { *r = record.Run{} }, "complete"},
	} {
		t.Run(name, func(t *testing.T) {
			run := samples.Run("cpu", 0, 16, 64)
			c.damage(&run)
			var b strings.Builder
			if err := Graph500(&b, result(t, run)); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			if !strings.HasPrefix(got, "# No results printed: ") || strings.Count(got, "\n") != 1 || !strings.Contains(got,
				c.says) || strings.Contains(got, "TEPS:") {
				t.Errorf("got %q, want one line that says %q", got, c.says)
			}
		})
	}
}

func TestGraph500LeavesOutWhatWasNotMeasured(t *testing.T) {
	run := samples.Run("cpu", 0, 16, 1)
	run.Roots[0].Validated = false
	run.Statistics.Validation = nil
	var b strings.Builder
	if err := Graph500(&b, result(t, run)); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.HasPrefix(got, "# Not an official result: None of 1 search was validated.\n# SCALE: ") ||
		!strings.Contains(got, "harmonic_mean_TEPS") || strings.Contains(got, "stddev") || strings.Contains(got,
		"_validate:") {
		t.Errorf("got:\n%s", got)
	}
}

func TestGraph500KeepsNamesOnTheirLine(t *testing.T) {
	r := samples.Result([]string{"a\nbfs  harmonic_mean_TEPS:     !  9e99\x1b[2J", "b"}, 16)
	r.Runs[1].State, r.Runs[1].Failure = record.Failed, "x\nSCALE:                          42"
	var b strings.Builder
	if err := Graph500(&b, report(t, r).Results[0]); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "9e99") && !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "SCALE:") &&
			strings.Contains(line, "42") || strings.ContainsRune(line, '\x1b') {
			t.Errorf("a name wrote the line %q", line)
		}
	}
}

// report makes a report of records.
func report(t testing.TB, records ...record.Result) reports.Report {
	t.Helper()
	r, err := reports.New(nil, records...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// result is a result of single runs.
func result(t testing.TB, runs ...record.Run) reports.Result {
	return report(t, record.Result{Runs: runs}).Results[0]
}
