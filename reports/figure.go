// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"

	"github.com/tepsbench/teps/record"
)

// Figure is a drawing as data: a legend at the top, panels below each other, and notes that say how to read it.
type Figure struct {
	Name   string // of its files, without extension
	Title  string // one sentence: the caption, and the text for readers who cannot see the figure
	Legend []Key
	Panels []Panel
	Notes  []string
}

// FigureWidth is the width of every figure in inches: two columns of a journal page.
const FigureWidth = 6.8

// NarrowWidth is the width of figures on a phone, and of two figures side by side on paper.
const NarrowWidth = 3.7

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

// Shape is a part of a panel: a Line, Mark, Bar, Box or Text. Positions are in units of the axes, sizes in points.
type Shape any

// About is the label of a shape's key in the legend, with which it can be hidden, and its text for a pointer. Bars
// without a key have that of their color.
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
	At Point
	Look
	Radius float64
	About
}

// Bar is a rectangle around At on the x axis, or Across on the y axis, that goes from From to To on the other.
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

// Text is a label. It is left out if it is wider than Room on the x axis (0: no limit). At is its middle or, if Left is
// set, its left end; DX and DY move it by points.
type Text struct {
	At     Point
	Text   string
	Color  Color
	Size   float64
	Left   bool
	Room   float64
	DX, DY float64
}

// Note appends the notes that the figure does not have.
func (f *Figure) Note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(f.Notes, n) {
			f.Notes = append(f.Notes, n)
		}
	}
}

// Color is a color of the palette: 0xRRGGBB on white paper, and a CSS variable of the page. Alpha 0 is opaque, as 255.
type Color struct {
	RGB      uint32
	Variable string
	Alpha    uint8
}

// Palette returns all colors. Those of series are Okabe and Ito's (Color Universal Design, 2008) without yellow, which
// vanishes on white paper, and black, which is ink.
func Palette() []Color {
	return []Color{
		{RGB: 0x222222, Variable: "--ink"}, {RGB: 0x666666, Variable: "--faint"},
		{RGB: 0xdddddd, Variable: "--grid"}, {RGB: 0xffffff, Variable: "--paper"},
		{RGB: 0xbbbbbb, Variable: "--outside"}, {RGB: 0x101010, Variable: "--on-bar"},
		{RGB: 0x0072b2, Variable: "--series-0"}, {RGB: 0xd55e00, Variable: "--series-1"},
		{RGB: 0x009e73, Variable: "--series-2"}, {RGB: 0xcc79a7, Variable: "--series-3"},
		{RGB: 0xe69f00, Variable: "--series-4"}, {RGB: 0x56b4e9, Variable: "--series-5"},
		{RGB: 0x7b4fa3, Variable: "--more-0"}, {RGB: 0x8c564b, Variable: "--more-1"},
	}
}

// Ink is for texts and axes, Faint for less important things, Grid for lines behind the data, Paper for the background,
// Outside for the rest of a whole, and OnBar for texts on bars.
func Ink() Color     { return Palette()[0] }
func Faint() Color   { return Palette()[1] }
func Grid() Color    { return Palette()[2] }
func Paper() Color   { return Palette()[3] }
func Outside() Color { return Palette()[4] }
func OnBar() Color   { return Palette()[5] }

// Series are the colors of series. BarColors has two more, for the parts of a bar.
func Series() []Color    { return Palette()[6:12] }
func BarColors() []Color { return Palette()[6:] }

// Fade makes a color translucent.
func (c Color) Fade(alpha uint8) Color { return Color{c.RGB, c.Variable, alpha} }

// Area is the color for the inside of a shape whose outline is c.
func (c Color) Area() Color { return c.Fade(0x48) }

// Glyph is the form of a mark.
type Glyph int

// Forms of marks.
const (
	Circle Glyph = iota
	Square
	Triangle
	Diamond
	Wedge
	glyphs
)

// Look distinguishes a series from others. Color and glyph change together, for prints without colors and readers who
// cannot see all of them.
type Look struct {
	Color  Color
	Glyph  Glyph
	Hollow bool
	Broken bool // the line: published, or not measured
}

// Looks returns the look of series i. After 30 series they repeat.
func Looks(i int) Look {
	n := len(Series())
	return Look{Color: Series()[i%n], Glyph: Glyph((i + i/n) % int(glyphs))}
}
