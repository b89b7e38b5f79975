// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"errors"
	"image/color"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas is gonum/plot's canvas with texts as outlines and with colors that let others through as they should.
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
		point := func(p fixed.Point26_6) vg.Point { // fonts count downwards
			return vg.Point{X: at.X + vg.Length(p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
		}
		var path vg.Path
		for _, segment := range outline {
			switch a := segment.Args; segment.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(point(a[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(point(a[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(point(a[0]), point(a[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(point(a[0]), point(a[1]), point(a[2]))
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
