package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/text"
	"github.com/tepsbench/teps/sweep"
)

// variantsOf groups the jobs of a sweep by engine and graph.
func variantsOf(s *sweep.Schedule, dryRun bool) (all []reports.Variant) {
	var states []map[sweep.State]int
	for _, j := range s.Jobs {
		i := slices.IndexFunc(all, func(v reports.Variant) bool {
			return v.Engine == j.Engine().Name && v.GraphID == j.Graph()
		})
		if i < 0 {
			i = len(all)
			all = append(all, reports.Variant{Engine: j.Engine().Name, GraphID: j.Graph(), Graph: j.Graph().Cell()})
			states = append(states, map[sweep.State]int{})
		}
		v := &all[i]
		v.Planned++
		states[i][j.State]++
		v.State = stateOf(states[i], v.Planned)
		if j.State == sweep.Done {
			v.Runs = append(v.Runs, *j.Run)
		}
		if dryRun {
			v.Memory = j.Memory // of a file it is known once it is read
		}
	}
	return all
}

// stateOf is the worst state of n jobs, with their number unless it is that of all.
func stateOf(states map[sweep.State]int, n int) string {
	for _, state := range []sweep.State{sweep.Unreadable, sweep.Invalid, sweep.Failed, sweep.Unavailable, sweep.Missing} {
		switch states[state] {
		case 0:
		case n:
			return string(state)
		default:
			return fmt.Sprintf("%d %s", states[state], state)
		}
	}
	return string(sweep.Done)
}

// writeTable shows what is done and what is to do, a line for each variant and graph, with the memory of the runs in a
// dry run.
func writeTable(w io.Writer, s *sweep.Schedule, dryRun bool) {
	t := reports.VariantTable(variantsOf(s, dryRun))
	_ = text.Columns(w, t, terminalWidth(w)) // w keeps its error
	fmt.Fprintln(w)
	if len(s.ToDo()) < len(s.Jobs) {
		fmt.Fprintln(w, text.Wrap(t.Note, 79, ""))
	}
	switch todo := len(s.ToDo()); {
	case todo > 0:
		fmt.Fprintf(w, "%d of %d runs to do.", todo, len(s.Jobs))
		if dryRun {
			fmt.Fprint(w, " Memory is what the engines estimate.")
		}
		fmt.Fprintln(w)
	case dryRun:
		fmt.Fprintf(w, "Nothing to do.\n")
	default:
		fmt.Fprintf(w, "One page of all runs: teps report %s\n", s.Dir)
	}
}
