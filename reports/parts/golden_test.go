// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// written is a table or figure as text: heads and rows, or legend, axes, texts of shapes and notes.
func written(b *strings.Builder, part reports.Part) {
	for _, f := range part.Figures {
		fmt.Fprintf(b, "\nfigure %s: %s\nlegend:", f.Name, f.Title)
		for _, key := range f.Legend {
			b.WriteString(" [" + key.Label + "]")
		}
		for _, p := range f.Panels {
			fmt.Fprintf(b, "\npanel %.4g: %s %.4g to %.4g, %s %.4g to %.4g", p.Height, p.X.Title, p.X.Min, p.X.Max, p.Y.Title,
				p.Y.Min, p.Y.Max)
			for _, tick := range append(p.X.Ticks, p.Y.Ticks...) {
				b.WriteString(" [" + strings.ReplaceAll(tick.Label, "\n", " ") + "]")
			}
			marks := 0
			for _, shape := range p.Shapes {
				switch shape := shape.(type) {
				case reports.Text:
					b.WriteString("\n  " + shape.Text)
				case reports.Mark:
					if marks++; marks <= 3 {
						b.WriteString("\n  mark " + shape.Key + ": " + shape.Text)
					}
				}
			}
		}
		b.WriteString("\n" + strings.Join(f.Notes, "\n") + "\n")
	}
	fmt.Fprintf(b, "\n%s\n", part.Table.Name)
	for _, row := range append([][]reports.Cell{part.Table.Head}, part.Table.Rows...) {
		for _, cell := range row {
			b.WriteString(cell.Text + " | ")
		}
		b.WriteString("\n")
	}
	b.WriteString(part.Table.Note + "\n")
}

// onGraphs are runs on graphs without a scale; publications have some of them.
func onGraphs() record.Result {
	r := samples.Result(nil)
	for _, c := range []struct {
		engine, source string
		tuples         int64
		gteps          float64
	}{
		{"cpu", "grid2d:5000", 49_990_000, 0.5}, {"cpu", "com-lj.ungraph.txt.gz", 34_681_189, 2},
		{"two", "grid2d:5000", 49_990_000, 0.25}, {"two", "europe_osm.mtx", 54_054_660, 0.1},
		{"both arcs in the file", "europe_osm.mtx", 108_109_320, 1},
		{"a directed graph", "wikipedia-20070206.mtx", 45_030_389, 1},
		{"a part of the graph", "com-orkut.ungraph.txt", 1000, 1}, {"another graph", "grid2d:4999", 49_970_006, 1},
	} {
		r.Runs = append(r.Runs, samples.WithMeters(onGraph(c.engine, c.source, c.tuples, c.gteps), power.GPU))
	}
	return r
}

// The parts of records are as they were: figures with what can be read in them, and their tables.
func TestPartsAreAsTheyWere(t *testing.T) {
	failed := samples.Result([]string{"cpu", "serial"}, 18)
	failed.Runs[0].State = record.Failed
	for name, c := range map[string]struct {
		records    []record.Result
		references []string
	}{
		"several":   {samples.Several(), []string{"kolganov-2018:P100", "merrill-2012"}},
		"detailed":  {[]record.Result{samples.Detailed()}, nil},
		"green":     {samples.Green(), nil},
		"sweep":     {samples.Sweep(), nil},
		"ranks":     {[]record.Result{samples.Ranked()}, nil},
		"graphs":    {[]record.Result{onGraphs()}, []string{"all"}},
		"days":      {samples.Store(4, 1, 1, 0.85, 0.85, 1.1), nil},
		"few days":  {append(samples.Store(1, 1, 0.9, 1, 0.97, 0.5), failed), nil},
		"published": {[]record.Result{samples.Metered()}, []string{"kolganov-2018", "bisson-2014"}},
	} {
		r := all(c.records...)
		r.References = references(c.references...)
		var b strings.Builder
		for _, part := range append(OfSeveral(r), Of(r, r.All)...) {
			written(&b, part)
		}
		levels := LevelFigures(r.All)
		for i, run := range r.All {
			if f, found := levels[i]; found {
				written(&b, reports.Part{Figures: []reports.Figure{f}, Table: Levels(run)})
			}
		}
		if first := r.Results[0].Runs[0]; len(first.Roots) < 5 {
			written(&b, reports.Part{Table: Roots(first)})
		}
		for _, f := range Figures(r) {
			b.WriteString(f.Name + "\n")
		}
		samples.Golden(t, strings.ReplaceAll(name, " ", "-"), b.String())
	}
}
