// SPDX-License-Identifier: Apache-2.0

package text

import (
	"io"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/reports"
)

// Graph500 writes the official text of every run: what the Graph500 reference program 3.0 prints at its end.
// It differs in three ways:
//
//   - num_mpi_processes is 1 unless the engine's ranks are processes of MPI. Ranks and threads are in the record.
//   - Validation lines are left out when nothing was validated (the reference prints -1), and a standard deviation for
//     fewer than two values (the reference prints nan).
//   - Lines that begin with # are not official. They name one of several runs, say why a run has no numbers, and hold
//     the numbers of a run with searches that were not validated.
func Graph500(w io.Writer, r reports.Result) error { return fill(w, "graph500.tmpl", r) }

// official returns the lines of a run, or the one line that says why there are none.
func official(run reports.Summary) (string, error) {
	if why := run.Unofficial(); why != "" {
		return "# No results printed: " + reports.Sentence(why) + "\n", nil
	}
	var b strings.Builder
	err, why := fill(&b, "official.tmpl", run), notOfficial(run)
	if err != nil || why == "" {
		return b.String(), err
	}
	// A parser that does not know this program must not take these for results.
	text := "# Not an official result: " + reports.Sentence(why) + "\n"
	for line := range strings.Lines(b.String()) {
		text += "# " + line
	}
	return text, nil
}

// notOfficial says why the numbers of a run are not those of a Graph500 result; empty: they are.
func notOfficial(run reports.Summary) string {
	switch v := run.Verdict(); {
	case v.Grade != reports.Good:
		return v.Why
	case run.Graph != nil && run.Graph.Recipe.Scale == 0:
		return run.GraphName() + " is not a graph of Graph500."
	}
	return ""
}

// percentG formats x as C's printf does with %.<precision>g (ISO C11, 7.21.6.1): the shorter of %e and %f at that many
// significant digits, without trailing zeros. A record has no infinity and no NaN, which C spells in another way.
func percentG(precision int, x float64) string { return strconv.FormatFloat(x, 'g', precision, 64) }
