// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/parts"
)

// Columns writes a table under its heads. Where it is wider than width columns, the widest texts are cut, so that
// different ones stay different, and some columns are left out; 0, for a file or a pipe, leaves all whole.
func Columns(w io.Writer, t reports.Table, width int) error {
	return flush(w, bytes.NewBufferString(rendered(t, width)), "a table")
}

const gap = 2 // between columns

// dispensable are the heads of columns that a table can do without where it is too wide, the first to go first. A
// column goes if a text would have fewer columns than that, so that names of engines stay whole. In a comparison,
// sentences have them, too.
var dispensable = []struct {
	head     string
	readable int
}{{reports.Range, 16}, {"roots", 16}, {"date", 16}, {"detects", 10}, {"graphs", 7}, {"machine", 7}}

// fit returns the table, without dispensable columns if other texts would lose too much by them, and its widths.
func fit(t reports.Table, width int) (reports.Table, []int) {
	for _, d := range dispensable {
		if _, short := columnWidths(t, width, d.readable); short {
			t.Remove(d.head)
		}
	}
	widths, _ := columnWidths(t, width, 7)
	return t, widths
}

// columnWidths are the widths of the columns. Where they do not fit into width, the widest texts but states get less,
// down to minimum; short reports that this is not enough.
func columnWidths(t reports.Table, width, minimum int) (widths []int, short bool) {
	widths, total := make([]int, len(t.Head)), -gap
	for i := range t.Head {
		for _, row := range append(t.Rows, t.Head) {
			widths[i] = max(widths[i], text.StringWidth(row[i].Text))
		}
		total += widths[i] + gap
	}
	for ; width > 0 && total > width; total-- {
		widest := -1
		for i, head := range t.Head {
			if head.Class == "" && head.Text != "state" && widths[i] > minimum &&
				(widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return widths, true
		}
		widths[widest]--
	}
	return widths, false
}

// rendered is a table as a text of that width.
func rendered(t reports.Table, width int) string {
	t, widths := fit(t, width)
	head, cells := make(table.Row, len(t.Head)), make([]table.Row, len(t.Rows))
	configs := make([]table.ColumnConfig, len(t.Head))
	for i, width := range widths {
		head[i], configs[i].Number = t.Head[i].Text, i+1
		if t.Head[i].Class == "num" {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
		var texts []string
		for _, row := range t.Rows {
			texts = append(texts, row[i].Text)
		}
		for k, s := range reports.Shorten(width, texts...) {
			cells[k] = append(cells[k], s)
		}
	}
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	style := out.Style()
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	out.AppendHeader(head)
	out.SetColumnConfigs(configs)
	out.AppendRows(cells)
	var b strings.Builder
	for line := range strings.Lines(out.Render() + "\n") {
		line = strings.TrimSuffix(strings.TrimRight(line, " \n"), strings.Repeat("─", gap))
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Tables writes the table that ends a run, or of several runs a line for each variant, how variants of one name differ,
// and their history.
func Tables(w io.Writer, r reports.Report, width int) error {
	var records []record.Result
	for _, result := range r.Results {
		records = append(records, result.Result)
	}
	line := func(s, indent string) string { return Wrap(s, min(cmp.Or(width, 80), 100)-len(indent), indent) + "\n" }
	t, history, notes := r.Results[0].RunTable(false), reports.Table{}, ""
	if len(r.Results) > 1 {
		variants := reports.Sorted(r.Variants())
		t, history = reports.VariantTable(variants), parts.History(r).Table
		t.Remove("what differs")
		for _, variant := range variants {
			note := line(variant.Label+": "+variant.Differs, "  ")
			if variant.Differs != reports.Missing && !strings.Contains("\n"+notes, "\n"+note) {
				notes += note
			}
		}
	}
	if notes != "" {
		notes = "\n" + notes
	}
	tables := rendered(t, width) + notes
	if len(history.Rows) > 0 {
		tables += "\n" + rendered(history, width)
	}
	if note := reports.NoDigest(records...); note != "" {
		tables += "\n" + line(note, "")
	}
	return flush(w, bytes.NewBufferString(tables), "the tables")
}
