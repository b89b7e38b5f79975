// SPDX-License-Identifier: Apache-2.0

// Command teps measures how fast machines search graphs breadth first, by the rules of Graph500. Engines are plugins;
// package harness runs the protocol over them. This package has flags, progress and exit codes (docs/running.md).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Exit codes; docs/running.md describes them.
const (
	exitValid       = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells report SIGINT
)

// The first goroutine stays on the first thread of the process, which calls a library; elsewhere that would be slower.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) < 2 || os.Args[1] != serveEngine {
		runtime.UnlockOSThread()
	}
	// A write to a closed pipe (teps run | head) returns an error, so that the process can complete its record.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(execute(context.Background(), builtins(), os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, engines catalog, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{w: stdout, failed: cancel}
	root := rootCommand(engines)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	complete(root, engines)
	c, err := root.ExecuteContextC(ctx)
	interrupted := errors.Is(context.Cause(c.Context()), errInterrupted)
	switch ended := errors.Is(err, context.Canceled); {
	case errors.Is(out.err, syscall.EPIPE) && (err == nil || ended): // a reader such as head may close the pipe
		err = errReported
	case out.err != nil && (err == nil || ended):
		err = fmt.Errorf("standard output: %w", out.err)
	case interrupted && ended:
		err = errors.New("stopped")
	}
	var option *plugins.UnknownOption
	var name string
	if n, _ := fmt.Sscanf(fmt.Sprint(err), "unknown command %q for", &name); n > 0 { // by cobra, also with --help
		err = usage("unknown command %q%s; see teps --help", name, didYouMean(name, root.SuggestionsFor("")))
	}
	switch {
	case errors.As(err, &option):
		err = fmt.Errorf("%w%s", err, didYouMean(option.Name, option.Known))
	case errors.Is(err, files.ErrUnknownFormat):
		err = fmt.Errorf("%w: name it with --format, one of %s", err, strings.Join(files.Formats(), ", "))
	case errors.Is(err, syscall.EMFILE):
		err = fmt.Errorf("%w; raise the limit of open files (ulimit -n)", err)
	case errors.Is(err, syscall.EFBIG):
		err = fmt.Errorf("%w; raise the limit of file sizes (ulimit -f)", err)
	}
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintf(stderr, "teps: %s\n", printable(err.Error()))
	}
	switch {
	case err == nil:
		return exitValid
	case interrupted:
		return exitInterrupted
	case errors.Is(err, record.ErrUsage):
		return exitUsage
	}
	return exitFailed
}

var (
	errReported    = errors.New("reported")    // ends a command with exit code 1 after the command has printed why
	errInterrupted = errors.New("interrupted") // the cause when a signal has ended the context of a command
)

// output is standard output. Commands print to it without checking for errors: it keeps the first one (a full disk, a
// closed pipe), which stops the command and makes it fail.
type output struct {
	w      io.Writer
	failed func()
	err    error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		if _, o.err = o.w.Write(p); o.err != nil {
			o.failed()
		}
	}
	return len(p), nil
}

// finishOnSignal makes the first signal cancel the context of c, so that a measurement ends in order. The second ends
// the process at once. Signals ignored at the start stay ignored, as by nohup and for background jobs of a script.
func finishOnSignal(c *cobra.Command) {
	ctx, cancel := context.WithCancelCause(c.Context())
	c.SetContext(ctx)
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		signal.Stop(signals)
		newLine := map[bool]string{false: "\n", true: eraseLine}[isTerminal(os.Stderr)] // erases the bar and the ^C
		fmt.Fprintf(os.Stderr, "%steps: %v: finishing up; interrupt again to quit now\n", newLine, s)
		cancel(errInterrupted)
	}()
}

func rootCommand(engines catalog) *cobra.Command {
	root := &cobra.Command{
		Use:   "teps",
		Short: "Measure how fast machines search graphs breadth first (Graph500)",
		Long: `teps runs the Graph500 benchmark. It generates the graph, has each engine build
and search it from 64 roots, validates every search against the input, and
writes records, the official text, plots and a page.

teps completion --help says how a shell completes engines, options and files.`,
		Example: `  teps run                                  cpu and distributed at scale 18
  teps run --scale 16-20 --out results/a    five scales into one directory
  teps engines                              all engines and their options
  teps report results/a                     draw a run again from its records`,
		Version:       record.ThisVersion(),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,

		DisableSuggestions: true, // execute has them in one line
	}
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) (err error) {
		c.Flags().Visit(func(f *pflag.Flag) {
			if f.Value.Type() == "string" && f.Value.String() == "" {
				err = usage("--%s: the value is empty; see %s --help", f.Name, c.CommandPath())
			}
		})
		return err
	}
	// pflag prints the names of its types for lists.
	cobra.AddTemplateFunc("plain", strings.NewReplacer(" stringArray ", " string      ", " strings ", " string  ").Replace)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80 | plain"))
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		runCommand(engines), sweepCommand(engines), enginesCommand(engines), machineCommand(), generateCommand(),
		graphCommand(), searchCommand(engines), reportCommand(), compareCommand(), listCommand(),
		conformCommand(engines),
		newEngineCommand(engines), serveEngineCommand(engines), nodeCommand(), placeCommand(),
	)
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if t := f.Value.Type(); t == "int" || t == "uint64" {
				f.Value = decimal{f.Value}
			}
		})
	}
	root.InitDefaultHelpFlag() // so that Find knows them
	root.InitDefaultVersionFlag()
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		_, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = usage("teps help takes one command; see teps --help")
		}
		return err
	}
	return root
}

// decimal is the value of a flag that pflag would read as octal if it began with 0.
type decimal struct{ pflag.Value }

func (d decimal) Set(text string) error {
	if strings.Trim(text, "0123456789") == "" && text != "" {
		text = cmp.Or(strings.TrimLeft(text, "0"), "0")
	}
	return d.Value.Set(text)
}

// flagError explains an error of parsing flags.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	hint := ""
	if errors.As(err, &unknown) {
		var flags []string
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		name, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=") // of -scale=16, or nothing
		hint = didYouMean("--"+cmp.Or(name, unknown.GetSpecifiedName()), flags)
	} else if errors.As(err, &invalid) && valuesOf[invalid.GetFlag().Value.Type()] != "" {
		err = fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(),
			valuesOf[invalid.GetFlag().Value.Type()])
	}
	return usage("%v%s; see %s --help", err, hint, c.CommandPath())
}

// valuesOf describes the values of flags by type.
var valuesOf = map[string]string{
	"bool": "true or false", "duration": "a number and a unit, such as 60s",
	"int": "a whole number", "uint64": "a whole number from 0 to 2^64-1",
}

// usage returns an error of exit code 2: the command line is wrong, and the message says how to correct it.
func usage(format string, args ...any) error { return record.Usage(format, args...) }

// didYouMean returns cobra's suggestions for a misspelled name, or an empty string.
func didYouMean(misspelt string, names []string) string {
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if similar := c.SuggestionsFor(misspelt); len(similar) > 0 {
		return fmt.Sprintf(" (did you mean %s?)", strings.Join(similar, " or "))
	}
	return ""
}

// exactArgs is cobra's argument check with a usage error.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		given := ""
		if len(args) == n {
			return nil
		} else if len(args) > 0 { // such as the value of a flag that wants it after =
			given = fmt.Sprintf(", not %q", strings.Join(args, " "))
		}
		return usage("%s takes %s%s; see %s --help", c.CommandPath(), what, given, c.CommandPath())
	}
}
