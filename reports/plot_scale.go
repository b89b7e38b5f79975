package reports

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/harness"
)

// labelled is a run under the name that figures and legends show.
type labelled struct {
	label   string
	run     harness.Run
	machine string // host and processor
	record  string // where it comes from, when there are several records: "[1] a1b2c3, 2026-11-20, AMD EPYC"
}

// recordsNote says which records the marks in labels stand for; empty for one record.
func recordsNote(runs []labelled) string {
	var records []string
	for _, r := range runs {
		if r.record != "" && !slices.Contains(records, r.record) {
			records = append(records, r.record)
		}
	}
	if len(records) == 0 {
		return ""
	}
	return "Records: " + strings.Join(records, "; ") + "."
}

// series are the drawable runs of one label, by scale.
type series struct {
	label string
	look  look
	runs  []harness.Run
}

// seriesOf groups runs by label, in the order in which labels first come up; runs without rates are left out, but a
// label keeps its look whichever of its runs are drawn.
func seriesOf(runs []labelled) []series {
	var out []series
	place := map[string]int{}
	for _, r := range runs {
		i, known := place[r.label]
		if !known {
			i = len(out)
			place[r.label] = i
			out = append(out, series{label: r.label, look: looks(i)})
		}
		if drawable(r.run) != nil {
			out[i].runs = append(out[i].runs, r.run)
		}
	}
	out = slices.DeleteFunc(out, func(s series) bool { return len(s.runs) == 0 })
	for _, s := range out {
		slices.SortStableFunc(s.runs, func(a, b harness.Run) int { return a.Scale - b.Scale })
	}
	return out
}

// spreadGlyph draws the runs of a series beside each other's scale: a whisker from the slowest to the fastest root, a
// box from the first to the third quartile, and a glyph at the harmonic mean, joined by a line. shift moves the series
// along the scales, so that several do not hide each other.
type spreadGlyph struct {
	series  series
	measure measure
	shift   float64
	width   float64 // of the box, in scales
}

func (g spreadGlyph) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	level := func(teps float64) vg.Length { return y(g.measure.at(teps / 1e9)) }
	thin := draw.LineStyle{Color: g.series.look.line, Width: 0.8}
	var means []vg.Point
	for _, run := range g.series.runs {
		s := drawable(run).TEPS
		middle := x(float64(run.Scale) + g.shift)
		half := min((x(g.width)-x(0))/2, 9)
		c.StrokeLine2(thin, middle, level(s.Min), middle, level(s.Max))
		c.StrokeLine2(thin, middle-half*0.6, level(s.Min), middle+half*0.6, level(s.Min))
		c.StrokeLine2(thin, middle-half*0.6, level(s.Max), middle+half*0.6, level(s.Max))
		c.FillPolygon(g.series.look.area, []vg.Point{
			{X: middle - half, Y: level(s.FirstQuartile)}, {X: middle + half, Y: level(s.FirstQuartile)},
			{X: middle + half, Y: level(s.ThirdQuartile)}, {X: middle - half, Y: level(s.ThirdQuartile)},
		})
		c.StrokeLine2(draw.LineStyle{Color: g.series.look.line, Width: 1.2}, middle-half, level(s.Median), middle+half, level(s.Median))
		means = append(means, vg.Point{X: middle, Y: level(s.Mean)})
	}
	if len(means) > 1 {
		c.StrokeLines(draw.LineStyle{Color: g.series.look.line, Width: 1.4, Dashes: g.series.look.dashes}, means)
	}
	for i, at := range means {
		mark(c, g.series.look, at, judge(g.series.runs[i]).Grade == bad)
	}
}

// mark draws a series' glyph; an open one, with a hole of paper, stands for a run that is not complete.
func mark(c draw.Canvas, l look, at vg.Point, open bool) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.line, Radius: 3.2, Shape: l.glyph}, at)
	if open {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper, Radius: 1.7, Shape: l.glyph}, at)
	}
}

// legendEntry is the sample of a series: its line and its glyph.
func (s series) legendEntry() entry {
	return entry{s.label, func(c draw.Canvas) {
		y := c.Center().Y
		c.StrokeLine2(draw.LineStyle{Color: s.look.line, Width: 1.4, Dashes: s.look.dashes}, c.Min.X, y, c.Max.X, y)
		mark(c, s.look, vg.Point{X: c.Center().X, Y: y}, false)
	}}
}

// overScale draws GTEPS over the size of the graph, and published rates beside them; nil when no run has rates.
func overScale(p pen, runs []labelled, references []Reference) *figure {
	all := seriesOf(runs)
	if len(all) == 0 {
		return nil
	}
	first, last := 1<<30, -1<<30
	lowest, highest := 0.0, 0.0
	open := false
	for _, s := range all {
		for _, run := range s.runs {
			t := drawable(run).TEPS
			if highest == 0 || t.Min/1e9 < lowest {
				lowest = t.Min / 1e9
			}
			highest = max(highest, t.Max/1e9)
			first, last = min(first, run.Scale), max(last, run.Scale)
			open = open || judge(run).Grade == bad
		}
	}
	published := publishedRates(references)
	first, last, lowest, highest = bounds(published, first, last, lowest, highest)
	out := p.plot("Number of vertices", "Search rate (GTEPS)")
	m := measureOf(lowest, highest)
	m.fit(&out.Y)
	out.X.Min, out.X.Max = float64(first)-0.5, float64(last)+0.5
	out.X.Tick.Marker = scaleTicks(first, last)
	out.Add(gridLines{y: true})

	// Series share two thirds of the room between two scales; a lone scale has all its room to itself.
	step := min(0.16, 0.66/float64(len(all)))
	if first == last {
		step = 0.8 / float64(len(all))
	}
	f := &figure{
		name: scaleFigure, title: "Search rate in GTEPS over the size of the graph, for each engine",
		width: figureWidth, height: 3.6 * vg.Inch, pen: p, plots: []*plot.Plot{out},
		notes: []string{fmt.Sprintf("Mark: harmonic mean. Box: quartiles, line in it: median. Whiskers: slowest and fastest root. %s. %s", inputs(runs), recordsNote(runs))},
	}
	if first == last && len(all) <= 4 {
		f.width, f.height = 4.4*vg.Inch, 3.2*vg.Inch
	}
	if open {
		f.notes = append(f.notes, "Open mark: the run is not complete.")
	}
	publishedLegend := drawPublished(p, out, m, published)
	if len(published) > 0 {
		f.height += 1.2 * vg.Inch
		f.notes = append(f.notes, publishedNote)
	}
	for i, s := range all {
		out.Add(spreadGlyph{s, m, (float64(i) - float64(len(all)-1)/2) * step, step * 0.8})
		f.legend = append(f.legend, s.legendEntry())
	}
	f.legend = append(f.legend, publishedLegend...)
	return f
}

const scaleFigure = "gteps-over-scale"

// inputs says what was searched, as far as all runs share it.
func inputs(runs []labelled) string {
	factor := 0
	for _, r := range runs {
		if r.run.Graph == nil {
			continue
		}
		if factor != 0 && factor != r.run.Graph.Recipe.EdgeFactor {
			return "Kronecker graphs of several edgefactors"
		}
		factor = r.run.Graph.Recipe.EdgeFactor
	}
	if factor == 0 {
		return "Kronecker graphs"
	}
	return fmt.Sprintf("Kronecker graphs, edgefactor %d", factor)
}
