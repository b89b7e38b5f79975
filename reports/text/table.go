package text

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Column is a column of a table for a terminal.
type Column struct {
	Head string
	Left bool // texts; numbers are aligned to the right
}

// GraphColumn is the column of graphs under record.CellHead: numbers if all are scales.
func GraphColumn(head string) Column { return Column{head, head != "scale"} }

// Columns writes rows under their heads. On a terminal they are Width columns wide at most: where there is no room, the
// widest texts are cut, so that different ones stay different. The error is that of w.
func Columns(w io.Writer, columns []Column, rows [][]string) error {
	return flush(w, bytes.NewBufferString(rendered(w, columns, rows)), "a table")
}

// isTerminal reports whether w is a device that shows characters. Nothing is cut in a file or a pipe.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// rendered is a table as a text for w.
func rendered(w io.Writer, columns []Column, rows [][]string) string {
	const gap, minimum = 2, 8 // columns that a text keeps
	widths := make([]int, len(columns))
	total := -gap
	for i, c := range columns {
		widths[i] = text.StringWidthWithoutEscSequences(c.Head)
		for _, row := range rows {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(row[i]))
		}
		total += widths[i] + gap
	}
	for isTerminal(w) && total > Width {
		widest := -1
		for i, c := range columns {
			if c.Left && widths[i] > minimum && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	cells := make([]table.Row, len(rows))
	for i := range columns {
		var texts []string
		for _, row := range rows {
			texts = append(texts, row[i])
		}
		for k, s := range reports.Shorten(widths[i], texts...) {
			cells[k] = append(cells[k], s)
		}
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	style := t.Style()
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	var head table.Row
	var configs []table.ColumnConfig
	for i, c := range columns {
		config := table.ColumnConfig{Number: i + 1}
		if !c.Left {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		}
		head, configs = append(head, c.Head), append(configs, config)
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	t.AppendRows(cells)
	var b strings.Builder
	for line := range strings.Lines(t.Render() + "\n") {
		line = strings.TrimSuffix(strings.TrimRight(line, " \n"), strings.Repeat("─", gap))
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Table writes the summary of a result: one line a run. Rates are GTEPS (10^9 input tuples of the component a second):
// the harmonic mean over the roots, and the slowest and fastest root. color colors the verdicts.
func Table(w io.Writer, r reports.Result, color bool) error {
	columns := []Column{
		{Head: "engine", Left: true}, GraphColumn(record.CellHead(r.Runs, reports.Run.On)), {Head: "valid"},
		{Head: "kernel 1 s"}, {Head: "median ms"},
		{Head: "GTEPS"}, {Head: "min … max"}, {Head: "state", Left: true},
	}
	metered := slices.ContainsFunc(r.Runs, func(run reports.Run) bool { return run.PerWatt() != reports.Missing })
	if metered {
		columns = append(columns, Column{Head: "MTEPS/W"})
	}
	var rows [][]string
	for _, run := range r.Runs {
		v := run.Verdict()
		row := []string{
			reports.Sentence(run.Engine.Name), reports.Sentence(run.Cell()),
			fmt.Sprintf("%d/%d", run.ValidRoots(), len(run.Roots)),
			reports.Missing, reports.Missing, reports.Missing, reports.Missing, v.Word,
		}
		if run.Construction != nil {
			row[3] = units.Significant(run.Construction.Elapsed.Seconds(), 4)
		}
		if s := run.Rates(); s != nil {
			row[4], row[5] = units.Significant(s.Time.Median*1e3, 4), reports.GTEPS(s.TEPS.Mean)
			row[6] = units.Significant(s.TEPS.Min/1e9, 3) + " … " + units.Significant(s.TEPS.Max/1e9, 3)
		}
		if color {
			row[7] = colored(v.Word, v.Grade)
		}
		if metered {
			row = append(row, run.PerWatt())
		}
		rows = append(rows, row)
	}
	return Columns(w, columns, rows)
}

// colored writes a text in the color of its grade (ECMA-48, select graphic rendition).
func colored(s string, g reports.Grade) string {
	return [...]string{reports.Good: "\x1b[32m", reports.Fair: "\x1b[33m", reports.Bad: "\x1b[31m",
		reports.Wrong: "\x1b[31m"}[g] + s + "\x1b[0m"
}
