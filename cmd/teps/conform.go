package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func conformCommand() *cobra.Command {
	var (
		set      []string
		checksum string
		quiet    bool
		verbose  bool
	)
	c := &cobra.Command{
		Use:   "conform ENGINE",
		Short: "Test whether an engine keeps the contract",
		Long: `conform runs the conformance suite over an engine, a built-in one or a program given
by its path, each case in a process of its own: named small graphs with exact
levels, Kronecker graphs, reuse, cancelling, errors, wrong input, honest times.`,
		Example: `  teps conform cpu
  teps conform ./teps-engine-mine
  teps conform ./teps-engine-mine --set threads=2`,
		Args: exactArgs(1, "one engine: a built-in name or a path"),
		RunE: func(c *cobra.Command, args []string) error {
			plan := planFlags{Engine: args, Scale: "10", EdgeFactor: harness.OfficialEdgeFactor, Roots: 1, Validate: "all", Timeout: time.Minute}
			spec, err := parseEngine(args[0])
			if err != nil {
				return err
			}
			for _, option := range set {
				plan.Set = append(plan.Set, spec.Name+"."+option)
			}
			if checksum != "" {
				plan.Checksum = []string{spec.Name + "=" + checksum}
			}
			p, err := plan.plan()
			if err != nil {
				return err
			}
			host, err := newProcesses(newLog(verbose))
			if err != nil {
				return err
			}
			defer host.Close()
			return conform(c, host, p.Engines[0], quiet)
		},
	}
	c.Flags().StringArrayVar(&set, "set", nil, "set an option of the engine in every case: OPTION=VALUE (repeatable)")
	c.Flags().StringVar(&checksum, "checksum", "", "refuse a program with another SHA-256")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print failures and the count only")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what the engine logs")
	c.Flags().SortFlags = false
	return c
}

func conform(c *cobra.Command, host processes, spec harness.EngineSpec, quiet bool) error {
	w := c.OutOrStdout()
	d, err := harness.Describe(c.Context(), host, spec)
	if err != nil {
		return err
	}
	if _, err := plugins.Settle(d.Options, spec.Options); err != nil {
		return harness.Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	fmt.Fprintf(c.ErrOrStderr(), "conform: %s %s, %d cases\n", spec.Name, d.Version, len(enginetest.Cases()))
	open := func(ctx context.Context) (plugins.Engine, error) { return host.Open(ctx, spec) }
	report := func(o enginetest.Outcome) {
		switch {
		case o.Err != nil:
			fmt.Fprintf(w, "FAIL  %-32s %6.2f s  %v\n      wanted: %s\n", o.Case.Name, o.Elapsed.Seconds(), o.Err, o.Case.About)
		case o.Skipped != "":
			fmt.Fprintf(w, "skip  %-32s           %s\n", o.Case.Name, o.Skipped)
		case !quiet:
			fmt.Fprintf(w, "pass  %-32s %6.2f s\n", o.Case.Name, o.Elapsed.Seconds())
		}
	}
	sum, err := enginetest.Run(c.Context(), open, report, spec.Options)
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped)
	switch {
	case err != nil:
		return err
	case sum.Failed > 0:
		return errReported
	case sum.Passed == 0:
		return fmt.Errorf("engine %s: no case could be run: %s", spec.Name, d.Unavailable)
	}
	return nil
}
