package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
)

func profileCommand() *cobra.Command {
	var engine string
	c := &cobra.Command{
		Use:   "profile DIR FILE",
		Short: "Add what a GPU's profiler measured to a record",
		Long: `profile adds the launches of kernels that Nsight Compute has measured to the
searches of a record: their time, occupancy, efficiency and memory throughput.
Run the same command twice, alone and with the engine under the profiler, which
slows it down, and import into the record of the first. docs/cuda.md has the
profiler's flags. teps report shows the launches of the median root.`,
		Example: `  teps profile results/a ncu.csv --engine cpu`,
		Args:    exactArgs(2, "the directory of a run and a file of the profiler"),
		RunE: func(c *cobra.Command, args []string) error {
			launches, err := record.ImportProfile(args[0], engine, args[1])
			if err == nil {
				fmt.Fprintf(c.ErrOrStderr(), "%d launches of kernels added; teps report %s shows them\n", launches, args[0])
			}
			return err
		},
	}
	c.Flags().StringVar(&engine, "engine", "", "label of the engine (default: the only one)")
	return c
}
