// SPDX-License-Identifier: Apache-2.0

// Package plot draws the figures of a report with gonum/plot: as SVG on white paper, as SVG for a page, as PNG and as
// PDF.
package plot

import (
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/reports"
)

const (
	margin      = vg.Length(6)
	sampleWidth = vg.Length(22) // of a sample in the legend
	keyHeight   = vg.Length(14)
	noteHeight  = vg.Length(12)
)

// drawing is a figure with what draws it.
type drawing struct {
	reports.Figure
	Plotter
}

// size is the whole of the figure: its panels, legend and notes.
func (d drawing) size() (width, height vg.Length) {
	for _, p := range d.Panels {
		height += vg.Length(p.Height) * vg.Inch
	}
	height += 2*margin + keyHeight*vg.Length(len(d.keyRows())) + noteHeight*vg.Length(len(d.noteLines())) + 12
	return reports.FigureWidth * vg.Inch, height
}

// draw draws the figure on a canvas of its size.
func (d drawing) draw(canvas vg.Canvas) {
	width, height := d.size()
	c := draw.Crop(draw.NewCanvas(canvas, width, height), margin, -margin, margin, -margin)
	top, bottom := d.drawLegend(c), d.drawNotes(c)
	area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: bottom},
		Max: vg.Point{X: c.Max.X, Y: top}}}
	plots := make([][]*plot.Plot, len(d.Panels))
	for i, p := range d.Panels {
		plots[i] = []*plot.Plot{d.panel(p)}
	}
	for i, cell := range plot.Align(plots, draw.Tiles{Rows: len(plots), Cols: 1, PadY: 10}, area) {
		plots[i][0].Draw(cell[0])
	}
}

// drawLegend draws the legend and returns where the panels begin.
func (d drawing) drawLegend(c draw.Canvas) vg.Length {
	style := d.text(9, reports.Ink())
	rows := d.keyRows()
	y := c.Max.Y
	for _, row := range rows {
		y -= keyHeight
		x := c.Min.X
		for _, key := range row {
			about(c, element{About: reports.About{Key: key.Label}, legend: true})
			box := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + sampleWidth, Y: y + 9}}
			sample(draw.Canvas{Canvas: c.Canvas, Rectangle: box}, key)
			c.FillText(style, vg.Point{X: x + sampleWidth + 4, Y: y}, key.Label)
			x += d.keyWidth()
		}
	}
	about(c, element{})
	if len(rows) > 0 {
		y -= 8
	}
	return y
}

// sample draws the sample of a key into the whole of c.
func sample(c draw.Canvas, key reports.Key) {
	if key.Block {
		fill(c, key.Look.Color, c.Min.X+4, c.Min.Y, c.Max.X-4, c.Max.Y-1)
		return
	}
	at := c.Center()
	c.StrokeLine2(lineStyle(key.Look.Color, 1.4, key.Look.Broken), c.Min.X, at.Y, c.Max.X, at.Y)
	mark(c, key.Look.Glyph, key.Look.Color, 3.2, key.Look.Hollow, at)
}

// drawNotes draws the notes and returns where the panels end.
func (d drawing) drawNotes(c draw.Canvas) vg.Length {
	style := d.text(8, reports.Faint())
	y, lines := c.Min.Y, d.noteLines()
	for _, line := range slices.Backward(lines) {
		c.FillText(style, vg.Point{X: c.Min.X, Y: y}, line)
		y += noteHeight
	}
	if len(lines) > 0 {
		y += 4
	}
	return y
}

// keyWidth is the room that a key takes in the legend: that of the widest.
func (d drawing) keyWidth() vg.Length {
	widest, style := vg.Length(0), d.text(9, reports.Ink())
	for _, key := range d.Legend {
		widest = max(widest, style.Width(key.Label))
	}
	return sampleWidth + 4 + widest + 16
}

// keyRows breaks the legend into rows, whose columns line up.
func (d drawing) keyRows() [][]reports.Key {
	if len(d.Legend) == 0 {
		return nil
	}
	room := reports.FigureWidth*vg.Inch - 2*margin + 16
	return slices.Collect(slices.Chunk(d.Legend, max(1, int(room/d.keyWidth()))))
}

// noteLines breaks the notes between words where they are wider than the figure.
func (d drawing) noteLines() []string {
	style := d.text(8, reports.Faint())
	room := reports.FigureWidth*vg.Inch - 2*margin
	var lines []string
	for _, note := range d.Notes {
		line := ""
		for _, word := range strings.Fields(note) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && style.Width(longer) > room {
				lines = append(lines, line)
				longer = word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return lines
}

// panel makes a plot of a panel.
func (p Plotter) panel(panel reports.Panel) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.TextHandler = p.handler
	out.Title.TextStyle.Handler = p.handler
	p.axis(&out.X, panel.X)
	p.axis(&out.Y, panel.Y)
	out.Add(shapes{panel, p})
	return out
}

// axis sets an axis of gonum/plot. Logarithms are taken of values and the axis stays linear, because gonum/plot's own
// logarithmic scale squeezes a plot with axis titles.
func (p Plotter) axis(out *plot.Axis, a reports.Axis) {
	label, tick := p.text(10, reports.Ink()), p.text(9, reports.Ink())
	label.XAlign, label.YAlign = out.Label.TextStyle.XAlign, out.Label.TextStyle.YAlign
	tick.XAlign, tick.YAlign = out.Tick.Label.XAlign, out.Tick.Label.YAlign
	out.Label.Text, out.Label.TextStyle, out.Label.Padding = a.Title, label, 4
	out.Tick.Label, out.Tick.Length = tick, 4
	out.LineStyle = lineStyle(reports.Ink(), 0.6, false)
	out.Tick.LineStyle = out.LineStyle
	out.Padding = 0
	out.Min, out.Max = position(a, a.Min), position(a, a.Max)
	out.Tick.Marker = ticks(a)
	if a.Names {
		out.Tick.Length = 0
	}
}
