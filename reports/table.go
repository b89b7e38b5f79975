package reports

import (
	"io"
	"strconv"

	"github.com/tepsbench/teps/harness"
)

// coloured puts a text between the escape sequences of its grade (ECMA-48, select graphic rendition).
func coloured(s string, g grade) string {
	return [...]string{good: "\x1b[32m", fair: "\x1b[33m", bad: "\x1b[31m"}[g] + s + "\x1b[0m"
}

// Table writes the summary of r for a terminal: one line a run, at most TerminalWidth columns. Rates are GTEPS (10^9
// input tuples of the component a second): the harmonic mean over the roots, and the slowest and fastest root. color
// colours the verdicts. The error is that of w.
func Table(w io.Writer, r harness.Result, color bool) error {
	columns := []Column{
		{Head: "engine", Left: true}, {Head: "scale"}, {Head: "valid"}, {Head: "kernel 1 s"}, {Head: "median ms"}, {Head: "GTEPS"},
		{Head: "min … max", Optional: true}, {Head: "state", Left: true},
	}
	metered := anyMeasured(r)
	if metered {
		columns = append(columns, Column{Head: "MTEPS/W"})
	}
	var rows [][]string
	for _, run := range r.Runs {
		row := tableRow(run, color)
		if metered {
			row = append(row, perWatt(run))
		}
		rows = append(rows, row)
	}
	return Columns(w, columns, rows)
}

func tableRow(run harness.Run, color bool) []string {
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
	return []string{
		clean(run.Engine.Name, sentenceRunes), strconv.Itoa(run.Scale), strconv.Itoa(validatedRoots(run)) + "/" + strconv.Itoa(len(run.Roots)),
		construction, median, mean, around, state,
	}
}
