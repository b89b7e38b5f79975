// Package reports renders a harness.Result: the official Graph500 text, a table for the terminal, figures, one HTML page,
// Markdown, texts for submission, and CSV and Go benchmarks for programs (formats.go has them all, parts.go what figures and
// tables a page has). Everything is made from the Result alone, so that every rendering can be made again from a record; nothing here
// measures, and nothing here reads a file.
//
// Three rules hold for every rendering. What was not measured is shown as missing, never as 0. A number looks official
// only when the run is complete and no search broke a rule (see verdict.go). Names come from outside (an engine calls
// itself what it likes), so every text is cleaned before it reaches a terminal, a drawing or a page (see clean.go).
package reports

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// The official text is what the Graph500 reference program 3.0 prints at its end: label padded to column 33, %g,
// counts of tuples %.11g. Three things differ, all of them outside the lines themselves:
//
//   - num_mpi_processes is 1: the host talks to one engine process. Ranks and threads inside it are in the record.
//   - Validation lines are left out when nothing was validated, where the reference prints -1; a standard deviation is
//     left out for fewer than two values, where the reference prints nan. Missing is missing.
//   - Lines that begin with # are not official: they say what a reader must know, and hold the numbers of a run of which
//     not every search was validated. A valid run alone has none.

// Graph500 writes the official text of one run. A run that is incomplete, failed, invalid or without numbers gets one
// line instead, which begins with "# No results printed" and says why. The error is that of w.
func Graph500(w io.Writer, run harness.Run) error {
	var b bytes.Buffer
	block(&b, run)
	return writeText(w, b.Bytes())
}

// Text writes the official text of every run of r, in order. With more than one run, each block follows a line
// "# ENGINE scale SCALE", and an empty line separates the blocks. The error is that of w.
func Text(w io.Writer, r harness.Result) error {
	var b bytes.Buffer
	if len(r.Runs) == 0 {
		b.WriteString("# No results printed: the record holds no run.\n")
	}
	runs := labels(r)
	for i, run := range r.Runs {
		if len(r.Runs) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s scale %d\n", runs[i].label, run.Scale)
		}
		block(&b, run)
	}
	return writeText(w, b.Bytes())
}

func writeText(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("reports: write the Graph500 text: %w", err)
	}
	return nil
}

// block prints a run: its lines, or the one line that says why there are none.
func block(b *bytes.Buffer, run harness.Run) {
	if why := unofficial(run); why != "" {
		fmt.Fprintf(b, "# No results printed: %s\n", clean(why, sentenceRunes))
		return
	}
	s := run.Statistics
	if v := judge(run); v.Grade != good {
		// A parser that does not know this program must not take these for results.
		fmt.Fprintf(b, "# Not an official result: %s\n", clean(v.Why, sentenceRunes))
		var lines bytes.Buffer
		runLines(&lines, run, s)
		for line := range strings.Lines(lines.String()) {
			b.WriteString("# " + line)
		}
		return
	}
	runLines(b, run, s)
}

// runLines prints the lines of a run.
func runLines(b *bytes.Buffer, run harness.Run, s *harness.Statistics) {
	if s.NBFS != len(run.Roots) {
		fmt.Fprintf(b, "# The numbers are those of %d of %d searches: the others have no count of tuples.\n", s.NBFS, len(run.Roots))
	}
	line(b, "SCALE:", strconv.Itoa(run.Scale))
	line(b, "edgefactor:", strconv.Itoa(run.Graph.Recipe.EdgeFactor))
	line(b, "NBFS:", strconv.Itoa(s.NBFS))
	line(b, "graph_generation:", percentG(run.Graph.Generation, 6))
	line(b, "num_mpi_processes:", "1")
	line(b, "construction_time:", percentG(run.Construction.Elapsed.Seconds(), 6))
	spreadLines(b, "bfs  %s_time:", s.Time, 6)
	spreadLines(b, "%s_nedge:", s.NEdge, 11)
	tepsLines(b, s.TEPS)
	if s.Validation != nil {
		spreadLines(b, "bfs  %s_validate:", *s.Validation, 6)
	}
}

// unofficial says why a run gets no official numbers; empty: it gets them.
func unofficial(run harness.Run) string {
	if v := judge(run); v.Grade == bad {
		return v.Why
	}
	s := run.Statistics
	switch {
	case s == nil || s.NBFS == 0:
		return "no search has a count of tuples, so there are no TEPS (validate at least one root)."
	case run.Graph == nil:
		return "the record does not say which graph was searched."
	case run.Construction == nil:
		return "the record has no kernel 1."
	}
	all := []harness.Spread{s.Time, s.NEdge, s.TEPS}
	if s.Validation != nil {
		all = append(all, *s.Validation)
	}
	for _, x := range all {
		if !finite(x.Min, x.FirstQuartile, x.Median, x.ThirdQuartile, x.Max, x.Mean) || x.StdDev != nil && !finite(*x.StdDev) {
			return "the statistics hold a number that is not finite."
		}
	}
	if s.Time.Min <= 0 || s.TEPS.Min <= 0 {
		return "the record holds a search without a time or without tuples."
	}
	return ""
}

func line(b *bytes.Buffer, label, value string) { fmt.Fprintf(b, "%-32s%s\n", label, value) }

// spreadLines prints the seven lines of x; the label takes the statistic's name.
func spreadLines(b *bytes.Buffer, label string, x harness.Spread, precision int) {
	for _, l := range []struct {
		statistic string
		value     *float64
	}{
		{"min", &x.Min}, {"firstquartile", &x.FirstQuartile}, {"median", &x.Median}, {"thirdquartile", &x.ThirdQuartile},
		{"max", &x.Max}, {"mean", &x.Mean}, {"stddev", x.StdDev},
	} {
		if l.value != nil {
			line(b, fmt.Sprintf(label, l.statistic), percentG(*l.value, precision))
		}
	}
}

// tepsLines prints the TEPS, whose mean and deviation are harmonic; programs in the wild look for the mark "!".
func tepsLines(b *bytes.Buffer, x harness.Spread) {
	for _, l := range []struct {
		statistic string
		value     float64
	}{
		{"min", x.Min}, {"firstquartile", x.FirstQuartile}, {"median", x.Median}, {"thirdquartile", x.ThirdQuartile}, {"max", x.Max},
	} {
		line(b, "bfs  "+l.statistic+"_TEPS:", percentG(l.value, 6))
	}
	line(b, "bfs  harmonic_mean_TEPS:     !", percentG(x.Mean, 6))
	if x.StdDev != nil {
		line(b, "bfs  harmonic_stddev_TEPS:", percentG(*x.StdDev, 6))
	}
}

// percentG formats x as C's printf does with %.<precision>g (ISO C11, 7.21.6.1): the shorter of %e and %f at that many
// significant digits, without trailing zeros. strconv's 'g' is the same but for the spelling of what is not finite.
func percentG(x float64, precision int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', precision, 64)
}

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
