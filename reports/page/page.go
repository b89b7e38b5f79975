// SPDX-License-Identifier: Apache-2.0

// Package page writes a report as one HTML page.
package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/plot"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// pager draws the figures of one page.
type pager struct {
	plotter plot.Plotter
	drawn   int // figures so far, which are numbered in the order of the page
	ratios  map[reports.RowKey]map[string]parts.Ratio
}

// Write writes one page about a report. The page needs no other file and no network. It shows everything without its
// script, which sorts tables, compares rows, hides series and shows the text of a point. It has a light and a dark
// scheme.
func Write(w io.Writer, r reports.Report) error {
	p := &pager{plotter: plot.New(), ratios: parts.Ratios(r)}
	t := template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(pageStyle) },
		"script": func() template.JS { return template.JS(pageScript) },
		"gteps":  reports.GTEPS, "draw": p.draw, "compared": p.compared,
		"variants": reports.VariantTable, "sorted": reports.Sorted, "verdicts": parts.Verdicts, "runfaults": parts.Faults,
		"several": parts.OfSeveral, "parts": parts.Of, "figures": parts.LevelFigures,
		"levels": parts.Levels, "roots": parts.Roots,
	}).Parse(pageTemplate))
	var b bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return fmt.Errorf("page: make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("page: write the page: %w", err)
	}
	return nil
}

type figure struct {
	reports.Figure
	Number       int
	Wide, Narrow template.HTML
}

// draw draws a figure. Its notes become part of the caption, where they wrap.
func (p *pager) draw(f reports.Figure) (figure, error) {
	bare := f
	bare.Notes = nil
	wide, err := p.plotter.Inline(bare, reports.FigureWidth)
	if err != nil {
		return figure{}, err
	}
	narrow, err := p.plotter.Inline(bare, reports.NarrowWidth)
	p.drawn++
	return figure{f, p.drawn, template.HTML(wide), template.HTML(narrow)}, err
}

// row is what the script needs to compare a row of a table with others.
type row struct{ Engine, Graph, Ratios string }

// compared is the i-th row of a table, or nil if there is nothing to compare it with.
func (p *pager) compared(t reports.Table, i int) *row {
	if len(t.Keys) == 0 || p.ratios[t.Keys[i]] == nil {
		return nil
	}
	key := t.Keys[i]
	ratios, _ := json.Marshal(p.ratios[key]) // cannot fail
	return &row{key.Engine, key.Graph.Cell(), string(ratios)}
}
