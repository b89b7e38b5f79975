// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func rates(runs []reports.Summary, references []reports.Reference) reports.Part {
	overScales := reports.Figure{Name: "gteps-over-scale",
		Title: "Search rate in GTEPS over the size of the graph, for each engine"}
	overScales.Note("Mark: harmonic mean. Box: quartiles; line in it: median. Whiskers: slowest and fastest root. " +
		inputs(runs) + ".")
	noteRepeats(&overScales, runs)
	overGraphs := reports.Figure{Name: "rates-over-graphs",
		Title: "Search rate in GTEPS on each graph, for each engine",
		Notes: []string{"Mark: harmonic mean over the roots. Depth: mean of the largest levels."}}
	return reports.Part{
		Title: "Search rates", Table: ratesTable(runs), Figures: []reports.Figure{
			scaleFigure(overScales, runs, references, searchRate()),
			graphsFigure(overGraphs, runs, references, searchRate()), rootsFigure(runs)},
		Explanation: "The harmonic mean is the number that Graph500 ranks by. Levels grow differently for each root: the " +
			"spread is as much a result as the mean.",
	}
}

type runSeries struct {
	label string
	look  reports.Look
	runs  []reports.Summary
}

// seriesOf groups the runs that keep accepts by name. A name has the same look, whichever of its runs are kept.
func seriesOf(runs []reports.Summary, keep func(reports.Summary) bool) (out []runSeries) {
	for i, group := range reports.Grouped(runs, func(r reports.Summary) string { return r.Label }) {
		kept := slices.DeleteFunc(group, func(r reports.Summary) bool { return !keep(r) })
		if slices.SortStableFunc(kept, byGraph); len(kept) > 0 {
			out = append(out, runSeries{kept[0].Label, reports.Looks(i), kept})
		}
	}
	return out
}

func inGTEPS(s record.Spread) record.Spread {
	return record.Spread{Min: s.Min / 1e9, FirstQuartile: s.FirstQuartile / 1e9, Median: s.Median / 1e9,
		ThirdQuartile: s.ThirdQuartile / 1e9, Max: s.Max / 1e9, Mean: s.Mean / 1e9}
}

const maxSeries = 12 // lines over scales that can be distinguished

// quantity is a number of a run or a publication that figures over scales and over graphs show; 0 is not known.
type quantity struct {
	axis      string
	measured  func(reports.Summary) float64
	boxes     bool // of the rates of roots
	published func(reports.ReferenceRow) (mean, low, high float64)
}

func searchRate() quantity {
	return quantity{"Search rate (GTEPS)", func(r reports.Summary) float64 {
		if s := r.Rates(); s != nil {
			return s.TEPS.Mean / 1e9
		}
		return 0
	}, true, func(r reports.ReferenceRow) (mean, low, high float64) { return r.GTEPS, r.Min, r.Max }}
}

// scaleFigure draws a mark for each run on a graph with a scale, a box if the quantity has them, and published values.
func scaleFigure(f reports.Figure, runs []reports.Summary, references []reports.Reference, q quantity) reports.Figure {
	all := seriesOf(runs, func(r reports.Summary) bool { return r.Source == "" && q.measured(r) > 0 })
	if len(all) == 0 {
		return reports.Figure{}
	}
	if slices.ContainsFunc(runs, func(r reports.Summary) bool { return r.Source != "" }) {
		f.Note("Runs on graphs without a scale are left out; the table has them.")
	}
	if len(all) > maxSeries {
		slices.SortStableFunc(all, func(a, b runSeries) int { return len(b.runs) - len(a.runs) })
	}
	all = limited(&f, all, maxSeries, "engines, those with the most scales; the table has all")
	panel, scales, values := reports.Panel{Height: 3.2}, newSpan(), newSpan()
	var lines []curve
	for _, s := range all {
		line := curve{label: s.label, look: s.look}
		for _, r := range s.runs {
			line.points = append(line.points, xy(float64(r.Scale), q.measured(r)))
			scales.add(float64(r.Scale))
			values.add(q.measured(r))
		}
		lines = append(lines, line)
	}
	f.Legend = legend(lines)
	step, half := 0.0, 0.08
	if q.boxes {
		panel.Height += 0.4
		step = min(0.16, 0.66/float64(len(all))) // series share two thirds of the room between two scales
		half = step * float64(len(all)) / 2
	}
	if slices.ContainsFunc(runs, func(r reports.Summary) bool { return r.Kernel == record.BFS }) { // as the references
		addPublished(&f, &panel, q.publishedBy(references), half, &scales, &values)
	}
	for i, s := range all {
		c := lines[i]
		for k, r := range s.runs {
			c.points[k].X += (float64(i) - float64(len(all)-1)/2) * step
			if !q.boxes {
				continue
			}
			teps := inGTEPS(r.Rates().TEPS)
			values.add(teps.Min, teps.Max)
			panel.Shapes = append(panel.Shapes, reports.Box{At: c.points[k].X, Half: step * 0.4, Spread: teps,
				Color: s.look.Color, About: reports.About{Key: s.label, Text: s.label + ", " + spreadText(teps)}})
		}
		panel.Shapes = append(panel.Shapes, c.draw()...)
		for k, r := range s.runs {
			if r.Verdict().Grade >= reports.Bad {
				look := s.look
				look.Hollow = true
				panel.Shapes = append(panel.Shapes, reports.Mark{At: c.points[k], Look: look, Radius: 3.2,
					About: reports.About{Key: s.label, Text: s.label + ": not complete"}})
				f.Note("Hollow mark: the run is not complete.")
			}
		}
	}
	panel.X, panel.Y = scaleAxis(scales), valueAxis(q.axis, values)
	f.Panels = []reports.Panel{panel}
	return f
}

