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
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func enginesCommand(engines catalog) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "engines [ENGINE...]",
		Short: "List the engines with their memory and options",
		Long: `engines prints the description and the options of engines, which are names or
paths of programs and libraries. Without any it lists each built-in engine and
those in the directory of teps (programs teps-engine-NAME, libraries
teps-engine-NAME.so). Compressed adjacency lists (adjacency=packed of cpu, cuda
and serial) and dynamic parallelism (topdown=dynamic of cuda) are options with
their measured cost.`,
		Example: `  teps engines
  teps engines cpu
  teps engines ./teps-engine-mine ./libmine.so --json`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			host, all := newProcesses(c, false), engines.known()
			defer host.Close()
			for i, name := range args {
				chosen, err := engines.locate(name)
				if err != nil {
					return err
				}
				all = append(all[:min(i, len(all))], chosen)
			}
			list := each(all, func(e choice) listedEngine { return e.listed(c.Context(), host) })
			for i, e := range list {
				if i > 0 && !asJSON {
					fmt.Fprintln(c.OutOrStdout())
				}
				if !asJSON {
					e.print(c.OutOrStdout())
				}
				if e.Error != "" {
					err = errReported
				}
			}
			if asJSON {
				err = cmp.Or(printJSON(c, list), err)
			}
			return cmp.Or(c.Context().Err(), err)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// listedEngine has the facts that `teps engines` prints about an engine.
type listedEngine struct {
	record.EngineSpec
	Found       string               `json:"found"` // built in, next to teps, or by its path
	Description *plugins.Description `json:"description,omitempty"`
	Memory      int64                `json:"memory_bytes_scale_20,omitempty"` // its own estimate
	Error       string               `json:"error,omitempty"`                 // of the request for a description
}

// listed starts the engine and asks for its description.
func (c choice) listed(ctx context.Context, host harness.Host) listedEngine {
	d, err := c.describe(ctx, host)
	e := listedEngine{EngineSpec: c.EngineSpec, Found: c.found}
	if err != nil {
		e.Error = err.Error()
		return e
	}
	if e.Description = &d; c.Path != "" {
		e.Checksum, _ = rpc.Checksum(c.Path) // the engine has just been started from this file
	}
	recipe := graph.Kronecker{Scale: 20, EdgeFactor: record.OfficialEdgeFactor}
	e.Memory = harness.EstimateMemory(recipe, d.Memory).Engine
	return e
}

// print prints the engine for people.
func (e listedEngine) print(w io.Writer) {
	d := e.Description
	switch {
	case d == nil:
		fmt.Fprintf(w, "%s (%s): %s\n", e.Name, e.Found, printable(e.Error))
		return
	case d.Unavailable != "":
		e.Found += ", not available here"
	}
	fmt.Fprintf(w, "%s (%s)\n", e.Name, e.Found)
	printFacts(w, "  ", reports.Summary{Run: record.Run{Engine: e.EngineSpec, Description: d}}.Facts()[0])
	if d.ShortestPaths {
		printFact(w, "  kernels", "bfs, sssp")
	}
	printFact(w, "  memory", fmt.Sprintf("%s at scale 20", units.Bytes(e.Memory)))
	for _, o := range d.Options {
		fmt.Fprintf(w, "  %s\n      %s\n", wrapped(w, fmt.Sprintf("%s.%s=%s: %s", e.Name, o.Name, o.Default, o.Takes()), 4),
			wrapped(w, o.Meaning, 6))
	}
}
