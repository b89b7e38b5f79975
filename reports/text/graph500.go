package text

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// The official text is what the Graph500 reference program 3.0 prints at its end: label padded to column 33, %g,
// counts of tuples %.11g. Three things differ, all of them outside the lines themselves:
//
//   - num_mpi_processes is 1: the host talks to one engine process. Ranks and threads inside it are in the record.
//   - Validation lines are left out when nothing was validated, where the reference prints -1. A standard deviation is
//     left out for fewer than two values, where the reference prints nan.
//   - Lines that begin with # are not official. They explain, and contain the numbers of a run with
//     searches that were not validated. A single valid run has none.

// Graph500 writes the official text of every run of a result, in order. A run that is incomplete, failed, invalid or
// without numbers gets one line instead, which begins with "# No results printed" and says why. With more than one run,
// each block follows a line "# ENGINE scale SCALE", and an empty line separates the blocks.
func Graph500(w io.Writer, r reports.Result) error {
	var b bytes.Buffer
	if len(r.Runs) == 0 {
		b.WriteString("# No results printed: the record has no run.\n")
	}
	for i, run := range r.Runs {
		if len(r.Runs) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s scale %d\n", run.Label, run.Scale)
		}
		block(&b, run)
	}
	return flush(w, &b, "the Graph500 text")
}

// block prints the lines of a run, or the one line that says why there are none.
func block(b *bytes.Buffer, run reports.Run) {
	if why := run.Unofficial(); why != "" {
		fmt.Fprintf(b, "# No results printed: %s\n", reports.Sentence(why))
		return
	}
	var official bytes.Buffer
	lines(&official, run)
	if v := run.Verdict(); v.Grade != reports.Good {
		// A parser that does not know this program must not take these for results.
		fmt.Fprintf(b, "# Not an official result: %s\n", reports.Sentence(v.Why))
		for line := range strings.Lines(official.String()) {
			b.WriteString("# " + line)
		}
		return
	}
	b.Write(official.Bytes())
}

// lines prints the lines of a run.
func lines(b *bytes.Buffer, run reports.Run) {
	s := run.Statistics
	if s.NBFS != len(run.Roots) {
		fmt.Fprintf(b, "# The numbers are those of %d of %d searches: the others have no count of tuples.\n",
			s.NBFS, len(run.Roots))
	}
	line(b, "SCALE:", strconv.Itoa(run.Scale))
	line(b, "edgefactor:", strconv.Itoa(run.Graph.Recipe.EdgeFactor))
	line(b, "NBFS:", strconv.Itoa(s.NBFS))
	line(b, "graph_generation:", percentG(run.Graph.Generation, 6))
	line(b, "num_mpi_processes:", "1")
	line(b, "construction_time:", percentG(run.Construction.Elapsed.Seconds(), 6))
	spread(b, "bfs  %s_time:", s.Time, 6)
	spread(b, "%s_nedge:", s.NEdge, 11)
	harmonic(b, s.TEPS)
	if s.Validation != nil {
		spread(b, "bfs  %s_validate:", *s.Validation, 6)
	}
}

func line(b *bytes.Buffer, label, value string) { fmt.Fprintf(b, "%-32s%s\n", label, value) }

// order prints the order statistics of x; the label takes the statistic's name.
func order(b *bytes.Buffer, label string, x record.Spread, precision int) {
	names := []string{"min", "firstquartile", "median", "thirdquartile", "max"}
	for i, value := range []float64{x.Min, x.FirstQuartile, x.Median, x.ThirdQuartile, x.Max} {
		line(b, fmt.Sprintf(label, names[i]), percentG(value, precision))
	}
}

func spread(b *bytes.Buffer, label string, x record.Spread, precision int) {
	order(b, label, x, precision)
	line(b, fmt.Sprintf(label, "mean"), percentG(x.Mean, precision))
	if x.StdDev != nil {
		line(b, fmt.Sprintf(label, "stddev"), percentG(*x.StdDev, precision))
	}
}

// harmonic prints the TEPS, whose mean and deviation are harmonic. Programs that read this text look for the mark "!".
func harmonic(b *bytes.Buffer, x record.Spread) {
	order(b, "bfs  %s_TEPS:", x, 6)
	line(b, "bfs  harmonic_mean_TEPS:     !", percentG(x.Mean, 6))
	if x.StdDev != nil {
		line(b, "bfs  harmonic_stddev_TEPS:", percentG(*x.StdDev, 6))
	}
}

// percentG formats x as C's printf does with %.<precision>g (ISO C11, 7.21.6.1): the shorter of %e and %f at that many
// significant digits, without trailing zeros. A record has no infinity and no NaN, which C spells in another way.
func percentG(x float64, precision int) string { return strconv.FormatFloat(x, 'g', precision, 64) }
