package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/text"
)

func compareCommand() *cobra.Command {
	var failIf string
	c := &cobra.Command{
		Use:   "compare A[,A2...] B[,B2...]",
		Short: "Tell whether two runs differ in speed, and how certain that is",
		Long: `compare sets the run in directory B against that in directory A, engine by engine and
scale by scale. Roots that both have searched are compared one by one, so that the
spread between roots does not hide a difference. Several directories on a side, joined
by commas, are repeats of one measurement.

It prints harmonic means, the ratio of B to A with a 95 % interval, and what A and B
do not have in common. docs/comparing.md describes the method and what it can detect.

With --fail-if slower=5% the exit code is 1 if B is certainly slower than A by more than
5 % for any engine and scale, that is, if the whole interval lies below 0.95, or if B
has no searches to compare with those of A. Without it, a difference is not a failure.`,
		Example: `  teps compare results/before results/after
  teps compare before1,before2,before3 after1,after2,after3
  teps compare --fail-if slower=2% results/main results/change`,
		Args: exactArgs(2, "two runs, or two lists of runs joined by commas"),
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := parseFailIf(failIf)
			if err != nil {
				return err
			}
			before, err := loadSide(args[0])
			if err != nil {
				return err
			}
			after, err := loadSide(args[1])
			if err != nil {
				return err
			}
			comparison := compare.Of(before, after)
			err = text.Comparison(c.OutOrStdout(), comparison, terminalWidth(c.OutOrStdout()))
			failures := text.ComparisonFailures(comparison, limit)
			if err != nil || len(failures) == 0 {
				return err
			}
			for _, failure := range failures {
				fmt.Fprintf(c.ErrOrStderr(), "teps compare: %s\n", failure)
			}
			return errReported
		},
	}
	c.Flags().StringVar(&failIf, "fail-if", "", "exit with 1 if B is certainly slower by more than this: slower=5%")
	return c
}

// loadSide reads the runs of one side: a directory, or directories joined by commas.
func loadSide(arg string) ([]record.Result, error) {
	dirs := []string{arg}
	if _, err := os.Stat(arg); err != nil { // a directory may have a comma in its name
		dirs = strings.Split(arg, ",")
	}
	seen := map[string]bool{}
	all, err := loadAll(dirs)
	for i, r := range all {
		if seen[r.ID] {
			return nil, usage("run %s (%s) is named twice on one side; a copy is not a repeat", r.ID, dirs[i])
		}
		seen[r.ID] = true
	}
	return all, err
}

// parseFailIf reads slower=5% as 0.05; nil means no limit.
func parseFailIf(text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	var percent float64
	_, err := fmt.Sscanf(text, "slower=%g%%", &percent)
	if err != nil || !strings.HasSuffix(text, "%") || !(percent >= 0 && percent < 100) {
		return nil, usage("--fail-if %q: want slower=5%% or another share from 0%% to below 100%%", text)
	}
	percent /= 100
	return &percent, nil
}
