// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cuda/accelerator"
	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// The benchmark of the engine without the protocol around it:
//
//	bash cuda/build.sh kernels && bash cuda/build.sh go test -c -o cuda.test ./cuda
//	./cuda.test -test.run '^$' -test.bench Search -test.benchtime 1x -cuda.graph kron:26 -cuda.passes 5 \
//	    -cuda.set topdown=scan/topdown=dynamic
//
// A pass searches from every root once. The output has the minimum, median and maximum of the passes' harmonic means,
// and the mean time of each level, or of levels with frontiers of a similar size if there are many. The first searches,
// before the first pass, are validated.
var (
	flagGraph    = flag.String("cuda.graph", "kron:16", "the benchmark's graph: a generator such as kron:26, or a file")
	flagPasses   = flag.Int("cuda.passes", 3, "passes over the roots")
	flagRoots    = flag.Int("cuda.roots", 64, "roots")
	flagValidate = flag.Int("cuda.validate", 2, "roots that are validated before the first pass")
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
	v := must.Get(validate.New(tuples, source.Vertices(), 0))
	roots := chooseRoots(v, source.Vertices(), *flagRoots)
	parent := slices.Repeat([]graph.Vertex{graph.Unreached}, int(source.Vertices()))
	for _, set := range benchmarkSets() {
		b.Run(fmt.Sprint(set), func(b *testing.B) { // which frees the graph
			built, s := constructGraph(b, plugins.Input{Tuples: tuples, Options: set})
			entries, _ := built.Entries.Get()
			fmt.Printf("%v kernel 1: %v, uses %d MB, %d entries, %v\n", set, built.Elapsed.Round(time.Microsecond),
				built.Bytes>>20, entries, built.Phases)
			for _, d := range built.Details {
				fmt.Printf("  %s: %s\n", d.Name, d.Value)
			}
			counts := validateRoots(b, built, v, roots, parent)
			measure(b, fmt.Sprintf("%s %v", source.Name(), set), built, s, roots, counts, parent)
		})
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
		must.Do(errors.Join(a.Generate(tb.Context(), plugins.Input{Recipe: &k, Tuples: tuples}), a.Close()))
	} else if err := source.Generate(tb.Context(), tuples, 0, 0); err != nil {
		tb.Fatal(err)
	}
	return source, tuples
}

// validateRoots searches from every root, validates some of the searches, and returns the tuples that each traverses.
func validateRoots(b *testing.B, built plugins.Built, v *validate.Validator, roots, parent []graph.Vertex) (
	counts []int64) {
	for i, root := range roots {
		must.Get(built.Search(b.Context(), root, plugins.Output{Parent: parent[:built.Vertices]}))
		if i < *flagValidate {
			if _, err := v.Validate(b.Context(), root, parent, nil); err != nil {
				b.Fatalf("root %d: %v", root, err)
			}
		}
		if i > 0 && parent[roots[0]] >= 0 { // the same component
			counts = append(counts, counts[0])
			continue
		}
		count := must.Get(v.Count(b.Context(), root, parent))
		counts = append(counts, count.NEdge())
	}
	return counts
}

// levelSum sums levels with the same levelKey.
type levelSum struct {
	levels, frontiers, edges int64
	elapsed                  time.Duration
}

// levelKey is a direction and the number of a level, or in long searches the bits of its frontier's size.
type levelKey struct{ direction, number int }

func measure(b *testing.B, name string, built plugins.Built, s *search, roots []graph.Vertex, counts []int64,
	parent []graph.Vertex) {
	const shown = 32 // levels
	var passes, single []float64
	sums := map[levelKey]*levelSum{}
	var all, outside, setup, copyWait, correcting time.Duration
	var corrections uint64
	for pass := range *flagPasses {
		seconds := 0.0
		for i, root := range roots {
			t := must.Get(built.Search(b.Context(), root, plugins.Output{Parent: parent[:built.Vertices]}))
			seconds += t.Elapsed.Seconds() / float64(counts[i])
			if pass == 0 {
				single = append(single, float64(counts[i])/t.Elapsed.Seconds()/1e9)
			}
			for n, l := range t.Levels {
				if len(t.Levels) > shown {
					n = bits.Len64(uint64(l.Frontier))
				}
				key := levelKey{int(l.Direction), n}
				if sums[key] == nil {
					sums[key] = &levelSum{}
				}
				sums[key].add(l)
				outside -= l.Elapsed
			}
			all += t.Elapsed
			setup += time.Duration(s.status.Setup)
			copyWait += time.Duration(s.status.CopyWait)
			correcting += time.Duration(s.status.Correcting)
			corrections += s.status.Corrections
		}
		passes = append(passes, float64(len(roots))/seconds/1e9)
	}
	slices.Sort(passes)
	slices.Sort(single)
	spread := func(x []float64) string {
		return fmt.Sprintf("min %.1f median %.1f max %.1f", x[0], x[len(x)/2], x[len(x)-1])
	}
	n := time.Duration(len(roots) * *flagPasses)
	fmt.Printf("RESULT %s: harmonic mean of a pass: %s GTEPS; a root: %s; mean %v\n",
		name, spread(passes), spread(single), all/n)
	for _, key := range slices.SortedFunc(maps.Keys(sums), func(a, b levelKey) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.direction, b.direction))
	}) {
		l := sums[key]
		fmt.Printf("  level or bits of the frontier %d: %v %d times: %v, frontier %d, examined %d\n", key.number,
			graph.Direction(key.direction), l.levels, l.elapsed/time.Duration(l.levels), l.frontiers/l.levels,
			l.edges/l.levels)
	}
	fmt.Printf("  outside levels: %v a search; %v setup, %v waiting for the copy of the template, "+
		"%v for %d corrections\n", (outside+all)/n, setup/n, copyWait/n, correcting/n, corrections/uint64(n))
	b.ReportMetric(passes[len(passes)/2], "GTEPS")
}

func (l *levelSum) add(level plugins.Level) {
	edges, _ := level.Edges.Get()
	l.levels++
	l.elapsed += level.Elapsed
	l.edges += edges
	l.frontiers += level.Frontier
}

// chooseRoots draws vertices with a neighbor, always the same ones.
func chooseRoots(v *validate.Validator, vertices int64, n int) (roots []graph.Vertex) {
	random := rand.New(rand.NewPCG(1, 2))
	for len(roots) < n {
		root := graph.Vertex(random.Int64N(vertices))
		joined, _ := v.Joined(context.Background(), []graph.Vertex{root})
		if joined[0] && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	return roots
}
