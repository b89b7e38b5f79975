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
	At     Point
	Glyph  Glyph
	Color  Color
	Radius float64
	Hollow bool
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

// Note appends the notes that are not there yet.
func (f *Figure) Note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(f.Notes, n) {
			f.Notes = append(f.Notes, n)
		}
	}
}
