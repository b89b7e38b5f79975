// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

const maxRows = 16 // rows of runs in a figure

func xy(x, y float64) reports.Point { return reports.Point{X: x, Y: y} }

// span is an interval of positive numbers.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), 0} }

// add widens the interval by values that are positive numbers.
func (s *span) add(values ...float64) {
	for _, v := range values {
		if v > 0 {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
}

func (s span) empty() bool { return s.high == 0 }

// valueAxis is linear from 0, or logarithmic if the values span more than a factor of 12.
func valueAxis(title string, values span) reports.Axis {
	if values.high > 12*values.low {
		return logAxis(title, values)
	}
	return linearAxis(title, values.high*1.08)
}

func linearAxis(title string, high float64) reports.Axis {
	return reports.Axis{Title: title, Max: high, Grid: true}
}

func logAxis(title string, values span) reports.Axis {
	return reports.Axis{Title: title + ", log scale", Min: values.low / 1.5, Max: values.high * 1.5, Log: true,
		Grid: true}
}

// scaleAxis is the axis of graph sizes by their scales. With many scales only some are labeled.
func scaleAxis(scales span) reports.Axis {
	first, last := int(scales.low), int(scales.high)
	a := reports.Axis{Title: "Number of vertices", Min: scales.low - 0.5, Max: scales.high + 0.5}
	every := (last-first)/16 + 1
	for s := first; s <= last; s++ {
		label := ""
		if (s-first)%every == 0 {
			label = "2" + reports.Superscript(s)
		}
		a.Ticks = append(a.Ticks, reports.Tick{At: float64(s), Label: label})
	}
	return a
}

func rowAxis(names []string) reports.Axis {
	a := reports.Axis{Min: -0.55, Max: float64(len(names)) - 0.45, Names: true}
	for i, name := range names {
		a.Ticks = append(a.Ticks, reports.Tick{At: float64(len(names) - 1 - i), Label: name})
	}
	return a
}

// curve is a series of points with its name in the legend.
type curve struct {
	label  string
	look   reports.Look
	points []reports.Point
	about  func(reports.Point) string // the text for a pointer; nil: label and value
	under  reports.Shape              // drawn before the line; nil: nothing
}

// draw joins the points by a line, with marks unless there are many points. Only positive values are drawn.
func (c curve) draw() (shapes []reports.Shape) {
	var drawn []reports.Point
	for _, p := range c.points {
		if p.Y > 0 {
			drawn = append(drawn, p)
		}
	}
	if c.under != nil {
		shapes = append(shapes, c.under)
	}
	if len(drawn) > 1 {
		shapes = append(shapes, reports.Line{Points: drawn, Color: c.look.Color, Width: 1.4, Broken: c.look.Broken,
			About: reports.About{Key: c.label}})
	}
	if len(drawn) > 50 {
		return shapes
	}
	for _, p := range drawn {
		text := c.label + ": " + units.Significant(p.Y, 4)
		if c.about != nil {
			text = c.about(p)
		}
		shapes = append(shapes, reports.Mark{At: p, Look: c.look, Radius: 3.2,
			About: reports.About{Key: c.label, Text: text}})
	}
	return shapes
}

// spanOf is the span of the values of curves.
func spanOf(curves ...curve) span {
	values := newSpan()
	for _, c := range curves {
		for _, p := range c.points {
			values.add(p.Y)
		}
	}
	return values
}

// curvePanel draws curves on a logarithmic axis.
func curvePanel(height float64, x reports.Axis, title string, curves ...curve) reports.Panel {
	panel := reports.Panel{Height: height, X: x, Y: logAxis(title, spanOf(curves...))}
	for _, c := range curves {
		panel.Shapes = append(panel.Shapes, c.draw()...)
	}
	return panel
}

func legend(curves []curve) (keys []reports.Key) {
	for _, c := range curves {
		keys = append(keys, reports.Key{Label: c.label, Look: c.look})
	}
	return keys
}

// row is a row of a panel: its name, a function that draws around its place on the y axis, and a text that begins at
// end.
type row struct {
	name string
	draw func(place float64) []reports.Shape
	end  float64
	text string
}

// rowPanel draws rows of that height, the first at the top. The x axis grows by the room that their texts need.
func rowPanel(x reports.Axis, height float64, rows []row) reports.Panel {
	if len(rows) > maxRows/2 {
		height *= 0.75
	}
	panel := reports.Panel{Height: height*float64(len(rows)) + 0.65, X: x}
	var names []string
	room := 0.0 // as a share of the axis
	for i, r := range rows {
		place := float64(len(rows) - 1 - i)
		names, room = append(names, r.name), max(room, 0.02*float64(utf8.RuneCountInString(r.text)))
		panel.Shapes = append(panel.Shapes, r.draw(place)...)
		if r.text != "" {
			panel.Shapes = append(panel.Shapes, reports.Text{At: xy(r.end, place), Text: r.text, Color: reports.Ink(),
				Size: 8, Left: true, DX: 5, DY: -3})
		}
	}
	panel.Y = rowAxis(names)
	if x.Log {
		panel.X.Max *= math.Pow(x.Max/x.Min, room)
	} else {
		panel.X.Max *= 1 + room
	}
	return panel
}

// barRow is a row with a bar to the right. Each part has its color; parts beyond the colors have the last one.
func barRow(name, text string, parts []float64, colors ...reports.Color) row {
	r := row{name: name, text: text}
	var bars []reports.Bar
	for k, v := range parts {
		if v > 0 {
			bars = append(bars, reports.Bar{Across: true, Half: 0.32, From: r.end, To: r.end + v,
				Color: colors[min(k, len(colors)-1)], About: reports.About{Text: name + ": " + units.Significant(v, 4)}})
			r.end += v
		}
	}
	r.draw = func(place float64) (shapes []reports.Shape) {
		for _, bar := range bars {
			bar.At = place
			shapes = append(shapes, bar)
		}
		return shapes
	}
	return r
}

const barHeight, boxHeight = 0.27, 0.42 // of rows, in inches

func barPanel(title string, rows []row) reports.Panel {
	high := 1e-9
	for _, r := range rows {
		high = max(high, r.end)
	}
	return rowPanel(linearAxis(title, high*1.06), barHeight, rows)
}

// limited keeps the first rows of a figure if there are many, and adds a note that says so.
func limited[T any](f *reports.Figure, rows []T, limit int, what string) []T {
	if len(rows) <= limit {
		return rows
	}
	f.Note(fmt.Sprintf("The first %d of %d %s.", limit, len(rows), what))
	return rows[:limit]
}
