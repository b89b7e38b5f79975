package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/sweep"
)

type sweepFlags struct {
	dryRun, retryFailed, quiet, asJSON, verbose bool
}

func sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep FILE.yaml",
		Short: "Measure engines x options x scales x repeats from a file, into a store of records",
		Long: `sweep measures every combination that a file asks for. Before the first run it shows
what is to do, and an estimate of time and memory. Each combination leaves an
ordinary run folder in the store, so the same command, given again, measures what is
missing: after Ctrl-C, a crash, or a change of the file. Two sweeps of one file share
the work. docs/sweeps.md has the fields of a file; a whole one is

  engines:
    - name: cpu
      set: {threads: [1, 2], adjacency: [csr, packed]}
    - distributed:partition=1d
  scales: 16-18
  repeats: 3`,
		Example: `  teps sweep threads.yaml --dry-run       the plan, and an estimate of time and memory
  teps sweep threads.yaml                 measure; again to continue
  teps sweep threads.yaml --retry-failed  measure again what failed or was invalid
  teps sweep threads.yaml --json          one JSON document at the end, nothing else`,
		Args: exactArgs(1, "the name of a sweep file"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "show the plan and the estimate, and measure nothing")
	flags.BoolVar(&f.retryFailed, "retry-failed", false, "measure cells again that failed or are invalid")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no plan and no progress, only the final table and errors")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output, and nothing else there")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what host and engines log")
	flags.SortFlags = false
	return c
}

// calibration is the most time that is spent to have an estimate.
const calibration = 15 * time.Second

func (f *sweepFlags) run(c *cobra.Command, path string) (err error) {
	ctx, stdout, stderr := c.Context(), c.OutOrStdout(), c.ErrOrStderr()
	file, err := readSweep(path)
	if err != nil {
		return err
	}
	host, err := newProcesses(newLog(f.verbose))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	progress := newProgress(stderr, f.quiet)
	s, err := sweep.Prepare(ctx, host, file.sweep, sweep.NewStore(file.store), commandLine(), harness.ThisSoftware(), harness.ThisMachine(ctx))
	if err != nil {
		return err
	}
	if f.retryFailed {
		if err := s.Retry(); err != nil {
			return err
		}
	}
	if !f.quiet || f.dryRun {
		if err := s.Calibrate(ctx, host, calibration, progress); err != nil {
			return err
		}
	}
	if f.dryRun {
		if f.asJSON {
			return writeSweepJSON(stdout, path, s)
		}
		return writeSchedule(stdout, path, s)
	}
	if !f.quiet && len(s.ToDo()) > 0 {
		_ = writeSchedule(stderr, path, s) // whether anybody reads it does not matter to the sweep
	}
	return f.measure(ctx, c, path, s, host, progress)
}

func (f *sweepFlags) measure(ctx context.Context, c *cobra.Command, path string, s *sweep.Schedule, host processes, progress harness.Progress) error {
	running := s.Run(ctx, host, &sweepProgress{Progress: progress, w: c.ErrOrStderr(), quiet: f.quiet, model: s.Model})
	if running != nil && errors.Is(running, context.Canceled) {
		fmt.Fprintf(c.ErrOrStderr(), "teps: stopped; continue with: teps sweep %s\n", path)
		running = errors.Join(errReported, running)
	} else if running != nil {
		return fmt.Errorf("%w; the same command continues the sweep", running)
	}
	write := writeOutcome
	if f.asJSON {
		write = writeSweepJSON
	}
	if err := errors.Join(running, write(c.OutOrStdout(), path, s)); err != nil {
		return err
	}
	bad := 0
	for _, e := range s.Entries {
		if e.State.Bad() {
			bad++
		}
	}
	if bad > 0 {
		explainFailures(c.ErrOrStderr(), s)
		return errReported
	}
	return nil
}

// sweepProgress is a sweep.Observer that says which cell comes next, and how long it will take.
type sweepProgress struct {
	harness.Progress
	w       io.Writer
	quiet   bool
	model   *sweep.Model
	kernel1 time.Duration // estimate for the cell that is measured; 0: there is none
}

func (p *sweepProgress) Begin(e *sweep.Entry, n, total int, left sweep.Estimate) {
	seconds, _ := p.model.Construct(e.Cell)
	p.kernel1 = time.Duration(seconds * float64(time.Second))
	if !p.quiet {
		fmt.Fprintf(p.w, "run %d of %d: %s, scale %d, repeat %d; %s left\n", n, total, e.Engine().Name, e.Scale(), e.Repeat, estimateText(left))
	}
}

// Step tells the only step of a cell whose length is not known, which is kernel 1, what it will take.
func (p *sweepProgress) Step(name string, total int64) harness.Step {
	s := p.Progress.Step(name, total)
	if total == 0 && p.kernel1 > 0 {
		s.Expect(p.kernel1)
	}
	return s
}

func (p *sweepProgress) Waiting(entries []*sweep.Entry) {
	p.Note(fmt.Sprintf("waiting for %d that another teps measures", len(entries)))
}

// explainFailures says for every cell that went wrong what did, and what to do.
func explainFailures(w io.Writer, s *sweep.Schedule) {
	retry := false
	said := map[string]bool{}
	for _, e := range s.Entries {
		if !e.State.Bad() {
			continue
		}
		retry = retry || e.State == sweep.Failed || e.State == sweep.Invalid
		line := fmt.Sprintf("teps: %s at scale %d is %s: %s\n", e.Engine().Name, e.Scale(), e.State, e.Why)
		if !said[line] {
			fmt.Fprint(w, line)
		}
		said[line] = true
	}
	if retry {
		fmt.Fprintln(w, "teps: --retry-failed measures again what failed or is invalid")
	}
}
