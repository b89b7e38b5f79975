// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/tepsbench/teps/opencl"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// defaultStore is the directory for the directories of runs without --out.
const defaultStore = "teps-results"

type runFlags struct {
	planFlags
	out, store, resume string
	quiet, verbose     bool
}

func runCommand(engines catalog) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the benchmark: generate, construct, search, validate, report",
		Long: `run follows the Graph500 protocol for every engine on every graph. It prints the
official text to standard output, unless that is a terminal, and everything else
to standard error, and writes records, plots and a page into a directory. A
stopped run (Ctrl-C, a crash, a power cut) loses at most the current search. The
variable TEPS_NOTE is a note for the record. The exit code is 1 if a run failed
or a search is wrong.

--graph names a graph other than Graph500's: a file (- for standard input), or:
` + generators(),
		Example: `  teps run                                            cpu, and distributed twice
  teps run --scale 16-20 --out results/sweep          five scales, one directory
  teps run --graph grid2d:1000 --graph roads.mtx.gz   generators and files
  teps run --engine cpu,one=cpu:threads=1             an engine twice
  teps run --engine ./teps-engine-mine --validate 8   your engine
  teps run --scale 22 --energy 60s                    MTEPS per watt, too
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
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only what is wrong")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show the logs of the host and the engines")
	return c
}

// generators lists the generators that --graph takes.
func generators() string {
	return strings.Join(each(graph.Generators(), func(g graph.Generator) string {
		return fmt.Sprintf("  %-28s%s", g.Form, g.About)
	}), "\n")
}

func (f *runFlags) newRun(c *cobra.Command, engines catalog, host *processes) error {
	if c.Flags().Changed("out") && c.Flags().Changed("store") {
		return usage("--out is the directory of the run, --store the one around it; give one of them")
	}
	if f.out == "-" {
		return usage("--out -: want a directory; the official text is in its graph500.txt")
	}
	leftOut := ""
	if !c.Flags().Changed("engine") {
		f.engine, leftOut = engines.defaults(c.Context(), host)
	}
	plan, err := f.plan(c.Context(), engines, host, c.Flags().Changed("scale"))
	if err != nil {
		return err
	}
	return f.execute(c, host, plan, leftOut, func(this machine.Machine) (*record.Store, error) {
		return record.Create(newDirectory(f.out, f.store),
			record.NewManifest(commandLine(), plan, record.ThisSoftware(), this))
	})
}

// newDirectory returns dir, or makes a directory in store if it is empty. If it cannot, record.Create says why.
func newDirectory(dir, store string) string {
	for taken := dir == ""; taken; { // by a run that began in the same millisecond
		dir = filepath.Join(store, time.Now().Format("20060102-150405.000"))
		taken = os.MkdirAll(store, 0o777) == nil && errors.Is(os.Mkdir(dir, 0o777), fs.ErrExist)
	}
	return dir
}

func (f *runFlags) continueRun(c *cobra.Command, host *processes) error {
	var other string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"resume", "quiet", "verbose"}, flag.Name) {
			other = flag.Name
		}
	})
	if other != "" {
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
	return f.execute(c, host, old.Plan, "", func(this machine.Machine) (*record.Store, error) {
		return record.Resume(f.resume, record.ThisSoftware(), this)
	})
}

// execute checks that a plan can run here, and then runs it into the store that open returns. note is shown before the
// run, unless it is empty.
func (f *runFlags) execute(c *cobra.Command, host *processes, plan record.Plan, note string,
	open func(machine.Machine) (*record.Store, error)) error {
	ctx, progress := c.Context(), newProgress(c.ErrOrStderr(), f.quiet)
	if err := host.span(ctx, plan.Cluster); err != nil {
		return err
	}
	if err := harness.Prepare(ctx, host, plan); err != nil {
		again := plan
		again.Regenerate = true
		if errors.Is(err, plugins.ErrMemory) && plan.HostDevice != nil && harness.Prepare(ctx, host, again) == nil {
			err = fmt.Errorf("%w; --regenerate does not store the tuples, and fits", err)
		}
		return err
	}
	store, err := open(describeMachine(ctx, progress))
	if err != nil {
		return err
	}
	defer store.Close()
	for _, note := range append(store.Resumed(), note) {
		if note != "" {
			progress.Note(note)
		}
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
		fmt.Fprintf(c.ErrOrStderr(), "teps: continue with: teps run --resume %s\n", printable(store.Dir()))
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

// defaultEngines are the engines of `teps run` without --engine: cpu, and distributed in two dimensions and in one.
func defaultEngines() []string {
	return []string{
		"cpu", "distributed-2d=distributed:partition=2d", "distributed-1d-dest=distributed:partition=1d-dest",
	}
}

// defaults are the engines of a run without --engine: those of defaultEngines, cuda if it is next to teps and can run
// here, and opencl for the first GPU that cuda does not run on. leftOut names the others and says why.
func (c catalog) defaults(ctx context.Context, host harness.Host) (chosen []string, leftOut string) {
	why := map[string]string{"mpi": "for several hosts", "serial": "the baseline", "literature": "published searches",
		"cuda": "not built: docs/cuda.md"}
	chosen = defaultEngines()
	known := c.known()
	available := func(name string) (devices []plugins.Device) {
		if i := slices.IndexFunc(known, func(engine choice) bool { return engine.Name == name }); i >= 0 {
			d, err := harness.Available(ctx, host, known[i].EngineSpec)
			if why[name] = ""; err != nil {
				why[name] = err.Error()
			}
			devices = d.Devices
		}
		return devices
	}
	gpus := available("cuda")
	if why["cuda"] == "" {
		chosen = append(chosen, "cuda")
	}
	if i := otherGPU(available("opencl"), gpus); i >= 0 && why["opencl"] == "" {
		chosen = append(chosen, fmt.Sprintf("opencl:device=%d", i))
	} else {
		why["opencl"] = cmp.Or(why["opencl"], "no GPU for it")
	}
	measured := map[string]bool{"cpu": true, "distributed": true, "cuda": why["cuda"] == "", "opencl": why["opencl"] == ""}
	var others []string
	for _, name := range append([]string{"cuda"}, each(known, func(engine choice) string { return engine.Name })...) {
		if !measured[name] {
			others = append(others, fmt.Sprintf("%s (%s)", name, cmp.Or(why[name], "name it with --engine")))
			measured[name] = true // cuda may be there twice
		}
	}
	return chosen, "engines left out: " + strings.Join(others, ", ")
}

// otherGPU returns the number of the first device that is a usable GPU and none of the given ones, or -1.
func otherGPU(devices, given []plugins.Device) int {
	fact := func(d plugins.Device, name string) string {
		for _, f := range d.Details {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	return slices.IndexFunc(devices, func(d plugins.Device) bool {
		uuid := fact(d, plugins.DeviceUUID)
		same := func(other plugins.Device) bool {
			return other.Name == d.Name || uuid != "" && uuid == fact(other, plugins.DeviceUUID)
		}
		return d.Kind == "gpu" && fact(d, opencl.Problem) == "" && !slices.ContainsFunc(given, same)
	})
}
