// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cuda/accelerator"
	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

// The benchmark of the engine alone, without the protocol around it:
//
//	bash cuda/build.sh kernels && bash cuda/build.sh go test -c -o cuda.test ./cuda
//	./cuda.test -test.run '^$' -test.bench Search -test.benchtime 1x -cuda.graph kron:26 -cuda.passes 5 \
//	    -cuda.set topdown=scan/topdown=dynamic
//
// A pass searches from every root once. The output has the minimum, median and maximum of the passes' harmonic means,
// and the mean time of each level, or of levels with frontiers of a similar size if there are many. Before the first
// pass some searches are validated against the tuples.
var (
	flagGraph    = flag.String("cuda.graph", "kron:16", "the benchmark's graph: a generator such as kron:26, or a file")
	flagPasses   = flag.Int("cuda.passes", 3, "passes over the roots")
	flagRoots    = flag.Int("cuda.roots", 64, "roots")
	flagValidate = flag.Int("cuda.validate", 2, "roots that are validated before the first pass")
	flagRepeat   = flag.Duration("cuda.repeat", 0, "with Recipe: repeat the searches for this long, to read a power meter")
	flagSet      = flag.String("cuda.set", "", "options to compare: name=value,..., + for a comma; a slash between sets")
)

func benchmarkSets() (sets []map[string]string) {
	for text := range strings.SplitSeq(*flagSet, "/") {
		set := map[string]string{}
		for pair := range strings.SplitSeq(text, ",") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				set[name] = strings.ReplaceAll(value, "+", ",")
			}
		}
		sets = append(sets, set)
	}
	return sets
}

func BenchmarkSearch(b *testing.B) {
	needGPU(b)
	source, tuples := generate(b, *flagGraph)
	parent := make([]graph.Vertex, source.Vertices())
	v, err := validate.New(tuples, int64(len(parent)), 0)
	if err != nil {
		b.Fatal(err)
	}
	roots := chooseRoots(v.Joined(), source.Vertices(), *flagRoots)
	for _, set := range benchmarkSets() {
		e, s := constructEngine(b, plugins.Input{Tuples: tuples, Options: set})
		counts := validateRoots(b, e, v, roots, parent)
		measure(b, fmt.Sprintf("%s %v", source.Name(), set), e, s, roots, counts, parent)
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
	}
}

// BenchmarkRecipe is for graphs whose tuples do not fit into the host: kernel 1 makes them on the device, and so does
// the validation of every search, in the same process. After the first search it draws roots that this one has reached.
func BenchmarkRecipe(b *testing.B) {
	needGPU(b)
	source, err := graph.ParseSource(*flagGraph, 2, 3)
	recipe, ok := source.(graph.Kronecker)
	if err != nil || !ok {
		b.Fatalf("graph %s has no recipe: %v", *flagGraph, err)
	}
	parent := make([]graph.Vertex, recipe.Vertices())
	random := rand.New(rand.NewPCG(1, 2))
	for _, set := range benchmarkSets() {
		e, _ := constructEngine(b, plugins.Input{Recipe: &recipe, Options: set})
		a := accelerator.New()
		if err := a.LoadRecipe(b.Context(), recipe); err != nil {
			b.Fatal(err)
		}
		seconds, valid, edges := 0.0, 0, int64(0)
		var roots []graph.Vertex
		for valid < *flagRoots {
			root := graph.Vertex(random.Int64N(recipe.Vertices()))
			for valid > 0 && parent[root] < 0 {
				root = graph.Vertex(random.Int64N(recipe.Vertices()))
			}
			found, err := e.Search(b.Context(), root, parent)
			if err != nil {
				b.Fatal(err)
			}
			if len(found.Levels) < 3 { // isolated
				continue
			}
			start := time.Now()
			tree, err := a.Validate(b.Context(), root, parent)
			if err != nil {
				b.Fatalf("root %d: %v", root, err)
			}
			valid++
			roots, edges = append(roots, root), tree.NEdge()
			seconds += found.Elapsed.Seconds() / float64(tree.NEdge())
			fmt.Printf("root %d: %v, %d edges, %.1f GTEPS, valid after %v\n", root, found.Elapsed, tree.NEdge(),
				float64(tree.NEdge())/found.Elapsed.Seconds()/1e9, time.Since(start).Round(time.Millisecond))
			if valid == 1 {
				levels, _ := addLevels(nil, found, 0)
				for i, l := range levels {
					fmt.Printf("  level %d: %s\n", i, l)
				}
			}
		}
		fmt.Printf("RESULT %s %v: harmonic mean of %d valid roots: %.1f GTEPS\n", source.Name(), set, valid,
			float64(valid)/seconds/1e9)
		if *flagRepeat > 0 {
			start := time.Now()
			n, err := e.(plugins.Repeater).Repeat(b.Context(), roots, *flagRepeat)
			if err != nil {
				b.Fatal(err)
			}
			end := time.Now()
			const clock = "15:04:05.000"
			fmt.Printf("REPEAT from %s to %s: %d searches, %.1f GTEPS\n", start.Format(clock), end.Format(clock), n,
				float64(n)*float64(edges)/end.Sub(start).Seconds()/1e9)
		}
		if err := errors.Join(a.Close(), e.Close()); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
	}
}

