// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/record"
)

func searchCommand(engines catalog) *cobra.Command {
	f := planFlags{Roots: 1, Validate: "all"}
	d := record.DefaultPlan()
	var engine, out, kernel string
	var root uint64
	c := &cobra.Command{
		Use:   "search GRAPH --root LABEL",
		Short: "Search a graph from one vertex and write the result",
		Long: `search makes one validated search of a graph, a file or a generator, for other
programs. It writes a line for each vertex that is reached, with labels as in
the file:

  VERTEX PARENT LEVEL         of --kernel bfs
  VERTEX PARENT DISTANCE      of --kernel sssp, shortest paths

A distance has as many decimals as its 32-bit number needs. Weights are random
unless the file has them (docs/kernel3.md).`,
		Example: `  teps search grid2d:300 --root 0 --out levels.txt
  teps search roads.mtx --root 3 --kernel sssp --out distances.txt`,
		Args: exactArgs(1, "a graph: a generator or a file"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if !c.Flags().Changed("root") {
				return usage("--root is missing: the label of the vertex to search from")
			}
			if out != "-" {
				if err := checkTarget("--out", out); err != nil {
					return err
				}
			}
			kernels, err := record.ParseKernels(kernel)
			if err != nil || len(kernels) > 1 {
				return usage("--kernel %s: want bfs or sssp", kernel)
			}
			host := newProcesses(c, false)
			defer func() { err = errors.Join(err, host.Close()) }()
			f.EdgeFactor, f.Seed1, f.Seed2, f.Timeout, f.Kernel = d.EdgeFactor, d.Seed1, d.Seed2, d.Timeout, kernel
			f.engine, f.Graph, f.HostDevice = []string{engine}, args, "cpu"
			plan, err := f.plan(c.Context(), engines, host, false)
			if err != nil {
				return err
			}
			return harness.Once(c.Context(), host, plan, root, newProgress(c.ErrOrStderr(), false),
				func(found harness.Found) error { return writeFound(c, out, found) })
		},
	}
	flags := c.Flags()
	flags.Uint64Var(&root, "root", 0, "label of the vertex to search from")
	flags.StringVar(&kernel, "kernel", "bfs", "bfs or sssp")
	flags.StringVar(&engine, "engine", "cpu", "engine: a name or a path, as [LABEL=]ENGINE[:OPTION=VALUE]...")
	flags.StringArrayVar(&f.set, "set", nil, "set an option: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	registerFormat(flags, &f.Format)
	flags.Uint64Var(&d.Seed1, "seed1", d.Seed1, "first seed of a generator, and of weights")
	flags.Uint64Var(&d.Seed2, "seed2", d.Seed2, "second seed of a generator, and of weights")
	flags.DurationVar(&d.Timeout, "timeout", d.Timeout, "limit for building the graph and the search")
	flags.StringVarP(&out, "out", "o", "-", "write this file; -: standard output")
	return c
}

// writeFound writes a result to standard output or to a file. It leaves no file behind if it returns an error.
func writeFound(c *cobra.Command, out string, found harness.Found) error {
	if out == "-" {
		return printFound(c.OutOrStdout(), found)
	}
	file, remove, err := files.Replace(out)
	if err == nil {
		err = cmp.Or(printFound(file, found), file.CloseAtomicallyReplace())
		remove()
	}
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) { // it names the temporary file
		err = failed.Err
	}
	if err != nil {
		err = fmt.Errorf("--out %s: %w", out, err)
	}
	return err
}

// printFound prints a line for each vertex that is reached, in ascending order.
func printFound(w io.Writer, found harness.Found) error {
	b, line := bufio.NewWriterSize(w, 1<<20), []byte(nil)
	for v, p := range found.Parent {
		if p == graph.Unreached {
			continue
		}
		line = strconv.AppendUint(line[:0], found.Label(graph.Vertex(v)), 10)
		line = strconv.AppendUint(append(line, ' '), found.Label(p), 10)
		if line = append(line, ' '); found.Distance != nil {
			line = strconv.AppendFloat(line, float64(found.Distance[v]), 'g', -1, 32)
		} else {
			line = strconv.AppendInt(line, int64(found.Level[v]), 10)
		}
		_, _ = b.Write(append(line, '\n')) // the writer keeps its first error
	}
	return b.Flush()
}
