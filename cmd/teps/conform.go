package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

type conformFlags struct {
	set, checksum  []string
	junit          string
	quiet, verbose bool
}

func conformCommand() *cobra.Command {
	var f conformFlags
	c := &cobra.Command{
		Use:   "conform ENGINE",
		Short: "Test whether an engine keeps the contract",
		Long: `conform runs the conformance suite over an engine: a name, a program or a shared
library, each case in a process of its own. Named small graphs with exact levels and
Kronecker graphs; reuse, cancelling, errors, wrong input; clocks that leave work out;
many searches, random cancels, restarts, memory that grows. Every case that fails says
what was searched, what was wanted and what came.`,
		Example: `  teps conform cpu
  teps conform ./teps-engine-mine
  teps conform ./libmine.so --set mine.threads=2
  teps conform mine --junit conform.xml --quiet`,
		Args: exactArgs(1, "one engine: a name or a path"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringArrayVar(&f.set, "set", nil, "set an option of the engine in every case: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	c.Flags().StringArrayVar(&f.checksum, "checksum", nil, "refuse an outside engine with another SHA-256: ENGINE=HEX")
	c.Flags().StringVar(&f.junit, "junit", "", "write the outcomes to this file, too, as JUnit XML")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print failures and the count only")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show what the engine logs")
	c.Flags().SortFlags = false
	return c
}

func (f *conformFlags) run(c *cobra.Command, engine string) error {
	plan := planFlags{
		Engine: []string{engine}, Set: f.set, Checksum: f.checksum,
		Scale: "10", EdgeFactor: harness.OfficialEdgeFactor, Roots: 1, Validate: "all", Timeout: time.Minute,
	}
	p, err := plan.plan()
	if err != nil {
		return err
	}
	if f.junit != "" {
		if info, err := os.Stat(filepath.Dir(f.junit)); err != nil || !info.IsDir() {
			return harness.Usage("--junit %s: there is no folder %s", f.junit, filepath.Dir(f.junit))
		}
	}
	host, err := newProcesses(newLog(f.verbose))
	if err != nil {
		return err
	}
	defer host.Close()
	return f.conform(c, host, p.Engines[0])
}

func (f *conformFlags) conform(c *cobra.Command, host processes, spec harness.EngineSpec) error {
	d, err := harness.Describe(c.Context(), host, spec)
	if err != nil {
		return err
	}
	if _, err := plugins.Settle(d.Options, spec.Options); err != nil {
		return harness.Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	fmt.Fprintf(c.ErrOrStderr(), "conform: %s %s, %d cases\n", spec.Name, d.Version, len(enginetest.Cases()))
	suite := newJUnit(spec.Name, junitProperty{"engine", d.Name}, junitProperty{"version", d.Version},
		junitProperty{"path", spec.Path}, junitProperty{"teps", harness.ThisSoftware().String()})
	out, start := newPrinter(c.OutOrStdout()), time.Now()
	open := func(ctx context.Context) (plugins.Engine, error) { return host.Open(ctx, spec) }
	ctx, stop := context.WithCancel(c.Context())
	defer stop()
	report := func(o enginetest.Outcome) {
		suite.add(o)
		switch {
		case o.Err != nil:
			out.printf("FAIL  %-32s %6.2f s  %v\n      wanted: %s\n", o.Case.Name, o.Elapsed.Seconds(), o.Err, o.Case.About)
		case o.Skipped != "":
			out.printf("skip  %-32s           %s\n", o.Case.Name, o.Skipped)
		case !f.quiet:
			out.printf("pass  %-32s %6.2f s\n", o.Case.Name, o.Elapsed.Seconds())
		}
		if out.err != nil {
			stop() // nobody reads what comes
		}
	}
	sum, err := enginetest.Run(ctx, open, report, spec.Options)
	out.printf("%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped)
	if out.err != nil {
		return out.err
	}
	if f.junit != "" {
		err = errors.Join(err, suite.write(f.junit, time.Since(start)))
	}
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
