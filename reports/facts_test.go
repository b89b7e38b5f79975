// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// A variant has one label on scales and on other graphs.
func TestVariantsHaveOneLabelOnAllGraphs(t *testing.T) {
	var records []record.Result
	for range 5 {
		scale, grid := samples.Result([]string{"cpu"}, 16), samples.Result([]string{"cpu"}, 16)
		grid.Runs[0].GraphID, grid.Runs[0].Graph.Recipe.Scale = record.GraphID{Source: "grid2d:300"}, 0
		records = append(records, scale, grid)
	}
	for _, row := range VariantTable(all(records...).Variants()).Rows {
		if row[0].Text != "cpu" || row[2].Text != "5/5" {
			t.Errorf("the row is %v", row)
		}
	}
}

// Of many records the variants are drawn, each with its median rate.
func TestManyRecordsAreShownByVariant(t *testing.T) {
	var records []record.Result
	for i := range 9 {
		r := samples.Result([]string{"cpu"}, 16)
		r.Runs[0].Statistics.TEPS.Mean = float64(i+1) * 1e9
		if i == 8 {
			r.Runs[0].Engine.Checksum, r.Runs[0].State, r.Runs[0].Failure = "ab12", record.Failed, "it crashed"
			r.Runs[0].Options = map[string]string{"threads": "4", "hubs": "0"}
		}
		records = append(records, r)
	}
	drawn := all(records...).All
	if len(drawn) != 2 || drawn[0].Label != "cpu" || drawn[0].Rates().TEPS.Mean != 4.5e9 || drawn[1].Rates() != nil ||
		drawn[1].Differs != "build ab12, hubs=0, threads=4" {
		t.Errorf("drawn are %+v, want the median rate of cpu, and cpu #2", drawn)
	}
	if n := len(all(records[:8]...).All); n != 8 {
		t.Errorf("%d runs of 8 records are drawn", n)
	}
}

// Runs on different kinds of graphs differ in their input by their graphs alone.
func TestVariantsOnOtherGraphsDoNotDiffer(t *testing.T) {
	on := samples.Result([]string{"cpu"}, 16)
	on.Runs[0].GraphID = record.GraphID{Source: "grid2d:1000"}
	table := VariantTable(all(samples.Result([]string{"cpu"}, 16), on).Variants())
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
func all(records ...record.Result) Report {
	return must.Get(New(nil, records...))
}
