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
		Short: "List the engines, what they need and every option",
		Long: `engines starts every engine, asks it to describe itself, and shows what
--set ENGINE.OPTION=VALUE takes. It lists the built-in engines, those in the directory of
teps (programs teps-engine-NAME and shared libraries teps-engine-NAME.so), and each
program or library given as PATH.`,
		Example: `  teps engines
  teps engines ./teps-engine-mine ./libmine.so`,
		RunE: func(c *cobra.Command, args []string) error {
			host := newProcesses(false)
			defer host.Close()
			all, err := engines.list(args)
			if err != nil {
				return err
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

// listed is an engine, and where it was found.
type listed struct {
	choice
	found string // built in, next to teps, or by its path
}

// list returns every engine to describe, without starting any.
func (c catalog) list(paths []string) (all []listed, err error) {
	for _, b := range c {
		all = append(all, listed{choice{EngineSpec: record.EngineSpec{Name: b.name, Builtin: b.name}}, "built in"})
	}
	for _, spec := range installed() {
		if c.find(spec.Name) == nil { // a name stands for the built-in engine
			all = append(all, listed{choice{EngineSpec: spec, labelled: true}, "next to teps"})
		}
	}
	for _, path := range paths {
		chosen, err := c.parse(path)
		if err != nil {
			return nil, err
		}
		all = append(all, listed{chosen, "by its path"})
	}
	return all, nil
}

// print starts the engine and prints what it says about itself.
func (e listed) print(ctx context.Context, w io.Writer, host harness.Host) error {
	d, err := harness.Describe(ctx, host, e.EngineSpec)
	if err != nil {
		fmt.Fprintf(w, "%s (%s): %v\n", e.Name, e.found, err)
		return err
	}
	if !e.labelled && isLabel(d.Name) {
		e.Name = d.Name
	}
	if e.Path != "" {
		e.Checksum, _ = rpc.Checksum(e.Path) // the engine has just been started from this file
	}
	fmt.Fprintf(w, "%s (%s)\n", e.Name, e.found)
	for _, fact := range (reports.Run{Run: record.Run{Engine: e.EngineSpec, Description: &d}}).Facts()[0].Rows {
		printFact(w, "  "+fact[0].Text, fact[1].Text)
	}
	recipe := graph.Kronecker{Scale: 20, EdgeFactor: record.OfficialEdgeFactor}
	memory := harness.EstimateMemory(recipe, d.Memory).Engine
	printFact(w, "  memory", fmt.Sprintf("%s at scale %d", units.Bytes(memory), recipe.Scale))
	name := "  options"
	for _, o := range d.Options {
		printFact(w, name, fmt.Sprintf("%s.%s=%s: %s", e.Name, o.Name, o.Default, o.Takes()))
		printFact(w, "", "    "+o.Meaning)
		name = ""
	}
	return nil
}
