package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/record"
)

func generateCommand() *cobra.Command {
	var recipe graph.Kronecker
	var name, out string
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write the tuples of a graph",
		Long: `generate writes the tuples of the Graph500 reference generator to standard
output, bit for bit, in its packed form: 12 bytes a tuple, little endian, the
low 32 bits of both vertices and a word with their upper 16 bits. It needs a few
megabytes of memory at any scale. --graph takes another generator, or a file,
whose tuples are held in memory.

With --out it writes a file in the format of its extension, compressed if .gz or
.zst follows: ` + strings.Join(files.Writable(), " ") + `.`,
		Example: `  teps generate --scale 20 > s20.tuples      192 MiB
  teps generate --scale 16 | sha256sum
  teps generate --graph grid2d:100 --out grid.mtx
  teps generate --graph roads.mtx.gz --out roads.sg`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("graph") && (c.Flags().Changed("scale") || c.Flags().Changed("edgefactor")) {
				return usage("--graph names another graph than --scale and --edgefactor; give one of them")
			}
			if out == "" && isTerminal(c.OutOrStdout()) {
				return usage("tuples are binary, 12 bytes each; name a file with --out, or write to a pipe")
			}
			if out != "" { // which is removed if it is not whole
				finishOnSignal(c)
			}
			return generate(c, recipe, name, out)
		},
	}
	flags := c.Flags()
	d := record.DefaultPlan()
	flags.IntVar(&recipe.Scale, "scale", d.Scales[0], "log2 of the number of vertices")
	flags.StringVar(&name, "graph", "", "write this graph instead: a generator or a file")
	flags.IntVar(&recipe.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&recipe.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&recipe.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.StringVarP(&out, "out", "o", "", "write this file, in the format of its extension")
	flags.SortFlags = false
	return c
}

// generate writes the tuples of a graph, or of a recipe if the graph has no name.
func generate(c *cobra.Command, recipe graph.Kronecker, name, out string) (err error) {
	var source graph.Source = recipe
	progress := newProgress(c.ErrOrStderr(), false)
	title := fmt.Sprintf("scale %d", recipe.Scale)
	if name != "" {
		source, err = openGraph(c.Context(), name, recipe.Seed1, recipe.Seed2, files.Options{}, progress)
		title = filepath.Base(name)
	} else if err = recipe.Check(); err != nil {
		err = usage("%w", err)
	}
	if err != nil {
		return err
	}
	if out != "" {
		if _, err := files.CanWrite(out, source.Vertices()); err != nil {
			return usage("--out %w", err)
		}
	}
	step := progress.Step(title+": generate", source.Tuples())
	defer func() { step.End(fmt.Sprintf("%d tuples", source.Tuples()), err) }()
	if out != "" {
		return files.Write(c.Context(), out, source, step.Add)
	}
	return files.WritePacked(c.Context(), c.OutOrStdout(), source, step.Add)
}

// openGraph returns a generator, or a file, which it reads.
func openGraph(
	ctx context.Context, name string, seed1, seed2 uint64, options files.Options, progress harness.Progress,
) (graph.Source, error) {
	plan := record.DefaultPlan()
	plan.Scales, plan.Seed1, plan.Seed2 = nil, seed1, seed2
	if err := plan.AddGraph(name); err != nil {
		return nil, err
	}
	if err := harness.CheckFiles(ctx, plan); err != nil {
		return nil, err
	}
	id := plan.GraphIDs()[0]
	if source, err := plan.Generator(id); err != nil || source != nil {
		return source, err
	}
	spec := plan.Graph(id)
	spec.Path = name // as the user knows it
	return harness.ReadFile(ctx, spec, options, progress)
}
