package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
)

func generateCommand() *cobra.Command {
	var (
		recipe graph.Kronecker
		out    string
		quiet  bool
	)
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write the tuples of a Graph500 input",
		Long: `generate writes the tuples of the reference generator, bit for bit, in the packed
form: 12 bytes a tuple, little endian, the low 32 bits of both vertices and a word
with their upper 16 bits. It needs a few megabytes of memory at any scale.`,
		Example: `  teps generate --scale 20 --out s20.tuples      a file of 192 MiB
  teps generate --scale 16 --out - | sha256sum   a stream`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return harness.Usage("--out is missing: name a file, or - for standard output")
			}
			if err := recipe.Check(); err != nil {
				return harness.Usage("%w", err)
			}
			return generate(c.Context(), recipe, out, c.OutOrStdout(), newProgress(c.ErrOrStderr(), quiet))
		},
	}
	flags := c.Flags()
	d := harness.DefaultPlan()
	flags.IntVar(&recipe.Scale, "scale", d.Scales[0], "log2 of the number of vertices")
	flags.IntVar(&recipe.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&recipe.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&recipe.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.StringVarP(&out, "out", "o", "", "file to write, or - for standard output")
	flags.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	flags.SortFlags = false
	return c
}

// generate writes to standard output or to a file that appears when it is whole.
func generate(ctx context.Context, recipe graph.Kronecker, out string, stdout io.Writer, progress harness.Progress) error {
	if out == "-" {
		return stream(ctx, recipe, stdout, progress)
	}
	if err := checkTarget(out); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".*")
	if err != nil {
		return fmt.Errorf("generate: %w; choose another --out", err)
	}
	err = stream(ctx, recipe, f, progress)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// checkTarget refuses what a new file cannot take the place of: a folder, a device, a pipe, a symbolic link.
func checkTarget(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil // what is wrong with the path, making the file will say
	case info.IsDir():
		return harness.Usage("--out %s is a folder; name a file in it", path)
	}
	return harness.Usage("--out %s exists and is no ordinary file; write to standard output (--out -) and redirect that", path)
}

// stream generates and writes a block at a time.
func stream(ctx context.Context, recipe graph.Kronecker, w io.Writer, progress harness.Progress) error {
	block := make([]graph.Edge, min(1<<18, recipe.Tuples()))
	buffered := bufio.NewWriterSize(w, 1<<20)
	step := progress.Step(fmt.Sprintf("scale %d: generate", recipe.Scale), recipe.Tuples())
	start := time.Now()
	for first := int64(0); first < recipe.Tuples(); first += int64(len(block)) {
		part := block[:min(int64(len(block)), recipe.Tuples()-first)]
		err := recipe.Generate(ctx, part, first, 0)
		if err == nil {
			err = graph.WriteEdges(buffered, part)
		}
		if err != nil {
			step.Fail(err)
			return err
		}
		step.Add(int64(len(part)))
	}
	if err := buffered.Flush(); err != nil {
		step.Fail(err)
		return err
	}
	step.Done(fmt.Sprintf("%d tuples in %s", recipe.Tuples(), time.Since(start).Round(time.Millisecond)))
	return nil
}
