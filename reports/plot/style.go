// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"image/color"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/reports"
)

// Plotter draws figures. It is safe for concurrent use. Texts are in DejaVu Sans, which has the superscripts that
// gonum/plot's own Liberation lacks.
type Plotter struct{ handler text.Handler }

// New returns a Plotter. The error is that of a damaged program: its typeface cannot be read.
func New() (Plotter, error) {
	face, err := opentype.Parse(dejavusans.TTF)
	if err != nil {
		return Plotter{}, fmt.Errorf("plot: read the built-in typeface: %w", err)
	}
	fonts := font.NewCache(font.Collection{{Font: font.Font{Typeface: "DejaVu"}, Face: face}})
	return Plotter{text.Plain{Fonts: fonts}}, nil
}

// text is a style of a size in points, aligned to the left and to the baseline unless changed.
func (p Plotter) text(size vg.Length, c reports.Color) text.Style {
	return text.Style{Color: paint(c), Font: font.Font{Typeface: "DejaVu", Size: size}, Handler: p.handler}
}

// paint converts a color.
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

// fill fills a rectangle between two corners.
func fill(c draw.Canvas, with reports.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(paint(with), []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top},
		{X: left, Y: top}})
}

// mark draws a glyph; a hollow one has paper inside.
func mark(c draw.Canvas, glyph reports.Glyph, color reports.Color, radius float64, hollow bool, at vg.Point) {
	shape := [...]draw.GlyphDrawer{
		reports.Circle: draw.CircleGlyph{}, reports.Square: draw.BoxGlyph{}, reports.Triangle: draw.PyramidGlyph{},
		reports.Diamond: polygon{{0, 1.25}, {1.25, 0}, {0, -1.25}, {-1.25, 0}},
		reports.Wedge:   polygon{{-1.2, 0.84}, {1.2, 0.84}, {0, -1.2}},
	}[glyph]
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paint(color), Radius: vg.Length(radius), Shape: shape}, at)
	if hollow {
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
