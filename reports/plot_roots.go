package reports

import (
	"fmt"
	"math/bits"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/harness"
)

const (
	rowsAPage   = 24  // runs in one figure of the roots; more go to a further one
	pointsARow  = 512 // searches drawn of one run; box and marks are always those of all
	besideBars  = 24  // letters of a name before its row
	rowHeight   = 0.42 * vg.Inch
	pointRadius = 1.5
)

// rootRow is one run in the figure of the roots: a box with whiskers along the line, and a point for every search above
// and below it.
type rootRow struct {
	place   float64 // on the vertical axis
	look    look
	measure measure
	stats   harness.Spread
	rates   []float64 // GTEPS, ascending
}

func (r rootRow) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(gteps float64) vg.Length { return x(r.measure.at(gteps)) }
	unit := y(1) - y(0)
	middle := y(r.place)
	half := unit * 0.17

	// Points lie in two bands beside the box. Their place across the line follows the bits of their rank reversed
	// (van der Corput 1935): neighbours in rate land apart, and the drawing is the same every time.
	for i, gteps := range drawn(r.rates, pointsARow) {
		spread := float64(bits.Reverse32(uint32(i))) / (1 << 32) // 0..1
		off := half + unit*vg.Length(0.05+0.20*(spread*2-float64(int(spread*2))))
		if spread >= 0.5 {
			off = -off
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: r.look.point, Radius: pointRadius, Shape: draw.CircleGlyph{}}, vg.Point{X: at(gteps), Y: middle + off})
	}
	low, q1, median, q3, high := at(r.stats.Min/1e9), at(r.stats.FirstQuartile/1e9), at(r.stats.Median/1e9), at(r.stats.ThirdQuartile/1e9), at(r.stats.Max/1e9)
	line := draw.LineStyle{Color: r.look.line, Width: 0.9}
	box := []vg.Point{{X: q1, Y: middle - half}, {X: q3, Y: middle - half}, {X: q3, Y: middle + half}, {X: q1, Y: middle + half}, {X: q1, Y: middle - half}}
	c.StrokeLine2(line, low, middle, q1, middle)
	c.StrokeLine2(line, q3, middle, high, middle)
	c.StrokeLine2(line, low, middle-half/2, low, middle+half/2)
	c.StrokeLine2(line, high, middle-half/2, high, middle+half/2)
	c.FillPolygon(r.look.area, box[:4])
	c.StrokeLines(line, box)
	c.StrokeLine2(draw.LineStyle{Color: r.look.line, Width: 2}, median, middle-half, median, middle+half)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 2.6, Shape: diamond{}}, vg.Point{X: at(r.stats.Mean / 1e9), Y: middle})
}

// drawn thins sorted values to at most limit, evenly by rank; the first and the last stay.
func drawn(values []float64, limit int) []float64 {
	if len(values) <= limit {
		return values
	}
	out := make([]float64, limit)
	for i := range out {
		out[i] = values[i*(len(values)-1)/(limit-1)]
	}
	return out
}

// overRoots draws how the rates of a run's searches spread, for every run; several figures when there are many runs.
func overRoots(p pen, runs []labelled) []*figure {
	place := map[string]int{}
	var rows []labelled
	for _, r := range runs {
		if _, known := place[r.label]; !known {
			place[r.label] = len(place)
		}
		if drawable(r.run) != nil {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b labelled) int { return a.run.Scale - b.run.Scale })
	var out []*figure
	for page := 0; page*rowsAPage < len(rows); page++ {
		f := rootsPage(p, rows[page*rowsAPage:min((page+1)*rowsAPage, len(rows))], place)
		if f.name = "roots"; len(rows) > rowsAPage {
			f.name = fmt.Sprintf("roots-%d", page+1)
		}
		out = append(out, f)
	}
	return out
}

func rootsPage(p pen, rows []labelled, place map[string]int) *figure {
	lowest, highest := 0.0, 0.0
	thinned := false
	drawing := make([]rootRow, len(rows))
	for i, r := range rows {
		s := drawable(r.run).TEPS
		if i == 0 || s.Min/1e9 < lowest {
			lowest = s.Min / 1e9
		}
		highest = max(highest, s.Max/1e9)
		var rates []float64
		for _, root := range r.run.Roots {
			if teps, known := rate(root); known {
				rates = append(rates, teps/1e9)
			}
		}
		slices.Sort(rates)
		thinned = thinned || len(rates) > pointsARow
		drawing[i] = rootRow{place: float64(len(rows) - 1 - i), look: looks(place[r.label]), stats: s, rates: rates}
	}
	m := measureOf(lowest, highest)
	out := p.plot("Search rate of one root (GTEPS)", "")
	m.fit(&out.X)
	out.Y.Min, out.Y.Max = -0.55, float64(len(rows))-0.45
	var names plot.ConstantTicks
	for i, r := range rows {
		name := fmt.Sprintf("%s, 2%s", ellipsis(r.label, besideBars), superscript(r.run.Scale))
		names = append(names, plot.Tick{Value: float64(len(rows) - 1 - i), Label: name})
	}
	out.Y.Tick.Marker = names
	out.Y.Tick.Length = 0
	out.Add(gridLines{x: true})
	for _, row := range drawing {
		row.measure = m
		out.Add(row)
	}
	f := &figure{
		title: "Search rates of the single roots in GTEPS, for each engine and scale",
		width: figureWidth, height: rowHeight*vg.Length(len(rows)) + 0.75*vg.Inch, pen: p, plots: []*plot.Plot{out},
		notes: []string{"Point: one root. Box: quartiles, thick line: median. Whiskers: slowest and fastest root. Diamond: harmonic mean."},
	}
	if thinned {
		f.notes = append(f.notes, fmt.Sprintf("Of runs with more roots, %d points evenly spaced by rank are drawn.", pointsARow))
	}
	return f
}
