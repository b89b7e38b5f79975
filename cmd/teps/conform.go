// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func conformCommand(engines catalog) *cobra.Command {
	var f planFlags
	var patterns []string
	var list, verbose bool
	var limit time.Duration
	c := &cobra.Command{
		Use:   "conform ENGINE",
		Short: "Test whether an engine meets its contract",
		Long: `conform runs the conformance suite on an engine: a built-in one, a program or a
shared library. Each case runs in a new process. One that fails prints its
input, the expected answer and the actual one.`,
		Example: `  teps conform cpu
  teps conform ./libmine.so --case 'graph/*'       your engine, some cases
  teps conform cpu --graph grid2d:300              search this graph instead
  teps conform --list                              all cases, one per line`,
		RunE: func(c *cobra.Command, args []string) error {
			cases, err := enginetest.Select(patterns...)
			if err != nil {
				return usage("--case: %w", err)
			}
			if list {
				if len(args) > 0 {
					return usage("--list lists the cases of every engine; leave out --list or %s", args[0])
				}
				for _, test := range cases {
					fmt.Fprintf(c.OutOrStdout(), "%-25s %s\n", test.Name, wrapped(c.OutOrStdout(), test.About, 26))
				}
				return nil
			}
			if err := exactArgs(1, "one engine: a name or a path")(c, args); err != nil {
				return err
			}
			if limit <= 0 {
				return usage("the timeout must be a positive duration such as 2m, not %v", limit)
			}
			if f.Format != "" && len(f.Graph) == 0 {
				return usage("--format is that of the files of --graph")
			}
			host := newProcesses(c, verbose)
			defer host.Close()
			if len(f.Graph) > 0 && patterns == nil {
				cases = nil
			}
			d, progress := record.DefaultPlan(), newProgress(c.ErrOrStderr(), false)
			for _, name := range f.Graph {
				source, err := openGraph(c.Context(), name, f.Format, d.Seed1, d.Seed2, files.Options{}, progress)
				if err != nil {
					return err
				}
				tuples := make([]graph.Edge, source.Tuples())
				if err := source.Generate(c.Context(), tuples, 0, 0); err != nil {
					return err
				}
				cases = append(cases, enginetest.GraphCase(filepath.Base(name), source.Vertices(), tuples))
			}
			f.engine = args
			specs, err := f.engines(c.Context(), engines, host)
			if err != nil {
				return err
			}
			return conform(c, host, specs[0], cases, limit)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "set an option: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	flags.StringArrayVar(&patterns, "case", nil, "run only cases of this name or pattern, such as 'graph/*' (repeatable)")
	flags.StringArrayVar((*[]string)(&f.Graph), "graph", nil,
		"search this graph, a generator or a file, instead of the cases (repeatable; with --case, both)")
	registerFormat(flags, &f.Format)
	flags.BoolVar(&list, "list", false, "print the cases instead of running them")
	flags.DurationVar(&limit, "timeout", enginetest.Limit, "limit for one case")
	flags.BoolVarP(&verbose, "verbose", "v", false, "show the log of the engine")
	return c
}

// conform runs cases and prints the result of each.
func conform(
	c *cobra.Command, host *processes, spec record.EngineSpec, cases []enginetest.Case, limit time.Duration) error {
	ctx, w := c.Context(), c.OutOrStdout()
	d, err := harness.Describe(ctx, host, spec)
	if err != nil {
		return fmt.Errorf("engine %s: %w", spec.Name, err)
	}
	if _, err := harness.Resolve(spec, d); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "teps conform: %s %s, %s\n", spec.Name, printable(d.Version),
		reports.Plural(len(cases), "case", "cases"))
	open := func(ctx context.Context) (plugins.Engine, error) {
		engine, err := host.Open(ctx, spec)
		if err == nil && d.Spreads {
			var n int
			if n, err = harness.ProcessesOf(d, spec.Options, 1); n > 0 {
				engine = host.Spread(engine, spec, 1)
			}
		}
		return engine, err
	}
	passed, failed, numbers, causes := 0, 0, regexp.MustCompile(`\d+`), map[string]string{} // the first case, by cause
	for _, test := range cases {
		o := test.Run(ctx, open, spec.Options, limit)
		line := fmt.Sprintf("pass  %-25s %6.2f s", test.Name, o.Elapsed.Seconds())
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case o.Err != nil:
			failed++
			cause := numbers.ReplaceAllString(strings.ReplaceAll(o.Err.Error(), test.Name, ""), "0")
			if first := causes[cause]; first != "" {
				line = fmt.Sprintf("FAIL%s  as in %s", line[4:], first)
				break
			}
			causes[cause] = test.Name
			line = fmt.Sprintf("FAIL%s  %v\n      wanted: %s", line[4:], o.Err, test.About)
		case o.Skipped != "":
			line = fmt.Sprintf("skip  %-25s %s", test.Name, strings.TrimSuffix(o.Skipped, ": "+d.Unavailable))
		default:
			passed++
		}
		fmt.Fprintln(w, printable(line))
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, failed, len(cases)-passed-failed)
	switch {
	case failed > 0:
		return errReported
	case d.Unavailable != "":
		return fmt.Errorf("engine %s is not available here, so most cases were skipped: %s", spec.Name, d.Unavailable)
	case passed == 0:
		return fmt.Errorf("engine %s: every case was skipped", spec.Name)
	}
	return nil
}
