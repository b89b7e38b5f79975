package text

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

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

// ListedRun is one engine at one scale of a record.
type ListedRun struct {
	Engine    string   `json:"engine"`
	Scale     int      `json:"scale"`
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
		listed := ListedRun{Engine: run.Engine.Name, Scale: run.Scale, Roots: len(run.Roots), State: v.Word,
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
// of the fastest engine and scale.
func ListTable(w io.Writer, records []Listed) error {
	columns := []Column{
		{Head: "folder", Left: true}, {Head: "date", Left: true}, {Head: "machine", Left: true},
		{Head: "engines", Left: true}, {Head: "scales", Left: true}, {Head: "GTEPS"}, {Head: "state", Left: true},
		{Head: "checksum", Left: true},
	}
	var rows [][]string
	var parts []string
	damaged := ""
	for _, l := range records {
		if l.Damage == "" {
			rows = append(rows, listRow(l))
		} else {
			damaged += "cannot be read: " + reports.Sentence(l.Damage) + "\n"
		}
	}
	if len(rows) > 0 {
		parts = append(parts, rendered(columns, rows))
	}
	if damaged != "" {
		parts = append(parts, damaged)
	}
	if len(parts) == 0 {
		parts = []string{"no runs here\n"}
	}
	return flush(w, bytes.NewBufferString(strings.Join(parts, "\n")), "the list")
}

func listRow(l Listed) []string {
	var engines []string
	var scales []int
	best := 0.0
	for _, run := range l.Runs {
		if name := reports.Sentence(run.Engine); !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
		scales = append(scales, run.Scale)
		if run.TEPS != nil {
			best = max(best, *run.TEPS)
		}
	}
	rate := reports.Missing
	if best > 0 {
		rate = units.Significant(best/1e9, 3)
	}
	// Variants of one engine differ at the end of their names; of several engines the first are shown.
	shown := text.Snip(strings.Join(engines, ","), 14, "…")
	if len(engines) == 1 {
		shown = reports.Shorten(engines[0], 14)
	}
	return []string{
		reports.Shorten(reports.Clean(l.Folder, 200), 21), l.Started.Format(time.DateOnly),
		text.Snip(reports.Clean(l.Machine, 10), 10, "…"), shown, scaleRange(scales), rate, text.Snip(l.State, 11, "…"),
		map[bool]string{true: "yes", false: "no"}[l.Checksummed],
	}
}

// scaleRange shortens scales: 18, 16-22, or 16…22 where some between are missing.
func scaleRange(scales []int) string {
	scales = slices.Compact(slices.Sorted(slices.Values(scales)))
	if len(scales) == 0 {
		return reports.Missing
	}
	first, last := scales[0], scales[len(scales)-1]
	switch {
	case first == last:
		return fmt.Sprint(first)
	case last-first+1 == len(scales):
		return fmt.Sprintf("%d-%d", first, last)
	}
	return fmt.Sprintf("%d…%d", first, last)
}
