package reports

import (
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/harness"
)

// coloured puts a text between the escape sequences of its grade (ECMA-48, select graphic rendition). They are written
// here rather than by go-pretty, which asks the environment whether it may: the caller has decided.
func coloured(s string, g grade) string {
	return [...]string{good: "\x1b[32m", fair: "\x1b[33m", bad: "\x1b[31m"}[g] + s + "\x1b[0m"
}

// Table writes the summary of r for a terminal: one line a run, at most 100 columns. Rates are GTEPS (10^9 input tuples
// of the component a second): the harmonic mean over the roots, and the slowest and fastest root. color colours the
// verdicts. The error is that of w.
func Table(w io.Writer, r harness.Result, color bool) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	t.Style().Options.SeparateColumns = false
	t.AppendHeader(table.Row{"engine", "scale", "valid", "kernel 1 s", "median ms", "GTEPS", "min … max", "state"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 5, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 6, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 7, Align: text.AlignRight, AlignHeader: text.AlignRight},
	})
	for _, run := range r.Runs {
		t.AppendRow(tableRow(run, color))
	}
	if _, err := io.WriteString(w, t.Render()+"\n"); err != nil {
		return fmt.Errorf("reports: write the summary table: %w", err)
	}
	return nil
}

func tableRow(run harness.Run, color bool) table.Row {
	construction, median, mean, around := missing, missing, missing, missing
	if run.Construction != nil {
		construction = significant(run.Construction.Elapsed.Seconds(), 4)
	}
	if s := drawable(run); s != nil {
		median = significant(s.Time.Median*1e3, 4)
		mean = gteps(s.TEPS.Mean)
		around = significant(s.TEPS.Min/1e9, 3) + " … " + significant(s.TEPS.Max/1e9, 3)
	}
	v := judge(run)
	state := v.Word
	if color {
		state = coloured(state, v.Grade)
	}
	return table.Row{
		text.Snip(clean(run.Engine.Name, 15), 15, "…"), run.Scale, strconv.Itoa(validatedRoots(run)) + "/" + strconv.Itoa(len(run.Roots)),
		construction, median, mean, around, state,
	}
}
