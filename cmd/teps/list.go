package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
)

// defaultStore is where teps run puts folders of runs that were given no other name.
const defaultStore = "teps-results"

func listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [STORE...]",
		Short: "Show which runs are in a folder",
		Long: `list shows the runs in folders and in all folders below them (default ` + defaultStore + `):
where, when and on which machine they ran, the rate of the fastest engine and scale
(harmonic mean), whether they are complete and valid, and whether their records are
sealed. A record that was torn, edited or made by a newer teps gets a line that says
what is wrong; the others are shown all the same, and the exit code is 1.`,
		Example: `  teps list
  teps list results docs/results
  teps list --json results`,
		RunE: func(c *cobra.Command, stores []string) error {
			if len(stores) == 0 {
				stores = []string{defaultStore}
			}
			all, damaged := []reports.Listing{}, false
			for _, store := range stores {
				folders, err := harness.Runs(store)
				if err != nil {
					return err
				}
				for _, folder := range folders {
					r, err := harness.Load(folder)
					damaged = damaged || err != nil
					all = append(all, reports.List(folder, r, err))
				}
			}
			var err error
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(all)
			} else {
				err = reports.ListTable(c.OutOrStdout(), all)
			}
			if err == nil && damaged {
				return errReported
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
