package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports/text"
	"github.com/tepsbench/teps/sweep"
)

// row is the jobs of one variant at one scale.
type row struct {
	engine string
	scale  int
	jobs   []*sweep.Job
}

func rows(s *sweep.Schedule) (all []*row) {
	for _, j := range s.Jobs {
		i := slices.IndexFunc(all, func(r *row) bool { return r.engine == j.Engine().Name && r.scale == j.Scale() })
		if i < 0 {
			i = len(all)
			all = append(all, &row{engine: j.Engine().Name, scale: j.Scale()})
		}
		all[i].jobs = append(all[i].jobs, j)
	}
	return all
}

func (r *row) count(state sweep.State) (n int) {
	for _, j := range r.jobs {
		if j.State == state {
			n++
		}
	}
	return n
}

// state is the worst state of the jobs, with their number unless it is that of all.
func (r *row) state() string {
	for _, state := range []sweep.State{sweep.Unreadable, sweep.Invalid, sweep.Failed, sweep.Unavailable, sweep.Missing} {
		switch n := r.count(state); {
		case n == len(r.jobs):
			return string(state)
		case n > 0:
			return fmt.Sprintf("%d %s", n, state)
		}
	}
	return string(sweep.Done)
}

// outcome is the row in the table of results, less the last cells if columns has fewer.
func (r *row) outcome(columns []text.Column) []string {
	cells := []string{
		r.engine, strconv.Itoa(r.scale), fmt.Sprintf("%d/%d", r.count(sweep.Done), len(r.jobs)),
		units.Missing, units.Missing, units.Missing, units.Missing, r.state(), units.Missing,
	}
	var construct, median, rate, perWatt []float64
	label := "" // of the power in the last column
	for _, j := range r.jobs {
		if j.State != sweep.Done {
			continue
		}
		construct = append(construct, j.Run.Construction.Elapsed.Seconds())
		median = append(median, j.Run.Statistics.Time.Median*1e3)
		rate = append(rate, j.Run.Statistics.TEPS.Mean/1e9)
		if f, found := j.Run.Energy.Headline(); found && (label == "" || label == f.Label()) {
			perWatt, label = append(perWatt, f.MTEPSPerWatt), f.Label()
		}
	}
	if len(rate) > 0 {
		for i, values := range [][]float64{construct, median, rate} {
			cells[3+i] = units.Significant(units.Median(values), 4)
		}
		cells[6] = units.Significant(slices.Min(rate), 3) + " … " + units.Significant(slices.Max(rate), 3)
	}
	if len(perWatt) > 0 {
		cells[8] = units.Significant(units.Median(perWatt), 4) + " " + label
	}
	return cells[:len(columns)]
}

// writeOutcome shows what was measured: a line for each variant and scale.
func writeOutcome(w io.Writer, s *sweep.Schedule) error {
	columns := []text.Column{
		{Head: "engine", Left: true}, {Head: "scale"}, {Head: "runs"}, {Head: "kernel 1 s"}, {Head: "median ms"},
		{Head: "GTEPS"}, {Head: "min … max", Optional: true}, {Head: "state", Left: true},
	}
	if s.Sweep.Plan.Energy > 0 {
		columns = append(columns, text.Column{Head: "MTEPS/W"})
	}
	var table [][]string
	for _, r := range rows(s) {
		table = append(table, r.outcome(columns))
	}
	if err := text.Columns(w, columns, table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n"+
		"Numbers are medians over the runs; the rate of a run is the harmonic mean over its roots.\n"+
		"One page of all runs: teps report %s/s* --format html --out FILE\n", s.Dir)
	return err
}

// writeSchedule shows what is done and what is to do.
func writeSchedule(w io.Writer, s *sweep.Schedule) error {
	columns := []text.Column{
		{Head: "engine", Left: true}, {Head: "scale"}, {Head: "runs"}, {Head: "memory of each"}, {Head: "state", Left: true},
	}
	var table [][]string
	for _, r := range rows(s) {
		runs := fmt.Sprintf("%d/%d", r.count(sweep.Done), len(r.jobs))
		table = append(table, []string{r.engine, strconv.Itoa(r.scale), runs, units.Bytes(r.jobs[0].Memory), r.state()})
	}
	if err := text.Columns(w, columns, table); err != nil {
		return err
	}
	if todo := len(s.ToDo()); todo > 0 {
		fmt.Fprintf(w, "\n%d of %d runs to do. Memory is what the engines estimate.\n", todo, len(s.Jobs))
		return nil
	}
	_, err := fmt.Fprintf(w, "\nNothing to do.\n")
	return err
}