func noteRepeats(f *reports.Figure, runs []reports.Summary) {
	if slices.ContainsFunc(runs, func(r reports.Summary) bool { return len(r.Rated) > 1 }) {
		f.Note("Marks and boxes of repeated runs are medians over the runs; points are the roots of all.")
	}
}

func inputs(runs []reports.Summary) string {
	factors := map[string]bool{}
	for _, r := range runs {
		if r.Graph != nil && r.Source == "" {
			factors[strconv.Itoa(r.Graph.Recipe.EdgeFactor)] = true
		}
	}
	if len(factors) == 0 {
		return "Graphs as named"
	}
	return "Kronecker graphs, edge factor " + reports.Joined(" or ", slices.Sorted(maps.Keys(factors))...)
}

// ratesTable has the numbers of the figure over scales.
func ratesTable(runs []reports.Summary) reports.Table {
	t := reports.NewRunTable(runs, "engine|graph|#harmonic mean|#min|#q1|#median|#q3|#max|#search depth",
		"All rates in GTEPS. The harmonic mean is the result; the others are order statistics. The search depth is the mean "+
			"of the largest levels.")
	for _, r := range runs {
		row := append([]string{r.Label, r.GraphCell()}, slices.Repeat([]string{reports.Missing}, 6)...)
		if s := r.Rates(); s != nil {
			for i, teps := range []float64{s.TEPS.Mean, s.TEPS.Min, s.TEPS.FirstQuartile, s.TEPS.Median,
				s.TEPS.ThirdQuartile, s.TEPS.Max} {
				row[2+i] = reports.GTEPS(teps)
			}
		}
		t.Add(append(row, units.Significant(r.MeanDepth(), 4))...)
		t.Compare(r.Key, 2)
	}
	t.MarkBest(runs, 2)
	return t
}

const maxRoots = 2048 // lines of a table of roots

// rootsFigure draws the rates of every run: a box along its row, and a point for each search next to the box.
func rootsFigure(runs []reports.Summary) reports.Figure {
	rated := func(r reports.Summary) bool { return r.Rates() != nil }
	colors := map[string]reports.Color{} // by the name of the run
	for _, s := range seriesOf(runs, rated) {
		colors[s.label] = s.look.Color
	}
	rows := slices.DeleteFunc(slices.Clone(runs), func(r reports.Summary) bool { return !rated(r) })
	if len(rows) == 0 {
		return reports.Figure{}
	}
	slices.SortStableFunc(rows, byGraph)
	f := reports.Figure{Name: "roots", Title: "Search rates of single roots in GTEPS, for each engine and graph"}
	f.Note("Point: one root. Box: quartiles; thick line: median. Whiskers: slowest and fastest root. " +
		"Diamond: harmonic mean.")
	noteRepeats(&f, runs)
	rows = limited(&f, rows, maxRows, "runs; the table has all")
	values := newSpan()
	var boxes []row
	for _, r := range rows {
		teps, color := inGTEPS(r.Rates().TEPS), colors[r.Label]
		values.add(teps.Min, teps.Max)
		boxes = append(boxes, row{name: r.RowName(), draw: func(place float64) []reports.Shape {
			return append(cloud(r.Roots, place, color),
				reports.Box{Across: true, At: place, Half: 0.17, Spread: teps, Color: color,
					About: reports.About{Text: spreadText(teps)}},
				reports.Mark{At: xy(teps.Mean, place), Look: reports.Look{Glyph: reports.Diamond, Color: reports.Ink()},
					Radius: 2.6, About: reports.About{Text: "harmonic mean: " + reports.GTEPS(r.Rates().TEPS.Mean) + " GTEPS"}})
		}})
	}
	f.Panels = []reports.Panel{rowPanel(valueAxis("Search rate of one root (GTEPS)", values), boxHeight, boxes)}
	return f
}

