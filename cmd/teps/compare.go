// SPDX-License-Identifier: Apache-2.0

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
	var markdown bool
	c := &cobra.Command{
		Use:   "compare RUN[,RUN...]...",
		Short: "Compare the speed of runs or engines, with confidence intervals",
		Long: `compare compares each of the runs B, C, ... with the first run A, engine by
engine and graph by graph. For a single run it compares each engine with the
first one. It compares the roots that both sides searched one by one, so that
the spread between roots does not hide a difference. A run is given by its
directory. Several runs joined by commas are repeats of one measurement, and so
are the runs in a directory such as a store.

It prints harmonic means, the ratio to A with a 95 % interval, and all other
differences between the sides. docs/comparing.md describes the method and its
power.

With --fail-if slower=5% the exit code is 1 if another side is more than 5 %
slower than A for any engine and graph (the whole interval lies below 0.95), or
if it has no searches to compare with those of A. Without --fail-if, a
difference is not a failure.`,
		Example: `  teps compare results/before results/after
  teps compare results/b                      the engines of one run
  teps compare before1,before2,before3 after1,after2,after3
  teps compare results/main results/change results/b --markdown
  teps compare --fail-if slower=2% results/main results/change`,
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := parseFailIf(failIf)
			if err != nil {
				return err
			}
			sides, err := loadSides(args)
			if err != nil {
				return err
			}
			var all []compare.Comparison
			for _, side := range sides[1:] {
				all = append(all, compare.Of(sides[0], side))
			}
			if w := c.OutOrStdout(); markdown {
				err = text.ComparisonMarkdown(w, all)
			} else {
				err = text.Comparison(w, all, terminalWidth(w))
			}
			failures := text.ComparisonFailures(all, limit)
			if err != nil || len(failures) == 0 {
				return err
			}
			for _, failure := range failures {
				fmt.Fprintf(c.ErrOrStderr(), "teps compare: %s\n", failure)
			}
			return errReported
		},
	}
	c.Flags().StringVar(&failIf, "fail-if", "", "exit with 1 if another side is slower by more than this: slower=5%")
	c.Flags().BoolVar(&markdown, "markdown", false, "write Markdown, for a pull request")
	return c
}

// loadSides reads the sides to compare: one for each argument, or the engines of a single run.
func loadSides(args []string) (sides []compare.Side, err error) {
	for i, arg := range args {
		side := compare.Side{Name: arg}
		if len(args) == 2 {
			side.Name = []string{"A", "B"}[i]
		}
		if side.Results, err = loadSide(arg); err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	if len(sides) == 1 {
		sides = compare.Engines(sides[0].Results)
	}
	if len(sides) < 2 {
		return nil, usage("teps compare takes several runs, or one with several engines; see teps compare --help")
	}
	return sides, nil
}

// loadSide reads the runs of one side: a directory, or directories joined by commas.
func loadSide(arg string) ([]record.Result, error) {
	dirs := []string{arg}
	if _, err := os.Stat(arg); err != nil { // a directory may have a comma in its name
		dirs = strings.Split(arg, ",")
	}
	seen := map[string]bool{}
	dirs = runsIn(dirs)
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
