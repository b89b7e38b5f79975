package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/sweep"
)

// unknown stands for a number that nobody has.
const unknown = "–"

// group is the cells of one variant at one scale: a line of a table.
type group struct {
	engine  string
	scale   int
	entries []*sweep.Entry
}

func groups(s *sweep.Schedule) []*group {
	type key struct {
		engine string
		scale  int
	}
	var all []*group
	at := map[key]*group{}
	for _, e := range s.Entries {
		k := key{e.Engine().Name, e.Scale()}
		if at[k] == nil {
			at[k] = &group{engine: k.engine, scale: k.scale}
			all = append(all, at[k])
		}
		at[k].entries = append(at[k].entries, e)
	}
	return all
}

// state is the worst of the group's cells, and how many are like that unless all are.
func (g *group) state() string {
	for _, state := range []sweep.State{sweep.Damaged, sweep.Invalid, sweep.Failed, sweep.Absent, sweep.Busy, sweep.Stopped, sweep.Missing} {
		n := g.count(func(e *sweep.Entry) bool { return e.State == state })
		switch {
		case n == len(g.entries):
			return string(state)
		case n > 0:
			return fmt.Sprintf("%d %s", n, state)
		}
	}
	return string(sweep.Done)
}

func (g *group) count(is func(*sweep.Entry) bool) (n int) {
	for _, e := range g.entries {
		if is(e) {
			n++
		}
	}
	return n
}

// writeSchedule shows what is done and what is to do, and the estimates.
func writeSchedule(w io.Writer, path string, s *sweep.Schedule) error {
	p := newPrinter(w)
	p.printf("teps sweep %s: %s\nstore: %s\n\n", path, s.Sweep, s.Store.Dir())
	columns := []reports.Column{{Head: "engine", Left: true}, {Head: "scale"}, {Head: "runs"}, {Head: "to do"}, {Head: "memory, est."}, {Head: "each, est."},
		{Head: "to do, est."}, {Head: "state", Left: true}}
	var rows [][]string
	var most int64
	for _, g := range groups(s) {
		first, open := g.entries[0], g.count(func(e *sweep.Entry) bool { return e.State.Open() })
		memory, each, all := unknown, unknown, unknown
		if total := first.Needs.Total(); total > 0 {
			memory = sizeText(total)
			if open > 0 {
				most = max(most, total)
			}
		}
		if seconds, known := s.Model.Cell(first.Cell); known {
			each = secondsText(seconds)
			if open > 0 {
				all = secondsText(seconds * float64(open))
			}
		}
		rows = append(rows, []string{g.engine, strconv.Itoa(g.scale), strconv.Itoa(len(g.entries)), strconv.Itoa(open), memory, each, all, g.state()})
	}
	if p.err == nil {
		p.err = reports.Columns(w, columns, rows)
	}
	todo := s.ToDo()
	if len(todo) == 0 {
		p.printf("\nNothing is to do.\n\n")
		return p.err
	}
	p.printf("\n%d of %d runs to do; time %s; memory about %s", len(todo), len(s.Entries), estimateText(s.Model.Left(todo)), sizeText(most))
	if s.AvailableSource != "" {
		p.printf(" of %s available (%s)", sizeText(s.Available), s.AvailableSource)
	}
	p.printf("\nTimes are estimates, carried over from the nearest scale that was measured by the number of tuples; memory is what the\n" +
		"engines say that they need with default options.\n\n")
	return p.err
}

// writeOutcome shows what the sweep has come to: a line for each variant and scale.
func writeOutcome(w io.Writer, _ string, s *sweep.Schedule) error {
	columns := []reports.Column{{Head: "engine", Left: true}, {Head: "scale"}, {Head: "runs"}, {Head: "kernel 1 s"}, {Head: "median ms"}, {Head: "GTEPS"},
		{Head: "min … max", Optional: true}, {Head: "state", Left: true}}
	if s.Sweep.Plan.Energy > 0 {
		columns = append(columns, reports.Column{Head: "MTEPS/W"})
	}
	var rows [][]string
	for _, g := range groups(s) {
		row := []string{g.engine, strconv.Itoa(g.scale), fmt.Sprintf("%d/%d", g.count(func(e *sweep.Entry) bool { return e.State == sweep.Done }), len(g.entries)),
			unknown, unknown, unknown, unknown, g.state(), unknown}
		var construct, median, rate, perWatt []float64
		of := "" // what power the last is of
		for _, e := range g.entries {
			if e.State != sweep.Done || e.Run == nil || e.Run.Statistics == nil || e.Run.Construction == nil {
				continue
			}
			construct = append(construct, e.Run.Construction.Elapsed.Seconds())
			median = append(median, e.Run.Statistics.Time.Median*1e3)
			rate = append(rate, e.Run.Statistics.TEPS.Mean/1e9)
			if f, found := e.Run.Energy.Headline(); found && (of == "" || of == f.Label()) {
				perWatt, of = append(perWatt, f.MTEPSPerWatt), f.Label()
			}
		}
		if len(perWatt) > 0 {
			row[8] = digits(middle(perWatt), 4) + " " + of
		}
		if len(rate) > 0 {
			row[3], row[4], row[5] = digits(middle(construct), 4), digits(middle(median), 4), digits(middle(rate), 4)
			row[6] = digits(slices.Min(rate), 3) + " … " + digits(slices.Max(rate), 3)
		}
		rows = append(rows, row[:len(columns)])
	}
	if err := reports.Columns(w, columns, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nNumbers are medians over the runs, min and max those of the runs; GTEPS of a run is the harmonic mean over its roots.\nrecords: %s (teps report %s/s* --format html --out FILE draws them on one page)\n",
		s.Store.Dir(), s.Store.Dir())
	return err
}

