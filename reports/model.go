// SPDX-License-Identifier: Apache-2.0

// Package reports holds the model of a report: a Summary for each run or variant, and figures and tables as data.
// Package parts makes the figures and tables, plot draws figures, text and page write reports, and formats lists the
// formats. Reports are made from records only: nothing here measures or reads a file.
//
// Three rules apply everywhere. A value that was not measured is shown as missing, never as 0. A number is shown as
// official only if the run is complete and no search broke a rule. Names come from engines and files, so every text is
// cleaned.
package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// ErrNoRecord is the error of a report without a record.
var ErrNoRecord = errors.New("reports: no result to show; name at least one record")

// Format is a rendering of a report as one text.
type Format struct {
	Name       string // as a user names it
	Summary    string // for help texts
	References bool   // it shows Report.References
	// Write writes the report. Its error is the writer's, wrapped, or says what cannot be shown.
	Write func(w io.Writer, r Report) error
}

// Report is the input of every format.
type Report struct {
	Results    []Result
	References []Reference // published results; none unless asked for
	// All are the rows of tables and figures about several records: every run or, of many records, every variant.
	All  []Summary
	runs []Summary // every run
}

// Result is a record with a summary of each of its runs. The names are those in a report of this record only.
type Result struct {
	record.Result
	Runs []Summary
	Mark string // [1], [2], ... among several records; empty for a single one
}

// Part is a chapter of a report: figures, and a table with the same numbers.
type Part struct {
	Title       string
	Explanation string   // what a reader should see, in a sentence or two
	Figures     []Figure // those without panels are left out
	Table       Table
	TableOnly   bool // shown for its table even without a figure
}

const maxSeparate = 8 // records whose runs are shown one by one; more are the repeats of a sweep

// Many reports whether the report has a line for each variant, with single records folded.
func (r Report) Many() bool { return len(r.Results) > maxSeparate }

// New makes a report of records. The error is ErrNoRecord.
func New(references []Reference, records ...record.Result) (Report, error) {
	if len(records) == 0 {
		return Report{}, ErrNoRecord
	}
	r := Report{References: references, runs: summaries(records...)}
	r.All = r.runs
	rest := r.runs
	for i, one := range records {
		result := Result{Result: one, Runs: summaries(one)}
		if len(records) > 1 {
			result.Mark = mark(i)
		}
		for k := range result.Runs {
			result.Runs[k].Key, rest = rest[0].Key, rest[1:]
		}
		r.Results = append(r.Results, result)
	}
	if r.Many() {
		r.All = r.Variants()
	}
	return r, nil
}

// NoDigest says which records have no digest, or is empty if all have one. A record may be there several times.
func NoDigest(records ...record.Result) string {
	var ids []string
	for _, r := range records {
		if !r.Checksummed() && !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	switch n := len(ids); n {
	case 0:
		return ""
	case 1:
		return "Record " + Name(ids[0]) + " has no digest: nothing shows that it is unchanged."
	default:
		return fmt.Sprintf("%d records have no digest, such as %s: nothing shows that they are unchanged.", n,
			Name(ids[0]))
	}
}

func mark(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

// Name is the id of the record.
func (r Result) Name() string { return Name(r.ID) }

// FactLine says when, where and how a record was made.
func (r Result) FactLine() string {
	m := r.Machine
	cores := ""
	if m.Cores > 0 {
		cores = Plural(m.Cores, "core", "cores")
	}
	var gpus []string
	for _, gpu := range m.GPUs {
		gpus = append(gpus, Name(cmp.Or(gpu.Name, gpu.PCI)))
	}
	return Joined(" · ", Dated(r.Started), Name(m.Hostname), Joined(", ", Name(m.CPU), cores),
		Joined(", ", slices.Compact(gpus)...), units.Bytes(m.MemoryBytes),
		"teps "+Joined(" ", Name(r.Software.Version), ShortBuild(r.Software.Commit)), "record "+r.Name(),
		Sentence(strings.Join(r.Command, " ")))
}

// Dated is the moment with the zone of its machine.
func Dated(t time.Time) string {
	if t.IsZero() {
		return Missing
	}
	return t.Format(time.RFC3339)
}
