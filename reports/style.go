// SPDX-License-Identifier: Apache-2.0

package reports

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

// Ink is for texts and axes, Faint for what is less important, Grid for lines behind the data, Paper for the ground,
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

// Fade lets a color through.
func (c Color) Fade(alpha uint8) Color { return Color{c.RGB, c.Variable, alpha} }

// Area is the color for the inside of what has c as its outline.
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
