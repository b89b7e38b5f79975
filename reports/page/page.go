// Package page writes a report as one HTML page.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/plot"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// pager is what the template works on.
type pager struct {
	reports.Report
	Style   template.CSS
	plotter plot.Plotter
	drawn   int // figures so far, which are numbered in the order of the page
}

// Write writes one page about a report: headline, figures with their tables, the statement of rules, kernel 1, every
// root, the machine and the way in which things are counted. The page needs nothing but itself: no network, no script.
// It follows the reader's light or dark scheme and prints. Texts from outside are cleaned and escaped.
func Write(w io.Writer, r reports.Report) error {
	plotter, err := plot.New()
	if err != nil {
		return err
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("page: read the built-in template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, &pager{Report: r, Style: template.CSS(pageStyle), plotter: plotter}); err != nil {
		return fmt.Errorf("page: make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("page: write the page: %w", err)
	}
	return nil
}

// GTEPS formats a rate in tuples a second.
func (p *pager) GTEPS(teps float64) string { return reports.GTEPS(teps) }

// part is a part with its figures drawn.
type part struct {
	reports.Part
	Drawings []figure
}

// Part draws the figures of a part.
func (p *pager) Part(of reports.Part) (part, error) {
	out := part{Part: of}
	for _, f := range of.Figures {
		drawn, err := p.Draw(f)
		if err != nil {
			return out, err
		}
		out.Drawings = append(out.Drawings, drawn)
	}
	return out, nil
}

// details are a run with everything that is not in a table of all runs.
type details struct {
	reports.Run
	Open   bool // shown unfolded
	Figure *figure
}

// Details are the runs of a result. The best run is open, and all are where they are few.
func (p *pager) Details(r reports.Result) ([]details, error) {
	levels := reports.LevelFigures(r.Runs)
	var out []details
	for i, run := range r.Runs {
		d := details{Run: run, Open: i == r.Best() || len(r.Runs) <= 2}
		if f, found := levels[i]; found {
			drawn, err := p.Draw(f)
			if err != nil {
				return nil, err
			}
			d.Figure = &drawn
		}
		out = append(out, d)
	}
	return out, nil
}

// figure is a figure on the page.
type figure struct {
	reports.Figure
	Number  int
	Drawing template.HTML
	Pixels  int // width that the drawing takes where there is room
}

// Draw draws a figure.
func (p *pager) Draw(f reports.Figure) (figure, error) {
	drawing, err := p.plotter.Inline(f)
	if err != nil {
		return figure{}, err
	}
	p.drawn++
	return figure{f, p.drawn, template.HTML(drawing), int(f.Width * 72 * 1.45)}, nil
}
