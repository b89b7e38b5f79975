package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// publishedSeries are the rows of one system in one publication that can be drawn over scales.
type publishedSeries struct {
	label string
	rows  []ReferenceRow
}

// publishedRates picks what can be drawn beside measured rates: Kronecker graphs with a scale and a rate. A mean and a
// range of the same scale are one row.
func publishedRates(references []Reference) []publishedSeries {
	return published(references, func(row ReferenceRow) ReferenceRow { return row })
}

// publishedWatts picks what can be drawn beside measured rates per watt; its rows hold MTEPS/W where rows hold GTEPS.
func publishedWatts(references []Reference) []publishedSeries {
	return published(references, func(row ReferenceRow) ReferenceRow {
		row.GTEPS, row.Min, row.Max = row.MTEPSPerWatt, 0, 0
		return row
	})
}

func published(references []Reference, quantity func(ReferenceRow) ReferenceRow) []publishedSeries {
	vendors := strings.NewReplacer("NVIDIA ", "", "Intel ", "", "IBM ", "") // legends are narrow; the table has them
	var out []publishedSeries
	for _, r := range references {
		for _, row := range r.Rows {
			row = quantity(row)
			if row.Scale == 0 || row.GTEPS == 0 && row.Max == 0 {
				continue
			}
			label := r.Short + ": " + vendors.Replace(row.System)
			if row.EdgeFactor != 16 {
				label += fmt.Sprintf(", edgefactor %d", row.EdgeFactor)
			}
			i := slices.IndexFunc(out, func(s publishedSeries) bool { return s.label == label })
			if i < 0 {
				i = len(out)
				out = append(out, publishedSeries{label: label})
			}
			rows := &out[i].rows
			k := slices.IndexFunc(*rows, func(o ReferenceRow) bool { return o.Scale == row.Scale })
			if k < 0 {
				*rows = append(*rows, row)
				continue
			}
			(*rows)[k].GTEPS = max((*rows)[k].GTEPS, row.GTEPS)
			(*rows)[k].Min, (*rows)[k].Max = max((*rows)[k].Min, row.Min), max((*rows)[k].Max, row.Max)
		}
	}
	for _, s := range out {
		slices.SortFunc(s.rows, func(a, b ReferenceRow) int { return cmp.Compare(a.Scale, b.Scale) })
	}
	return out
}

// span is the smallest and the largest rate of a row.
func (r ReferenceRow) span() (low, high float64) {
	low, high = r.GTEPS, r.GTEPS
	if r.Max > 0 {
		low, high = r.Min, max(high, r.Max)
	}
	return low, high
}

// publishedGlyph draws a series in grey with hollow marks: a mean, or the ends of a range with a broken line between
// them. Only means of neighbouring scales are joined: nobody published what lies between others.
type publishedGlyph struct {
	series  publishedSeries
	place   int // among the published
	measure measure
	shift   map[int]float64 // by scale: those of the same scale stand side by side around it
	pen     pen
}

// shifts says for every series and scale how far beside the scale its marks stand.
func shifts(all []publishedSeries) []map[int]float64 {
	count := map[int]int{}
	for _, s := range all {
		for _, row := range s.rows {
			count[row.Scale]++
		}
	}
	out, seen := make([]map[int]float64, len(all)), map[int]int{}
	for i, s := range all {
		out[i] = map[int]float64{}
		for _, row := range s.rows {
			n := count[row.Scale]
			out[i][row.Scale] = (float64(seen[row.Scale]) - float64(n-1)/2) * min(0.17, 0.75/float64(n))
			seen[row.Scale]++
		}
	}
	return out
}

// letter tells the series apart where marks repeat: a to z, then aa and so on.
func (g publishedGlyph) letter() string {
	letters := ""
	for n := g.place + 1; n > 0; n = (n - 1) / 26 {
		letters = string(rune('a'+(n-1)%26)) + letters
	}
	return letters
}

func (g publishedGlyph) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var means []vg.Point
	last := 0 // scale of the last mean
	for _, row := range g.series.rows {
		middle := x(float64(row.Scale) + g.shift[row.Scale])
		_, top := row.span()
		text := g.pen.text(7, faint)
		text.XAlign = draw.XCenter
		c.FillText(text, vg.Point{X: middle, Y: y(g.measure.at(top)) + 4}, g.letter())
		if row.Max > 0 {
			low, high := y(g.measure.at(row.Min)), y(g.measure.at(row.Max))
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.7, Dashes: []vg.Length{2, 2}}, middle, low, middle, high)
			hollow(c, g.place, vg.Point{X: middle, Y: low}, 2)
			hollow(c, g.place, vg.Point{X: middle, Y: high}, 2)
		}
		if row.GTEPS > 0 {
			at := vg.Point{X: middle, Y: y(g.measure.at(row.GTEPS))}
			if len(means) > 0 && row.Scale == last+1 {
				c.StrokeLines(draw.LineStyle{Color: faint, Width: 0.9, Dashes: []vg.Length{4, 3}}, []vg.Point{means[len(means)-1], at})
			}
			means, last = append(means, at), row.Scale
		}
	}
	for _, at := range means {
		hollow(c, g.place, at, 3.2)
	}
}

// hollow draws the outline of a mark: grey, with paper inside.
func hollow(c draw.Canvas, place int, at vg.Point, radius vg.Length) {
	shape := looks(place).glyph
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: faint, Radius: radius, Shape: shape}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paper, Radius: radius - 0.9, Shape: shape}, at)
}

func (g publishedGlyph) legendEntry() entry {
	return entry{g.letter() + "  " + g.series.label, func(c draw.Canvas) {
		y := c.Center().Y
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.9, Dashes: []vg.Length{4, 3}}, c.Min.X, y, c.Max.X, y)
		hollow(c, g.place, vg.Point{X: c.Center().X, Y: y}, 3)
	}}
}

// publishedNote says in a figure what grey is.
const publishedNote = "Grey, hollow, broken lines: published by others for their machines, a mean or the slowest and fastest root, lettered as above; counted as each source says, not measured here."

// drawPublished adds series to a plot, below what was measured, and returns their legend.
func drawPublished(p pen, out *plot.Plot, m measure, all []publishedSeries) (legend []entry) {
	beside := shifts(all)
	for i, s := range all {
		g := publishedGlyph{s, i, m, beside[i], p}
		out.Add(g)
		legend = append(legend, g.legendEntry())
	}
	return legend
}

// bounds widens the ends of axes, scales and rates, so that all series fit.
func bounds(all []publishedSeries, first, last int, lowest, highest float64) (int, int, float64, float64) {
	for _, s := range all {
		for _, row := range s.rows {
			low, high := row.span()
			lowest, highest = min(lowest, low), max(highest, high)
			first, last = min(first, row.Scale), max(last, row.Scale)
		}
	}
	return first, last, lowest, highest
}
