// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/reports"
)

// shapes draws the shapes of a panel over the lines of its grid.
type shapes struct {
	reports.Panel
	Plotter
}

// frame converts places in a panel to places on a canvas.
type frame struct {
	draw.Canvas
	panel reports.Panel
	toX   func(float64) vg.Length
	toY   func(float64) vg.Length
}

func (f frame) x(v float64) vg.Length { return f.toX(position(f.panel.X, v)) }
func (f frame) y(v float64) vg.Length { return f.toY(position(f.panel.Y, v)) }

func (f frame) point(p reports.Point) vg.Point { return vg.Point{X: f.x(p.X), Y: f.y(p.Y)} }

// Plot makes shapes a plot.Plotter.
func (s shapes) Plot(c draw.Canvas, p *plot.Plot) {
	f := frame{Canvas: c, panel: s.Panel}
	f.toX, f.toY = p.Transforms(&c)
	f.grid(p)
	for _, shape := range s.Shapes {
		switch shape := shape.(type) {
		case reports.Line:
			about(c, element{About: shape.About})
			f.line(shape)
		case reports.Mark:
			about(c, element{About: shape.About})
			mark(c, shape.Glyph, shape.Color, shape.Radius, shape.Hollow, f.point(shape.At))
		case reports.Bar:
			about(c, element{About: shape.About, color: shape.Color.Variable})
			f.bar(shape)
		case reports.Box:
			about(c, element{About: shape.About})
			f.box(shape)
		case reports.Text:
			about(c, element{})
			f.text(s.text(vg.Length(shape.Size), shape.Color), shape)
		}
	}
	about(c, element{})
}

// grid draws light lines at the labeled ticks of the axes that ask for them, except at an axis.
func (f frame) grid(p *plot.Plot) {
	style := lineStyle(reports.Grid(), 0.5, false)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if x := f.toX(t.Value); f.panel.X.Grid && !t.IsMinor() && t.Value > p.X.Min && f.ContainsX(x) {
			f.StrokeLine2(style, x, f.Min.Y, x, f.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if y := f.toY(t.Value); f.panel.Y.Grid && !t.IsMinor() && t.Value > p.Y.Min && f.ContainsY(y) {
			f.StrokeLine2(style, f.Min.X, y, f.Max.X, y)
		}
	}
}

func (f frame) line(l reports.Line) {
	var points []vg.Point
	for _, p := range l.Points {
		points = append(points, f.point(p))
	}
	f.StrokeLines(lineStyle(l.Color, l.Width, l.Broken), points)
}

func (f frame) bar(b reports.Bar) {
	if b.Across {
		fill(f.Canvas, b.Color, f.x(b.From), f.y(b.At-b.Half), f.x(b.To), f.y(b.At+b.Half))
		return
	}
	fill(f.Canvas, b.Color, f.x(b.At-b.Half), f.y(b.From), f.x(b.At+b.Half), f.y(b.To))
}

// box draws a box plot: upright, or to the right where it is Across.
func (f frame) box(b reports.Box) {
	across, along := f.x, f.y
	point := func(at, value vg.Length) vg.Point { return vg.Point{X: at, Y: value} }
	if b.Across {
		across, along = f.y, f.x
		point = func(at, value vg.Length) vg.Point { return vg.Point{X: value, Y: at} }
	}
	stroke := func(width float64, points ...vg.Point) {
		f.StrokeLines(lineStyle(b.Color, width, false), points)
	}
	low, middle, high := across(b.At-b.Half), across(b.At), across(b.At+b.Half)
	for _, whisker := range [][2]float64{{b.Spread.Min, b.Spread.FirstQuartile}, {b.Spread.Max, b.Spread.ThirdQuartile}} {
		end, quartile := along(whisker[0]), along(whisker[1])
		stroke(0.8, point(middle, end), point(middle, quartile))
		stroke(0.8, point((low+middle)/2, end), point((middle+high)/2, end))
	}
	q1, median, q3 := along(b.Spread.FirstQuartile), along(b.Spread.Median), along(b.Spread.ThirdQuartile)
	corners := []vg.Point{point(low, q1), point(high, q1), point(high, q3), point(low, q3), point(low, q1)}
	f.FillPolygon(paint(b.Color.Area()), corners[:4])
	stroke(0.8, corners...)
	stroke(1.6, point(low, median), point(high, median))
}

func (f frame) text(style text.Style, t reports.Text) {
	style.XAlign = draw.XCenter
	if t.Left {
		style.XAlign = draw.XLeft
	}
	room := f.toX(t.Room) - f.toX(0)
	if t.Room > 0 && style.Width(t.Text)+6 > room {
		return
	}
	at := f.point(t.At)
	f.FillText(style, vg.Point{X: at.X + vg.Length(t.DX), Y: at.Y + vg.Length(t.DY)}, t.Text)
}
