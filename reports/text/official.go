// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
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

// greenForm is a run with an energy loop and the fields of its submission.
type greenForm struct {
	reports.Summary
	Result reports.Result
	Why    string              // why this is not the draft of a submission; empty: it is
	Figure *record.PowerFigure // of the whole system for a submission, else the best one; nil without
}

// Green writes the fields of a submission to the Green Graph500 list for every run with an energy loop. A block is the
// draft of one if the run is valid, follows the rules and has the scale of a class, and the power is that of the whole
// system, measured, at an EEHPC level. The first line says what is missing. What is not in the record is "(fill in)".
func Green(w io.Writer, r reports.Result) error {
	var forms []greenForm
	for _, run := range r.Runs {
		if !HasLoop(run) {
			continue
		}
		form := greenForm{Summary: run, Result: r}
		if form.Why, form.Figure = notGreen(run); form.Why != "" {
			if f, found := run.PowerFigure(); found {
				form.Figure = &f
			}
		}
		forms = append(forms, form)
	}
	return fill(w, "green.tmpl", forms)
}

// HasLoop reports whether a run has an energy loop.
func HasLoop(run reports.Summary) bool { return run.Energy != nil && run.Energy.Loop != nil }

const smallestScale = 26 // of a class of Graph500

// notGreen says why a run is not even the draft of a submission. Of a draft it returns the figure: that of the system's
// meter which reached the level.
func notGreen(run reports.Summary) (why string, figure *record.PowerFigure) {
	green := run.Energy.Green
	switch why := notOfficial(run); {
	case why != "":
		return why, nil
	case run.Energy.Failure != "":
		return "the energy loop failed: " + run.Energy.Failure, nil
	case !run.Compliant():
		return "the run is not compliant: " + run.RuleCount(), nil
	}
	for _, f := range run.PowerFigures() {
		if green != nil && green.Level > 0 && f.Of == green.Meter && f.System && f.Method == power.Measured {
			if run.Graph == nil || run.Graph.Recipe.Scale < smallestScale {
				return fmt.Sprintf("the smallest class of Graph500, toy, has scale %d", smallestScale), nil
			}
			return "", &f
		}
	}
	if green != nil && len(green.Missing) > 0 {
		return "no EEHPC level is reached: it takes " + green.Missing[0], nil
	}
	return "no system power was measured", nil
}
