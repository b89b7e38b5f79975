// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/text"
)

func listCommand() *cobra.Command {
	var asJSON bool
	var engine, order string
	c := &cobra.Command{
		Use:   "list [DIR...]",
		Short: "List the runs in a directory",
		Long: `list shows the runs in the given directories and everywhere below them (default:
` + defaultStore + `): when and on which machine they ran, the rate of the fastest
engine and scale (harmonic mean), and whether they are complete and valid. It
omits columns that are the same in all lines. With --engine, it considers only
runs of that engine. Without --sort, it keeps the order of the directories.

A record that was cut off, edited or written by a newer teps gets a line with
the reason. All others are listed, and the exit code is 1.`,
		Example: `  teps list
  teps list results docs/results
  teps list --engine cuda --sort gteps    the fastest first
  teps list --json results`,
		RunE: func(c *cobra.Command, directories []string) error {
			if !slices.Contains([]string{"", "date", "gteps"}, order) {
				return usage("--sort %.80s: want date or gteps", order)
			}
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
					damaged = damaged || err != nil
					if engine != "" {
						r.Runs = slices.DeleteFunc(r.Runs, func(run record.Run) bool { return run.Engine.Name != engine })
					}
					if engine == "" || err != nil || len(r.Runs) > 0 {
						all = append(all, text.List(run, r, err))
					}
				}
			}
			text.SortList(all, order)
			var err error
			if asJSON {
				err = printJSON(c, all)
			} else {
				err = text.ListTable(c.OutOrStdout(), all, terminalWidth(c.OutOrStdout()))
			}
			if err == nil && damaged {
				return errReported
			}
			return err
		},
	}
	c.Flags().StringVar(&engine, "engine", "", "only runs of the engine with this name or label")
	c.Flags().StringVar(&order, "sort", "", "put the latest (date) or fastest (gteps) first")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().SortFlags = false
	return c
}
