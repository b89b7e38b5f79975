// Package reports turns records of runs into reports: tables and figures with the words that explain them. A Report
// holds the runs of one record or of several under distinct names; parts.go lists what it shows. Figures are data here;
// package plot draws them. Packages text and page write a report in the forms that formats lists. Everything is made
// from records alone, so every report can be made again; nothing here measures or reads a file.
//
// Three rules apply everywhere. What was not measured is shown as missing, never as 0. A number looks official only if
// the run is complete and no search broke a rule (verdict.go). Names come from outside, because an engine names itself,
// so every text is cleaned before it reaches a terminal, a drawing or a page (clean.go).
package reports

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tepsbench/teps/record"
)

// Format is a rendering of a report as one text.
type Format struct {
	Name       string // as a user names it
	Summary    string // for help texts
	References bool   // it shows Report.References
	// Write writes the report. Its error is the writer's, wrapped, or says what cannot be shown.
	Write func(w io.Writer, r Report) error
}

// Report is the input of every format: results and what to show next to them.
type Report struct {
	Results    []Result
	References []Reference // published results; none unless asked for
	Plots      []Plot      // what it shows; New sets all of them
}

// Result is a record and its runs under the names that a report of this record alone uses.
type Result struct {
	record.Result
	Runs []Run
	Mark string // [1], [2], ... among several records; empty for a single one
}

// Run is one engine on one graph, under the name that figures and tables show.
type Run struct {
	record.Run
	Label   string
	Machine string // host and processor
	graph   string // the name of its graph, cut so that different ones stay different
	key     RowKey // of its row
	of      record.Result
}

// rowName names the run on an axis by its engine and its graph.
func (r Run) rowName() string {
	if r.Source != "" {
		return r.Label + ", " + r.graphCell()
	}
	return fmt.Sprintf("%s, 2%s", r.Label, Superscript(r.Scale))
}

// graphCell is the run's graph in a column: a scale, or a name.
func (r Run) graphCell() string { return cmp.Or(r.graph, Name(r.Cell())) }

// GraphName is the run's graph in a sentence: scale 20, or a name.
func (r Run) GraphName() string { return Name(r.String()) }

// atGraph is the run's graph in a sentence: at scale 20, or on and its name.
func (r Run) atGraph() string { return Sentence(r.At()) }

// graphFile is the run's graph as a part of the name of a file: s20, or a name.
func (r Run) graphFile() string {
	if r.Source != "" {
		return fileName(r.Source)
	}
	return fmt.Sprintf("s%d", r.Scale)
}

// On returns the graph of the run.
func (r Run) On() record.GraphID { return r.GraphID }

// byGraph orders runs by scale; other graphs come after them, in the order of their records.
func byGraph(a, b Run) int {
	if a.Source != "" || b.Source != "" {
		return cmp.Compare(min(len(a.Source), 1), min(len(b.Source), 1))
	}
	return a.Scale - b.Scale
}

// Part is a chapter of a report: figures, and a table with the same numbers.
type Part struct {
	Title       string
	Explanation string   // what a reader should see, in a sentence or two
	Figures     []Figure // those without panels are left out
	Table       Table
	Wide        bool // the table does not fit next to the figures
	TableOnly   bool // shown for its table even without a figure
}

// Plot makes a part from runs. A part without anything to show is left out of a report.
type Plot func(runs []Run, references []Reference) Part

// Runs are the runs of all results. Among several records, names end in the mark of their record.
func (r Report) Runs() []Run {
	var records []record.Result
	for _, result := range r.Results {
		records = append(records, result.Result)
	}
	return runs(records...)
}

// mark is the mark of the i-th of several records, from 0.
func mark(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

// labelWidth is the width in columns of the name of an engine or a graph in figures and tables.
const labelWidth = 30

// runs names the runs of records after their engines. Engines whose names look the same once cleaned get a number.
func runs(records ...record.Result) []Run {
	type origin struct {
		record int
		engine string
	}
	var names, graphs []string
	for _, r := range records {
		for _, run := range r.Runs {
			names, graphs = append(names, Sentence(run.Engine.Name)), append(graphs, Sentence(run.Cell()))
		}
	}
	short, graphs := Shorten(labelWidth, names...), Shorten(labelWidth, graphs...)
	labels, taken := map[origin]string{}, map[string]bool{}
	var out []Run
	for i, r := range records {
		machine, suffix := Joined(", ", Name(r.Machine.Hostname), Name(r.Machine.CPU)), ""
		if len(records) > 1 {
			suffix = " " + mark(i)
		}
		for _, run := range r.Runs {
			from := origin{i, run.Engine.Name}
			if labels[from] == "" {
				labels[from] = unique(taken, EngineName(short[len(out)])+suffix, " #")
			}
			key := RowKey{labels[from], run.GraphID}
			out = append(out, Run{run, labels[from], machine, graphs[len(out)], key, r})
		}
	}
	return out
}

// dated formats a time that may be missing.
func dated(t time.Time, layout string) string {
	if t.IsZero() {
		return Missing
	}
	return t.Format(layout)
}
