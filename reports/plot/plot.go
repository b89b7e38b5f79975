// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

const (
	resolution = 300 // dots an inch of a PNG
	maxPixels  = 12000
)

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

// Draw draws a figure on white in the form of an extension. Texts of an SVG stay texts: the typeface is named, not
// embedded. A PNG has 300 dots an inch, or fewer where it is very tall. A PDF is a page of the size of the figure. Its
// texts are outlines: gonum/plot writes texts in code page 1252, which lacks most superscripts, and would embed the
// whole typeface. The error is ErrExtension, or that of the drawing library.
func (p Plotter) Draw(extension string, f reports.Figure) ([]byte, error) {
	d := drawing{f, p}
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

// on draws the figure on a canvas and encodes it.
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
