package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
)

const (
	exitValid = iota
	exitFailed
	exitUsage
)

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, engines catalog, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{w: stdout, failed: cancel}
	root := rootCommand(engines)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case out.err != nil && (err == nil || errors.Is(err, context.Canceled)):
		err = fmt.Errorf("standard output: %w", out.err)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		err = errors.New("stopped")
	}
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintf(stderr, "teps: %v\n", err)
	}
	switch {
	case err == nil:
		return exitValid
	case errors.Is(err, record.ErrUsage):
		return exitUsage
	}
	return exitFailed
}

// errReported ends a command with exit code 1 after the command has printed why.
var errReported = errors.New("reported")

// output is standard output. Commands print to it without checking for errors: the first one (a full disk, a reader
// that has gone) is kept, stops the command and makes it fail.
type output struct {
	w      io.Writer
	failed func()
	err    error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
		o.failed()
	}
	return n, err
}

func rootCommand(engines catalog) *cobra.Command {
	root := &cobra.Command{
		Use:   "teps",
		Short: "Measure how fast machines search graphs breadth first (Graph500)",
		Long: `teps runs the Graph500 benchmark. It generates the graph, has each engine build and
search it from 64 roots, validates every search against the input, and writes records,
the official text, plots and a page.`,
		Example: `  teps run                                  cpu and distributed at scale 18, validated
  teps run --scale 16-20 --out results/a    five scales into one directory
  teps engines                              all engines and their options
  teps report results/a                     draw a run again from its records`,
		Version:       record.ThisVersion(),
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%v; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(
		runCommand(engines), sweepCommand(engines), enginesCommand(engines), machineCommand(), generateCommand(),
		reportCommand(), compareCommand(), listCommand(), conformCommand(engines),
		newEngineCommand(engines), serveEngineCommand(engines),
	)
	return root
}

// usage makes an error of exit code 2: the command line is wrong, and the message tells how to put it right.
func usage(format string, args ...any) error { return record.Usage(format, args...) }

func unknownCommand(name string) error { return usage("unknown command %q; see teps --help", name) }

// noArgs and exactArgs are cobra's argument checks with usage errors.
func noArgs(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !c.HasParent():
		return unknownCommand(args[0])
	}
	return usage("unexpected argument %q; %s takes none; see %s --help", args[0], c.CommandPath(), c.CommandPath())
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%s takes %s; see %s --help", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

// withFlag adds the flag that sets the field of a plan to a UsageError that names the field.
func withFlag(err error) error {
	var wrong *record.UsageError
	if !errors.As(err, &wrong) {
		return err
	}
	flag := map[string]string{
		"engines": "engine", "scales": "scale", "roots": "roots", "validate": "validate", "warm_ups": "warmup",
		"timeout_ns": "timeout", "energy_ns": "energy", "meters": "meter", "directory": "out",
	}[wrong.Field]
	if flag == "" {
		return err
	}
	return fmt.Errorf("%w (--%s)", err, flag)
}
