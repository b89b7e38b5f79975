package reports

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Colours of everything that is not data, 0xRRGGBB. The page recolours these and the palette in a dark scheme
// (inline.go).
const (
	ink   rgb = 0x222222
	faint rgb = 0x666666
	grid  rgb = 0xdddddd
	paper rgb = 0xffffff
)

// rgb is an opaque colour.
type rgb uint32

// RGBA makes rgb a color.Color.
func (c rgb) RGBA() (r, g, b, a uint32) {
	return uint32(c>>16&0xff) * 0x101, uint32(c>>8&0xff) * 0x101, uint32(c&0xff) * 0x101, 0xffff
}

// near says whether #RRGGBB is c but for the rounding that vgsvg does to colours that let others through.
func (c rgb) near(hex string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return false
	}
	for _, shift := range []uint{0, 8, 16} {
		if d := int(n>>shift&0xff) - int(c>>shift&0xff); d < -2 || d > 2 {
			return false
		}
	}
	return true
}

// look is one way of marking a series. Colour and glyph change together, so that a print without colours and a reader
// who does not see all of them can still tell the series apart.
type look struct {
	line   color.Color
	point  color.Color // the same, let through
	area   color.Color // the same, let through more
	glyph  draw.GlyphDrawer
	dashes []vg.Length
}

// palette is that of Okabe and Ito (Color Universal Design, 2008) without its yellow, which vanishes on white paper, and
// its black, which is ink.
func palette() []rgb { return []rgb{0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9} }

// looks returns the look of series i. After 180 series they repeat.
func looks(i int) look {
	palette := palette()
	glyphs := [...]draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, wedge{}, cross{},
	}
	dashes := [...][]vg.Length{nil, {5, 2}, {1.5, 2}, {7, 2, 1.5, 2}, {9, 3}}
	c := palette[i%len(palette)]
	round := i / len(palette)
	return look{
		line:   c,
		point:  color.NRGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0x80},
		area:   color.NRGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0x48},
		glyph:  glyphs[(i+round)%len(glyphs)],
		dashes: dashes[round%len(dashes)],
	}
}

// diamond, wedge and cross are filled glyphs that gonum/plot lacks.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius * 1.25
	c.FillPolygon(sty.Color, []vg.Point{{X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}, {X: at.X - r, Y: at.Y}})
}

type wedge struct{}

func (wedge) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius * 1.2
	c.FillPolygon(sty.Color, []vg.Point{{X: at.X - r, Y: at.Y + r*0.7}, {X: at.X + r, Y: at.Y + r*0.7}, {X: at.X, Y: at.Y - r}})
}

type cross struct{}

func (cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r, t := sty.Radius*1.15, sty.Radius*0.4
	c.FillPolygon(sty.Color, []vg.Point{
		{X: at.X - t, Y: at.Y - r}, {X: at.X + t, Y: at.Y - r}, {X: at.X + t, Y: at.Y - t}, {X: at.X + r, Y: at.Y - t},
		{X: at.X + r, Y: at.Y + t}, {X: at.X + t, Y: at.Y + t}, {X: at.X + t, Y: at.Y + r}, {X: at.X - t, Y: at.Y + r},
		{X: at.X - t, Y: at.Y + t}, {X: at.X - r, Y: at.Y + t}, {X: at.X - r, Y: at.Y - t}, {X: at.X - t, Y: at.Y - t},
	})
}

// pen makes texts and empty plots in one typeface. DejaVu Sans has the superscripts that gonum/plot's own Liberation
// lacks.
type pen struct{ handler text.Handler }

func newPen() (pen, error) {
	face, err := opentype.Parse(dejavusans.TTF)
	if err != nil {
		return pen{}, fmt.Errorf("reports: read the built-in typeface: %w", err)
	}
	return pen{text.Plain{Fonts: font.NewCache(font.Collection{{Font: font.Font{Typeface: "DejaVu"}, Face: face}})}}, nil
}

// text is a style of that size in points, aligned to the left and its baseline's bottom unless changed.
func (p pen) text(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.Font{Typeface: "DejaVu", Size: size}, Handler: p.handler}
}

// plot returns an empty plot with its axes' titles; it has no background, title or legend of its own.
func (p pen) plot(x, y string) *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	out.TextHandler = p.handler
	out.Title.TextStyle.Handler = p.handler
	out.Legend.TextStyle = p.text(9, ink)
	for _, a := range []struct {
		axis  *plot.Axis
		title string
	}{{&out.X, x}, {&out.Y, y}} {
		label, tick := p.text(10, ink), p.text(9, ink)
		label.XAlign, label.YAlign = a.axis.Label.TextStyle.XAlign, a.axis.Label.TextStyle.YAlign
		tick.XAlign, tick.YAlign = a.axis.Tick.Label.XAlign, a.axis.Tick.Label.YAlign
		a.axis.Label.Text = a.title
		a.axis.Label.TextStyle = label
		a.axis.Label.Padding = 4
		a.axis.Tick.Label = tick
		a.axis.Tick.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
		a.axis.Tick.Length = 4
		a.axis.LineStyle = draw.LineStyle{Color: ink, Width: 0.6}
		a.axis.Padding = 0
	}
	return out
}
