// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/stats"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/text"
)

func graphCommand() *cobra.Command {
	var format string
	var asJSON bool
	d := record.DefaultPlan()
	c := &cobra.Command{
		Use:   "graph SOURCE",
		Short: "Describe a graph: degrees, components, diameter",
		Long: `graph reads or generates a graph and prints its vertices, tuples, duplicates,
self-loops, degrees, components and a lower bound of its diameter.

SOURCE is the name of a file (docs/graphs.md describes the formats), - for
standard input, or a generator:
` + generators(),
		Example: `  teps graph grid2d:1000
  teps graph roads.mtx
  teps generate --scale 10 | teps graph - --json
  teps graph mesh.txt --format metis`,
		Args: exactArgs(1, "the source of a graph"),
		RunE: func(c *cobra.Command, args []string) error {
			facts, err := factsOf(c, args[0], format, d.Seed1, d.Seed2)
			if err == nil && asJSON {
				return printJSON(c, facts)
			} else if err == nil {
				return facts.print(c.OutOrStdout())
			}
			return err
		},
	}
	flags := c.Flags()
	registerFormat(flags, &format)
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	flags.Uint64Var(&d.Seed1, "seed1", d.Seed1, "first seed of a generator")
	flags.Uint64Var(&d.Seed2, "seed2", d.Seed2, "second seed of a generator")
	return c
}

// graphFacts has the facts that --json prints. Optional fields are those of files.
type graphFacts struct {
	Source      string       `json:"source"`
	FileFormat  files.Format `json:"file_format,omitempty"`
	SHA256      string       `json:"sha256,omitempty"`
	Symmetrized bool         `json:"symmetrised,omitempty"`
	Compacted   bool         `json:"labels_compacted,omitempty"`
	stats.Graph
}

// factsOf reads or generates a graph and describes it.
func factsOf(c *cobra.Command, name, format string, seed1, seed2 uint64) (facts graphFacts, err error) {
	progress := newProgress(c.ErrOrStderr(), false)
	source, err := openGraph(c.Context(), name, format, seed1, seed2, files.Options{SHA256: true}, progress)
	if err != nil {
		return facts, err
	}
	if facts.Source = name; name == record.StandardInput {
		facts.Source = source.Name()
	}
	if file, ok := source.(*files.Graph); ok {
		facts.FileFormat, facts.SHA256 = file.Info.Format, file.Info.SHA256
		facts.Symmetrized, facts.Compacted = file.Info.Symmetrized, file.Info.Labels != nil
	}
	if err := fits(c, source, stats.Bytes(source)); err != nil {
		return facts, err
	}
	step := progress.Step(facts.Source+": degrees and components", stats.Work(source))
	facts.Graph, err = stats.Of(c.Context(), source, step.Add)
	step.End(fmt.Sprintf("%d tuples", source.Tuples()), err)
	return facts, err
}

// fits returns an error if a number of bytes for a graph exceeds the available memory.
func fits(c *cobra.Command, source graph.Source, need int64) error {
	available, _, err := machine.AvailableMemory(c.Context())
	if err != nil || need <= available { // unknown, or enough
		return nil
	}
	return fmt.Errorf("%s: %s vertices and %s tuples need %s of memory here, and %s are available", source.Name(),
		units.Integer(source.Vertices()), units.Integer(source.Tuples()), units.Bytes(need), units.Bytes(available))
}

