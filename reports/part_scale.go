package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

func ratesPart(runs []Run, references []Reference) Part {
	return Part{
		Title: "Search rates", Table: ratesTable(runs), Figures: []Figure{
			scaleFigure(runs, references), graphsFigure(runs, references, rateOnGraphs()), rootsFigure(runs)},
		Explanation: "The harmonic mean is the number that Graph500 ranks by. Roots differ in how their levels grow: the " +
			"spread belongs to the result as much as the mean.",
	}
}

// runSeries are runs of one name, by scale.
type runSeries struct {
	label string
	look  Look
	runs  []Run
}

// seriesOf groups the runs that keep accepts by name. A name keeps its look whichever of its runs are kept.
func seriesOf(runs []Run, keep func(Run) bool) []runSeries {
	var out []runSeries
	for _, r := range runs {
		i := slices.IndexFunc(out, func(s runSeries) bool { return s.label == r.Label })
		if i < 0 {
			i = len(out)
			out = append(out, runSeries{label: r.Label, look: looks(i)})
		}
		if keep(r) {
			out[i].runs = append(out[i].runs, r)
		}
	}
	out = slices.DeleteFunc(out, func(s runSeries) bool { return len(s.runs) == 0 })
	for _, s := range out {
		slices.SortStableFunc(s.runs, byGraph)
	}
	return out
}

// overScales is the series as a line over scales.
func (s runSeries) overScales(value func(Run) float64) curve {
	c := curve{label: s.label, look: s.look}
	for _, r := range s.runs {
		c.points = append(c.points, Point{float64(r.Scale), value(r)})
	}
	return c
}

// scalesOf are the smallest and the largest scale of series.
func scalesOf(all []runSeries) span {
	scales := newSpan()
	for _, s := range all {
		scales.add(float64(s.runs[0].Scale), float64(s.runs[len(s.runs)-1].Scale))
	}
	return scales
}

// inGTEPS converts a spread of TEPS.
func inGTEPS(s record.Spread) record.Spread {
	return record.Spread{Min: s.Min / 1e9, FirstQuartile: s.FirstQuartile / 1e9, Median: s.Median / 1e9,
		ThirdQuartile: s.ThirdQuartile / 1e9, Max: s.Max / 1e9, Mean: s.Mean / 1e9}
}

const maxSeries = 12 // lines over scales that can be distinguished

// scaleFigure draws a box for each run with a mark at its harmonic mean, and published rates next to them.
func scaleFigure(runs []Run, references []Reference) Figure {
	all := seriesOf(runs, func(r Run) bool { return r.Source == "" && r.Rates() != nil })
	if len(all) == 0 {
		return Figure{}
	}
	f := Figure{Name: "gteps-over-scale", Title: "Search rate in GTEPS over the size of the graph, for each engine"}
	f.note("Mark: harmonic mean. Box: quartiles; line in it: median. Whiskers: slowest and fastest root. " +
		inputs(runs) + ".")
	f.noteGraphs(runs)
	if len(all) > maxSeries {
		slices.SortStableFunc(all, func(a, b runSeries) int { return len(b.runs) - len(a.runs) })
	}
	all = limited(&f, all, maxSeries, "engines, those with the most scales; the table has all")
	panel, scales, rates := Panel{Height: 3.6}, scalesOf(all), newSpan()
	var means []curve
	for _, s := range all {
		means = append(means, s.overScales(func(r Run) float64 { return r.Rates().TEPS.Mean / 1e9 }))
	}
	f.Legend = legend(means)
	rate := func(r ReferenceRow) (mean, low, high float64) { return r.GTEPS, r.Min, r.Max }
	step := min(0.16, 0.66/float64(len(all))) // series share two thirds of the room between two scales
	addPublished(&f, &panel, published(references, rate), step*float64(len(all))/2, &scales, &rates)
	for i, s := range all {
		c := means[i]
		for k, r := range s.runs {
			teps := inGTEPS(r.Rates().TEPS)
			rates.add(teps.Min, teps.Max)
			c.points[k].X += (float64(i) - float64(len(all)-1)/2) * step
			panel.Shapes = append(panel.Shapes, Box{At: c.points[k].X, Half: step * 0.4, Spread: teps, Color: s.look.Color,
				About: About{s.label, s.label + ", " + spreadText(teps)}})
		}
		panel.Shapes = append(panel.Shapes, c.draw()...)
		for k, r := range s.runs {
			if r.Verdict().Grade >= Bad {
				panel.Shapes = append(panel.Shapes, Mark{c.points[k], s.look.Glyph, s.look.Color, 3.2, true,
					About{s.label, s.label + ": not complete"}})
				f.note("Hollow mark: the run is not complete.")
			}
		}
	}
	panel.X, panel.Y = scaleAxis(scales), valueAxis("Search rate (GTEPS)", rates)
	f.Panels = []Panel{panel}
	return f
}

// noteGraphs says that a figure over scales has no runs on other graphs.
func (f *Figure) noteGraphs(runs []Run) {
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Source != "" }) {
		f.note("Runs on graphs without a scale are left out; the table has them.")
	}
}

// inputs says what was searched.
func inputs(runs []Run) string {
	factors := map[string]bool{}
	for _, r := range runs {
		if r.Graph != nil && r.Source == "" {
			factors[strconv.Itoa(r.Graph.Recipe.EdgeFactor)] = true
		}
	}
	if len(factors) == 0 {
		return "Graphs as named"
	}
	return "Kronecker graphs, edge factor " + Joined(" or ", slices.Sorted(maps.Keys(factors))...)
}