func spreadText(s record.Spread) string {
	number := func(x float64) string { return units.Significant(x, 4) }
	return "median " + number(s.Median) + ", quartiles " + number(s.FirstQuartile) + " and " + number(s.ThirdQuartile) +
		", from " + number(s.Min) + " to " + number(s.Max) + " GTEPS"
}

// cloud places a point for the rate of each root in two bands next to the box of a row. Multiples of the golden ratio
// keep neighbors apart.
func cloud(roots []record.RootRecord, place float64, color reports.Color) (out []reports.Shape) {
	var rates []reports.Mark
	for _, root := range roots {
		if teps, known := root.TEPS(); known {
			text := fmt.Sprintf("root %s, search %d: %s GTEPS, %s", reports.RootLabel(root), root.Index, reports.GTEPS(teps),
				units.Seconds(root.Time))
			rates = append(rates, reports.Mark{At: xy(teps/1e9, 0), Look: reports.Look{Color: color.Fade(0x80)}, Radius: 1.5,
				About: reports.About{Text: text}})
		}
	}
	slices.SortStableFunc(rates, func(a, b reports.Mark) int { return cmp.Compare(a.At.X, b.At.X) })
	for i, mark := range rates {
		_, part := math.Modf(float64(i) * math.Phi)
		away := 0.22 + 0.2*part
		if i%2 == 1 {
			away = -away
		}
		mark.At.Y = place + away
		out = append(out, mark)
	}
	return out
}

// Roots lists every search of a run.
func Roots(r reports.Summary) reports.Table {
	t := reports.NewTable("##|#root|#time|#GTEPS|#tuples (nedge)|#m with self-loops|#reached|#depth|#host's clock|"+
		"#waited|#switches|#page faults|#validation|verdict", "")
	if n := len(r.Roots); n > maxRoots {
		t.Note = fmt.Sprintf("The first %s of %s searches; the record has all.", units.Integer(maxRoots),
			units.Integer(int64(n)))
	}
	for _, root := range r.Roots[:min(len(r.Roots), maxRoots)] {
		rate, validation, verdict, class := reports.Missing, reports.Missing, "not validated", "fair"
		if teps, known := root.TEPS(); known {
			rate = reports.GTEPS(teps)
		}
		if root.Validated {
			validation, verdict, class = reports.Measured(root.Validation), "valid", "good"
		}
		if root.Broken() {
			verdict, class = fmt.Sprintf("rule %d: %s", root.Rule, reports.Sentence(root.Violation)), "bad why"
		}
		waited, switches, faults := reports.Missing, reports.Missing, reports.Missing
		if i := root.Interference; i != nil {
			waited, switches, faults = units.Seconds(i.Waited+i.Stolen), units.Integer(i.Switches), units.Integer(i.Faults)
		}
		t.Add(strconv.Itoa(root.Index), reports.RootLabel(root), reports.Measured(root.Time), rate,
			reports.Optional(root.NEdge, units.Integer), reports.Optional(root.M, units.Integer),
			reports.Optional(root.Reached, units.Integer), reports.Optional(root.Depth, strconv.Itoa),
			reports.Measured(root.Wall), waited, switches, faults, validation, verdict)
		t.Style(13, class)
	}
	t.DropEmpty()
	return t
}

// byGraph orders runs by scale; other graphs come after them, in the order of their records.
func byGraph(a, b reports.Summary) int {
	if a.Source != "" || b.Source != "" {
		return cmp.Compare(min(len(a.Source), 1), min(len(b.Source), 1))
	}
	return a.Scale - b.Scale
}
