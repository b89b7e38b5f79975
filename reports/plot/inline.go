// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tepsbench/teps/reports"
)

// pageCanvas is gonum/plot's canvas for SVG, and knows what each element of the SVG is about.
type pageCanvas struct {
	*vgsvg.Canvas
	now      element
	elements []element // in the order of the SVG
	narrow   bool      // without texts for a pointer
}

// element is what a path or a text of an SVG is about.
type element struct {
	reports.About
	color  string // of a bar
	legend bool   // it is the key itself
}

// about says what is drawn next. Each part of a canvas holds the one it is cut from.
func about(c vg.Canvas, e element) {
	for part, ok := c.(draw.Canvas); ok; part, ok = c.(draw.Canvas) {
		c = part.Canvas
	}
	if page, ok := c.(*pageCanvas); ok {
		if page.narrow {
			e.Text = ""
		}
		page.now = e
	}
}

// Stroke, Fill and FillString make one element each.
func (c *pageCanvas) Stroke(p vg.Path) {
	c.elements = append(c.elements, c.now)
	c.Canvas.Stroke(p)
}

func (c *pageCanvas) Fill(p vg.Path) {
	c.elements = append(c.elements, c.now)
	c.Canvas.Fill(p)
}

func (c *pageCanvas) FillString(face font.Face, at vg.Point, text string) {
	c.elements = append(c.elements, c.now)
	c.Canvas.FillString(face, at, text)
}

var elements = regexp.MustCompile(`(?s)<path.*?/>|<text.*?</text>`)

// grouped makes a group of what belongs together in the SVG of the canvas.
func (c *pageCanvas) grouped(svg []byte, legend []reports.Key) []byte {
	all := slices.Concat([]element{{}}, c.elements, []element{{}}) // with what is before and after
	i := 0
	return elements.ReplaceAllFunc(svg, func(text []byte) []byte {
		i = min(i+1, len(all)-1)
		e := all[i]
		if e != (element{}) && all[i-1] != e {
			text = slices.Concat([]byte(e.open(legend)), text)
		}
		if e != (element{}) && all[i+1] != e {
			text = slices.Concat(text, []byte("</g>"))
		}
		return text
	})
}

// open begins the group of an element.
func (e element) open(legend []reports.Key) string {
	for _, key := range legend {
		if e.Key == "" && key.Block && key.Look.Color.Variable == e.color {
			e.Key = key.Label
		}
	}
	attribute, title := "data-of", ""
	if e.legend {
		attribute = "data-key"
	}
	if e.Text != "" {
		title = "<title>" + html.EscapeString(e.Text) + "</title>"
	}
	return fmt.Sprintf(`<g %s="%s">%s`, attribute, html.EscapeString(e.Key), title)
}

// Inline draws a figure for a page, in the CSS variables of reports.Palette and as wide as its place, which is about so
// many inches wide. Shapes with a key of the legend or a text for a pointer are in a group, with the key in an
// attribute and the text as title. Narrow drawings have no such texts: phones have no pointer.
func (p Plotter) Inline(f reports.Figure, inches float64) (string, error) {
	d := drawing{f, p, vg.Length(inches) * vg.Inch}
	width, height := d.size()
	canvas := &pageCanvas{Canvas: vgsvg.New(width, height), narrow: inches < reports.FigureWidth}
	svg, err := substituted(d.on(canvas))
	if err != nil {
		return "", fmt.Errorf("plot: %w", err)
	}
	svg = canvas.grouped(svg, f.Legend)
	// The XML declaration has no place in a page, and the page decides on the size. vgsvg escapes quotes in texts, so a
	// name cannot be taken for an attribute.
	_, body, _ := bytes.Cut(svg, []byte(">\n<g "))
	color := regexp.MustCompile(`#[0-9A-F]{6}`)
	body = regexp.MustCompile(`style="[^"]*"`).ReplaceAllFunc(body, func(style []byte) []byte {
		return color.ReplaceAllFunc(style, variable)
	})
	title := html.EscapeString(f.Title)
	return fmt.Sprintf(`<svg role="img" aria-label="%[3]s" viewBox="0 0 %[1]g %[2]g" xmlns="http://www.w3.org/2000/svg">`+
		`<title>%[3]s</title><g %[4]s`, width.Points(), height.Points(), title, body), nil
}

func variable(hex []byte) []byte {
	n, err := strconv.ParseUint(string(hex[1:]), 16, 32)
	if err != nil {
		return hex
	}
	for _, paint := range reports.Palette() {
		near := func(shift uint) bool {
			d := int(n>>shift&0xff) - int(paint.RGB>>shift&0xff)
			return d >= -2 && d <= 2
		}
		if near(0) && near(8) && near(16) {
			return []byte("var(" + paint.Variable + ")")
		}
	}
	return hex
}
