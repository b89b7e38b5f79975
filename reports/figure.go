package reports

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Figure is a drawing as data: a legend at the top, panels below each other with a common left edge, and notes under
// them that say how to read it. Package plot draws it.
type Figure struct {
	Name   string // of its files, without extension
	Title  string // one sentence: the caption, and the text for readers who cannot see the figure
	Legend []Key
	Panels []Panel
	Notes  []string
}

// FigureWidth is the width of every figure in inches: two columns of a journal page.
const FigureWidth = 6.8

// maxRows is the number of runs with a row of their own in a figure.
const maxRows = 16

// Key is an entry of the legend: a line with its mark, or a block of color.
type Key struct {
	Label string
	Look  Look
	Block bool
}

// Panel is a pair of axes with shapes in the order in which they are drawn.
type Panel struct {
	Height float64 // inches
	X, Y   Axis
	Shapes []Shape
}

// Axis goes from Min to Max, linearly or by the decimal logarithm. Shapes beyond an end are drawn at the end.
type Axis struct {
	Title    string
	Min, Max float64
	Log      bool
	Grid     bool   // light lines across the panel at the labeled ticks
	Ticks    []Tick // nil: round numbers
	Names    bool   // the ticks are names, without tick lines
}

// Tick is a place on an axis. Without a label it is a small tick.
type Tick struct {
	At    float64
	Label string
}

// Shape is a part of a panel: a Line, Mark, Bar, Box or Text. Places are in units of the axes, sizes in points.
type Shape any

// About is what a page says of a shape of the data: the label of its key in the legend, with which it can be hidden,
// and a text for a pointer on it. Bars without a key have that of their color.
type About struct{ Key, Text string }

// Point is a place in a panel.
type Point struct{ X, Y float64 }

// Line joins points.
type Line struct {
	Points []Point
	Color  Color
	Width  float64
	Broken bool
	About
}

// Mark is a glyph.
type Mark struct {
	At     Point
	Glyph  Glyph
	Color  Color
	Radius float64
	Hollow bool
	About
}

// Bar is a rectangle around At on one axis that goes from From to To on the other: upright over the x axis, or Across,
// to the right from the y axis.
type Bar struct {
	Across   bool
	At, Half float64 // Half is half of its width
	From, To float64
	Color    Color
	About
}

// Box is a box plot around At: whiskers to minimum and maximum, a box between the quartiles, a line at the median.
type Box struct {
	Across   bool
	At, Half float64
	Spread   record.Spread // in units of the axis
	Color    Color
	About
}

// Text is a label. It is left out where it is wider than Room on the x axis (0: no limit). Its middle lies at At unless
// Left is set; DX and DY move it by points.
type Text struct {
	At     Point
	Text   string
	Color  Color
	Size   float64
	Left   bool
	Room   float64
	DX, DY float64
}

// span is an interval of positive numbers.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), 0} }