// generate returns the graph of a spec, a generator's or a file, and its tuples.
func generate(tb testing.TB, spec string) (source graph.Source, tuples []graph.Edge) {
	tb.Helper()
	var err error
	if graph.IsGenerator(spec) {
		source, err = graph.ParseSource(spec, 2, 3)
	} else {
		source, err = files.Load(tb.Context(), spec, files.Options{})
	}
	if err != nil {
		tb.Fatal(err)
	}
	tuples = make([]graph.Edge, source.Tuples())
	if k, ok := source.(graph.Kronecker); ok && driver.Missing() == "" {
		a := accelerator.New()
		if err := errors.Join(a.Generate(tb.Context(), k, tuples, 0), a.Close()); err != nil {
			tb.Fatal(err)
		}
	} else if err := source.Generate(tb.Context(), tuples, 0, 0); err != nil {
		tb.Fatal(err)
	}
	return source, tuples
}

// constructEngine builds a graph, and returns the engine and the search inside it.
func constructEngine(b *testing.B, in plugins.Input) (plugins.Engine, []*search) {
	var inside []*search
	e := plugins.New(describe, func(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
		c, err := configure(set)
		if err != nil {
			return plugins.Built{}, err
		}
		if len(c.devices) > 1 {
			s, built, err := constructTeam(ctx, in.Tuples, c)
			if err == nil {
				inside = s.ranks
			}
			return built, err
		}
		s, built, err := construct(ctx, in, c)
		inside = []*search{s}
		return built, err
	})
	built, err := e.Construct(b.Context(), in)
	if err != nil {
		b.Fatal(err)
	}
	entries, _ := built.Entries.Get()
	fmt.Printf("%v kernel 1: %v, uses %d MB, %d entries",
		in.Options, built.Elapsed.Round(time.Microsecond), built.Bytes>>20, entries)
	for _, p := range built.Phases {
		fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Microsecond))
	}
	fmt.Println()
	for _, d := range built.Details {
		fmt.Printf("  %s: %s\n", d.Name, d.Value)
	}
	return e, inside
}

// validateRoots searches from every root, validates some of the searches, and returns the tuples that each traverses.
func validateRoots(
	b *testing.B, e plugins.Engine, v *validate.Validator, roots, parent []graph.Vertex) (counts []int64) {
	for i, root := range roots {
		if _, err := e.Search(b.Context(), root, parent); err != nil {
			b.Fatal(err)
		}
		if i < *flagValidate {
			if _, err := v.Validate(b.Context(), root, parent); err != nil {
				b.Fatalf("root %d: %v", root, err)
			}
		}
		if i > 0 && parent[roots[0]] >= 0 { // the same component
			counts = append(counts, counts[0])
			continue
		}
		count, err := v.Count(b.Context(), root, parent)
		if err != nil {
			b.Fatal(err)
		}
		counts = append(counts, count.NEdge())
	}
	return counts
}

