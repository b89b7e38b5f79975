// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// repeatsOf are records of one engine at scales 16 and 17: runs of several builds, each at its rates in GTEPS.
func repeatsOf(builds ...[]float64) (all []record.Result) {
	for build, rates := range builds {
		for i, rate := range rates {
			r := samples.Result([]string{"cpu"}, 16, 17)
			r.ID, r.Started = fmt.Sprintf("%d-%d", build, i), r.Started.AddDate(0, 0, build)
			r.Software.Commit = strings.Repeat(string(rune('a'+build)), 12)
			for k := range r.Runs {
				samples.SetRate(&r.Runs[k], rate*float64(k+1)*1e9)
				r.Runs[k] = samples.WithMeters(r.Runs[k], power.GPU)
				threads := fmt.Sprint(k + 1)
				r.Runs[k].Options = map[string]string{"threads": threads}
				r.Runs[k].Engine.Options = r.Runs[k].Options
			}
			all = append(all, r)
		}
	}
	return all
}

// column is a column of a table by the head of it.
func column(t *testing.T, table reports.Table, head string) (out []string) {
	t.Helper()
	i := slices.IndexFunc(table.Head, func(c reports.Cell) bool { return c.Text == head })
	if i < 0 {
		t.Fatalf("no column %q in %+v", head, table.Head)
	}
	for _, row := range table.Rows {
		out = append(out, row[i].Text)
	}
	return out
}

// drawn are the values of the marks of a figure's first panel as a table shows them, without repetitions.
func drawn(f reports.Figure, across bool) (out []string) {
	for _, shape := range f.Panels[0].Shapes {
		mark, ok := shape.(reports.Mark)
		if value := mark.At.Y; ok && (!across || mark.Glyph == reports.Diamond) {
			if across {
				value = mark.At.X
			}
			out = append(out, units.Significant(value, 4))
		}
	}
	return out
}

// A variant has one number in the first table, in the figures and in their tables: of one run, of repeats, and of
// several builds, which are several variants.
func TestFiguresAndTablesAgree(t *testing.T) {
	for name, c := range map[string]struct {
		records []record.Result
		want    []string // by build and scale
	}{
		"one run": {repeatsOf([]float64{2.522}), []string{"2.522", "5.044"}},
		"repeats": {repeatsOf([]float64{1.988, 3.056, 1, 9, 2, 3, 1, 9, 1, 9}), []string{"2.500", "5.000"}},
		"two of five builds": {repeatsOf([]float64{1.988, 3.056}, []float64{4, 5}, []float64{6, 7}, []float64{8, 9},
			[]float64{2, 4}), []string{"2.522", "5.044", "4.500", "9.000", "6.500", "13.00", "8.500", "17.00", "3.000",
			"6.000"}},
		"one of many invalid": {repeatsOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}), []string{"5.500", "11.00"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "one of many invalid" {
				for k := range c.records[0].Runs {
					c.records[0].Runs[k].Roots[0].Rule = 3
				}
			}
			r := all(c.records...)
			want := slices.Sorted(slices.Values(c.want))
			same := func(where string, got []string) {
				t.Helper()
				slices.Sort(got)
				must.Equal(t, got, want, where)
			}
			first := r.Results[0].RunTable(true)
			if r.Many() {
				first = reports.VariantTable(r.All)
			}
			same("the first table", column(t, first, "GTEPS"))
			part := rates(r.All, nil)
			same("the table of rates", column(t, part.Table, "harmonic mean"))
			same("the figure over scales", drawn(part.Figures[0], false))
			same("the figure of roots", drawn(part.Figures[2], true))
			threads := scaling(r.All, nil)
			same("the table of weak scaling", column(t, threads.Table, "GTEPS, harmonic"))
			if got := column(t, energy(r.All, nil).Table, "MTEPS/W"); len(got) > 0 {
				for i, text := range column(t, first, "MTEPS/W") {
					must.Equal(t, text, got[i]+" gpu", "MTEPS/W in the first table, row", i)
				}
			}
			perWatt := drawn(energy(r.All, nil).Figures[0], false)
			table := column(t, energy(r.All, nil).Table, "MTEPS/W")
			slices.Sort(perWatt)
			slices.Sort(table)
			must.Equal(t, perWatt, table, "the figure of MTEPS/W")
		})
	}
}

// The title of a page of many records names one run, whatever the number of graphs. Where some records of a variant
// asked for energy, its row says why they have none.
func TestTitleAndPowerOfManyRecords(t *testing.T) {
	all := repeatsOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	for i := range all {
		all[i].Runs[0].Energy = nil
		all[i].Runs[0].Compliance.Power = "not measured"
	}
	all[4].Runs[0].Energy, all[4].Runs[0].Compliance.Power = &record.EnergyRecord{}, "not measured: no meter"
	r := must.Get(reports.New(nil, all...))
	must.Equal(t, Verdicts(r), []string{"The fastest: at scale 17, cpu #2 has 10.00 GTEPS on node17."})
	must.Equal(t, energyTable(r.Variants(), true).Rows[0][2].Text, "not measured: no meter")
}
