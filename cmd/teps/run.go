package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
)

type runFlags struct {
	plan    planFlags
	config  string
	out     string
	into    string
	resume  string
	quiet   bool
	asJSON  bool
	verbose bool
	old     *harness.Result // the run to resume, as it was
}

func runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the benchmark: generate, construct, search 64 roots, validate, report",
		Long: `run does the whole Graph500 protocol for every engine at every scale. The official
text goes to standard output, everything else to standard error, and records,
plots and a page into a folder. A run that was stopped (Ctrl-C, a crash, a power
cut) loses at most the search it was in: --resume FOLDER continues it.`,
		Example: `  teps run                                              cpu, and distributed in 2D and 1D, at scale 18
  teps run --scale 16-20 --out results/sweep            five scales into one folder
  teps run --engine cpu,one=cpu --set one.threads=1     the same engine twice, under two labels
  teps run --engine distributed:ranks=16:partition=1d   options of an engine behind its name
  teps run --engine ./teps-engine-mine --validate 8     an engine of your own
  teps run --scale 22 --energy 60s                      MTEPS per watt too, of every power meter here
  teps run --store results                              a folder of its own among others
  teps run --resume results/sweep                       continue what was interrupted
  teps run --config nightly.yaml --scale 22             flags from a file; the command line wins`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	f.plan.register(flags)
	flags.StringVar(&f.config, "config", "", "YAML file with these flags by name (engine, scale, set, ...)")
	flags.StringVar(&f.out, "out", "", "folder for records, plots and page (default DATE-TIME in the store)")
	flags.StringVar(&f.into, "store", "teps-results", "folder in which the run makes a folder of its own, beside others")
	flags.StringVar(&f.resume, "resume", "", "continue the interrupted run in this folder")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no final table")
	flags.BoolVar(&f.asJSON, "json", false, "print the folder and the whole result as one JSON document, instead of the official text")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what host and engines log")
	flags.SortFlags = false
	return c
}

func (f *runFlags) run(c *cobra.Command) error {
	ctx := c.Context()
	progress := newProgress(c.ErrOrStderr(), f.quiet)
	plan, err := f.decide(c)
	if err != nil {
		return err
	}
	if f.old != nil && finished(*f.old) {
		progress.Note("this run is complete; there is nothing to resume")
		return errors.Join(f.report(c, f.resume, *f.old), soundness(*f.old))
	}
	host, err := newProcesses(newLog(f.verbose))
	if err != nil {
		return err
	}
	result, err := f.execute(ctx, c, host, plan, progress)
	if err := errors.Join(err, host.Close()); err != nil {
		return err
	}
	return soundness(result)
}

// finished says whether every engine has searched every root at every scale, and has been metered where that was asked for.
func finished(r harness.Result) bool {
	for _, run := range r.Runs {
		if run.State != harness.Complete || run.Energy.Failed() {
			return false
		}
	}
	return true
}

// soundness is errReported unless every run is complete, no search was found wrong, and no energy loop has failed. That
// there is no meter is no failure.
func soundness(r harness.Result) error {
	for _, run := range r.Runs {
		if !run.Sound() || run.Energy.Failed() {
			return errReported
		}
	}
	return nil
}

// decide makes the plan: of the flags and the file, or of the run to resume.
func (f *runFlags) decide(c *cobra.Command) (harness.Plan, error) {
	if c.Flags().Changed("out") && c.Flags().Changed("store") {
		return harness.Plan{}, harness.Usage("--out names the run's folder and --store the folder around it; give one of them")
	}
	if !c.Flags().Changed("resume") {
		if c.Flags().Changed("config") {
			if err := readConfig(f.config, c.Flags()); err != nil {
				return harness.Plan{}, err
			}
		}
		return f.plan.plan()
	}
	if f.resume == "" {
		return harness.Plan{}, harness.Usage("--resume names no folder")
	}
	var other string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains([]string{"resume", "quiet", "json", "verbose"}, flag.Name) {
			other = flag.Name
		}
	})
	if other != "" {
		return harness.Plan{}, harness.Usage("--resume continues a run as it was planned; --%s cannot be given with it", other)
	}
	old, err := harness.Load(f.resume)
	if err != nil {
		return harness.Plan{}, err
	}
	f.old = &old
	return old.Plan, nil
}

func (f *runFlags) execute(ctx context.Context, c *cobra.Command, host processes, plan harness.Plan, progress harness.Progress) (harness.Result, error) {
	stderr := c.ErrOrStderr()
	if !f.quiet {
		fmt.Fprintf(stderr, "teps run: %s\n", describePlan(plan))
	}
	if err := harness.Prepare(ctx, host, plan); err != nil {
		return harness.Result{}, err
	}
	store, err := f.store(ctx, plan)
	if err != nil {
		return harness.Result{}, err
	}
	defer store.Close()
	if store.Torn() > 0 {
		progress.Note(fmt.Sprintf("the last line of %s was torn; what it said is done again", harness.JournalFile))
	}
	result, running := harness.Execute(ctx, host, store, progress)
	reporting := f.report(c, store.Dir(), result)
	if running != nil && errors.Is(running, context.Canceled) {
		fmt.Fprintf(stderr, "teps: stopped; continue with: teps run --resume %s\n", store.Dir())
		return result, errors.Join(errReported, running, reporting)
	}
	return result, errors.Join(running, reporting)
}

func (f *runFlags) store(ctx context.Context, plan harness.Plan) (*harness.Store, error) {
	software, machine := harness.ThisSoftware(), harness.ThisMachine(ctx)
	if f.resume != "" {
		return harness.Resume(f.resume, software, machine)
	}
	manifest := harness.NewManifest(commandLine(), plan, software, machine)
	if f.out != "" {
		return harness.Create(f.out, manifest)
	}
	first := filepath.Join(f.into, time.Now().Format("20060102-150405"))
	for n, dir := 2, first; ; n++ {
		store, err := harness.Create(dir, manifest)
		if !errors.Is(err, harness.ErrUsage) || n > 100 { // somebody has begun in the same second
			return store, err
		}
		dir = fmt.Sprintf("%s-%d", first, n)
	}
}

// commandLine is what the user typed, without the folder of the program: a record may be shown to others.
func commandLine() []string { return append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...) }

// report prints the official text, draws everything into the run's folder and shows the final table.
func report(c *cobra.Command, dir string, result harness.Result, quiet bool) error {
	return reportWith(c, dir, reports.Options{}, result, quiet)
}

// report is report, with JSON in the place of the official text if that was asked for.
func (f *runFlags) report(c *cobra.Command, dir string, result harness.Result) error {
	if !f.asJSON {
		return report(c, dir, result, f.quiet)
	}
	stdout := c.OutOrStdout()
	c.SetOut(io.Discard)
	defer c.SetOut(stdout)
	if err := report(c, dir, result, f.quiet); err != nil {
		return err
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Schema string         `json:"schema"` // of this document
		Folder string         `json:"folder"`
		Result harness.Result `json:"result"` // as result.json holds it
	}{"teps-run/1", dir, result})
}