func measure(b *testing.B, name string, e plugins.Engine, ranks []*search, roots []graph.Vertex, counts []int64,
	parent []graph.Vertex) {
	var passes, single []float64
	var levels []levelSum
	var bySize [64]levelSum // levels by the number of bits of their frontier's size
	var depth int
	var outside, all, copyWait, correcting time.Duration
	setup := make([]time.Duration, len(ranks))
	s := ranks[0]
	var corrections int64
	for pass := range *flagPasses {
		seconds := 0.0
		for i, root := range roots {
			t, err := e.Search(b.Context(), root, parent)
			if err != nil {
				b.Fatal(err)
			}
			seconds += t.Elapsed.Seconds() / float64(counts[i])
			if pass == 0 {
				corrections += int64(s.status.Corrections)
				single = append(single, float64(counts[i])/t.Elapsed.Seconds()/1e9)
			}
			levels, outside = addLevels(levels, t, outside)
			depth += len(t.Levels)
			for _, l := range t.Levels {
				bySize[bits.Len64(uint64(l.Frontier))].add(l)
			}
			for i, r := range ranks {
				setup[i] += time.Duration(r.status.Setup) / time.Duration(len(roots)**flagPasses)
			}
			copyWait += time.Duration(s.status.CopyWait)
			correcting += time.Duration(s.status.Correcting)
			all += t.Elapsed
		}
		passes = append(passes, float64(len(roots))/seconds/1e9)
	}
	slices.Sort(passes)
	slices.Sort(single)
	n := time.Duration(len(roots) * *flagPasses)
	spread := func(x []float64) string {
		return fmt.Sprintf("min %.1f median %.1f max %.1f", x[0], x[len(x)/2], x[len(x)-1])
	}
	fmt.Printf("RESULT %s: harmonic mean of a pass: %s GTEPS; a root: %s; mean %v\n",
		name, spread(passes), spread(single), all/n)
	const shown = 32 // levels
	if len(levels) <= shown {
		for i, l := range levels {
			fmt.Printf("  level %d: %s\n", i, l)
		}
	} else {
		fmt.Printf("  levels of a search: %d\n", depth/int(n))
		for i, l := range bySize {
			if text := l.String(); text != "" {
				fmt.Printf("  frontiers below %d: %s\n", 1<<i, text)
			}
		}
	}
	fmt.Printf("  outside levels: %v a search; %v setup, %v waiting for the copy of the template, %v for %d corrections\n",
		outside/n, setup, copyWait/n, correcting/n, corrections/int64(len(roots)))
	b.ReportMetric(passes[len(passes)/2], "GTEPS")
}

// levelSum sums the levels with the same number, by direction.
type levelSum struct {
	searches         [2]int
	elapsed          [2]time.Duration
	edges, frontiers [2]int64
	phases           [2][]plugins.Phase // sums; of several GPUs
}

func addLevels(sums []levelSum, t plugins.Traversal, outside time.Duration) ([]levelSum, time.Duration) {
	outside += t.Elapsed
	for i, l := range t.Levels {
		if i == len(sums) {
			sums = append(sums, levelSum{})
		}
		sums[i].add(l)
		outside -= l.Elapsed
	}
	return sums, outside
}

func (l *levelSum) add(level plugins.Level) {
	edges, _ := level.Edges.Get()
	d := level.Direction
	l.searches[d]++
	l.elapsed[d] += level.Elapsed
	l.edges[d] += edges
	l.frontiers[d] += level.Frontier
	for i, p := range level.Phases {
		if i == len(l.phases[d]) {
			l.phases[d] = append(l.phases[d], plugins.Phase{Name: p.Name})
		}
		bytes, _ := p.Bytes.Get()
		messages, _ := p.Messages.Get()
		sum := &l.phases[d][i]
		sentBytes, _ := sum.Bytes.Get()
		sentMessages, _ := sum.Messages.Get()
		sum.Elapsed += p.Elapsed
		sum.Slowest += p.Slowest
		sum.Bytes, sum.Messages = plugins.Counted(bytes+sentBytes), plugins.Counted(messages+sentMessages)
	}
}

func (l levelSum) String() string {
	var text []string
	for d, n := range l.searches {
		if n > 0 {
			text = append(text, fmt.Sprintf("%v %d times: %v, frontier %d, examined %d", graph.Direction(d), n,
				l.elapsed[d]/time.Duration(n), l.frontiers[d]/int64(n), l.edges[d]/int64(n)))
			for _, p := range l.phases[d] {
				bytes, _ := p.Bytes.Get()
				messages, _ := p.Messages.Get()
				text = append(text, fmt.Sprintf("%s %v (slowest %v) %d bytes %.2f messages", p.Name, p.Elapsed/time.Duration(n),
					p.Slowest/time.Duration(n), bytes/int64(n), float64(messages)/float64(n)))
			}
		}
	}
	return strings.Join(text, "; ")
}

// chooseRoots draws vertices with a neighbor, always the same ones.
func chooseRoots(joined []uint64, vertices int64, n int) (roots []graph.Vertex) {
	random := rand.New(rand.NewPCG(1, 2))
	for len(roots) < n {
		root := random.Int64N(vertices)
		if joined[root/64]>>(root%64)&1 != 0 && !slices.Contains(roots, graph.Vertex(root)) {
			roots = append(roots, graph.Vertex(root))
		}
	}
	return roots
}
