package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/text"
	"github.com/tepsbench/teps/sweep"
)

// row is the jobs of one variant on one graph.
type row struct {
	engine string
	graph  record.GraphID
	jobs   []*sweep.Job
	done   []*record.Run
}

func rows(s *sweep.Schedule) (all []*row) {
	for _, j := range s.Jobs {
		i := slices.IndexFunc(all, func(r *row) bool { return r.engine == j.Engine().Name && r.graph == j.Graph() })
		if i < 0 {
			i = len(all)
			all = append(all, &row{engine: j.Engine().Name, graph: j.Graph()})
		}
		all[i].jobs = append(all[i].jobs, j)
		if j.State == sweep.Done {
			all[i].done = append(all[i].done, j.Run)
		}
	}
	return all
}

// state is the worst state of the jobs, with their number unless it is that of all.
func (r *row) state() string {
	for _, state := range []sweep.State{sweep.Unreadable, sweep.Invalid, sweep.Failed, sweep.Unavailable, sweep.Missing} {
		n := 0
		for _, j := range r.jobs {
			if j.State == state {
				n++
			}
		}
		switch {
		case n == len(r.jobs):
			return string(state)
		case n > 0:
			return fmt.Sprintf("%d %s", n, state)
		}
	}
	return string(sweep.Done)
}

// median is that of the values, and Missing if there are none.
func median(values []float64) string {
	if len(values) == 0 {
		return units.Missing
	}
	return units.Significant(units.Median(values), 4)
}

// cells is the row of the table, up to the state.
func (r *row) cells() []string {
	var construct, search, rate []float64
	for _, run := range r.done {
		construct = append(construct, run.Construction.Elapsed.Seconds())
		search = append(search, run.Statistics.Time.Median*1e3)
		rate = append(rate, run.Statistics.TEPS.Mean/1e9)
	}
	between := units.Missing
	if len(rate) > 0 {
		between = units.Significant(slices.Min(rate), 3) + " … " + units.Significant(slices.Max(rate), 3)
	}
	return []string{
		r.engine, r.graph.Cell(), fmt.Sprintf("%d/%d", len(r.done), len(r.jobs)),
		median(construct), median(search), median(rate), between, r.state(),
	}
}

// perWatt is the median of the runs that have a power with the same label as that of the first, and this label.
func (r *row) perWatt() string {
	var rate []float64
	label := ""
	for _, run := range r.done {
		if f, found := run.Energy.Headline(); found && (label == "" || label == f.Label()) {
			rate, label = append(rate, f.MTEPSPerWatt), f.Label()
		}
	}
	return strings.TrimSpace(median(rate) + " " + label)
}

// memory is that of a job; of a file it is known once it is read.
func memory(j *sweep.Job) string {
	if j.Memory == 0 {
		return units.Missing
	}
	return units.Bytes(j.Memory)
}

// writeTable shows what is done and what is to do, a line for each variant and graph, with the memory of the runs in a
// dry run.
func writeTable(w io.Writer, s *sweep.Schedule, dryRun bool) {
	columns := []text.Column{
		{Head: "engine", Left: true}, text.GraphColumn(record.CellHead(s.Jobs, (*sweep.Job).Graph)), {Head: "runs"},
		{Head: "kernel 1 s"}, {Head: "median ms"}, {Head: "GTEPS"}, {Head: "min … max"}, {Head: "state", Left: true},
	}
	if dryRun {
		columns = append(columns, text.Column{Head: "memory of each"})
	}
	if s.Sweep.Plan.Energy > 0 {
		columns = append(columns, text.Column{Head: "MTEPS/W"})
	}
	var table [][]string
	for _, r := range rows(s) {
		cells := r.cells()
		if dryRun {
			cells = append(cells, memory(r.jobs[0]))
		}
		if s.Sweep.Plan.Energy > 0 {
			cells = append(cells, r.perWatt())
		}
		table = append(table, cells)
	}
	_ = text.Columns(w, columns, table) // w keeps its error
	fmt.Fprintf(w, "\nNumbers are medians over the runs; the rate of a run is the harmonic mean over its roots.\n")
	switch todo := len(s.ToDo()); {
	case todo > 0:
		fmt.Fprintf(w, "%d of %d runs to do. Memory is what the engines estimate.\n", todo, len(s.Jobs))
	case dryRun:
		fmt.Fprintf(w, "Nothing to do.\n")
	default:
		fmt.Fprintf(w, "One page of all runs: teps report %s --format html --out FILE\n", s.Dir)
	}
}
