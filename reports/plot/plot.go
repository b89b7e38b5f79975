package plot

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

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

// Plotter draws figures. It is safe for concurrent use.
type Plotter struct{ pen pen }

// New returns a Plotter. The error is that of a damaged program: its typeface cannot be read.
func New() (Plotter, error) {
	p, err := newPen()
	return Plotter{p}, err
}

// ErrExtension is the error of a file that is not an .svg, .png or .pdf.
var ErrExtension = errors.New("a figure is written to an .svg, a .png or a .pdf file")

// Write draws a figure into a file, in the form of its extension, whole or not at all. The error is ErrExtension or
// that of the file system, wrapped.
func (p Plotter) Write(path string, f reports.Figure) error {
	var draw func(reports.Figure) ([]byte, error)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		draw = p.SVG
	case ".png":
		draw = p.PNG
	case ".pdf":
		draw = p.PDF
	default:
		return fmt.Errorf("plot: %s: %w", path, ErrExtension)
	}
	data, err := draw(f)
	if err != nil {
		return err
	}
	if err := record.WriteFile(path, data); err != nil {
		return fmt.Errorf("plot: %w (is the directory there, writable and not full?)", err)
	}
	return nil
}

// SVG draws a figure as an SVG document on white. Texts stay texts: the typeface is named, not embedded.
func (p Plotter) SVG(f reports.Figure) ([]byte, error) { return p.svg(f, true) }

func (p Plotter) svg(f reports.Figure, ground bool) ([]byte, error) {
	d := drawing{f, p.pen}
	width, height := d.size()
	canvas := vgsvg.New(width, height)
	if ground {
		fill(draw.NewCanvas(canvas, width, height), reports.Paper(), 0, 0, width, height)
	}
	d.draw(canvas)
	var b bytes.Buffer
	if err := finish(canvas, &b, f.Name+".svg"); err != nil {
		return nil, err
	}
	// Verdana has the same ancestor as DejaVu Sans and nearly its widths.
	return styled(b.Bytes(), func(style []byte) []byte {
		return bytes.Replace(style, []byte("font-family:DejaVu Sans;"),
			[]byte("font-family:'DejaVu Sans',Verdana,Geneva,Arial,sans-serif;"), 1)
	}), nil
}

// styled rewrites every style attribute. vgsvg escapes quotes in texts, so a name cannot be taken for an attribute.
func styled(svg []byte, rewrite func(style []byte) []byte) []byte {
	return regexp.MustCompile(`style="[^"]*"`).ReplaceAllFunc(svg, rewrite)
}

// PNG draws a figure at 300 dots an inch, or fewer where it is very tall, on white.
func (p Plotter) PNG(f reports.Figure) ([]byte, error) {
	d := drawing{f, p.pen}
	width, height := d.size()
	dpi := min(resolution, int(maxPixels/height.Points()*72))
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi),
		vgimg.UseBackgroundColor(paint(reports.Paper())))}
	d.draw(canvas)
	var b bytes.Buffer
	if err := finish(canvas, &b, f.Name+".png"); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// PDF draws a figure as a PDF document of one page, the size of the figure. Texts are outlines: gonum/plot writes texts
// in code page 1252, which lacks most superscripts, and would embed the whole typeface.
func (p Plotter) PDF(f reports.Figure) ([]byte, error) {
	d := drawing{f, p.pen}
	canvas := &pdfCanvas{Canvas: vgpdf.New(d.size())}
	d.draw(canvas)
	var b bytes.Buffer
	if err := finish(canvas, &b, f.Name+".pdf"); err != nil {
		return nil, err
	}
	if canvas.failure != nil {
		return nil, fmt.Errorf("plot: draw %s.pdf: %w", f.Name, canvas.failure)
	}
	return b.Bytes(), nil
}

// finish writes a canvas.
func finish(canvas io.WriterTo, b *bytes.Buffer, name string) error {
	if _, err := canvas.WriteTo(b); err != nil {
		return fmt.Errorf("plot: draw %s: %w", name, err)
	}
	return nil
}

// Inline draws a figure for a page: without a ground, in the page's own colors (the CSS variables of reports.Palette),
// as wide as its place.
func (p Plotter) Inline(f reports.Figure) (string, error) {
	svg, err := p.svg(f, false)
	if err != nil {
		return "", err
	}
	// The XML declaration has no place in a page, and the page decides on the size.
	head := bytes.Index(svg, []byte("<g "))
	if head < 0 {
		return "", fmt.Errorf("plot: draw %s for a page: the drawing is empty", f.Name)
	}
	color := regexp.MustCompile(`#[0-9A-F]{6}`)
	body := styled(svg[head:], func(style []byte) []byte { return color.ReplaceAllFunc(style, variable) })
	width, height := drawing{f, p.pen}.size()
	title := html.EscapeString(f.Title)
	return fmt.Sprintf(`<svg role="img" aria-label="%[3]s" viewBox="0 0 %[1]g %[2]g" xmlns="http://www.w3.org/2000/svg">`+
		`<title>%[3]s</title>%[4]s`, width.Points(), height.Points(), title, body), nil
}

// variable is the CSS variable of a color. vgsvg rounds colors that let others through.
func variable(hex []byte) []byte {
	n, err := strconv.ParseUint(string(hex[1:]), 16, 32)
	if err != nil {
		return hex
	}
	for _, paint := range reports.Palette() {
		near := true
		for _, shift := range []uint{0, 8, 16} {
			d := int(n>>shift&0xff) - int(paint.RGB>>shift&0xff)
			near = near && d >= -2 && d <= 2
		}
		if near {
			return []byte("var(" + paint.Variable + ")")
		}
	}
	return hex
}
