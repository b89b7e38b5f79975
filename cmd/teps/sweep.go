// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/plugins/rpc"
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
		Long: `sweep measures every combination that a file describes, each in an ordinary run.
The same command, repeated after Ctrl-C, a crash or a change of the file,
measures only the missing runs. A complete file (fields: docs/sweeps.md):

  engines:
    - name: cpu
      set: {threads: [1, 2], adjacency: [csr, packed]}
    - distributed:partition=1d-source
  scales: 16-18
  graph: [grid2d:1000, roads.mtx]
  repeats: 12`,
		Example: `  teps sweep threads.yaml --dry-run       the list of the runs
  teps sweep threads.yaml                 measure; again to continue`,
		Args: exactArgs(1, "the name of a sweep file"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			host := newProcesses(c, false)
			defer func() { err = errors.Join(err, host.Close()) }()
			return runSweep(c, engines, host, args[0], dryRun, quiet)
		},
	}
	c.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "list the runs without measuring")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress, only the final table and errors")
	return c
}

func runSweep(c *cobra.Command, engines catalog, host *processes, path string, dryRun, quiet bool) error {
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
		fmt.Fprintf(stderr, "teps sweep: %s in %s\n", s.Sweep, printable(s.Dir))
		begin = func(j *sweep.Job, n, total int) {
			fmt.Fprintf(stderr, "run %d of %d: %s, %s, repeat %d\n", n, total, j.Engine().Name,
				printable(j.Graph().String()), j.Repeat)
		}
	}
	err = s.Run(ctx, host, commandLine(), newProgress(stderr, quiet), begin)
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return fmt.Errorf("%w; the same command continues the sweep", err)
	}
	if !quiet {
		fmt.Fprintln(stderr)
	}
	writeTable(c.OutOrStdout(), s, false)
	if stopped {
		fmt.Fprintf(stderr, "teps: stopped; continue with: teps sweep %s\n", printable(path))
		err = errReported
	}
	for _, reason := range reasonsOf(s.Bad()) {
		fmt.Fprintf(stderr, "teps: %s\n", printable(reason))
		err = errReported
	}
	return err
}

// reasonsOf returns a line for each reason of bad jobs, with the first job that has it.
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

// variantOf sums up the jobs of an engine on a graph. Its state is the worst state of a job, with the number of jobs in
// that state unless it is all of them.
func variantOf(jobs []*sweep.Job, withMemory bool) reports.Summary {
	id := jobs[0].Graph()
	v := reports.Summary{Label: reports.Joined(" ", jobs[0].Engine().Name, string(id.Kernel)),
		Run: record.Run{GraphID: id}, Planned: len(jobs)}
	if withMemory {
		v.Memory = jobs[0].Memory
	}
	states := map[sweep.State]int{}
	var done []record.Run
	for _, j := range jobs {
		if states[j.State]++; j.State == sweep.Done {
			done = append(done, *j.Run)
		}
	}
	v = v.Over(done)
	v.Worst.Word = string(sweep.Done)
	for _, state := range []sweep.State{sweep.Missing, sweep.Unavailable, sweep.Failed, sweep.Invalid, sweep.Unreadable} {
		if n := states[state]; n == len(jobs) {
			v.Worst.Word = string(state)
		} else if n > 0 {
			v.Worst.Word = fmt.Sprintf("%d %s", n, state)
		}
	}
	return v
}

// writeTable prints a line for each variant and graph and the number of runs to do; a dry run also prints their memory.
func writeTable(w io.Writer, s *sweep.Schedule, dryRun bool) {
	type place struct {
		engine string
		graph  record.GraphID
	}
	groups := reports.Grouped(s.Jobs, func(j *sweep.Job) place { return place{j.Engine().Name, j.Graph()} })
	t, todo := reports.VariantTable(each(groups, func(jobs []*sweep.Job) reports.Summary {
		return variantOf(jobs, dryRun)
	})), len(s.ToDo())
	_ = text.Columns(w, t, terminalWidth(w)) // w keeps its error
	fmt.Fprintln(w)
	if todo < len(s.Jobs) {
		fmt.Fprintln(w, text.Wrap(t.Note, 79, ""))
	}
	switch {
	case todo > 0:
		memory := map[bool]string{true: " Memory is the estimate of the engines."}[dryRun]
		fmt.Fprintf(w, "%d of %d runs to do.%s\n", todo, len(s.Jobs), memory)
	case dryRun:
		fmt.Fprintf(w, "Nothing to do.\n")
	default:
		fmt.Fprintf(w, "One page of all runs: teps report %s\n", printable(s.Dir))
	}
}

// sweepFile is a sweep file; see docs/sweeps.md.
type sweepFile struct {
	Engines []engineEntry `yaml:"engines"`
	Scales  values        `yaml:"scales"`
	Repeats int           `yaml:"repeats"`
	Store   string        `yaml:"store"`
	Plan    planFlags     `yaml:",inline"`
}

// engineEntry is an engine: a text in the form of --engine, or a mapping.
type engineEntry struct {
	Name string       `yaml:"name"`
	Set  optionValues `yaml:"set"`
}

