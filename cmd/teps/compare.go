package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
)

func compareCommand() *cobra.Command {
	var (
		failIf string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "compare A[,A2...] B[,B2...]",
		Short: "Say whether two runs differ in speed, and how sure that is",
		Long: `compare holds the runs in folder B against those in folder A, engine by engine and
scale by scale. Roots that both have searched are compared one by one, so that
the spread between roots does not hide a difference. Several folders on a side,
joined by commas, are repeats of one measurement; with repeats on both sides, the
scatter of whole runs counts as well.

It prints harmonic means, the ratio of B to A with intervals of 95 %, for the means
and for a typical root, and what A and B do not have in common. A verdict other
than "no difference" rests on the typical root (p below 0.05); docs/records.md has
the method and what it can see.

--fail-if slower=5% ends with exit code 1 when B is slower than A by more than 5 %
for sure: when the whole interval of a typical root lies below 0.95, for any engine
and scale, or when B has no searches that could be compared with those of A. Without
it, a difference is no failure.`,
		Example: `  teps compare results/before results/after
  teps compare before1,before2,before3 after1,after2,after3
  teps compare --fail-if slower=2% results/main results/change
  teps compare --json results/before results/after`,
		Args: exactArgs(2, "two runs, or two lists of runs joined by commas"),
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := parseFailIf(failIf)
			if err != nil {
				return err
			}
			sides := [2][]harness.Result{}
			for i, arg := range args {
				if sides[i], err = loadAll(splitRuns(arg)); err != nil {
					return err
				}
			}
			comparison := compare.Of(sides[0], sides[1])
			failures := reports.ComparisonFailures(comparison, limit)
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(struct {
					compare.Comparison
					Failures []string `json:"failures,omitempty"`
				}{comparison, failures})
			} else {
				err = reports.Comparison(c.OutOrStdout(), comparison)
			}
			if err != nil || len(failures) == 0 {
				return err
			}
			for _, failure := range failures {
				fmt.Fprintf(c.ErrOrStderr(), "teps compare: %s\n", failure)
			}
			return errReported
		},
	}
	c.Flags().StringVar(&failIf, "fail-if", "", "exit with 1 if B is slower by more than this for sure: slower=5%")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// splitRuns takes a list of folders apart; a folder with a comma in its name is one folder.
func splitRuns(arg string) []string {
	if _, err := os.Stat(arg); err == nil {
		return []string{arg}
	}
	return strings.Split(arg, ",")
}

// loadAll reads the runs of one side.
func loadAll(dirs []string) (all []harness.Result, err error) {
	for _, dir := range dirs {
		if dir == "" {
			return nil, harness.Usage("a list of runs has an empty name: %q", strings.Join(dirs, ","))
		}
		r, err := harness.Load(dir)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.ID == r.ID {
				return nil, harness.Usage("run %s (%s) is named twice on one side; a copy of a run is no repeat of it", r.ID, dir)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// parseFailIf reads slower=5% as 0.05; nil: nothing was asked for.
func parseFailIf(text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	number, slower := strings.CutPrefix(text, "slower=")
	number, share := strings.CutSuffix(number, "%")
	x, err := strconv.ParseFloat(number, 64)
	if !slower || !share || err != nil || !(x >= 0 && x < 100) {
		return nil, harness.Usage("--fail-if %q: want slower=5%% or another share from 0%% to below 100%%", text)
	}
	x /= 100
	return &x, nil
}
