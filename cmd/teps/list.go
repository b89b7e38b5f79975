package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/text"
)

func listCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [DIR...]",
		Short: "List the runs in a directory",
		Long: `list shows the runs in the given directories and everywhere below them (default:
` + defaultStore + `): when and on which machine they ran, the rate of the fastest
engine and scale (harmonic mean), and whether they are complete and valid. A
column that is the same in all lines is left out. A record that was cut off,
edited or written by a newer teps gets a line that says what is wrong. The
others are still shown, and the exit code is 1.`,
		Example: `  teps list
  teps list results docs/results
  teps list --json results`,
		RunE: func(c *cobra.Command, directories []string) error {
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
					all = append(all, text.List(run, r, err))
				}
			}
			var err error
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(all)
			} else {
				err = text.ListTable(c.OutOrStdout(), all, terminalWidth(c.OutOrStdout()))
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