func (e *engineEntry) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(ast.MapNode); !ok {
		return yaml.NodeToValue(node, &e.Name)
	}
	type mapping engineEntry // without this method
	return yaml.NodeToValue(node, (*mapping)(e), yaml.Strict())
}

// optionValues are options in the order of the file, each with a value or a list of values.
type optionValues []sweep.Values

func (o *optionValues) UnmarshalYAML(node ast.Node) error {
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return &yaml.SyntaxError{Message: "want OPTION: VALUES here", Token: node.GetToken()}
	}
	for fields := mapping.MapRange(); fields.Next(); {
		var list values
		if err := list.UnmarshalYAML(fields.Value()); err != nil {
			return err
		}
		*o = append(*o, sweep.Values{Option: fields.Key().GetToken().Value, Values: list})
	}
	return nil
}

// values is a value or a list of values, verbatim: YAML would read 016 as 14.
type values []string

func (v *values) UnmarshalYAML(node ast.Node) error {
	nodes := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	*v = nil
	for _, n := range nodes {
		if _, ok := n.(ast.ScalarNode); !ok {
			return &yaml.SyntaxError{Message: "want a value or a list of values here", Token: n.GetToken()}
		}
		*v = append(*v, n.GetToken().Value)
	}
	return nil
}

// readSweep returns the sweep of a file and the directory of its runs. It starts outside engines to get their names.
func readSweep(ctx context.Context, engines catalog, host harness.Host, path string) (sweep.Sweep, string, error) {
	f := sweepFile{Repeats: 1}
	f.Plan.register(pflag.NewFlagSet("", pflag.ContinueOnError)) // sets the defaults
	f.Store = filepath.Join(defaultStore, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	data, err := regular.Read(path, maxSweepFile)
	if err != nil {
		return sweep.Sweep{}, "", usage("read the sweep file: %w; teps sweep --help shows one", err)
	}
	if err := parseYAML(data, &f); err != nil {
		return sweep.Sweep{}, "", usage("%s:%.1000s", path, yamlError(err))
	}
	s, err := f.sweep(ctx, engines, host)
	if err != nil {
		err = usage("%s: %w", path, err)
	}
	return s, f.Store, err
}

// maxSweepFile bounds the size of a sweep file, so that the parser needs at most some seconds for nested values.
const maxSweepFile = 32 << 10

// parseYAML parses strictly: an unknown field or a panic of the parser is an error.
func parseYAML(data []byte, to any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this is not the YAML of a sweep: the parser failed with: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(data, to, yaml.Strict())
}

// yamlError returns an error of parseYAML in one line, with the place if known: 3:1: unknown field "scale".
func yamlError(err error) string {
	const hint = "; docs/sweeps.md lists the fields"
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return " " + err.Error() + hint
	}
	message := at.GetMessage()
	if kind := (*yaml.TypeError)(nil); errors.As(err, &kind) {
		message = fmt.Sprintf("want %s here", cmp.Or(valuesOf[strings.ToLower(kind.DstType.Name())], "a single value"))
	}
	return fmt.Sprintf("%d:%d: %s%s", at.GetToken().Position.Line, at.GetToken().Position.Column, message, hint)
}

func (f *sweepFile) sweep(ctx context.Context, engines catalog, host harness.Host) (s sweep.Sweep, err error) {
	if len(f.Engines) == 0 {
		return s, usage("want at least one engine, such as engines: [cpu]")
	}
	if f.Scales != nil {
		f.Plan.scale = strings.Join(f.Scales, ",")
	}
	s.Repeats = f.Repeats
	if s.Plan, err = f.Plan.settings(f.Scales != nil); err == nil {
		err = harness.CheckFiles(ctx, s.Plan)
	}
	if err == nil {
		s.Plan.HostDevice, err = hostDevice(ctx, f.Plan.HostDevice, host)
	}
	for i, g := range s.Plan.Graphs { // a changed file is another graph
		if err == nil && g.Path != "" && g.Path != record.StandardInput {
			s.Plan.Graphs[i].Checksum, err = rpc.Checksum(g.Path)
		}
	}
	for _, entry := range f.Engines {
		if err == nil {
			var e sweep.Engine
			e, err = entry.engine(ctx, engines, host)
			s.Engines = append(s.Engines, e)
		}
	}
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// engine joins the options in the name and those of the mapping.
func (e engineEntry) engine(ctx context.Context, engines catalog, host harness.Host) (sweep.Engine, error) {
	chosen, err := engines.parse(e.Name)
	if err != nil {
		return sweep.Engine{}, err
	}
	if chosen.file != "" {
		_, _ = chosen.describe(ctx, host)
	}
	if chosen.Path != "" { // refuses the engine if its file changes later
		chosen.Checksum, err = rpc.Checksum(chosen.Path)
	}
	made := sweep.Engine{Labeled: chosen.labeled}
	for _, name := range chosen.given {
		made.Options = append(made.Options, sweep.Values{Option: name, Values: []string{chosen.Options[name]}})
	}
	for _, v := range e.Set {
		if chosen.Options[v.Option] != "" {
			err = usage("engine %s: option %s is set twice", e.Name, v.Option)
		}
		made.Options = append(made.Options, v)
	}
	chosen.Options = nil
	made.Spec = chosen.EngineSpec
	return made, err
}
