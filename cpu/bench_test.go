// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// The benchmark of the engine alone, without the protocol around it:
//
//	go test -c -o cpu.test ./cpu
//	./cpu.test -test.run '^$' -test.bench Search -test.benchtime 1x -cpu.scale 22 -cpu.passes 5 \
//		-cpu.set threads=2/threads=2,adjacency=packed
//
// A pass searches from every root once; minimum, median and maximum of the passes' harmonic means of tuples per second
// are printed. Before the first pass every root of every set is searched once and validated against the tuples.
//
// With -cpu.before the sets are searched in the situations of disturb_test.go too, and with -cpu.peer another program
// takes turns with them: docs/results/gapbs-peer.cc makes one of GAPBS. -cpu.graph chooses another graph.
var (
	flagScale  = flag.Int("cpu.scale", 16, "scale of the benchmark's Kronecker graph")
	flagGraph  = flag.String("cpu.graph", "", "search this graph instead: a generator such as grid2d:2000, or a file")
	flagPasses = flag.Int("cpu.passes", 3, "passes over the roots")
	flagRoots  = flag.Int("cpu.roots", 64, "roots")
	flagSet    = flag.String("cpu.set", "", "engine options, name=value,...; sets separated by slashes take turns")
	flagExport = flag.String("cpu.export", "", "write PATH.tuples and PATH.roots for other programs")
	flagBefore = flag.String("cpu.before", "nothing", "what happens before each search: names of situations, with commas")
	flagPeer   = flag.String("cpu.peer", "", "program that searches from all roots for each line that it reads")
)

// benchmarkOptions returns the sets of options that were asked for, one without any if none was.
func benchmarkOptions() (sets []map[string]string) {
	for text := range strings.SplitSeq(*flagSet, "/") {
		sets = append(sets, optionsOf(text, ","))
	}
	return sets
}

// optionsOf reads options from name=value pairs.
func optionsOf(text, separator string) map[string]string {
	set := map[string]string{}
	for pair := range strings.SplitSeq(text, separator) {
		if name, value, ok := strings.Cut(pair, "="); ok {
			set[name] = value
		}
	}
	return set
}

func BenchmarkSearch(b *testing.B) {
	ctx := context.Background()
	tuples, vertices := benchmarkGraph(b)
	runtime.GC()
	var engines []plugins.Engine
	for _, set := range benchmarkOptions() {
		e := New()
		defer e.Close()
		built, err := e.Construct(ctx, plugins.Input{Tuples: tuples, Options: set})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%v kernel 1: %v, holds %d MB", set, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
		}
		fmt.Println()
		engines = append(engines, e)
	}

	roots := chooseRoots(b, tuples, vertices)
	var counts []int64
	for _, e := range engines {
		counts = validateRoots(b, e, tuples, vertices, roots)
	}
	if *flagExport != "" {
		export(b, tuples, roots, counts)
	}
	d := newDisturber(b, tuples, vertices)
	peer := startPeer(b)
	var series []*series
	for which, set := range benchmarkOptions() {
		for _, before := range strings.Split(*flagBefore, ",") {
			series = append(series, newSeries(fmt.Sprint(set), engines[which], before))
		}
	}
	for range b.N {
		for range *flagPasses {
			if peer != nil {
				peer.pass(b)
			}
			for _, s := range series {
				s.pass(b, d, roots, counts)
			}
		}
	}
	if peer != nil {
		fmt.Println(peer)
	}
	for _, s := range series {
		fmt.Println(s)
		if first := series[0]; s != first {
			fmt.Printf("\tto the first: %.3f\n", medianRatio(s.rates, first.rates))
		}
		if peer != nil {
			fmt.Printf("\tto %s: %.2f\n", *flagPeer, medianRatio(s.rates, peer.rates))
		}
	}
	b.ReportMetric(units.Median(series[0].rates), "GTEPS")
}

// series is one set of options in one situation.
type series struct {
	name   string
	before string
	engine plugins.Engine
	rates  []float64 // GTEPS, harmonic means of passes
	parts  breakdown
}

func newSeries(name string, e plugins.Engine, before string) *series {
	return &series{name: name + " after " + before, before: before, engine: e}
}

// pass searches from every root once. An untimed search comes first, after a pause in which the workers of the series
// before have parked.
func (s *series) pass(b *testing.B, d *disturber, roots []graph.Vertex, counts []int64) {
	time.Sleep(20 * time.Millisecond)
	if _, err := s.engine.Search(context.Background(), roots[0], plugins.Output{Parent: d.parent}); err != nil {
		b.Fatal(err)
	}
	d.last = roots[0]
	seconds := 0.0
	for i, root := range roots {
		d.disturb(b, s.before)
		before, start := usage(b), time.Now()
		t, err := s.engine.Search(context.Background(), root, plugins.Output{Parent: d.parent})
		call, after := time.Since(start), usage(b)
		if err != nil {
			b.Fatal(err)
		}
		d.last = root
		seconds += t.Elapsed.Seconds() / float64(counts[i])
		s.parts.add(t)
		s.parts.waking += call - t.Elapsed
		s.parts.faults += after.Minflt - before.Minflt
		s.parts.displaced += after.Nivcsw - before.Nivcsw
	}
	s.rates = append(s.rates, float64(len(roots))/seconds/1e9)
}

func (s *series) String() string {
	return fmt.Sprintf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS\n\tmean of a search: %v",
		s.name, slices.Min(s.rates), units.Median(s.rates), slices.Max(s.rates), &s.parts)
}

