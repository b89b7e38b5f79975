package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// factsOf are all facts about a run and its record, a line each.
func factsOf(r Result) string {
	var b strings.Builder
	for _, table := range append(r.Runs[0].Facts(), r.Facts()...) {
		for _, row := range table.Rows {
			fmt.Fprintf(&b, "%s: %s = %s\n", table.Name, row[0].Text, row[1].Text)
		}
	}
	return b.String()
}

func TestFactsSayWhatIsKnown(t *testing.T) {
	r := samples.Result([]string{"cuda"}, 18)
	r.Machine.ClockMHz, r.Machine.GPUs = 3250, []machine.GPU{{Name: "H200", PCI: "10de:2335", Address: "0000:18:00.0"}}
	run := samples.WithMeters(r.Runs[0], power.GPU)
	run.Sessions, run.Rebuilt = 2, &record.Kernel1{Construction: plugins.Construction{Elapsed: 2e9}}
	run.Description.Unavailable = "there is no driver"
	run.Description.Devices = []plugins.Device{{Kind: "gpu", Name: "H200", MemoryBytes: 139 << 30,
		Details: []plugins.Fact{{Name: "clock", Value: "1980 MHz"}}}}
	run.Construction.Details = []plugins.Fact{{Name: "grid", Value: "132 blocks"}}
	run.Energy.Meters[0].Faults = []power.Fault{{Text: "a reading failed"}}
	r.Runs = []record.Run{run}
	r.Plan.Validate = 1
	got := factsOf(all(t, r).Results[0])
	for _, want := range []string{
		"Engine: gpu = H200, 139 GiB, clock 1980 MHz", "Engine: not available because = there is no driver",
		"Engine: sessions = 2: the run was interrupted and resumed", "Kernel 1: grid = 132 blocks",
		"Kernel 1: again for the energy loop = in 2.000 s, when the run was resumed", "Machine: clock = 3250 MHz",
		"Machine: GPU = H200, 10de:2335, 0000:18:00.0", "validate 1 search;",
		"% of the loop in 600 updates; a reading failed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the facts lack %q:\n%s", want, got)
		}
	}
	r.Runs[0] = record.Run{}
	for line := range strings.Lines(factsOf(all(t, r).Results[0])) {
		if strings.HasSuffix(line, " = –\n") || strings.HasSuffix(line, " = \n") {
			t.Errorf("a fact without a value: %s", line)
		}
	}
}

func TestHeadlineNamesAFewOfManyFaults(t *testing.T) {
	r := samples.Result([]string{"a", "b", "c", "d", "e", "f", "g", "good"}, 16)
	for i := range 7 {
		r.Runs[i].State, r.Runs[i].Failure = record.Failed, "it crashed"
	}
	r.Runs[6].Roots[0].Rule = 1
	h := all(t, r).Results[0].Headline()
	if len(h.Faults) != maxFaults || h.Faults[0].Word != "INVALID" ||
		!strings.HasPrefix(h.Faults[0].Why, "g at scale 16: ") ||
		!strings.HasSuffix(h.Faults[maxFaults-1].Why, "Nor is there a result of 2 other runs.") {
		t.Errorf("the faults are %+v", h.Faults)
	}
	if !strings.HasPrefix(h.Verdict.Why, "good at scale 16: ") || h.Rate == "" {
		t.Errorf("the headline is %+v", h)
	}
	r.Runs = r.Runs[:1]
	if h := all(t, r).Results[0].Headline(); h.Rate != "" || h.Verdict.Word != "FAILED" || len(h.Faults) != 0 {
		t.Errorf("the headline of a failed run is %+v", h)
	}
	r.Runs = nil
	if h := all(t, r).Results[0].Headline(); h.Verdict.Word != "NO RESULT" {
		t.Errorf("the headline of an empty record is %+v", h)
	}
}

// A variant has one label on scales and on other graphs.
func TestVariantsHaveOneLabelOnAllGraphs(t *testing.T) {
	var records []record.Result
	for range 5 {
		scale, grid := samples.Result([]string{"cpu"}, 16), samples.Result([]string{"cpu"}, 16)
		grid.Runs[0].GraphID, grid.Runs[0].Graph.Recipe.Scale = record.GraphID{Source: "grid2d:300"}, 0
		records = append(records, scale, grid)
	}
	for _, row := range VariantTable(all(t, records...).Variants()).Rows {
		if row[0].Text != "cpu" || row[2].Text != "5/5" {
			t.Errorf("the row is %v", row)
		}
	}
}

// Of many records each variant has one line and one label, and the run with the median rate is drawn.
func TestManyRecordsAreShownByVariant(t *testing.T) {
	var records []record.Result
	for i := range 9 {
		r := samples.Result([]string{"cpu"}, 16)
		r.Runs[0].Statistics.TEPS.Mean = float64(i+1) * 1e9
		r.Runs[0].Options = map[string]string{"threads": "2", "pin": "false"}
		if i == 8 {
			r.Runs[0].Engine.Checksum, r.Runs[0].State, r.Runs[0].Failure = "ab12", record.Failed, "it crashed"
			r.Runs[0].Options = map[string]string{"threads": "4", "pin": "false", "hubs": "0"}
		}
		records = append(records, r)
	}
	table := VariantTable(all(t, records...).Variants())
	var rows []string
	for _, row := range table.Rows {
		var texts []string
		for _, cell := range row {
			texts = append(texts, cell.Text)
		}
		rows = append(rows, strings.Join(texts, " "))
	}
	want := "cpu 16 8/8 4.500 1.00 … 8.00 1.121 0.06291 VALID build 0f1e2d3, threads=2, " +
		"cpu #2 16 0/1 – – – – FAILED build ab12, hubs=0, threads=4"
	if got := strings.Join(rows, ", "); got != want {
		t.Errorf("the variants are %q, want %q", got, want)
	}
	report := all(t, records...)
	if rates := report.All[0].Rates(); report.All[0].Label != "cpu" || rates.TEPS.Mean != 4.5e9 {
		t.Errorf("drawn is %+v of %s, want the median rate", rates, report.All[0].Label)
	}
	if n := len(all(t, records[:8]...).All); n != 8 {
		t.Errorf("%d runs of 8 records are drawn", n)
	}
}

// Runs on different kinds of graphs differ in their input by their graphs alone.
func TestVariantsOnOtherGraphsDoNotDiffer(t *testing.T) {
	on := samples.Result([]string{"cpu"}, 16)
	on.Runs[0].GraphID = record.GraphID{Source: "grid2d:1000"}
	table := VariantTable(all(t, samples.Result([]string{"cpu"}, 16), on).Variants())
	if last := table.Head[len(table.Head)-1].Text; len(table.Rows) != 2 || last == "what differs" {
		t.Errorf("the table has %d rows and ends in %q", len(table.Rows), last)
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
	if got := Disturbance(run); got != "" {
		t.Errorf("a single delayed search: %q", got)
	}
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
func all(t *testing.T, records ...record.Result) Report {
	t.Helper()
	r, err := New(nil, records...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
