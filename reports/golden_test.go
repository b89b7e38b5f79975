// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph/stats"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// dump writes tables as text.
func dump(b *strings.Builder, tables ...Table) {
	for _, t := range tables {
		if len(t.Rows) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", t.Name)
		for _, row := range append([][]Cell{t.Head}, t.Rows...) {
			var cells []string
			for _, cell := range row {
				if cell.Class != "" && cell.Class != "num" {
					cell.Text += " (" + cell.Class + ")"
				}
				cells = append(cells, cell.Text)
			}
			b.WriteString(strings.Join(cells, " | ") + "\n")
		}
		b.WriteString(t.Note + "\n")
	}
}

// The headlines, first tables and facts of records are as they were.
func TestModelIsAsItWas(t *testing.T) {
	faults := samples.FewRoots([]string{"a", "b", "c", "d", "e", "f", "g", "good"}, 16)
	for i := range 7 {
		faults.Runs[i].State, faults.Runs[i].Failure = record.Failed, "it crashed"
	}
	faults.Runs[6].Roots[0].Rule = 1
	noResult := faults
	noResult.Runs = faults.Runs[:1]
	metered := samples.Store(9, 1)
	for i := range metered {
		for k, run := range metered[i].Runs {
			metered[i].Runs[k] = samples.WithMeters(run, "wall")
		}
	}
	var variants []record.Result // on scales and on other graphs; the last one differs in build and options
	for i := range 10 {
		r := samples.FewRoots([]string{"cpu"}, 16)
		if r.ID = string(rune('a' + i)); i%2 == 1 {
			r.Runs[0].GraphID, r.Runs[0].Graph.Recipe.Scale = record.GraphID{Source: "grid2d:300"}, 0
		}
		samples.SetRate(&r.Runs[0], float64(i+1)*1e9)
		variants = append(variants, r)
	}
	last := &variants[9].Runs[0]
	last.Engine.Checksum, last.State, last.Failure = "ab12", record.Failed, "it crashed"
	last.Options = map[string]string{"threads": "4", "hubs": "0"}
	for name, records := range map[string][]record.Result{
		"variants": variants, "two variants": variants[:2], "eight": variants[:8],
		"several": samples.Several(), "unofficial": samples.Unofficial(), "detailed": {samples.Detailed()},
		"sweep": samples.Sweep(), "faults": {faults, noResult}, "metered": metered,
	} {
		r := all(records...)
		var b strings.Builder
		for i, result := range r.Results {
			h := result.Headline()
			fmt.Fprintf(&b, "\n%s %s: %s GTEPS, %s\n%+v\n", result.Mark, result.Name(), h.Rate, h.Of, h)
			dump(&b, result.RunTable(true))
			if i > 2 {
				break
			}
			for _, run := range result.Runs {
				dump(&b, run.Facts()...)
			}
			dump(&b, result.Facts()...)
		}
		for _, result := range r.Results {
			fmt.Fprintln(&b, result.Mark, result.FactLine())
		}
		for _, run := range r.All {
			fmt.Fprint(&b, run.Label, ", ", run.GraphCell(), "; ")
		}
		dump(&b, VariantTable(r.Variants()), VariantTable(Sorted(r.Variants())))
		samples.Golden(t, strings.ReplaceAll(name, " ", "-"), b.String())
	}
	references := must.Get(References("habr-2014", "bisson-2014"))
	var b strings.Builder
	dump(&b, Report{References: references}.ReferenceTable(), GraphFacts(struct {
		Source, FileFormat, SHA256 string
		Symmetrized, Compacted     bool
		stats.Graph
	}{"a.mtx", "mtx", "ab12", true, true, stats.Graph{Vertices: 9, Isolated: 1, Tuples: 8, MeanDegree: 1.5}}))
	samples.Golden(t, "references", b.String())
}
