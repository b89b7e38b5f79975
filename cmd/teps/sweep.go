package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/sweep"
)

type sweepFlags struct {
	dryRun, quiet bool
}

func sweepCommand(engines catalog) *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep FILE.yaml",
		Short: "Measure engines x options x scales x repeats from a file",
		Long: `sweep measures every combination that a file describes. Each one is an ordinary run with
a directory of its own. The same command, given again, measures only what is missing: after
Ctrl-C, a crash, or a change of the file. docs/sweeps.md describes the fields of a file.
A complete one:

  engines:
    - name: cpu
      set: {threads: [1, 2], adjacency: [csr, packed]}
    - distributed:partition=1d
  scales: 16-18
  repeats: 3`,
		Example: `  teps sweep threads.yaml --dry-run       show what would be measured, and its memory
  teps sweep threads.yaml                 measure; again to continue`,
		Args: exactArgs(1, "the name of a sweep file"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			host := newProcesses(false)
			defer func() { err = errors.Join(err, host.Close()) }()
			return f.run(c, engines, host, args[0])
		},
	}
	flags := c.Flags()
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "show what would be measured, and measure nothing")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the final table and errors")
	flags.SortFlags = false
	return c
}

func (f *sweepFlags) run(c *cobra.Command, engines catalog, host processes, path string) error {
	ctx, stderr := c.Context(), c.ErrOrStderr()
	plan, store, err := readSweep(ctx, engines, host, path)
	if err != nil {
		return err
	}
	s, err := sweep.Prepare(ctx, host, plan, store)
	if err != nil {
		return err
	}
	if f.dryRun {
		return writeSchedule(c.OutOrStdout(), s)
	}
	begin := func(*sweep.Job, int, int) {}
	if !f.quiet {
		fmt.Fprintf(stderr, "teps sweep: %s; runs are stored in %s\n", s.Sweep, s.Dir)
		begin = func(j *sweep.Job, n, total int) {
			fmt.Fprintf(stderr, "run %d of %d: %s, scale %d, repeat %d\n", n, total, j.Engine().Name, j.Scale(), j.Repeat)
		}
	}
	err = s.Run(ctx, host, commandLine(), newProgress(stderr, f.quiet), begin)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return fmt.Errorf("%w; the same command continues the sweep", err)
	}
	if err := writeOutcome(c.OutOrStdout(), s); err != nil {
		return err
	}
	if stopped {
		fmt.Fprintf(stderr, "teps: stopped; continue with: teps sweep %s\n", path)
	}
	bad := s.Bad()
	if !stopped && len(bad) == 0 {
		return nil
	}
	printReasons(stderr, bad)
	return errReported
}

// printReasons prints why runs went wrong, each reason once.
func printReasons(w io.Writer, bad []*sweep.Job) {
	printed := map[string]bool{}
	for _, j := range bad {
		line := fmt.Sprintf("teps: %s at scale %d is %s: %s\n", j.Engine().Name, j.Scale(), j.State, j.Reason)
		if !printed[line] {
			fmt.Fprint(w, line)
		}
		printed[line] = true
	}
}
