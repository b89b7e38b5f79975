// Command teps measures how fast machines search a graph breadth first: Graph500, run by one host process over engines
// that are plugins. This package holds flags, progress and exit codes; the protocol is package harness.
//
// Exit codes: 0 every run is complete and no search that was validated is wrong; 1 a run failed or is invalid; 2 wrong
// usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	// The first signal ends a run in order. Signals then have their usual effect again, so that a second one ends the
	// process at once; engines do not outlive it.
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup ignores a hang-up, and a shell Ctrl-C for the jobs that a script leaves in the background
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Stop(signals)
		fresh := "\n"
		if takesBars(os.Stderr) {
			fresh = eraseLine // of what the terminal shows of the key, and of the bar
		}
		fmt.Fprintf(os.Stderr, "%steps: %v: stopping in order; once more stops at once\n", fresh, s)
		cancel()
	}()
	// A reader that has left (teps run | head) makes writes fail; it does not end the process before its records are
	// complete.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

const (
	exitValid = iota
	exitFailed
	exitUsage
)

// errReported ends a command with exit code 1 after it has said why.
var errReported = errors.New("reported")

// command runs one command line and returns its exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	addHelp(root)
	err := knownCommand(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	switch {
	case err == nil:
		return exitValid
	case errors.Is(err, errReported):
		for _, e := range joined(err) {
			if !errors.Is(e, errReported) && !errors.Is(e, context.Canceled) {
				fmt.Fprintf(stderr, "teps: %v\n", e)
			}
		}
		return exitFailed
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "teps: stopped")
		return exitFailed
	case errors.Is(err, harness.ErrUsage):
		fmt.Fprintf(stderr, "teps: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(stderr, "teps: %v\n", err)
	return exitFailed
}

// joined returns the errors that errors.Join has made err of, those inside of them too.
func joined(err error) (all []error) {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	parts := several.Unwrap()
	if errors.Join(parts...).Error() != err.Error() { // of fmt.Errorf, with words of its own
		return []error{err}
	}
	for _, part := range parts {
		all = append(all, joined(part)...)
	}
	return all
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "teps",
		Short: "Measure how fast machines search a graph breadth first (Graph500)",
		Long: `teps runs the Graph500 benchmark over engines that are plugins: it generates the
graph, has each engine build it and search it from 64 roots, validates every
search against the input, and writes records, official text, plots and a page.`,
		Example: `  teps run                                  cpu and distributed at scale 18, validated
  teps run --scale 16-20 --out results/a    five scales into one folder
  teps engines                              what can run here, with every option
  teps report results/a                     draw a run again from its records`,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return harness.Usage("%v; see %s --help", flagError(err), c.CommandPath())
	})
	root.AddCommand(
		runCommand(), sweepCommand(), enginesCommand(), machineCommand(), generateCommand(), reportCommand(), compareCommand(), listCommand(),
		conformCommand(), countCommand(), newEngineCommand(), trustCommand(), serveEngineCommand(), serveLibraryCommand(), versionCommand(),
	)
	return root
}

// noArgs and exactArgs are cobra's, with an error of exit code 2 that names the command.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if c.HasParent() {
			return harness.Usage("%s takes no argument, and %q was given; see %s --help", c.CommandPath(), args[0], c.CommandPath())
		}
		return harness.Usage("there is no command %q; see teps --help", args[0])
	}
	return nil
}

func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return harness.Usage("%s takes %s; see %s --help", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "teps %s\n", harness.ThisSoftware())
			return err
		},
	}
}
