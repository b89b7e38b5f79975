// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

type drawing struct {
	reports.Figure
	Plotter
	width vg.Length
}

func (d drawing) size() (width, height vg.Length) {
	for _, p := range d.Panels {
		height += vg.Length(p.Height) * vg.Inch
	}
	rows, _ := d.keyRows()
	height += 2*margin + keyHeight*vg.Length(len(rows)) + noteHeight*vg.Length(len(d.noteLines())) + 12
	return d.width, height
}

// draw draws the figure on a canvas of its size.
func (d drawing) draw(canvas vg.Canvas) {
	width, height := d.size()
	c := draw.Crop(draw.NewCanvas(canvas, width, height), margin, -margin, margin, -margin)
	area := c
	area.Max.Y, area.Min.Y = d.drawLegend(c), d.drawNotes(c)
	plots := make([][]*plot.Plot, len(d.Panels))
	for i, p := range d.Panels {
		narrow := d.width < reports.FigureWidth*vg.Inch
		if narrow {
			p.Y.Ticks = shortened(p.Y)
		}
		plots[i] = []*plot.Plot{d.panel(p)}
		if narrow && p.Y.Names { // the title may be wider than what the names leave
			plots[i][0].X.Label.Position = draw.PosRight
		}
	}
	for i, cell := range plot.Align(plots, draw.Tiles{Rows: len(plots), Cols: 1, PadY: 10}, area) {
		plots[i][0].Draw(cell[0])
	}
}

// shortened are the ticks of an axis, with names that leave room for the panel of a narrow figure.
func shortened(a reports.Axis) []reports.Tick {
	const narrow, wide = 16, 28 // columns
	var names []string
	for _, tick := range a.Ticks {
		names = append(names, tick.Label)
	}
	short, ticks := names, slices.Clone(a.Ticks)
	for columns := narrow; a.Names && columns <= wide; columns++ {
		short = reports.Shorten(columns, names...)
		if !slices.ContainsFunc(short, func(s string) bool { return utf8.RuneCountInString(s) > columns }) {
			break
		}
	}
	for i := range ticks {
		ticks[i].Label = reports.Cut(short[i], wide/2, wide)
	}
	return ticks
}

func (d drawing) drawLegend(c draw.Canvas) vg.Length {
	rows, keyWidth := d.keyRows()
	y := c.Max.Y
	for _, row := range rows {
		y -= keyHeight
		x := c.Min.X
		for _, key := range row {
			about(c, element{About: reports.About{Key: key.Label}, legend: true})
			sample(c, key.Key, vg.Point{X: x, Y: y})
			c.FillText(d.text(9, reports.Ink()), vg.Point{X: x + sampleWidth + 4, Y: y}, key.text)
			x += keyWidth
		}
	}
	about(c, element{})
	if len(rows) > 0 {
		y -= 8
	}
	return y
}

// sample draws the sample of a key with its lower left corner at at.
func sample(c draw.Canvas, key reports.Key, at vg.Point) {
	right, middle := at.X+sampleWidth, at.Y+4.5
	if key.Block {
		fill(c, key.Look.Color, at.X+4, at.Y, right-4, at.Y+8)
		return
	}
	c.StrokeLine2(lineStyle(key.Look.Color, 1.4, key.Look.Broken), at.X, middle, right, middle)
	mark(c, key.Look, 3.2, vg.Point{X: (at.X + right) / 2, Y: middle})
}

func (d drawing) drawNotes(c draw.Canvas) vg.Length {
	y, lines := c.Min.Y, d.noteLines()
	for _, line := range slices.Backward(lines) {
		c.FillText(d.text(8, reports.Faint()), vg.Point{X: c.Min.X, Y: y}, line)
		y += noteHeight
	}
	if len(lines) > 0 {
		y += 4
	}
	return y
}

// shownKey is a key of the legend with its label as shown.
type shownKey struct {
	reports.Key
	text string
}

// keyRows breaks the legend into rows. Every key has the width of the widest, so that columns line up; a label that is
// wider than the figure is shortened.
func (d drawing) keyRows() (rows [][]shownKey, width vg.Length) {
	var labels []string
	for _, key := range d.Legend {
		labels = append(labels, key.Label)
	}
	room := d.width - 2*margin + 16
	for columns := 100; columns > 16 && (width == 0 || width > room); columns-- {
		var keys []shownKey
		width = 1
		for i, label := range reports.Shorten(columns, labels...) {
			keys = append(keys, shownKey{d.Legend[i], label})
			width = max(width, sampleWidth+4+d.text(9, reports.Ink()).Width(label)+16)
		}
		rows = slices.Collect(slices.Chunk(keys, max(1, int(room/width))))
	}
	return rows, width
}

// noteLines breaks the notes between words where they are wider than the figure.
func (d drawing) noteLines() (lines []string) {
	style := d.text(8, reports.Faint())
	for _, note := range d.Notes {
		line := ""
		for _, word := range strings.Fields(note) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && style.Width(longer) > d.width-2*margin {
				lines = append(lines, line)
				longer = word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return lines
}

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

// position is the place of a value in the coordinates of the axis. Values beyond an end lie on it.
func position(a reports.Axis, x float64) float64 {
	x = min(max(x, a.Min), a.Max)
	if a.Log {
		return math.Log10(x)
	}
	return x
}

// ticks are the ticks of an axis: its own, or round numbers.
func ticks(a reports.Axis) plot.Ticker {
	switch {
	case a.Ticks == nil && a.Log:
		return plot.TickerFunc(logTicks)
	case a.Ticks == nil:
		return plot.TickerFunc(linearTicks)
	}
	var own plot.ConstantTicks
	for _, t := range a.Ticks {
		own = append(own, plot.Tick{Value: position(a, t.At), Label: t.Label})
	}
	return own
}

// linearTicks are five to eight round numbers: steps of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) (out []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*factor) <= 8 {
			step *= factor
			break
		}
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	for i := int(math.Ceil(low/step - 1e-9)); float64(i)*step <= high*(1+1e-12); i++ {
		value := float64(i) * step
		out = append(out, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
	}
	return out
}

// logTicks are the powers of ten between 10^low and 10^high, with 2 and 5 times them where they are few, and small
// ticks between them unless they are many. Labels are plain numbers, or powers where numbers are large.
func logTicks(low, high float64) (out []plot.Tick) {
	for decade := math.Floor(low); decade <= high; decade++ {
		for digit := 1.0; digit <= 9; digit++ {
			value, label := decade+math.Log10(digit), ""
			if value < low-1e-9 || value > high+1e-9 {
				continue
			}
			labeled := digit == 1 || high-low < 2.2 && (digit == 2 || digit == 5)
			if labeled && high > 4 {
				label = strings.TrimPrefix(strconv.Itoa(int(digit))+"·", "1·") + "10" + reports.Superscript(int(decade))
			} else if labeled {
				label = strconv.FormatFloat(digit*math.Pow10(int(decade)), 'f', max(0, -int(decade)), 64)
			}
			if labeled || high-low < 4 {
				out = append(out, plot.Tick{Value: value, Label: label})
			}
		}
	}
	return out
}