// printJSON writes a value to standard output, indented.
func printJSON(c *cobra.Command, value any) error {
	e := json.NewEncoder(c.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// print writes the facts and the histogram.
func (g graphFacts) print(w io.Writer) error {
	printFacts(w, "", reports.GraphFacts(g))
	fmt.Fprintln(w)
	t := reports.NewTable("#degree|#vertices", "")
	for _, d := range g.Degrees {
		degree := strconv.FormatInt(d.First, 10)
		if d.Last > d.First {
			degree += " to " + strconv.FormatInt(d.Last, 10)
		}
		t.Add(degree, units.Integer(d.Vertices))
	}
	return text.Columns(w, t, 0)
}

func generateCommand() *cobra.Command {
	var recipe graph.Kronecker
	var name, format, out string
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write the tuples of a graph",
		Long: `generate writes the tuples of the Graph500 reference generator to standard
output, bit for bit, in its packed form: 12 bytes per tuple, little endian, the
low 32 bits of both vertices and a word with their upper 16 bits. It needs a few
megabytes of memory at any scale; a file of --graph is read into memory. With
--out it writes a file in the format of its extension, compressed if .gz or .zst
follows: ` + strings.Join(files.Writable(), " ") + `.`,
		Example: `  teps generate --scale 20 > s20.tuples      192 MiB
  teps generate --scale 16 | sha256sum
  teps generate --graph roads.mtx.gz --out roads.sg`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("graph") && (c.Flags().Changed("scale") || c.Flags().Changed("edgefactor")) {
				return usage("--graph replaces --scale and --edgefactor; give only one of them")
			}
			if out == "" && isTerminal(c.OutOrStdout()) {
				return usage("tuples are binary, 12 bytes each; name a file with --out, or write to a pipe")
			}
			if out != "" { // Write removes an incomplete file
				finishOnSignal(c)
			}
			if format != "" && name == "" {
				return usage("--format is that of the file of --graph")
			}
			if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
				return usage("--out %s: %w", out, err)
			}
			return generate(c, recipe, name, format, out)
		},
	}
	flags := c.Flags()
	d := record.DefaultPlan()
	flags.IntVar(&recipe.Scale, "scale", d.Scales[0], "log2 of the number of vertices")
	flags.StringVar(&name, "graph", "", "write this graph instead: a generator or a file")
	registerFormat(flags, &format)
	flags.IntVar(&recipe.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&recipe.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&recipe.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.StringVarP(&out, "out", "o", "", "write this file, in the format of its extension")
	return c
}

// generate writes the tuples of a graph, or of the recipe if name is empty.
func generate(c *cobra.Command, recipe graph.Kronecker, name, format, out string) (err error) {
	var source graph.Source = recipe
	progress := newProgress(c.ErrOrStderr(), false)
	title := fmt.Sprintf("scale %d", recipe.Scale)
	if name != "" {
		source, err = openGraph(c.Context(), name, format, recipe.Seed1, recipe.Seed2,
			files.Options{Weights: files.KeepsWeights(out)}, progress)
		title = filepath.Base(name)
	} else if err = recipe.Check(); err != nil {
		err = usage("%w", err)
	}
	if err != nil {
		return err
	}
	if out != "" {
		format, err := files.CanWrite(out, source.Vertices())
		if err != nil {
			return usage("--out %w", err)
		}
		if err := fits(c, source, files.WriteBytes(format, source)); err != nil {
			return err
		}
	}
	step := progress.Step(title+": generate", source.Tuples())
	if out != "" {
		err = files.Write(c.Context(), out, source, recipe.Seed1, recipe.Seed2, step.Add)
	} else {
		err = files.WritePacked(c.Context(), c.OutOrStdout(), source, step.Add)
	}
	step.End(fmt.Sprintf("%d tuples", source.Tuples()), err)
	return err
}

// openGraph returns a generator, or reads a file.
func openGraph(ctx context.Context, name, format string, seed1, seed2 uint64, options files.Options,
	progress harness.Progress) (graph.Source, error) {
	plan := record.DefaultPlan()
	plan.Scales, plan.Seed1, plan.Seed2 = nil, seed1, seed2
	err := plan.AddGraph(name)
	if err == nil {
		err = setFormat(plan.Graphs, format)
	}
	if err == nil {
		err = harness.CheckFiles(ctx, plan)
	}
	if err != nil {
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