// middle is the median.
func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// digits shows so many significant digits.
func digits(x float64, n int) string {
	if a := math.Abs(x); a != 0 && (a < 1e-3 || a >= 1e6) {
		return strconv.FormatFloat(x, 'e', n-1, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, n-1-int(math.Floor(math.Log10(max(x, 1e-3))))), 64)
}

// sweepJSON is what --json prints.
type sweepJSON struct {
	Schema    string     `json:"schema"` // of this document
	File      string     `json:"file"`
	Store     string     `json:"store"`
	Available int64      `json:"available_memory_bytes,omitempty"`
	ToDo      int        `json:"to_do"` // cells; 0 when the sweep is over
	Bad       int        `json:"bad"`   // cells that failed, are invalid, unreadable or whose engine is unavailable
	LeftEst   float64    `json:"left_seconds_estimate"`
	Cells     []cellJSON `json:"cells"`
}

type cellJSON struct {
	Engine       string            `json:"engine"`
	Options      map[string]string `json:"options,omitempty"` // as the file sets them
	Scale        int               `json:"scale"`
	Repeat       int               `json:"repeat"`
	Folder       string            `json:"folder,omitempty"` // in the store; absent where the engine is unavailable
	State        sweep.State       `json:"state"`
	Why          string            `json:"why,omitempty"` // the state is bad
	MemoryEst    int64             `json:"memory_bytes_estimate,omitempty"`
	SecondsEst   *float64          `json:"seconds_estimate,omitempty"` // of a cell that is to do
	Construction *float64          `json:"construction_seconds,omitempty"`
	TEPS         *harness.Spread   `json:"teps,omitempty"` // over roots; mean is harmonic
	Time         *harness.Spread   `json:"search_seconds,omitempty"`
	MTEPSPerWatt float64           `json:"mteps_per_watt,omitempty"`
	Power        string            `json:"power,omitempty"` // what power that is of, and how it was come by unless measured
}

func writeSweepJSON(w io.Writer, path string, s *sweep.Schedule) error {
	out := sweepJSON{Schema: "teps-sweep/1", File: path, Store: s.Store.Dir(), Available: s.Available, ToDo: len(s.ToDo()), LeftEst: s.Model.Left(s.ToDo()).Seconds}
	for _, e := range s.Entries {
		c := cellJSON{Engine: e.Engine().Name, Options: e.Engine().Options, Scale: e.Scale(), Repeat: e.Repeat, Folder: e.Folder, State: e.State, Why: e.Why,
			MemoryEst: e.Needs.Total()}
		if e.State.Bad() {
			out.Bad++
		}
		if seconds, known := s.Model.Cell(e.Cell); known && e.State.Open() {
			c.SecondsEst = &seconds
		}
		if e.State == sweep.Done && e.Run != nil && e.Run.Construction != nil && e.Run.Statistics != nil {
			seconds := e.Run.Construction.Elapsed.Seconds()
			c.Construction, c.TEPS, c.Time = &seconds, &e.Run.Statistics.TEPS, &e.Run.Statistics.Time
			if f, found := e.Run.Energy.Headline(); found {
				c.MTEPSPerWatt, c.Power = f.MTEPSPerWatt, f.Label()
			}
		}
		out.Cells = append(out.Cells, c)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

// estimateText shows an estimate, and says so.
func estimateText(e sweep.Estimate) string {
	text := "about " + secondsText(e.Seconds)
	if e.Unknown > 0 {
		text = fmt.Sprintf("more than %s (%d of them never measured)", secondsText(e.Seconds), e.Unknown)
	}
	return text
}

// sizeText shows bytes.
func sizeText(bytes int64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
