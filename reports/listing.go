package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/harness"
)

// Listing is a record in a list of records.
type Listing struct {
	Folder  string      `json:"folder"`
	ID      string      `json:"id,omitempty"`
	Started *time.Time  `json:"started,omitempty"`
	Machine string      `json:"machine,omitempty"` // name of the host, or of its processor
	Schema  string      `json:"schema,omitempty"`
	Sealed  bool        `json:"sealed"`
	State   string      `json:"state,omitempty"` // the worst of its runs
	Runs    []ListedRun `json:"runs,omitempty"`
	Damage  string      `json:"damage,omitempty"` // why it cannot be read; the members between folder and this are absent then
}

// ListedRun is one engine at one scale of a record.
type ListedRun struct {
	Engine    string   `json:"engine"`
	Scale     int      `json:"scale"`
	Roots     int      `json:"roots"`
	TEPS      *float64 `json:"teps,omitempty"` // harmonic mean, tuples a second; absent where there is none, or wrong searches
	State     string   `json:"state"`
	Compliant bool     `json:"compliant"`
}

// List describes the record in a folder. err says why it could not be read.
func List(folder string, r harness.Result, err error) Listing {
	if err != nil {
		return Listing{Folder: folder, Damage: err.Error()}
	}
	l := Listing{Folder: folder, ID: r.ID, Started: &r.Started, Machine: cmp.Or(r.Machine.Hostname, r.Machine.CPU), Schema: r.Schema, Sealed: r.Sealed()}
	words := worstFirst()
	place := func(word string) int {
		if at := slices.Index(words, word); at >= 0 {
			return at
		}
		return len(words) // well
	}
	for _, run := range r.Runs {
		v := judge(run)
		listed := ListedRun{Engine: run.Engine.Name, Scale: run.Scale, Roots: len(run.Roots), State: v.Word, Compliant: compliant(run)}
		if s := drawable(run); s != nil {
			listed.TEPS = &s.TEPS.Mean
		}
		l.Runs = append(l.Runs, listed)
		if l.State == "" || place(v.Word) < place(l.State) {
			l.State = v.Word
		}
	}
	return l
}

// ListTable writes records for a terminal, a line each, at most 100 columns; what cannot be read follows with its reason,
// also a line each. The rate is that of the fastest engine and scale. The error is that of w.
func ListTable(w io.Writer, records []Listing) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	style := t.Style()
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	style.Box.PaddingRight = ""
	t.AppendHeader(table.Row{"folder", "id", "date", "machine", "engines", "scales", "GTEPS", "state", "sealed"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 7, Align: text.AlignRight, AlignHeader: text.AlignRight}})
	var damaged strings.Builder
	rows := 0
	for _, l := range records {
		if l.Damage != "" {
			fmt.Fprintf(&damaged, "cannot be read: %s\n", clean(l.Damage, sentenceRunes))
			continue
		}
		rows++
		t.AppendRow(listRow(l))
	}
	var b strings.Builder
	if rows > 0 {
		b.WriteString(trimmed(t.Render()) + "\n")
	}
	if rows > 0 && damaged.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(damaged.String())
	if len(records) == 0 {
		b.WriteString("no runs here\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: write the list: %w", err)
	}
	return nil
}

func listRow(l Listing) table.Row {
	const engineColumns = 14
	var engines []string
	var scales []int
	best := 0.0
	for _, run := range l.Runs {
		if name := clean(run.Engine, sentenceRunes); !slices.Contains(engines, name) {
			engines = append(engines, name)
		}
		scales = append(scales, run.Scale)
		if run.TEPS != nil {
			best = max(best, *run.TEPS)
		}
	}
	rate := missing
	if best > 0 {
		rate = significant(best/1e9, 3)
	}
	// Variants of one engine differ at the end of their names; of several engines the first are shown.
	listed := text.Snip(strings.Join(engines, ","), engineColumns, "…")
	if len(engines) == 1 {
		listed = ellipsis(engines[0], engineColumns)
	}
	sealed := map[bool]string{true: "yes", false: "no"}[l.Sealed]
	folder := clean(l.Folder, 200)
	if n := text.RuneWidthWithoutEscSequences(folder); n > 21 {
		folder = "…" + string([]rune(folder)[len([]rune(folder))-20:])
	}
	return table.Row{
		folder, text.Snip(clean(l.ID, nameRunes), 8, ""), l.Started.Format(time.DateOnly), text.Snip(clean(l.Machine, 10), 10, "…"),
		listed, scaleRange(scales), rate, text.Snip(l.State, 11, "…"), sealed,
	}
}

// scaleRange writes scales shortly: 18, 16-22, 16…22 where some between are not there.
func scaleRange(scales []int) string {
	if len(scales) == 0 {
		return missing
	}
	scales = slices.Clone(scales)
	slices.Sort(scales)
	scales = slices.Compact(scales)
	first, last := scales[0], scales[len(scales)-1]
	switch {
	case first == last:
		return fmt.Sprint(first)
	case last-first+1 == len(scales):
		return fmt.Sprintf("%d-%d", first, last)
	}
	return fmt.Sprintf("%d…%d", first, last)
}