// ratesTable has what the figure over scales draws.
func ratesTable(runs []Run) Table {
	t := NewRunTable(runs, Run.On, "#harmonic mean|#min|#q1|#median|#q3|#max|#search depth",
		"All rates in GTEPS. The harmonic mean is the result; the others are order statistics. The search depth is the mean "+
			"of the largest levels.")
	for _, r := range runs {
		row := []string{r.Label, r.graphCell(), Missing, Missing, Missing, Missing, Missing, Missing,
			units.Significant(r.MeanDepth(), 4)}
		if s := r.Rates(); s != nil {
			x := s.TEPS
			row = append(row[:2], GTEPS(x.Mean), GTEPS(x.Min), GTEPS(x.FirstQuartile), GTEPS(x.Median), GTEPS(x.ThirdQuartile),
				GTEPS(x.Max), row[8])
		}
		t.Add(row...)
		t.Compare(r.key, 2)
	}
	return t
}

const maxRoots = 2048 // lines of a table of roots

// rootsFigure draws the rates of every run: a box along its row, and a point for each search next to the box.
func rootsFigure(runs []Run) Figure {
	rated := func(r Run) bool { return r.Rates() != nil }
	colors := map[string]Color{} // by the name of the run
	for _, s := range seriesOf(runs, rated) {
		colors[s.label] = s.look.Color
	}
	rows := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return !rated(r) })
	if len(rows) == 0 {
		return Figure{}
	}
	slices.SortStableFunc(rows, byGraph)
	f := Figure{Name: "roots", Title: "Search rates of single roots in GTEPS, for each engine and graph"}
	f.note("Point: one root. Box: quartiles; thick line: median. Whiskers: slowest and fastest root. " +
		"Diamond: harmonic mean.")
	rows = limited(&f, rows, maxRows, "runs; the table has all")
	values := newSpan()
	var boxes []row
	for _, r := range rows {
		teps, color := inGTEPS(r.Rates().TEPS), colors[r.Label]
		values.add(teps.Min, teps.Max)
		boxes = append(boxes, row{name: r.rowName(), draw: func(place float64) []Shape {
			return append(cloud(r.Roots, place, color),
				Box{Across: true, At: place, Half: 0.17, Spread: teps, Color: color, About: About{Text: spreadText(teps)}},
				Mark{At: Point{teps.Mean, place}, Glyph: Diamond, Color: Ink(), Radius: 2.6,
					About: About{Text: "harmonic mean: " + GTEPS(r.Rates().TEPS.Mean) + " GTEPS"}})
		}})
	}
	f.Panels = []Panel{rowPanel(valueAxis("Search rate of one root (GTEPS)", values), boxHeight, boxes)}
	return f
}

// spreadText is a spread of GTEPS as a text.
func spreadText(s record.Spread) string {
	number := func(x float64) string { return units.Significant(x, 4) }
	return "median " + number(s.Median) + ", quartiles " + number(s.FirstQuartile) + " and " + number(s.ThirdQuartile) +
		", from " + number(s.Min) + " to " + number(s.Max) + " GTEPS"
}

// cloud places a point for the rate of each root in two bands next to the box of a row, in the order of the rates.
// Multiples of the golden ratio keep neighbors apart, and make the drawing the same every time.
func cloud(roots []record.RootRecord, place float64, color Color) (out []Shape) {
	var rates []Mark
	for _, root := range roots {
		if teps, known := Rate(root); known {
			text := fmt.Sprintf("root %s, search %d: %s GTEPS, %s", rootLabel(root), root.Index, GTEPS(teps),
				units.Seconds(root.Time))
			rates = append(rates, Mark{At: Point{X: teps / 1e9}, Color: color.fade(pointAlpha), Radius: 1.5,
				About: About{Text: text}})
		}
	}
	slices.SortStableFunc(rates, func(a, b Mark) int { return cmp.Compare(a.At.X, b.At.X) })
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

// rootLabel is the label of a root in the file of its graph.
func rootLabel(root record.RootRecord) string {
	if root.Label != nil {
		return strconv.FormatUint(*root.Label, 10)
	}
	return strconv.FormatInt(int64(root.Root), 10)
}

// RootTable lists every search of a run.
func (r Run) RootTable() Table {
	t := NewTable("##|#root|#time|#GTEPS|#tuples (nedge)|#m with self-loops|#reached|#depth|#host's clock|"+
		"#waited|#switches|#page faults|#validation|verdict", "")
	if n := len(r.Roots); n > maxRoots {
		t.Note = fmt.Sprintf("The first %s of %s searches; the record has all.", units.Integer(maxRoots),
			units.Integer(int64(n)))
	}
	for _, root := range r.Roots[:min(len(r.Roots), maxRoots)] {
		rate, depth, validation, verdict, class := Missing, Missing, Missing, "not validated", "fair"
		if teps, known := Rate(root); known {
			rate = GTEPS(teps)
		}
		if root.Depth != nil {
			depth = strconv.Itoa(*root.Depth)
		}
		if root.Validated {
			validation, verdict, class = measured(root.Validation), "valid", "good"
		}
		if root.Broken() {
			verdict, class = fmt.Sprintf("rule %d: %s", root.Rule, Sentence(root.Violation)), "bad why"
		}
		waited, switches, faults := Missing, Missing, Missing
		if i := root.Interference; i != nil {
			waited, switches, faults = units.Seconds(i.Waited+i.Stolen), units.Integer(i.Switches), units.Integer(i.Faults)
		}
		t.Add(strconv.Itoa(root.Index), rootLabel(root), measured(root.Time), rate,
			optional(root.NEdge, units.Integer), optional(root.M, units.Integer), optional(root.Reached, units.Integer), depth,
			measured(root.Wall), waited, switches, faults, validation, verdict)
		t.Style(13, class)
	}
	t.DropEmpty()
	return t
}
