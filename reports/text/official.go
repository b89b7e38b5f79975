// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Graph500 writes the official text of every run: what the Graph500 reference program 3.0 prints at its end. Kernels 2
// and 3 of an engine and a graph are one text, with the time of the kernel 1 for both. It differs in three ways:
//
//   - num_mpi_processes is 1 unless the engine is several processes. Ranks and threads are in the record.
//   - Validation lines are left out when nothing was validated (the reference prints -1), and a standard deviation for
//     fewer than two values (the reference prints nan).
//   - Lines that begin with # are not official. They name one of several runs, say why a run has no numbers, and hold
//     the numbers of a run with searches that were not validated.
func Graph500(w io.Writer, r reports.Result) error { return fill(w, "graph500.tmpl", r) }

// section is the official text of an engine on a graph, with all kernels.
type section struct{ Title, Text string }

// sections returns the official texts of a record. Only one of several has a title.
func sections(r reports.Result) (all []section, err error) {
	type place struct {
		engine string
		graph  record.GraphID
	}
	of := func(run reports.Summary) place { return place{run.Engine.Name, run.GraphID.Graph()} }
	for _, kernels := range reports.Grouped(r.Runs, of) {
		text, err := official(kernels)
		if err != nil {
			return nil, err
		}
		all = append(all, section{kernels[0].Label + " " + kernels[0].GraphName(), text})
	}
	if len(all) == 1 {
		all[0].Title = ""
	}
	return all, nil
}

// official returns the lines of runs that differ in their kernel, and a line for each that has none.
func official(runs []reports.Summary) (string, error) {
	var missing, notes string
	var data struct {
		reports.Summary // the last one: kernel 1 was for both
		Kernels         []reports.Summary
	}
	for _, run := range runs {
		of := ""
		if len(runs) > 1 {
			of = " of kernel " + run.Kernel.String()
		}
		if why := run.Unofficial(); why != "" {
			missing += "# No results printed" + of + ": " + reports.Sentence(why) + "\n"
			continue
		}
		if why := notOfficial(run); why != "" {
			notes += "# Not an official result" + of + ": " + reports.Sentence(why) + "\n"
		}
		data.Summary, data.Kernels = run, append(data.Kernels, run)
	}
	if data.Kernels == nil {
		return missing, nil
	}
	var b strings.Builder
	err := fill(&b, "official.tmpl", data)
	if err != nil || notes == "" {
		return missing + b.String(), err
	}
	// A parser that does not know this program must not take these for results.
	text := missing + notes
	for line := range strings.Lines(b.String()) {
		text += "# " + line
	}
	return text, nil
}

// prefix begins the official lines of a kernel.
func prefix(run reports.Summary) string { return fmt.Sprintf("%-5s", run.Kernel) }

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
