// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/plugins"
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
			marks, bars, last := 0, 0, reports.Bar{}
			for _, shape := range p.Shapes {
				switch shape := shape.(type) {
				case reports.Text:
					b.WriteString("\n  " + shape.Text)
				case reports.Bar:
					bars, last = bars+1, shape
				case reports.Mark:
					if marks++; marks <= 3 {
						b.WriteString("\n  mark " + shape.Key + ": " + shape.Text)
					}
				}
			}
			fmt.Fprintf(b, "\n  %d bars, the last at %.4g from %.4g to %.4g", bars, last.At, last.From, last.To)
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
	const variant = "cpu:adjacency=%s:alpha=15:latency=csr"
	long := strings.Repeat("engine", 1000)
	names := samples.FewRoots([]string{"a\x00b", "a b", fmt.Sprintf(variant, "packed"), fmt.Sprintf(variant, "plain"),
		long + "1", long + "2"}, 16, 17)
	network := strings.Repeat("collection-of-networks-", 3)
	names.Runs = append(names.Runs, onGraph("cpu", network+"a.el", 1, 1), onGraph("cpu", network+"b.el", 1, 1))
	machines := samples.Store(1, 1, 1, 1, 1)
	machines[3].Runs[0].Options = map[string]string{"threads": "4"}
	machines[1].Machine.Hostname, machines[2].Runs[0].State = "node18", record.Failed
	ranked, deep := samples.Result(nil, 16), samples.Result(nil)
	for i := range 65 { // more than a figure has room for, and in too many pairs for ratios
		run := samples.Run("engine-"+strconv.Itoa(i), i, 16, 4)
		ranked.Runs = append(ranked.Runs, samples.WithRanks(run, 4, "2d"))
	}
	path := onGraph("cpu", "path:1000", 999, 1) // a search has a level for each vertex
	for i := range path.Roots {
		root := &path.Roots[i]
		root.Depth, root.Time = new(999), 0.01
		level := plugins.Level{Frontier: 2, Edges: plugins.Counted(4), Elapsed: time.Microsecond}
		root.Levels = slices.Repeat([]plugins.Level{level}, 1000)
	}
	deep.Runs = []record.Run{path}
	failed := samples.Result([]string{"cpu", "serial"}, 18)
	failed.Runs[0].State = record.Failed
	for name, c := range map[string]struct {
		records    []record.Result
		references []string
	}{
		"several":    {samples.Several(), []string{"kolganov-2018:P100", "merrill-2012"}},
		"detailed":   {[]record.Result{samples.Detailed()}, nil},
		"green":      {samples.Green(), nil},
		"sweep":      {samples.Sweep(), nil},
		"ranks":      {[]record.Result{samples.Ranked()}, nil},
		"graphs":     {[]record.Result{onGraphs()}, []string{"all"}},
		"days":       {samples.Store(4, 1, 1, 0.85, 0.85, 1.1), nil},
		"few days":   {append(samples.Store(1, 1, 0.9, 1, 0.97, 0.5), failed), nil},
		"names":      {[]record.Result{names}, nil},
		"two builds": {samples.Store(3, 1, 0.8), nil},
		"machines":   {machines, nil},
		"65 runs":    {[]record.Result{ranked}, nil},
		"deep":       {[]record.Result{deep}, nil},
		"published":  {[]record.Result{samples.Metered()}, []string{"kolganov-2018", "bisson-2014"}},
	} {
		r := all(c.records...)
		r.References = references(c.references...)
		var b strings.Builder
		for _, part := range append(OfSeveral(r), Of(r, r.All)...) {
			written(&b, part)
		}
		levels := LevelFigures(r.All)
		first := r.All[:min(len(r.All), 8)]
		for i, run := range first {
			if f, found := levels[i]; found {
				written(&b, reports.Part{Figures: []reports.Figure{f}, Table: Levels(run)})
			}
		}
		if run := r.Results[0].Runs[0]; len(run.Roots) < 5 {
			written(&b, reports.Part{Table: Roots(run)})
		}
		for _, f := range Figures(r) {
			b.WriteString(f.Name + "\n")
		}
		ratios := Ratios(r)
		for _, row := range first {
			fmt.Fprintf(&b, "%s, %s: %+v\n", row.Label, row.GraphCell(), ratios[row.Key])
		}
		samples.Golden(t, strings.ReplaceAll(name, " ", "-"), b.String())
	}
}
