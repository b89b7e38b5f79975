// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// defaultStore is the directory for the directories of runs without --out.
const defaultStore = "teps-results"

type runFlags struct {
	planFlags
	out, store, resume      string
	quiet, verbose, measure bool
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
	flags.BoolVar(&f.measure, "measure", false, "measure the speed of memory first, for the record")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only what is wrong")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show the logs of the host and the engines")
	return c
}

// generators lists what --graph takes.
func generators() string {
	return strings.Join(each(graph.Generators(), func(g graph.Generator) string {
		return fmt.Sprintf("  %-28s%s", g.Form, g.About)
	}), "\n")
}

func (f *runFlags) newRun(c *cobra.Command, engines catalog, host processes) error {
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
		dir := cmp.Or(f.out, filepath.Join(f.store, time.Now().Format("20060102-150405.000")))
		return record.Create(dir, record.NewManifest(commandLine(), plan, record.ThisSoftware(), this))
	})
}

func (f *runFlags) continueRun(c *cobra.Command, host processes) error {
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

// execute runs a plan into the store of open, which it calls after checking that the plan can run here. note is shown
// before the run; empty: none.
func (f *runFlags) execute(c *cobra.Command, host processes, plan record.Plan, note string,
	open func(machine.Machine) (*record.Store, error)) error {
	ctx, progress := c.Context(), newProgress(c.ErrOrStderr(), f.quiet)
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
	store, err := open(this)
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
		fmt.Fprintf(c.ErrOrStderr(), "teps: continue with: teps run --resume %s\n", store.Dir())
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

// planFlags are the flags of `teps run` that make a plan. Fields with a YAML name are also fields of a sweep file.
type planFlags struct {
	engine     []string
	scale      string
	Graph      values        `yaml:"graph"`
	Format     string        `yaml:"format"`
	EdgeFactor int           `yaml:"edgefactor"`
	Seed1      uint64        `yaml:"seed1"`
	Seed2      uint64        `yaml:"seed2"`
	Roots      int           `yaml:"roots"`
	Validate   string        `yaml:"validate"`
	WarmUps    int           `yaml:"warmup"`
	Wake       int           `yaml:"wake"`
	Timeout    time.Duration `yaml:"timeout"`
	Energy     time.Duration `yaml:"energy"`
	Meter      values        `yaml:"meter"`
	HostDevice string        `yaml:"host-device"`
	Kernel     string        `yaml:"kernel"`
	regenerate bool
	set        []string
	checksum   []string
}

func (f *planFlags) register(flags *pflag.FlagSet) {
	d := record.DefaultPlan()
	engines := defaultEngines()
	flags.StringSliceVar(&f.engine, "engine", engines, "engines: names or paths, as [LABEL=]ENGINE[:OPTION=VALUE]...")
	flags.Lookup("engine").DefValue = strings.Join(engines, ", ")
	flags.StringVar(&f.scale, "scale", strconv.Itoa(d.Scales[0]), "log2 of the number of vertices: 18, 16-20 or 16,18,20")
	flags.StringArrayVar((*[]string)(&f.Graph), "graph", nil, "search this graph: a generator or a file (repeatable)")
	registerFormat(flags, &f.Format)
	flags.StringVar(&f.Kernel, "kernel", "bfs", "searches: bfs, sssp (shortest paths), or bfs,sssp")
	flags.IntVar(&f.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&f.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&f.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.IntVar(&f.Roots, "roots", d.Roots, "searches per engine and graph")
	flags.StringVar(&f.Validate, "validate", "all", "searches to validate: all, none or a number")
	flags.IntVar(&f.WarmUps, "warmup", d.WarmUps, "untimed searches before the first timed one")
	flags.IntVar(&f.Wake, "wake", d.Wake, "untimed searches right before each timed one, to wake the engine, at most")
	flags.DurationVar(&f.Timeout, "timeout", d.Timeout, "limit for one call of an engine")
	flags.DurationVar(&f.Energy, "energy", d.Energy, "then measure energy for this long (60s for GreenGraph500)")
	flags.StringArrayVar((*[]string)(&f.Meter), "meter", nil,
		"power meter to read (repeatable; default: every meter of this machine; see teps machine --help)")
	flags.StringVar(&f.HostDevice, "host-device", "auto",
		"where to generate and validate: cuda, cpu, auto (cuda if available), or a program")
	flags.BoolVar(&f.regenerate, "regenerate", false,
		"do not store the tuples; regenerate them on demand, for scales beyond this memory (not compliant)")
	flags.StringArrayVar(&f.set, "set", nil, "set an option: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	flags.StringArrayVar(&f.checksum, "checksum", nil,
		"refuse an outside engine with another SHA-256: ENGINE=HEX (repeatable)")
}

// registerFormat adds the option that names the format of files.
func registerFormat(flags *pflag.FlagSet, format *string) {
	flags.StringVar(format, "format", "", "format of the graph's file, if neither its name nor its content says it")
}

// setFormat makes a format that of all files among graphs.
func setFormat(graphs []record.GraphSpec, format string) error {
	if format == "" {
		return nil
	}
	if !slices.Contains(files.Formats(), format) {
		return usage("--format: unknown format %q; the formats are %s", format, strings.Join(files.Formats(), ", "))
	}
	found := false
	for i := range graphs {
		if graphs[i].Path != "" {
			graphs[i].Format, found = format, true
		}
	}
	if !found {
		return usage("--format is the format of a file, and no graph is one")
	}
	return nil
}

// settings is the plan without its engines. With scaled, the user gave scales; otherwise a graph replaces the default.
func (f *planFlags) settings(scaled bool) (p record.Plan, err error) {
	p = record.DefaultPlan()
	p.EdgeFactor, p.Seed1, p.Seed2 = f.EdgeFactor, f.Seed1, f.Seed2
	p.Roots, p.WarmUps, p.Wake, p.Timeout = f.Roots, f.WarmUps, f.Wake, f.Timeout
	p.Energy, p.Meters, p.Regenerate = f.Energy, f.Meter, f.regenerate
	if p.Scales = []int{}; scaled || len(f.Graph) == 0 {
		p.Scales, err = parseScales(f.scale)
	}
	for _, text := range f.Graph {
		if err == nil {
			err = p.AddGraph(text)
		}
	}
	if err == nil {
		err = setFormat(p.Graphs, f.Format)
	}
	if err == nil {
		p.Validate, err = parseValidate(f.Validate)
	}
	if err == nil {
		p.Kernels, err = record.ParseKernels(f.Kernel)
	}
	return p, err
}

// plan turns the flags into a checked plan. Outside engines are started to ask for their names.
func (f *planFlags) plan(ctx context.Context, engines catalog, host harness.Host, scaled bool) (record.Plan, error) {
	p, err := f.settings(scaled)
	if err == nil && f.Energy == 0 && len(f.Meter) > 0 {
		err = usage("--meter requires --energy, such as --energy 60s")
	}
	if err == nil {
		p.HostDevice, err = hostDevice(ctx, f.HostDevice, host)
	}
	if err == nil {
		p.Engines, err = f.engines(ctx, engines, host)
	}
	if err == nil {
		err = p.Check()
	}
	return p, err
}

func (f *planFlags) engines(ctx context.Context, engines catalog, host harness.Host) ([]record.EngineSpec, error) {
	var chosen []choice
	for _, text := range f.engine {
		c, err := engines.parse(text)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, c)
	}
	for _, text := range f.checksum { // before any engine is started
		name, sum, _ := strings.Cut(text, "=")
		c, err := byName(chosen, name)
		if err != nil || c.Path == "" || !regexp.MustCompile(`^[0-9a-fA-F]{64}$`).MatchString(sum) {
			return nil, usage("--checksum %s: want an outside engine, = and the 64 digits that sha256sum prints", text)
		}
		c.Checksum = strings.ToLower(sum)
	}
	for i := range chosen { // preparing the run reports an error
		if chosen[i].file != "" {
			_, _ = chosen[i].describe(ctx, host)
		}
	}
	for _, text := range f.set {
		key, value, ok := strings.Cut(text, "=")
		name, option, dotted := strings.Cut(key, ".")
		if !ok || !dotted || name == "" || option == "" {
			return nil, usage("--set %q: want ENGINE.OPTION=VALUE, such as cpu.threads=2", text)
		}
		c, err := byName(chosen, name)
		if err != nil {
			return nil, usage("--set %s: %w", text, err)
		}
		c.setOption(option, value)
	}
	return each(chosen, func(c choice) record.EngineSpec { return c.EngineSpec }), nil
}

func parseScales(text string) (scales []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(strings.ReplaceAll(part, " ", ""), "-")
		if !ranged {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err1 == nil && err2 == nil && last < first {
			return nil, usage("scale %s is reversed; write %d-%d", part, last, first)
		}
		if err1 != nil || err2 != nil || last-first > 64 {
			return nil, usage("scale %q: want a number, a range or a list: 18, 16-20 or 16,18,20", text)
		}
		for s := first; s <= last; s++ {
			scales = append(scales, s)
		}
	}
	return scales, nil
}

func parseValidate(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case text == "all":
		return record.AllRoots, nil
	case text == "none":
		return 0, nil
	case err != nil || n < 0:
		return 0, usage("validate %q: want all, none or a number of searches", text)
	}
	return n, nil
}
