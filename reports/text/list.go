// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Listed is a record in a list of records.
type Listed struct {
	Directory   string      `json:"directory"`
	ID          string      `json:"id,omitempty"`
	Started     *time.Time  `json:"started,omitempty"`
	Machine     string      `json:"machine,omitempty"` // name of the host, or of its processor
	Schema      string      `json:"schema,omitempty"`
	Checksummed bool        `json:"checksummed"`
	State       string      `json:"state,omitempty"` // the worst of its runs
	Runs        []ListedRun `json:"runs,omitempty"`
	Note        string      `json:"note,omitempty"`
	Damage      string      `json:"damage,omitempty"` // why it cannot be read; only Directory is present then
}

// ListedRun is one engine on one graph of a record.
type ListedRun struct {
	Engine string `json:"engine"`
	record.GraphID
	Roots     int      `json:"roots"`
	TEPS      *float64 `json:"teps,omitempty"` // harmonic mean; absent without rates or with a wrong search
	State     string   `json:"state"`
	Compliant bool     `json:"compliant"`
}

// List describes the record in a directory. err is the error of reading it.
func List(directory string, r record.Result, err error) Listed {
	if err != nil {
		return Listed{Directory: directory, Damage: err.Error()}
	}
	l := Listed{
		Directory: directory, ID: r.ID, Started: &r.Started, Schema: r.Schema,
		Machine: cmp.Or(r.Machine.Hostname, r.Machine.CPU), Checksummed: r.Checksummed(), Note: r.Environment["TEPS_NOTE"],
	}
	worst := reports.Grade(-1)
	for _, one := range r.Runs {
		run := reports.Summary{Run: one}
		v := run.Verdict()
		listed := ListedRun{Engine: run.Engine.Name, GraphID: run.GraphID, Roots: len(run.Roots), State: v.Word,
			Compliant: run.Compliant()}
		if v.Grade > worst {
			l.State, worst = v.Word, v.Grade
		}
		if s := run.Rates(); s != nil {
			listed.TEPS = &s.TEPS.Mean
		}
		l.Runs = append(l.Runs, listed)
	}
	return l
}

// ListTable writes records, a line each. What cannot be read follows with its reason. The rate is that of the fastest
// engine and graph. width is that of Columns.
func ListTable(w io.Writer, records []Listed, width int) error {
	t := reports.NewTable("directory|date|machine|engines|graphs|#GTEPS|state|note", "")
	for _, column := range []int{0, 1, 6} { // directories are copied into command lines
		t.Head[column].Class = "whole"
	}
	damaged := ""
	for _, l := range records {
		if l.Damage == "" {
			t.Add(listRow(l)...)
		} else {
			damaged += "cannot be read: " + reports.Sentence(l.Damage) + "\n"
		}
	}
	t.DropShared(2)
	t.DropEmpty()
	out := damaged
	if len(t.Rows) > 0 && damaged != "" {
		out = "\n" + damaged
	}
	if len(t.Rows) > 0 {
		out = rendered(t, width) + out
	}
	return flush(w, bytes.NewBufferString(cmp.Or(out, "no runs here\n")), "the list")
}

func (l Listed) fastest() float64 {
	rate := math.Inf(-1)
	for _, run := range l.Runs {
		if run.TEPS != nil {
			rate = max(rate, *run.TEPS)
		}
	}
	if math.IsInf(rate, 0) {
		return math.NaN()
	}
	return rate
}

func listRow(l Listed) []string {
	var engines, graphs []string
	var scales []int
	for _, run := range l.Runs {
		name := reports.Joined(" ", reports.Sentence(run.Engine), string(run.Kernel))
		if !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
		if name := reports.Sentence(run.Source); run.Source == "" {
			scales = append(scales, run.Scale)
		} else if !slices.Contains(graphs, name) {
			graphs = append(graphs, name)
		}
	}
	if len(scales) > 0 { // 18, or the smallest and the largest, 16…22
		low, high := strconv.Itoa(slices.Min(scales)), strconv.Itoa(slices.Max(scales))
		graphs = slices.Insert(graphs, 0, strings.Join(slices.Compact([]string{low, high}), "…"))
	}
	state := l.State
	if !l.Checksummed && !slices.ContainsFunc(l.Runs, func(run ListedRun) bool { return run.State == "INTERRUPTED" }) {
		state += ", no digest"
	}
	return []string{reports.Sentence(l.Directory), l.Started.Format(time.DateOnly), reports.Name(l.Machine),
		strings.Join(engines, ","), strings.Join(graphs, ","), units.Significant(l.fastest()/1e9, 3), state,
		reports.Sentence(l.Note)}
}
