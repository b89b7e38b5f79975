//go:build cuda

package cuda

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The benchmark of the engine alone, without the protocol around it:
//
//	bash cuda/build.sh kernels && bash cuda/build.sh go test -c -o cuda.test ./cuda
//	./cuda.test -test.run '^$' -test.bench Search -test.benchtime 1x -cuda.scale 26 -cuda.passes 5 -cuda.set topdown=scan/topdown=dynamic
//
// A pass searches from every root once; least, median and most of the passes' harmonic means of tuples per second are printed,
// and the mean time of each level. Before the first pass some roots are searched and validated against the tuples.
var (
	flagScale    = flag.Int("cuda.scale", 16, "scale of the benchmark's graph")
	flagPasses   = flag.Int("cuda.passes", 3, "passes over the roots")
	flagRoots    = flag.Int("cuda.roots", 64, "roots")
	flagValidate = flag.Int("cuda.validate", 2, "roots that are validated before the first pass")
	flagSet      = flag.String("cuda.set", "", "options of the engine: name=value,...; sets to compare are separated by a slash")
)

func benchmarkOptions() (sets []map[string]string) {
	for text := range strings.SplitSeq(*flagSet, "/") {
		set := map[string]string{}
		for pair := range strings.SplitSeq(text, ",") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				set[name] = value
			}
		}
		sets = append(sets, set)
	}
	return sets
}

func BenchmarkSearch(b *testing.B) {
	needGPU(b)
	ctx := context.Background()
	recipe := graph.Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, recipe.Tuples())
	if err := recipe.Generate(ctx, tuples, 0, 0); err != nil {
		b.Fatal(err)
	}
	roots := chooseRoots(tuples, recipe.Vertices(), *flagRoots)
	parent := make([]graph.Vertex, recipe.Vertices())
	v, err := graph.NewValidator(tuples, int64(len(parent)), 0)
	if err != nil {
		b.Fatal(err)
	}
	var counts []int64
	for which, set := range benchmarkOptions() {
		e := New()
		built, err := e.Construct(ctx, plugins.Graph{Tuples: tuples, Options: set})
		if err != nil {
			b.Fatal(err)
		}
		entries, _ := built.Entries.Get()
		fmt.Printf("%v kernel 1: %v, holds %d MB, %d entries", set, built.Elapsed.Round(time.Microsecond), built.Bytes>>20, entries)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Microsecond))
		}
		fmt.Println()
		for _, d := range built.Details {
			fmt.Printf("  %s: %s\n", d.Name, d.Value)
		}
		for i, root := range roots {
			if _, err := e.Search(ctx, root, parent); err != nil {
				b.Fatal(err)
			}
			if i < *flagValidate {
				if _, err := v.Validate(ctx, root, parent); err != nil {
					b.Fatalf("root %d: %v", root, err)
				}
			}
			switch {
			case which > 0:
			case i > 0 && parent[roots[0]] >= 0: // the same component
				counts = append(counts, counts[0])
			default:
				count, err := v.Count(ctx, parent)
				if err != nil {
					b.Fatal(err)
				}
				counts = append(counts, count.NEdge())
			}
		}
		var rates, best []float64
		var levels []levelSum
		var rest, all, prepared, waited, corrected time.Duration
		var wrong int64
		for pass := range *flagPasses {
			seconds := 0.0
			for i, root := range roots {
				t, err := e.Search(ctx, root, parent[:len(parent):len(parent)])
				if err != nil {
					b.Fatal(err)
				}
				seconds += t.Elapsed.Seconds() / float64(counts[i])
				status := e.(*engine).search.status
				if pass == 0 {
					wrong += int64(status.Finds)
					best = append(best, float64(counts[i])/t.Elapsed.Seconds()/1e9)
				}
				levels, rest = addLevels(levels, t, rest)
				prepared += time.Duration(status.Prepared)
				waited += time.Duration(status.Waited)
				corrected += time.Duration(status.Corrected)
				all += t.Elapsed
			}
			rates = append(rates, float64(len(roots))/seconds/1e9)
		}
		slices.Sort(rates)
		slices.Sort(best)
		n := time.Duration(len(roots) * *flagPasses)
		fmt.Printf("RESULT s%d %v: hmean of a pass: least %.1f median %.1f most %.1f GTEPS; a root: least %.1f median %.1f most %.1f; mean %v\n", *flagScale, set,
			rates[0], rates[len(rates)/2], rates[len(rates)-1], best[0], best[len(best)/2], best[len(best)-1], all/n)
		for i, l := range levels {
			fmt.Printf("  level %d: %s\n", i, l)
		}
		fmt.Printf("  outside levels: %v a search; %v before the first one, %v waiting for the copy of the template, %v correcting %d parents\n", rest/n,
			prepared/n, waited/n, corrected/n, wrong/int64(len(roots)))
		b.ReportMetric(rates[len(rates)/2], "GTEPS")
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
	}
}

// levelSum adds up the levels of one number, by direction.
type levelSum struct {
	searches         [2]int
	elapsed          [2]time.Duration
	edges, frontiers [2]int64
}

func addLevels(sums []levelSum, t plugins.Traversal, rest time.Duration) ([]levelSum, time.Duration) {
	rest += t.Elapsed
	for i, l := range t.Levels {
		if i == len(sums) {
			sums = append(sums, levelSum{})
		}
		edges, _ := l.Edges.Get()
		d := l.Direction
		sums[i].searches[d]++
		sums[i].elapsed[d] += l.Elapsed
		sums[i].edges[d] += edges
		sums[i].frontiers[d] += l.Frontier
		rest -= l.Elapsed
	}
	return sums, rest
}

func (l levelSum) String() string {
	var text []string
	for d, n := range l.searches {
		if n > 0 {
			text = append(text, fmt.Sprintf("%v %d times: %v, frontier %d, looked at %d", graph.Direction(d), n,
				l.elapsed[d]/time.Duration(n), l.frontiers[d]/int64(n), l.edges[d]/int64(n)))
		}
	}
	return strings.Join(text, "; ")
}

// chooseRoots draws vertices that have a neighbour, always the same ones.
func chooseRoots(tuples []graph.Edge, vertices int64, n int) (roots []graph.Vertex) {
	used := make([]bool, vertices)
	for _, t := range tuples {
		if u, v := t.Ends(); u != v {
			used[u], used[v] = true, true
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for len(roots) < n {
		if root := random.Int64N(vertices); used[root] {
			used[root] = false
			roots = append(roots, graph.Vertex(root))
		}
	}
	return roots
}
