package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

func generateCommand() *cobra.Command {
	var recipe graph.Kronecker
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write the tuples of a Graph500 input",
		Long: `generate writes the tuples of the reference generator to standard output, bit for bit,
in its packed form: 12 bytes a tuple, little endian, the low 32 bits of both vertices and
a word with their upper 16 bits. It needs a few megabytes of memory at any scale.`,
		Example: `  teps generate --scale 20 > s20.tuples      192 MiB
  teps generate --scale 16 | sha256sum`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return generate(c, recipe) },
	}
	flags := c.Flags()
	d := record.DefaultPlan()
	flags.IntVar(&recipe.Scale, "scale", d.Scales[0], "log2 of the number of vertices")
	flags.IntVar(&recipe.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&recipe.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&recipe.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.SortFlags = false
	return c
}

// generate writes the tuples a block at a time.
func generate(c *cobra.Command, recipe graph.Kronecker) (err error) {
	if err := recipe.Check(); err != nil {
		return usage("%w", err)
	}
	step := newProgress(c.ErrOrStderr(), false).Step(fmt.Sprintf("scale %d: generate", recipe.Scale), recipe.Tuples())
	defer func() { step.End(fmt.Sprintf("%d tuples", recipe.Tuples()), err) }()
	block := make([]graph.Edge, min(1<<18, recipe.Tuples()))
	w := bufio.NewWriterSize(c.OutOrStdout(), 1<<20)
	for first := int64(0); first < recipe.Tuples(); first += int64(len(block)) {
		part := block[:min(int64(len(block)), recipe.Tuples()-first)]
		if err := recipe.Generate(c.Context(), part, first, 0); err != nil {
			return err
		}
		if err := graph.WriteEdges(w, part); err != nil {
			return err
		}
		step.Add(int64(len(part)))
	}
	return w.Flush()
}
