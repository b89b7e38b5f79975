package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/reports"
)

// countFlags are the flags of `teps count-messages`.
type countFlags struct {
	scale     int
	ranks     []int
	roots     int
	latency   time.Duration
	bandwidth float64
	set       []string
	out       string
	quiet     bool
}

func countCommand() *cobra.Command {
	var f countFlags
	c := &cobra.Command{
		Use:   "count-messages",
		Short: "Count what 1D and 2D searches send, with up to 4096 ranks on this machine",
		Long: `count-messages searches a small graph with many in-process ranks, cut in one and in two
dimensions, and counts the messages and bytes that they send. From the counts it
calculates what the transfers would take in a network of the given latency and
bandwidth. Counts are measured; times are modelled, and nothing is said of computing.

4096 ranks in one dimension take some 7 GiB and a few minutes; 1024 take seconds.`,
		Example: `  teps count-messages                                            16 to 1024 ranks at scale 14
  teps count-messages --ranks 64,4096 --scale 16 --out counts    and records and plots
  teps count-messages --latency 10us --bandwidth 1e9             a slower network
  teps count-messages --set messages=lists --set predecessors=early`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), newProgress(c.ErrOrStderr(), f.quiet))
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.scale, "scale", 14, "log2 of the number of vertices")
	flags.IntSliceVar(&f.ranks, "ranks", []int{16, 64, 256, 1024}, "numbers of ranks, each counted in 1D and in 2D")
	flags.IntVar(&f.roots, "roots", 4, "searches of each cut, all validated")
	flags.DurationVar(&f.latency, "latency", 2*time.Microsecond, "of a message, in the model")
	flags.Float64Var(&f.bandwidth, "bandwidth", 10e9, "bytes a second out of one rank, in the model")
	flags.StringArrayVar(&f.set, "set", nil, "an option of the distributed engine but ranks and partition: OPTION=VALUE (repeatable)")
	flags.StringVar(&f.out, "out", "", "folder for messages.json and the plots (default: none are written)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	flags.SortFlags = false
	return c
}

// messageCounts is the record of `teps count-messages`.
type messageCounts struct {
	Schema    string                `json:"schema"`
	Recipe    graph.Kronecker       `json:"recipe"`
	Options   map[string]string     `json:"options,omitempty"`
	Latency   float64               `json:"latency"`   // seconds, of the model
	Bandwidth float64               `json:"bandwidth"` // bytes a second, of the model
	Counts    []distributed.Traffic `json:"counts"`
}

func (f *countFlags) check() (map[string]string, error) {
	if f.roots < 1 || f.roots > harness.MaxRoots {
		return nil, harness.Usage("--roots %d: want 1 to %d", f.roots, harness.MaxRoots)
	}
	if f.latency < 0 || f.latency > longestLatency {
		return nil, harness.Usage("--latency %v: want 0 to %v", f.latency, longestLatency)
	}
	if !(f.bandwidth >= leastBandwidth && f.bandwidth <= mostBandwidth) { // NaN is neither
		return nil, harness.Usage("--bandwidth %g: want bytes a second, %g to %g", f.bandwidth, leastBandwidth, mostBandwidth)
	}
	for _, ranks := range f.ranks {
		if ranks < 1 || ranks > distributed.MaxRanks {
			return nil, harness.Usage("--ranks %d: want 1 to %d", ranks, distributed.MaxRanks)
		}
	}
	options := map[string]string{}
	for _, text := range f.set {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || name == "ranks" || name == "partition" {
			return nil, harness.Usage("--set %s: want OPTION=VALUE of the distributed engine; ranks have the flag --ranks, and both partitions are counted", text)
		}
		options[name] = value
	}
	return options, nil
}

// Bounds of the model. No network is slower or faster, and no time in it is longer than a time.Duration holds.
const (
	longestLatency = time.Minute
	leastBandwidth = 1e3
	mostBandwidth  = 1e18
)

// settle refuses options that the engine does not take, before anything is done.
func (f *countFlags) settle(ctx context.Context, options map[string]string) error {
	engine := distributed.New()
	defer engine.Close()
	d, err := engine.Describe(ctx)
	if err != nil {
		return err
	}
	if _, err := plugins.Settle(d.Options, options); err != nil {
		return harness.Usage("--set: %w; see teps engines", err)
	}
	return nil
}

