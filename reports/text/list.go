package text

import (
	"bytes"
	"cmp"
	"fmt"
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
	Folder      string      `json:"folder"`
	ID          string      `json:"id,omitempty"`
	Started     *time.Time  `json:"started,omitempty"`
	Machine     string      `json:"machine,omitempty"` // name of the host, or of its processor
	Schema      string      `json:"schema,omitempty"`
	Checksummed bool        `json:"checksummed"`
	State       string      `json:"state,omitempty"` // the worst of its runs
	Runs        []ListedRun `json:"runs,omitempty"`
	Damage      string      `json:"damage,omitempty"` // why it cannot be read; only Folder is present then
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

// List describes the record in a folder. err is the error of reading it.
func List(folder string, r record.Result, err error) Listed {
	if err != nil {
		return Listed{Folder: folder, Damage: err.Error()}
	}
	l := Listed{
		Folder: folder, ID: r.ID, Started: &r.Started, Machine: cmp.Or(r.Machine.Hostname, r.Machine.CPU), Schema: r.Schema,
		Checksummed: r.Checksummed(),
	}
	worst := reports.Good
	for _, one := range r.Runs {
		run := reports.Run{Run: one}
		v := run.Verdict()
		listed := ListedRun{Engine: run.Engine.Name, GraphID: run.GraphID, Roots: len(run.Roots), State: v.Word,
			Compliant: run.Compliant()}
		if l.State == "" || v.Grade > worst {
			l.State, worst = v.Word, v.Grade
		}
		if s := run.Rates(); s != nil {
			listed.TEPS = &s.TEPS.Mean
		}
		l.Runs = append(l.Runs, listed)
	}
	return l
}

// ListTable writes records for a terminal, a line each. What cannot be read follows with its reason. The rate is that
// of the fastest engine and graph.
func ListTable(w io.Writer, records []Listed) error {
	columns := []Column{
		{Head: "folder", Left: true}, {Head: "date", Left: true}, {Head: "machine", Left: true},
		{Head: "engines", Left: true}, {Head: "graphs", Left: true}, {Head: "GTEPS"}, {Head: "state", Left: true},
		{Head: "checksum", Left: true},
	}
	var rows [][]string
	damaged := ""
	for _, l := range records {
		if l.Damage == "" {
			rows = append(rows, listRow(l))
		} else {
			damaged += "cannot be read: " + reports.Sentence(l.Damage) + "\n"
		}
	}
	out := damaged
	switch {
	case len(records) == 0:
		out = "no runs here\n"
	case damaged == "":
		out = rendered(w, columns, rows)
	case len(rows) > 0:
		out = rendered(w, columns, rows) + "\n" + damaged
	}
	return flush(w, bytes.NewBufferString(out), "the list")
}

func listRow(l Listed) []string {
	var engines []string
	var graphs []record.GraphID
	rate := math.NaN()
	for _, run := range l.Runs {
		if name := reports.Sentence(run.Engine); !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
		if !slices.Contains(graphs, run.GraphID) {
			graphs = append(graphs, run.GraphID)
		}
		if run.TEPS != nil && !(rate > *run.TEPS) {
			rate = *run.TEPS
		}
	}
	return []string{
		reports.Sentence(l.Folder), l.Started.Format(time.DateOnly), reports.Name(l.Machine),
		strings.Join(engines, ","), graphNames(graphs), units.Significant(rate/1e9, 3), l.State,
		map[bool]string{true: "yes", false: "no"}[l.Checksummed],
	}
}

// graphNames shortens scales (18, or the smallest and the largest, 16…22) and lists the names of other graphs.
func graphNames(graphs []record.GraphID) string {
	low, high := 0, 0
	var names []string
	for _, id := range graphs {
		switch {
		case id.Source != "":
			names = append(names, reports.Sentence(id.Source))
		case high == 0:
			low, high = id.Scale, id.Scale
		default:
			low, high = min(low, id.Scale), max(high, id.Scale)
		}
	}
	switch {
	case high > low:
		names = slices.Insert(names, 0, fmt.Sprintf("%d…%d", low, high))
	case high > 0:
		names = slices.Insert(names, 0, strconv.Itoa(high))
	}
	return cmp.Or(strings.Join(names, ","), reports.Missing)
}
