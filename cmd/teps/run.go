// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// defaultStore is the directory for the directories of runs without --out.
const defaultStore = "teps-results"

type runFlags struct {
	planFlags
	out, store, resume string
	quiet, verbose     bool
	measure            bool
}

func runCommand(engines catalog) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the benchmark: generate, construct, search, validate, report",
		Long: `run follows the Graph500 protocol for every engine on every graph. It prints the
official text to standard output and everything else to standard error, and
writes records, plots and a page into a directory. A stopped run (Ctrl-C, a
crash, a power cut) loses at most the current search; --resume DIR
continues it. The variable TEPS_NOTE is a note for the record.

The exit code is 1 if a run failed or a search is wrong. To detect slower runs,
use teps compare --fail-if.

--graph names a graph other than Graph500's: a file (- for standard input), or:
` + generators(),
		Example: `  teps run                                            cpu, and distributed twice
  teps run --scale 16-20 --out results/sweep          five scales, one directory
  teps run --graph grid2d:1000 --graph roads.mtx.gz   generators and files
  teps run --engine cpu,one=cpu --set one.threads=1   an engine twice
  teps run --engine distributed:ranks=16              options after its name
  teps run --engine ./teps-engine-mine --validate 8   an engine of your own
  teps run --scale 22 --energy 60s                    MTEPS per watt, too
  teps run --store results                            a new directory in results
  teps run --resume results/sweep                     continue after Ctrl-C`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			host := newProcesses(c, f.verbose)
			defer func() { err = errors.Join(err, host.Close()) }()
			if c.Flags().Changed("resume") {
				return f.continueRun(c, host)
			}
			return f.newRun(c, engines, host)
		},
	}
	flags := c.Flags()
	f.register(flags)
	flags.StringVar(&f.out, "out", "", "directory for records, plots and page (default STORE/DATE-TIME)")
	flags.StringVar(&f.store, "store", defaultStore, "directory for the directories of runs")
	flags.StringVar(&f.resume, "resume", "", "continue the interrupted run in this directory")
	flags.BoolVar(&f.measure, "measure", false, "measure the speed of memory first, for the record")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no final table")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show the logs of the host and the engines")
	flags.SortFlags = false
	return c
}

// generators lists what --graph takes.
func generators() string {
	var b strings.Builder
	for _, g := range graph.Generators() {
		fmt.Fprintf(&b, "  %-28s%s\n", g.Form, g.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *runFlags) newRun(c *cobra.Command, engines catalog, host processes) error {
	if c.Flags().Changed("out") && c.Flags().Changed("store") {
		return usage("--out is the directory of the run, --store the one around it; give one of them")
	}
	if f.out == "-" {
		return usage("--out -: want a directory; the official text is always printed")
	}
	plan, err := f.plan(c.Context(), engines, host, c.Flags().Changed("scale"))
	if err != nil {
		return err
	}
	create := func(software record.Software, machine machine.Machine) (*record.Store, error) {
		manifest := record.NewManifest(commandLine(), plan, software, machine)
		if f.out != "" {
			return record.Create(f.out, manifest)
		}
		return record.Create(filepath.Join(f.store, time.Now().Format("20060102-150405.000")), manifest)
	}
	return f.execute(c, host, plan, create)
}

func (f *runFlags) continueRun(c *cobra.Command, host processes) error {
	var other string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"resume", "quiet", "verbose"}, flag.Name) {
			other = flag.Name
		}
	})
	switch {
	case f.resume == "":
		return usage("--resume: want the directory of a run")
	case other != "":
		return usage("--resume continues a run as it was planned; leave out --%s", other)
	}
	old, err := record.Load(f.resume)
	if err != nil {
		return err
	}
	unfinished := func(run record.Run) bool { return run.State != record.Complete || run.Energy.Failed() }
	if !slices.ContainsFunc(old.Runs, unfinished) {
		newProgress(c.ErrOrStderr(), f.quiet).Note("this run is complete; there is nothing to resume")
		return cmp.Or(show(c, f.resume, nil, old, f.quiet), verdict(old))
	}
	resume := func(software record.Software, machine machine.Machine) (*record.Store, error) {
		return record.Resume(f.resume, software, machine)
	}
	return f.execute(c, host, old.Plan, resume)
}

// execute runs a plan into the store of open, which it calls after checking that the plan can run here.
func (f *runFlags) execute(c *cobra.Command, host processes, plan record.Plan,
	open func(record.Software, machine.Machine) (*record.Store, error)) error {
	ctx, stderr := c.Context(), c.ErrOrStderr()
	progress := newProgress(stderr, f.quiet)
	if err := harness.Prepare(ctx, host, plan); err != nil {
		again := plan
		again.Regenerate = true
		if errors.Is(err, plugins.ErrMemory) && plan.HostDevice != nil && harness.Prepare(ctx, host, again) == nil {
			err = fmt.Errorf("%w; --regenerate does not store the tuples, and fits", err)
		}
		return err
	}
	this, err := describeMachine(ctx, f.measure, progress)
	if err != nil {
		return err
	}
	store, err := open(record.ThisSoftware(), this)
	if err != nil {
		return err
	}
	defer store.Close()
	for _, note := range store.Resumed() {
		progress.Note(note)
	}
	result, running := harness.Execute(ctx, host, store, progress)
	var unread *harness.ReadError
	begun := func(run record.Run) bool { return run.Graph != nil } // the record is more than a plan
	if errors.As(running, &unread) && !slices.ContainsFunc(result.Runs, begun) {
		host.KeepOutput("") // the directory is removed
		store.Discard()
		return running
	}
	reporting := show(c, store.Dir(), nil, result, f.quiet)
	notWritten := errors.Is(running, record.ErrNotWritten)
	stopped := errors.Is(running, context.Canceled)
	if stopped || notWritten {
		fmt.Fprintf(stderr, "teps: continue with: teps run --resume %s\n", store.Dir())
	}
	if notWritten {
		reporting = nil // for the same reason
	}
	if stopped {
		running = nil // the verdict is that the run is incomplete
	}
	return cmp.Or(errors.Join(running, reporting), verdict(result))
}

// verdict returns errReported if a run is incomplete, a search is wrong, or an energy loop has failed.
func verdict(r record.Result) error {
	if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return !run.Sound() || run.Energy.Failed() }) {
		return errReported
	}
	return nil
}

// commandLine returns the command line without the program's directory, because records may be published.
func commandLine() []string { return append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...) }
