// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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
			points := make([]vg.Point, len(shape.Points))
			for i, p := range shape.Points {
				points[i] = f.point(p)
			}
			f.StrokeLines(lineStyle(shape.Color, shape.Width, shape.Broken), points)
		case reports.Mark:
			about(c, element{About: shape.About})
			mark(c, shape.Look, shape.Radius, f.point(shape.At))
		case reports.Bar:
			about(c, element{About: shape.About, color: shape.Color.Variable})
			left, right, bottom, top := shape.At-shape.Half, shape.At+shape.Half, shape.From, shape.To
			if shape.Across {
				left, right, bottom, top = bottom, top, left, right
			}
			fill(c, shape.Color, f.x(left), f.y(bottom), f.x(right), f.y(top))
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
	at := f.point(t.At).Add(vg.Point{X: vg.Length(t.DX), Y: vg.Length(t.DY)})
	for t.Left && at.X+style.Width(t.Text) > f.Max.X+margin {
		end := strings.LastIndex(t.Text, ", ")
		if end < 0 {
			style.XAlign, at.X = draw.XRight, at.X-2*vg.Length(t.DX) // to the left of its place
			break
		}
		t.Text = t.Text[:end]
	}
	f.FillText(style, at, t.Text)
}

// text is a style of a size in points, aligned to the left and to the baseline unless changed.
func (p Plotter) text(size vg.Length, c reports.Color) text.Style {
	return text.Style{Color: paint(c), Font: font.Font{Typeface: "DejaVu", Size: size}, Handler: p.handler}
}

func paint(c reports.Color) color.NRGBA {
	out := color.NRGBA{R: uint8(c.RGB >> 16), G: uint8(c.RGB >> 8), B: uint8(c.RGB), A: c.Alpha}
	if c.Alpha == 0 {
		out.A = 0xff
	}
	return out
}

func lineStyle(c reports.Color, width float64, broken bool) draw.LineStyle {
	style := draw.LineStyle{Color: paint(c), Width: vg.Length(width)}
	if broken {
		style.Dashes = []vg.Length{4, 3}
	}
	return style
}

func fill(c draw.Canvas, with reports.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(paint(with), []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top},
		{X: left, Y: top}})
}

// mark draws a glyph; a hollow one has paper inside.
func mark(c draw.Canvas, look reports.Look, radius float64, at vg.Point) {
	shape := [...]draw.GlyphDrawer{
		reports.Circle: draw.CircleGlyph{}, reports.Square: draw.BoxGlyph{}, reports.Triangle: draw.PyramidGlyph{},
		reports.Diamond: polygon{{0, 1.25}, {1.25, 0}, {0, -1.25}, {-1.25, 0}},
		reports.Wedge:   polygon{{-1.2, 0.84}, {1.2, 0.84}, {0, -1.2}},
	}[look.Glyph]
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paint(look.Color), Radius: vg.Length(radius), Shape: shape}, at)
	if look.Hollow {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: paint(reports.Paper()), Radius: vg.Length(radius * 0.6), Shape: shape}, at)
	}
}

// polygon is a filled glyph by its corners, in units of the radius.
type polygon [][2]vg.Length

// DrawGlyph makes polygon a draw.GlyphDrawer.
func (p polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, len(p))
	for i, corner := range p {
		corners[i] = vg.Point{X: at.X + style.Radius*corner[0], Y: at.Y + style.Radius*corner[1]}
	}
	c.FillPolygon(style.Color, corners)
}
