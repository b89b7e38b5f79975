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
engine and graph by graph, or the engines of a single run with the first one.
Directories joined by commas are repeats of one measurement, and so are the
runs in a directory. It prints harmonic means, the ratio to A over the roots
that both searched, with a 95 % interval, and all other differences between the
sides. docs/comparing.md describes the method and its power.

With --fail-if slower=5% the exit code is 1 if another side is more than 5 %
slower than A for any engine and graph (the whole interval lies below 0.95), or
has no searches to compare with those of A.`,
		Example: `  teps compare results/before results/after
  teps compare results/b                      the engines of one run
  teps compare before1,before2,before3 after1,after2,after3 --markdown
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
			all := each(sides[1:], func(side compare.Side) compare.Comparison { return compare.Of(sides[0], side) })
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
				fmt.Fprintf(c.ErrOrStderr(), "teps compare: %s\n", printable(failure))
			}
			return errReported
		},
	}
	c.Flags().StringVar(&failIf, "fail-if", "", "exit with 1 if another side is slower by more than this: slower=5%")
	c.Flags().BoolVar(&markdown, "markdown", false, "write Markdown, for a pull request")
	return c
}

// loadSides reads the sides to compare: one for each argument, or the engines of a single run. An argument is a
// directory, or directories joined by commas.
func loadSides(args []string) (sides []compare.Side, err error) {
	seen := map[string]string{} // directories of runs
	for i, arg := range args {
		dirs := []string{arg}
		if _, err := os.Stat(arg); err != nil { // a directory may have a comma in its name
			dirs = strings.Split(arg, ",")
		}
		side := compare.Side{Name: arg, From: arg}
		if i < 26 {
			side.Name = string(rune('A' + i))
		}
		if side.Results, err = loadRuns(dirs); err != nil {
			return nil, err
		}
		for _, r := range side.Results {
			if other, found := seen[r.ID]; found {
				return nil, usage("%s and %s are the same run, %s; a copy is not another measurement", other, r.Directory, r.ID)
			}
			seen[r.ID] = r.Directory
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

func listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [DIR...]",
		Short: "List the runs in a directory",
		Long: `list shows the runs in the given directories and everywhere below them (default:
` + defaultStore + `): when and on which machine they ran, the rate of the fastest
engine and scale (harmonic mean), and whether they are complete and valid. It
omits columns that are the same in all lines. A record that cannot be read gets
a line with the reason, and the exit code is 1.`,
		Example: `  teps list
  teps list results docs/results`,
		RunE: func(c *cobra.Command, directories []string) (err error) {
			if len(directories) == 0 {
				directories = []string{defaultStore}
			}
			all, damaged := []text.Listed{}, false
			for _, directory := range directories {
				runs, err := record.Runs(directory)
				if err != nil {
					return err
				}
				for _, run := range runs {
					r, err := record.Load(run)
					all, damaged = append(all, text.List(run, r, err)), damaged || err != nil
				}
			}
			if asJSON {
				err = printJSON(c, all)
			} else {
				err = text.ListTable(c.OutOrStdout(), all, terminalWidth(c.OutOrStdout()))
			}
			if err == nil && damaged {
				err = errReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
