// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

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
