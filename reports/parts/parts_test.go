// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// scaled is a run that differs from others in its number of threads only.
func scaled(label, threads string, gteps float64) record.Run {
	run := samples.Run(label, 0, 18, 4)
	run.Engine = record.EngineSpec{Name: label, Builtin: "cpu", Options: map[string]string{"threads": threads}}
	run.Options = map[string]string{"threads": threads}
	run.Construction.Details = []plugins.Fact{{Name: "threads", Value: threads}}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// Lines of scaling, their figures and their tables are as they were. A line differs in its number of threads or ranks
// only; a line of each kind, with the most points, comes first.
func TestScalingIsAsItWas(t *testing.T) {
	ofRanks := func(run record.Run, rows string) record.Run {
		run.Engine.Builtin, run.Options = "distributed", map[string]string{"ranks": run.Options["threads"]}
		run.Engine.Options = map[string]string{"ranks": run.Options["ranks"]}
		if rows != "" {
			run.Engine.Options["rows"] = rows
		}
		run.Construction.Details = nil
		return run
	}
	whole, larger, other := scaled("all", "8", 4), scaled("larger", "2", 1.8), scaled("packed", "4", 2)
	whole.Options["threads"], whole.Engine.Options["threads"] = "0", "0" // what the machine has: the engine says how many
	larger.Scale, larger.Graph.Recipe.Scale = 19, 19
	other.Engine.Options["adjacency"] = "packed"
	var versions, threaded, matrix []record.Run
	for i, factor := range []int{16, 64} {
		for _, n := range []string{"1", "2"} {
			run := scaled("e"+n+strconv.Itoa(i), n, 1)
			run.Graph.Recipe.EdgeFactor = factor
			run.Description.Name, run.Description.Version = "cpu", []string{"0.1.0", "0.2.0"}[i]
			versions = append(versions, run)
		}
		run := samples.WithRanks(samples.Run("e"+strconv.Itoa(i), 0, 18, 4), 1+3*i, "2d")
		run.Options["threads"], run.Engine.Options["threads"] = "4", "4"
		threaded = append(threaded, run)
		for k, ranks := range []int{1, 2, 4, 8} {
			for scale := 16; scale <= 19; scale++ {
				partition := []string{"1d-dest", "2d"}[i]
				run := samples.Run("e"+strconv.Itoa(ranks)+partition, i+k, scale, 4)
				matrix = append(matrix, samples.WithRanks(run, ranks, partition))
			}
		}
	}
	var b strings.Builder
	write := func(name string, records ...record.Result) {
		fmt.Fprintf(&b, "\n# %s\n", name)
		written(&b, scaling(all(records...).All, nil))
	}
	single := func(runs ...record.Run) record.Result {
		r := samples.Result(nil)
		r.Runs = runs
		return r
	}
	write("threads", single(scaled("two", "2", 1.5), scaled("one", "1", 1), whole, larger, other))
	write("repeats", single(scaled("a", "1", 9), scaled("b", "1", 1), scaled("c", "1", 2), scaled("d", "2", 3)))
	write("two versions and edge factors", single(versions...))
	write("ranks with threads", single(threaded...))
	write("ranks and scales", single(matrix...))
	write("rows that the engine chose", single(ofRanks(scaled("one", "1", 1), "0"), ofRanks(scaled("two", "2", 1.5), "")))
	for _, host := range []string{"node17", "node18"} {
		another := single(scaled("two", "2", 3), scaled("four", "4", 5))
		another.Machine.Hostname = host
		write("node17 and "+host, single(scaled("one", "1", 1)), another)
	}
	samples.Golden(t, "scaling", b.String())
	for name, change := range map[string]func(run *record.Run){
		"edge factor": func(run *record.Run) { run.Graph.Recipe.EdgeFactor = 64 },
		"first seed":  func(run *record.Run) { run.Graph.Recipe.Seed1 = 7 },
		"second seed": func(run *record.Run) { run.Graph.Recipe.Seed2 = 7 },
		"version":     func(run *record.Run) { run.Description.Version = "0.2.0" },
		"program":     func(run *record.Run) { run.Engine.Checksum = "ab12" },
		"grid":        func(run *record.Run) { *run = ofRanks(*run, "2") },
		"no graph":    func(run *record.Run) { run.Graph = nil },
		"failed":      func(run *record.Run) { run.State, run.Failure = record.Failed, "it fell over" },
		"interrupted": func(run *record.Run) { run.State = record.Interrupted },
		"invalid":     func(run *record.Run) { run.Roots[0].Rule = 1 },
	} {
		one, two := scaled("one", "1", 1), scaled("two", "2", 1.5)
		if name == "grid" {
			one = ofRanks(one, "")
		}
		if change(&two); len(scalingLines(all(single(one, two)).All)) != 0 {
			t.Errorf("%s: runs that differ share a line", name)
		}
	}
}

// all is a report of everything.
func all(records ...record.Result) reports.Report {
	return must.Get(reports.New(nil, records...))
}

// references are publications by name.
func references(names ...string) []reports.Reference {
	return must.Get(reports.References(names...))
}