// medianRatio returns the median of the ratios of passes that were neighbors in time.
func medianRatio(rates, base []float64) float64 {
	ratios := make([]float64, len(rates))
	for i := range rates {
		ratios[i] = rates[i] / base[i]
	}
	return units.Median(ratios)
}

// benchmarkSource returns the graph that was asked for.
func benchmarkSource(b *testing.B) graph.Source {
	spec := cmp.Or(*flagGraph, fmt.Sprintf("kron:%d", *flagScale))
	var source graph.Source
	var err error
	if graph.IsGenerator(spec) {
		source, err = graph.ParseSource(spec, 2, 3)
	} else {
		source, err = files.Load(b.Context(), spec, files.Options{})
	}
	if err != nil {
		b.Fatal(err)
	}
	return source
}

// benchmarkGraph returns the tuples that were asked for and their number of labels.
func benchmarkGraph(b *testing.B) (tuples []graph.Edge, vertices int) {
	source := benchmarkSource(b)
	tuples = make([]graph.Edge, source.Tuples())
	if err := source.Generate(b.Context(), tuples, 0, 0); err != nil {
		b.Fatal(err)
	}
	return tuples, int(source.Vertices())
}

// chooseRoots draws the roots of a whole run.
func chooseRoots(b *testing.B, tuples []graph.Edge, vertices int) []graph.Vertex {
	v, err := validate.New(tuples, int64(vertices), 0)
	if err != nil {
		b.Fatal(err)
	}
	joined := func(some []graph.Vertex) ([]bool, error) { return v.Joined(b.Context(), some) }
	roots, _, err := harness.DrawRoots(int64(vertices), 2, 3, joined, *flagRoots)
	if err != nil {
		b.Fatal(err)
	}
	return roots
}

// validateRoots searches from every root and validates the parents; it returns the tuples of each component, without
// self-loops.
func validateRoots(b *testing.B, e plugins.Engine, tuples []graph.Edge, vertices int, roots []graph.Vertex) (
	counts []int64) {
	ctx := context.Background()
	parent := make([]graph.Vertex, vertices)
	v, err := validate.New(tuples, int64(len(parent)), 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, root := range roots {
		for i := range parent {
			parent[i] = graph.Unwritten
		}
		if _, err := e.Search(ctx, root, plugins.Output{Parent: parent}); err != nil {
			b.Fatal(err)
		}
		tree, err := v.Validate(ctx, root, parent)
		if err != nil {
			b.Fatalf("root %d: %v", root, err)
		}
		counts = append(counts, tree.NEdge())
	}
	return counts
}

func export(b *testing.B, tuples []graph.Edge, roots []graph.Vertex, counts []int64) {
	var text strings.Builder
	for i := range roots {
		fmt.Fprintln(&text, roots[i], counts[i])
	}
	if err := os.WriteFile(*flagExport+".roots", []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(*flagExport + ".tuples")
	if err != nil {
		b.Fatal(err)
	}
	for chunk := range slices.Chunk(tuples, 1<<20) {
		packed := make([]byte, 0, len(chunk)*graph.EdgeBytes)
		for _, t := range chunk {
			u, v := t.Ends()
			for _, word := range []uint32{uint32(u), uint32(v), uint32(u>>32) | uint32(v>>32)<<16} {
				packed = append(packed, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
			}
		}
		if _, err := f.Write(packed); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// usage returns what the system counts for this process.
func usage(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}

// breakdown adds up where searches spend their time: in levels of either direction, by the size of the frontier that
// they expand, and in phases outside levels. It also has what comes before the clock and what the system did.
type breakdown struct {
	searches int
	waking   time.Duration // of workers, and the rest of the call outside the clock

	faults, displaced int64 // page faults, and times that the system took a processor away

	phases map[string]time.Duration
	levels [2][10]struct { // top-down, bottom-up; frontiers of 10^k vertices and more
		times   int
		elapsed time.Duration
	}
}

func (d *breakdown) add(t plugins.Traversal) {
	d.searches++
	if d.phases == nil {
		d.phases = map[string]time.Duration{}
	}
	for _, p := range t.Phases {
		d.phases[p.Name] += p.Elapsed
	}
	for _, l := range t.Levels {
		direction, size := 0, 0
		if l.Direction == graph.BottomUp {
			direction = 1
		}
		for n := l.Frontier; n >= 10; n /= 10 {
			size++
		}
		sum := &d.levels[direction][size]
		sum.times++
		sum.elapsed += l.Elapsed
	}
}

func (d *breakdown) String() string {
	var text strings.Builder
	n := time.Duration(max(d.searches, 1))
	for i, direction := range []string{"top-down", "bottom-up"} {
		fmt.Fprintf(&text, "%s", direction)
		for k, sum := range d.levels[i] {
			if sum.times > 0 {
				mean := (sum.elapsed / time.Duration(sum.times)).Round(time.Microsecond)
				fmt.Fprintf(&text, " 10^%d: %v (%d x %v)", k, sum.elapsed/n, sum.times*64/d.searches, mean)
			}
		}
		fmt.Fprint(&text, "; ")
	}
	for _, name := range slices.Sorted(maps.Keys(d.phases)) {
		fmt.Fprintf(&text, "%s %v; ", name, d.phases[name]/n)
	}
	per := 1 / float64(n)
	fmt.Fprintf(&text, "before the clock %v\n\tpage faults %.2f, displaced %.2f times",
		d.waking/n, float64(d.faults)*per, float64(d.displaced)*per)
	return text.String()
}
