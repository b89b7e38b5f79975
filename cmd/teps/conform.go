package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/record"
)

func conformCommand(engines catalog) *cobra.Command {
	var f planFlags
	var verbose bool
	c := &cobra.Command{
		Use:   "conform ENGINE",
		Short: "Test whether an engine keeps its contract",
		Long: `conform runs the conformance suite on an engine: a built-in one, a program or a shared
library. Each case runs in a process of its own: small graphs with exact levels and
Kronecker graphs; reuse, cancelling, errors and wrong input; clocks that leave out work;
many searches, random cancels, restarts and growing memory. A case that fails prints
what was searched, what was wanted and what came back.`,
		Example: `  teps conform cpu
  teps conform ./teps-engine-mine
  teps conform ./libmine.so --set mine.threads=2`,
		Args: exactArgs(1, "one engine: a name or a path"),
		RunE: func(c *cobra.Command, args []string) error {
			host := newProcesses(verbose)
			defer host.Close()
			f.engine = args
			specs, err := f.engines(c.Context(), engines, host)
			if err != nil {
				return err
			}
			return conform(c, host, specs[0])
		},
	}
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"set an option in every case: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what the engine logs")
	c.Flags().SortFlags = false
	return c
}

func conform(c *cobra.Command, host processes, spec record.EngineSpec) error {
	ctx, w := c.Context(), c.OutOrStdout()
	d, err := harness.Describe(ctx, host, spec)
	if err != nil {
		return err
	}
	if _, err := plugins.Resolve(d.Options, spec.Options); err != nil {
		return usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	fmt.Fprintf(c.ErrOrStderr(), "teps conform: %s %s, %d cases\n", spec.Name, d.Version, len(enginetest.Cases()))
	open := func(ctx context.Context) (plugins.Engine, error) { return host.Open(ctx, spec) }
	var passed, failed, skipped int
	for _, test := range enginetest.Cases() {
		o := test.Run(ctx, open, spec.Options, enginetest.Limit)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case o.Err != nil:
			failed++
			fmt.Fprintf(w, "FAIL  %-32s %6.2f s  %v\n      wanted: %s\n", test.Name, o.Elapsed.Seconds(), o.Err, test.About)
		case o.Skipped != "":
			skipped++
			fmt.Fprintf(w, "skip  %-32s           %s\n", test.Name, o.Skipped)
		default:
			passed++
			fmt.Fprintf(w, "pass  %-32s %6.2f s\n", test.Name, o.Elapsed.Seconds())
		}
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	switch {
	case failed > 0:
		return errReported
	case passed == 0:
		return fmt.Errorf("engine %s: every case was skipped: %s", spec.Name, d.Unavailable)
	}
	return nil
}
