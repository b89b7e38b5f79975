// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func enginesCommand(engines catalog) *cobra.Command {
	return &cobra.Command{
		Use:   "engines [PATH...]",
		Short: "List the engines with their memory and options",
		Long: `engines prints the description and the options of each built-in engine, of those
in the directory of teps (programs teps-engine-NAME, libraries
teps-engine-NAME.so) and of each program or library given as PATH. Compressed
adjacency lists (adjacency=packed of cpu, cuda and serial) and dynamic
parallelism (topdown=dynamic of cuda) are options with their measured cost.`,
		Example: `  teps engines
  teps engines ./teps-engine-mine ./libmine.so`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			host, all := newProcesses(c, false), engines.known()
			defer host.Close()
			for _, path := range args {
				chosen, err := engines.parse(path)
				if err != nil {
					return err
				}
				all = append(all, chosen)
			}
			for i, e := range all {
				if i > 0 {
					fmt.Fprintln(c.OutOrStdout())
				}
				if e.print(c.Context(), c.OutOrStdout(), host) != nil {
					err = errReported
				}
			}
			return cmp.Or(c.Context().Err(), err)
		},
	}
}

// print starts the engine and prints its description.
func (c choice) print(ctx context.Context, w io.Writer, host harness.Host) error {
	d, err := c.describe(ctx, host)
	if err != nil {
		fmt.Fprintf(w, "%s (%s): %s\n", c.Name, c.found, printable(err.Error()))
		return err
	}
	if c.Path != "" {
		c.Checksum, _ = rpc.Checksum(c.Path) // the engine has just been started from this file
	}
	if d.Unavailable != "" {
		c.found += ", not available here"
	}
	fmt.Fprintf(w, "%s (%s)\n", c.Name, c.found)
	for _, fact := range (reports.Summary{Run: record.Run{Engine: c.EngineSpec, Description: &d}}).Facts()[0].Rows {
		printFact(w, "  "+fact[0].Text, fact[1].Text)
	}
	if d.ShortestPaths {
		printFact(w, "  kernels", "bfs, sssp")
	}
	recipe := graph.Kronecker{Scale: 20, EdgeFactor: record.OfficialEdgeFactor}
	memory := harness.EstimateMemory(recipe, d.Memory).Engine
	printFact(w, "  memory", fmt.Sprintf("%s at scale %d", units.Bytes(memory), recipe.Scale))
	for _, o := range d.Options {
		fmt.Fprintf(w, "  %s\n      %s\n", wrapped(w, fmt.Sprintf("%s.%s=%s: %s", c.Name, o.Name, o.Default, o.Takes()), 4),
			wrapped(w, o.Meaning, 6))
	}
	return nil
}
