package reports

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// figure is a drawing: a legend above (outside the data), one plot or several below each other with a common left edge,
// and notes under them that say how to read it. The same figure drawn twice gives the same bytes.
type figure struct {
	name   string // of its files, without extension
	title  string // one sentence for those who cannot see it, and for the page's caption
	width  vg.Length
	height vg.Length // of the plots; legend and notes come on top
	legend []entry
	notes  []string
	plots  []*plot.Plot
	pen    pen
}

// entry is a line of the legend: a sample and what it stands for.
type entry struct {
	label  string
	sample func(c draw.Canvas) // draws into the whole of c, a box of sampleWidth by the text's height
}

const (
	figureWidth  = 6.8 * vg.Inch // two columns of a journal page
	margin       = vg.Length(6)
	sampleWidth  = vg.Length(22)
	lineHeight   = vg.Length(14)
	noteHeight   = vg.Length(12)
	resolution   = 300 // dots an inch of a PNG
	tallestPixel = 12000
)

// draw draws f on a canvas of size().
func (f *figure) draw(canvas vg.Canvas) {
	width, height := f.size()
	c := draw.NewCanvas(canvas, width, height)
	c = draw.Crop(c, margin, -margin, margin, -margin)

	rows := f.legendRows()
	style := f.pen.text(9, ink)
	y := c.Max.Y
	for _, row := range rows {
		y -= lineHeight
		x := c.Min.X
		for _, e := range row {
			e.sample(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + sampleWidth, Y: y + 9}}})
			c.FillText(style, vg.Point{X: x + sampleWidth + 4, Y: y}, e.label)
			if len(rows) > 1 {
				x += f.columnWidth(f.legend...) // columns line up
			} else {
				x += f.columnWidth(e)
			}
		}
	}
	if len(rows) > 0 {
		y -= 4
	}

	note := f.pen.text(8, faint)
	bottom := c.Min.Y
	lines := f.noteLines()
	for _, line := range slices.Backward(lines) {
		c.FillText(note, vg.Point{X: c.Min.X, Y: bottom}, line)
		bottom += noteHeight
	}
	if len(lines) > 0 {
		bottom += 4
	}

	area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: bottom}, Max: vg.Point{X: c.Max.X, Y: y}}}
	if len(f.plots) == 1 {
		f.plots[0].Draw(area)
		return
	}
	column := make([][]*plot.Plot, len(f.plots))
	for i, p := range f.plots {
		column[i] = []*plot.Plot{p}
	}
	for i, cell := range plot.Align(column, draw.Tiles{Rows: len(f.plots), Cols: 1, PadY: 10}, area) {
		f.plots[i].Draw(cell[0])
	}
}

// size is the whole of the figure, in points.
func (f *figure) size() (width, height vg.Length) {
	height = f.height + 2*margin + lineHeight*vg.Length(len(f.legendRows())) + noteHeight*vg.Length(len(f.noteLines())) + 8
	return f.width, height
}

// columnWidth is the room that the widest of some entries takes in the legend.
func (f *figure) columnWidth(entries ...entry) vg.Length {
	widest := vg.Length(0)
	style := f.pen.text(9, ink)
	for _, e := range entries {
		widest = max(widest, style.Width(e.label))
	}
	return sampleWidth + 4 + widest + 16
}

// legendRows breaks the legend into rows: one if it fits, else rows of equal columns.
func (f *figure) legendRows() [][]entry {
	if len(f.legend) == 0 {
		return nil
	}
	room, all := f.width-2*margin+16, vg.Length(0)
	for _, e := range f.legend {
		all += f.columnWidth(e)
	}
	if all <= room {
		return [][]entry{f.legend}
	}
	columns := max(1, int(room/f.columnWidth(f.legend...)))
	var rows [][]entry
	for i := 0; i < len(f.legend); i += columns {
		rows = append(rows, f.legend[i:min(i+columns, len(f.legend))])
	}
	return rows
}

// noteLines breaks the notes between words where they are wider than the figure.
func (f *figure) noteLines() []string {
	style := f.pen.text(8, faint)
	var lines []string
	for _, note := range f.notes {
		line := ""
		for _, word := range strings.Fields(note) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && style.Width(longer) > f.width-2*margin {
				lines = append(lines, line)
				longer = word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return lines
}

// svg draws f as an SVG document on white. Texts stay texts: the typeface is named, not embedded, with others of nearly
// the same widths behind it.
func (f *figure) svg() ([]byte, error) {
	width, height := f.size()
	canvas := vgsvg.New(width, height)
	c := draw.NewCanvas(canvas, width, height)
	c.FillPolygon(paper, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	f.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("reports: draw %s.svg: %w", f.name, err)
	}
	return fallbackFonts(b.Bytes()), nil
}

// png draws f at 300 dots an inch, or fewer where it is very tall, on white.
func (f *figure) png() ([]byte, error) {
	width, height := f.size()
	dpi := min(resolution, int(tallestPixel/height.Points()*72))
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))}
	f.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("reports: draw %s.png: %w", f.name, err)
	}
	return withResolution(b.Bytes(), dpi), nil
}

// withResolution adds the size of a dot to a PNG (the pHYs chunk, PNG specification 11.3.4.3), which programs that set
// pages go by. It comes right after the header, which has a fixed size.
func withResolution(png []byte, dpi int) []byte {
	const header = 8 + 25 // signature, IHDR chunk
	chunk := []byte("pHYs")
	dotsAMetre := uint32(math.Round(float64(dpi) / 0.0254))
	chunk = binary.BigEndian.AppendUint32(chunk, dotsAMetre)
	chunk = binary.BigEndian.AppendUint32(chunk, dotsAMetre)
	chunk = append(chunk, 1) // the unit is the metre
	sum := crc32.ChecksumIEEE(chunk)
	chunk = binary.BigEndian.AppendUint32(chunk, sum)
	size := binary.BigEndian.AppendUint32(nil, 9)
	return slices.Concat(png[:header], size, chunk, png[header:])
}

// gridLines draws light lines across the plot at the labelled ticks of the axes that are asked for, but not on an axis.
type gridLines struct{ x, y bool }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	style := draw.LineStyle{Color: grid, Width: 0.5}
	if g.x {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if x := c.X(p.X.Norm(t.Value)); !t.IsMinor() && t.Value > p.X.Min && c.ContainsX(x) {
				c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
			}
		}
	}
	if g.y {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if y := c.Y(p.Y.Norm(t.Value)); !t.IsMinor() && t.Value > p.Y.Min && c.ContainsY(y) {
				c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
			}
		}
	}
}