// add widens the interval by values that are positive numbers.
func (s *span) add(values ...float64) {
	for _, v := range values {
		if v > 0 && Finite(v) {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
}

func (s span) empty() bool { return s.high == 0 }

// valueAxis is the axis of a positive quantity: linear from 0, or logarithmic if the values span more than a factor of
// 12.
func valueAxis(title string, values span) Axis {
	if values.high > 12*values.low {
		return logAxis(title, values)
	}
	return linearAxis(title, values.high*1.08)
}

// linearAxis goes from 0 to high.
func linearAxis(title string, high float64) Axis { return Axis{Title: title, Max: high, Grid: true} }

func logAxis(title string, values span) Axis {
	return Axis{Title: title + ", log scale", Min: values.low / 1.5, Max: values.high * 1.5, Log: true, Grid: true}
}

// scaleAxis is the axis of graph sizes by their scales. With many scales only some are labeled.
func scaleAxis(scales span) Axis {
	first, last := int(scales.low), int(scales.high)
	a := Axis{Title: "Number of vertices", Min: scales.low - 0.5, Max: scales.high + 0.5}
	every := (last-first)/16 + 1
	for s := first; s <= last; s++ {
		label := ""
		if (s-first)%every == 0 {
			label = "2" + Superscript(s)
		}
		a.Ticks = append(a.Ticks, Tick{float64(s), label})
	}
	return a
}

// rowAxis has names from the top.
func rowAxis(names []string) Axis {
	a := Axis{Min: -0.55, Max: float64(len(names)) - 0.45, Names: true}
	for i, name := range names {
		a.Ticks = append(a.Ticks, Tick{float64(len(names) - 1 - i), name})
	}
	return a
}

// curve is a series of points with its name in the legend.
type curve struct {
	label  string
	look   Look
	points []Point
	about  func(Point) string // the text for a pointer; nil: label and value
}

// draw draws the points as marks that a line joins, without marks where they are many. Values that are not positive and
// finite are left out.
func (c curve) draw() (shapes []Shape) {
	var drawn []Point
	for _, p := range c.points {
		if p.Y > 0 && Finite(p.X, p.Y) {
			drawn = append(drawn, p)
		}
	}
	if len(drawn) > 1 {
		shapes = append(shapes, Line{drawn, c.look.Color, 1.4, c.look.Broken, About{Key: c.label}})
	}
	if len(drawn) > 50 {
		return shapes
	}
	for _, p := range drawn {
		text := c.label + ": " + units.Significant(p.Y, 4)
		if c.about != nil {
			text = c.about(p)
		}
		shapes = append(shapes, Mark{p, c.look.Glyph, c.look.Color, 3.2, c.look.Hollow, About{c.label, text}})
	}
	return shapes
}

// legend has a key for every curve.
func legend(curves []curve) (keys []Key) {
	for _, c := range curves {
		keys = append(keys, Key{Label: c.label, Look: c.look})
	}
	return keys
}

// row is a row of a panel: its name, what it draws around its place on the y axis, and a text that begins at end.
type row struct {
	name string
	draw func(place float64) []Shape
	end  float64
	text string
}

// rowPanel draws rows of that height, less where they are many, the first at the top. The x axis becomes longer by the
// room that their texts need.
func rowPanel(x Axis, height float64, rows []row) Panel {
	if len(rows) > maxRows/2 {
		height *= 0.75
	}
	panel := Panel{Height: height*float64(len(rows)) + 0.65, X: x}
	var names []string
	room := 0.0 // as a share of the axis
	for i, r := range rows {
		place := float64(len(rows) - 1 - i)
		names, room = append(names, r.name), max(room, 0.02*float64(utf8.RuneCountInString(r.text)))
		panel.Shapes = append(panel.Shapes, r.draw(place)...)
		if r.text != "" {
			panel.Shapes = append(panel.Shapes, Text{At: Point{r.end, place}, Text: r.text, Color: Ink(), Size: 8,
				Left: true, DX: 5, DY: -3})
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
func barRow(name, text string, parts []float64, colors ...Color) row {
	r := row{name: name, text: text}
	var bars []Bar
	for k, v := range parts {
		if v > 0 && Finite(v) {
			bars = append(bars, Bar{Across: true, Half: 0.32, From: r.end, To: r.end + v, Color: colors[min(k, len(colors)-1)],
				About: About{Text: name + ": " + units.Significant(v, 4)}})
			r.end += v
		}
	}
	r.draw = func(place float64) (shapes []Shape) {
		for _, bar := range bars {
			bar.At = place
			shapes = append(shapes, bar)
		}
		return shapes
	}
	return r
}

// Heights of rows, in inches.
const (
	barHeight = 0.27
	boxHeight = 0.42
)

// barPanel is a panel of rows with bars.
func barPanel(title string, rows []row) Panel {
	high := 1e-9
	for _, r := range rows {
		high = max(high, r.end)
	}
	return rowPanel(linearAxis(title, high*1.06), barHeight, rows)
}

// limited keeps the first of many rows of a figure, and adds a note that says so.
func limited[T any](f *Figure, rows []T, limit int, what string) []T {
	if len(rows) <= limit {
		return rows
	}
	f.note(fmt.Sprintf("The first %d of %d %s.", limit, len(rows), what))
	return rows[:limit]
}

// note appends the notes that are not there yet.
func (f *Figure) note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(f.Notes, n) {
			f.Notes = append(f.Notes, n)
		}
	}
}
