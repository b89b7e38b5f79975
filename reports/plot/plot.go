// SPDX-License-Identifier: Apache-2.0

// Package plot draws the figures of a report with gonum/plot: as SVG on white paper, as SVG for a page, as PNG and as
// PDF.
package plot

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"path/filepath"
	"strings"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Plotter draws figures. It is safe for concurrent use. Texts are in DejaVu Sans, which has the superscripts that
// gonum/plot's own Liberation lacks.
type Plotter struct{ handler text.Handler }

// New returns a Plotter.
func New() Plotter {
	face, err := opentype.Parse(dejavusans.TTF)
	if err != nil {
		panic(fmt.Sprintf("plot: the built-in typeface is damaged: %v", err))
	}
	fonts := font.NewCache(font.Collection{{Font: font.Font{Typeface: "DejaVu"}, Face: face}})
	return Plotter{text.Plain{Fonts: fonts}}
}

// ErrExtension is the error of a file that is not an .svg, .png or .pdf.
var ErrExtension = errors.New("a figure is written to an .svg, a .png or a .pdf file")

// Write draws a figure into a file, in the form of its extension, whole or not at all. The error is ErrExtension or
// that of the file system, wrapped.
func (p Plotter) Write(path string, f reports.Figure) error {
	data, err := p.Draw(strings.ToLower(filepath.Ext(path)), f)
	if err != nil {
		return fmt.Errorf("plot: %s: %w", path, err)
	}
	if err := record.WriteFile(path, data); err != nil {
		return fmt.Errorf("plot: %w (is the directory there, writable and not full?)", err)
	}
	return nil
}

const (
	resolution = 300 // dots an inch of a PNG
	maxPixels  = 12000
)

// Draw draws a figure on white in the form of an extension. Texts of an SVG stay texts: the typeface is named, not
// embedded. A PNG has 300 dots an inch, or fewer where it is very tall. A PDF is a page of the size of the figure. The
// error is ErrExtension, or that of the drawing library.
func (p Plotter) Draw(extension string, f reports.Figure) ([]byte, error) {
	d := drawing{f, p, reports.FigureWidth * vg.Inch}
	width, height := d.size()
	switch extension {
	case ".svg":
		canvas := vgsvg.New(width, height)
		fill(draw.NewCanvas(canvas, width, height), reports.Paper(), 0, 0, width, height)
		return substituted(d.on(canvas))
	case ".png":
		dpi := min(resolution, int(maxPixels/height.Points()*72))
		return d.on(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi),
			vgimg.UseBackgroundColor(paint(reports.Paper())))})
	case ".pdf":
		canvas := &pdfCanvas{Canvas: vgpdf.New(width, height)}
		data, err := d.on(canvas)
		return data, errors.Join(err, canvas.failure)
	}
	return nil, ErrExtension
}

func (d drawing) on(canvas vg.CanvasWriterTo) ([]byte, error) {
	d.draw(canvas)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.Name, err)
	}
	return b.Bytes(), nil
}

// substituted names typefaces for where DejaVu Sans is missing. Verdana has the same ancestor and nearly its widths.
func substituted(svg []byte, err error) ([]byte, error) {
	return bytes.ReplaceAll(svg, []byte("font-family:DejaVu Sans;"),
		[]byte("font-family:'DejaVu Sans',Verdana,Geneva,Arial,sans-serif;")), err
}

// pdfCanvas is gonum/plot's canvas with texts as outlines and with transparent colors. gonum/plot writes texts in code
// page 1252, which lacks most superscripts, and would embed the whole typeface.
type pdfCanvas struct {
	*vgpdf.Canvas
	buffer  sfnt.Buffer
	failure error
}

// SetColor undoes the multiplication of a color by its alpha, which PDF does itself.
func (c *pdfCanvas) SetColor(with color.Color) {
	c.Canvas.SetColor(plain(color.NRGBAModel.Convert(with).(color.NRGBA)))
}

// plain is a color that is not multiplied by its alpha.
type plain color.NRGBA

func (c plain) RGBA() (r, g, b, a uint32) {
	return uint32(c.R) * 0x101, uint32(c.G) * 0x101, uint32(c.B) * 0x101, uint32(c.A) * 0x101
}

// FillString fills the outlines of a text that begins at at.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	const unitsPerEm = 2048 // that the outlines are read in
	scale := face.Font.Size / unitsPerEm / 64
	for _, letter := range text {
		glyph, err1 := face.Face.GlyphIndex(&c.buffer, letter)
		outline, err2 := face.Face.LoadGlyph(&c.buffer, glyph, fixed.I(unitsPerEm), nil)
		var path vg.Path
		for _, segment := range outline {
			var to [3]vg.Point // fonts count downwards
			for i, p := range segment.Args {
				to[i] = vg.Point{X: at.X + vg.Length(p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
			}
			switch segment.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(to[0])
			case sfnt.SegmentOpLineTo:
				path.Line(to[0])
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(to[0], to[1])
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(to[0], to[1], to[2])
			}
		}
		c.Fill(path)
		advance, err3 := face.Face.GlyphAdvance(&c.buffer, glyph, fixed.I(unitsPerEm), 0)
		if c.failure = errors.Join(c.failure, err1, err2, err3); c.failure != nil {
			return
		}
		at.X += vg.Length(advance) * scale
	}
}
