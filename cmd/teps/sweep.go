package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/text"
	"github.com/tepsbench/teps/sweep"
)

func sweepCommand(engines catalog) *cobra.Command {
	var dryRun, quiet bool
	c := &cobra.Command{
		Use:   "sweep FILE.yaml",
		Short: "Measure engines x options x graphs x repeats from a file",
		Long: `sweep measures every combination that a file describes. Each one is an ordinary
run with a directory of its own. The same command, given again, measures only
what is missing: after Ctrl-C, a crash, or a change of the file. docs/sweeps.md
describes the fields of a file. A complete one:

  engines:
    - name: cpu
      set: {threads: [1, 2], adjacency: [csr, packed]}
    - distributed:partition=1d
  scales: 16-18
  graph: [grid2d:1000, roads.mtx]
  repeats: 12        # at most; without until: all
  until: 2%          # ends them once the rate is known so well`,
		Example: `  teps sweep threads.yaml --dry-run       what would be measured
  teps sweep threads.yaml                 measure; again to continue`,
		Args: exactArgs(1, "the name of a sweep file"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			host := newProcesses(c, false)
			defer func() { err = errors.Join(err, host.Close()) }()
			return runSweep(c, engines, host, args[0], dryRun, quiet)
		},
	}
	flags := c.Flags()
	flags.BoolVarP(&dryRun, "dry-run", "n", false, "show what would be measured, and measure nothing")
	flags.BoolVarP(&quiet, "quiet", "q", false, "no progress, only the final table and errors")
	flags.SortFlags = false
	return c
}

func runSweep(c *cobra.Command, engines catalog, host processes, path string, dryRun, quiet bool) error {
	ctx, stderr := c.Context(), c.ErrOrStderr()
	plan, store, err := readSweep(ctx, engines, host, path)
	if err != nil {
		return err
	}
	s, err := sweep.Prepare(ctx, host, plan, store)
	if err != nil {
		return err
	}
	if dryRun {
		writeTable(c.OutOrStdout(), s, true)
		return nil
	}
	begin := func(*sweep.Job, int, int) {}
	if !quiet {
		fmt.Fprintf(stderr, "teps sweep: %s in %s\n", s.Sweep, s.Dir)
		begin = func(j *sweep.Job, n, total int) {
			fmt.Fprintf(stderr, "run %d of %d: %s, %s, repeat %d\n", n, total, j.Engine().Name, j.Graph(), j.Repeat)
		}
	}
	err = s.Run(ctx, host, commandLine(), newProgress(stderr, quiet), begin)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return fmt.Errorf("%w; the same command continues the sweep", err)
	}
	writeTable(c.OutOrStdout(), s, false)
	if stopped {
		fmt.Fprintf(stderr, "teps: stopped; continue with: teps sweep %s\n", path)
	}
	reasons := reasonsOf(s.Bad())
	if !stopped && len(reasons) == 0 {
		return nil
	}
	for _, reason := range reasons {
		fmt.Fprintf(stderr, "teps: %s\n", printable(reason))
	}
	return errReported
}

// reasonsOf has a line for each reason why jobs are bad, with the first of those that have it.
func reasonsOf(bad []*sweep.Job) (lines []string) {
	names := map[string][]string{} // by state and reason
	for _, j := range bad {
		why := fmt.Sprintf("%s: %s", j.State, j.Reason)
		names[why] = append(names[why], j.Engine().Name+" "+j.Graph().At())
	}
	for why, all := range names {
		slices.Sort(all)
		who := all[0] + " is "
		if all = slices.Compact(all); len(all) > 1 {
			who = fmt.Sprintf("%s and %d more are ", all[0], len(all)-1)
		}
		lines = append(lines, who+why)
	}
	slices.Sort(lines)
	return lines
}

// variantsOf groups the jobs of a sweep by engine and graph.
func variantsOf(s *sweep.Schedule, dryRun bool) (all []reports.Summary) {
	var states []map[sweep.State]int
	var done [][]record.Run
	for _, j := range s.Jobs {
		i := slices.IndexFunc(all, func(v reports.Summary) bool {
			return v.Label == j.Engine().Name && v.GraphID == j.Graph()
		})
		if i < 0 {
			i = len(all)
			all = append(all, reports.Summary{Label: j.Engine().Name, Run: record.Run{GraphID: j.Graph()}})
			states, done = append(states, map[sweep.State]int{}), append(done, nil)
		}
		all[i].Planned++
		states[i][j.State]++
		if j.State == sweep.Done {
			done[i] = append(done[i], *j.Run)
		}
		if dryRun {
			all[i].Memory = j.Memory // of a file it is known once it is read
		}
	}
	for i, v := range all {
		all[i] = v.Over(done[i])
		all[i].Worst.Word = stateOf(states[i], v.Planned)
	}
	return all
}

// stateOf is the worst state of n jobs, with their number unless it is that of all.
func stateOf(states map[sweep.State]int, n int) string {
	for _, state := range []sweep.State{sweep.Unreadable, sweep.Invalid, sweep.Failed, sweep.Unavailable, sweep.Missing} {
		if m := states[state]; m == n {
			return string(state)
		} else if m > 0 {
			return fmt.Sprintf("%d %s", m, state)
		}
	}
	return string(sweep.Done)
}

// writeTable shows a line for each variant and graph and what is to do, with the memory of the runs in a dry run.
func writeTable(w io.Writer, s *sweep.Schedule, dryRun bool) {
	t, todo := reports.VariantTable(variantsOf(s, dryRun)), len(s.ToDo())
	_ = text.Columns(w, t, terminalWidth(w)) // w keeps its error
	fmt.Fprintln(w)
	if todo < len(s.Jobs) {
		fmt.Fprintln(w, text.Wrap(t.Note, 79, ""))
	}
	switch {
	case todo > 0 && dryRun:
		fmt.Fprintf(w, "%d of %d runs to do. Memory is what the engines estimate.\n", todo, len(s.Jobs))
	case todo > 0:
		fmt.Fprintf(w, "%d of %d runs to do.\n", todo, len(s.Jobs))
	case dryRun:
		fmt.Fprintf(w, "Nothing to do.\n")
	default:
		fmt.Fprintf(w, "One page of all runs: teps report %s\n", s.Dir)
	}
}