// fits refuses, before anything is allocated, what this machine has no memory for.
func (f *countFlags) fits(ctx context.Context, recipe graph.Kronecker) error {
	ranks := slices.Max(f.ranks)
	return harness.CheckMemory(ctx, recipe, fmt.Sprintf("distributed:ranks=%d", ranks), distributed.TrafficMemory(ranks), "fewer --ranks")
}

func (f *countFlags) run(ctx context.Context, w io.Writer, progress harness.Progress) error {
	options, err := f.check()
	if err != nil {
		return err
	}
	plan := harness.DefaultPlan()
	recipe := plan.Recipe(f.scale)
	if err := recipe.Check(); err != nil {
		return harness.Usage("%w", err)
	}
	if err := f.settle(ctx, options); err != nil {
		return err
	}
	if err := f.fits(ctx, recipe); err != nil {
		return err
	}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := recipe.Generate(ctx, tuples, 0, 0); err != nil {
		return err
	}
	roots, _, err := harness.DrawRoots(recipe, tuples, f.roots, 0)
	if err != nil {
		return err
	}
	validator, err := graph.NewValidator(tuples, recipe.Vertices(), 0)
	if err != nil {
		return err
	}
	valid := func(root graph.Vertex, parent []graph.Vertex) error {
		_, err := validator.Validate(ctx, root, parent)
		return err
	}
	record := messageCounts{Schema: "teps-messages/1", Recipe: recipe, Options: options, Latency: f.latency.Seconds(), Bandwidth: f.bandwidth}
	cost := distributed.Cost{Latency: f.latency, Bandwidth: f.bandwidth}
	for _, ranks := range f.ranks {
		for _, partition := range []string{"1d", "2d"} {
			step := progress.Step(fmt.Sprintf("scale %d: %d ranks, %s", f.scale, ranks, partition), 0)
			set := maps.Clone(options)
			set["ranks"], set["partition"] = strconv.Itoa(ranks), partition
			counted, err := distributed.CountTraffic(ctx, tuples, recipe.Vertices(), set, roots, cost, valid)
			if err != nil {
				step.Fail(err)
				if errors.Is(err, plugins.ErrOption) {
					return harness.Usage("--set: %w; see teps engines", err)
				}
				return err
			}
			step.Done(fmt.Sprintf("%d searches, all valid", counted.Searches))
			record.Counts = append(record.Counts, counted)
		}
	}
	if err := printCounts(w, record); err != nil || f.out == "" {
		return err
	}
	return record.write(f.out)
}

func printCounts(w io.Writer, r messageCounts) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	t.Style().Options.SeparateColumns = false
	t.AppendHeader(table.Row{"ranks", "cut", "grid", "messages", "bytes", "busiest rank, a level", "transfer, modelled", "with sums"})
	right := []table.ColumnConfig{}
	for _, column := range []int{1, 4, 5, 6, 7, 8} {
		right = append(right, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, c := range r.Counts {
		t.AppendRow(table.Row{
			c.Ranks, c.Partition, c.Grid, fmt.Sprintf("%.0f", c.Messages), fmt.Sprintf("%.0f", c.Bytes), c.Busiest,
			fmt.Sprintf("%.3f ms", c.Modelled*1e3), fmt.Sprintf("%.3f ms", (c.Modelled+c.Reduced)*1e3),
		})
	}
	_, err := fmt.Fprintf(w, "%s\n\nScale %d, means of %d searches. Messages and bytes are counted, those of all ranks together; times are modelled:\n"+
		"%v a message and %g bytes a second out of a rank; sums are the reductions between levels.\n",
		t.Render(), r.Recipe.Scale, r.Counts[0].Searches, time.Duration(r.Latency*1e9), r.Bandwidth)
	return err
}

// write puts the record and its plots into a folder.
func (r messageCounts) write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return harness.Usage("--out %s: %w", dir, err)
	}
	if err := harness.WriteFile(filepath.Join(dir, "messages.json"), append(data, '\n')); err != nil {
		return err
	}
	var points []reports.Traffic
	for _, c := range r.Counts {
		points = append(points, reports.Traffic{Series: strings.ToUpper(c.Partition), Ranks: c.Ranks, Messages: c.Messages, Bytes: c.Bytes, Modelled: c.Modelled})
	}
	model := fmt.Sprintf("%v a message, %g GB/s out of a rank", time.Duration(r.Latency*1e9), r.Bandwidth/1e9)
	return reports.WriteTraffic(dir, r.Recipe.Scale, model, points)
}
