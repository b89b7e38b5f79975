package cpu

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
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
//	go test -c -o cpu.test ./cpu
//	./cpu.test -test.run '^$' -test.bench Search -test.benchtime 1x -cpu.scale 22 -cpu.passes 5 -cpu.set threads=2,parents=32
//
// A pass searches from every root once; the harmonic mean of the tuples per second is printed for each pass, and their
// median is the benchmark's result. Validation is on, outside the clock, for the first pass.
var (
	flagScale  = flag.Int("cpu.scale", 16, "scale of the benchmark's graph")
	flagPasses = flag.Int("cpu.passes", 3, "passes over the roots")
	flagRoots  = flag.Int("cpu.roots", 64, "roots")
	flagSet    = flag.String("cpu.set", "", "options of the engine: name=value,...")
	flagExport = flag.String("cpu.export", "", "write the tuples and the roots to this path with .tuples and .roots, for peers")
)

func benchmarkOptions() map[string]string {
	set := map[string]string{}
	for pair := range strings.SplitSeq(*flagSet, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			set[name] = value
		}
	}
	return set
}

func BenchmarkSearch(b *testing.B) {
	ctx := context.Background()
	tuples := kronecker(b, *flagScale)
	runtime.GC()
	e := New()
	defer e.Close()
	built, err := e.Construct(ctx, plugins.Graph{Tuples: tuples, Options: benchmarkOptions()})
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("kernel 1: %v, holds %d MB, peak %d MB", built.Elapsed.Round(time.Millisecond), built.Bytes>>20, e.(*engine).memory.peak>>20)
	for _, p := range built.Phases {
		fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
	}
	fmt.Println()

	roots, counts := chooseRoots(b, e, tuples)
	if *flagExport != "" {
		export(b, tuples, roots, counts)
	}
	parent := make([]graph.Vertex, 1<<*flagScale)
	var rates []float64
	for range b.N {
		for pass := range *flagPasses {
			seconds, total := 0.0, time.Duration(0)
			for i, root := range roots {
				t, err := e.Search(ctx, root, parent)
				if err != nil {
					b.Fatal(err)
				}
				seconds += t.Elapsed.Seconds() / float64(counts[i])
				total += t.Elapsed
			}
			rates = append(rates, float64(len(roots))/seconds/1e9)
			fmt.Printf("pass %d hmean %.4f GTEPS mean %.3f ms\n", pass, rates[len(rates)-1], total.Seconds()*1e3/float64(len(roots)))
		}
	}
	slices.Sort(rates)
	b.ReportMetric(rates[len(rates)/2], "GTEPS")
	b.ReportMetric(built.Elapsed.Seconds(), "s/kernel1")
}

// chooseRoots draws vertices that have a neighbour and counts the tuples of their components.
func chooseRoots(b *testing.B, e plugins.Engine, tuples []graph.Edge) (roots []graph.Vertex, counts []int64) {
	random := rand.New(rand.NewPCG(1, 2))
	parent := make([]graph.Vertex, 1<<*flagScale)
	used := make([]bool, len(parent))
	for _, t := range tuples {
		if u, v := t.Ends(); u != v {
			used[u], used[v] = true, true
		}
	}
	type component struct{ reached, tuples int64 }
	var known []component // a number of vertices tells a component here
	for len(roots) < *flagRoots {
		root := random.IntN(len(parent))
		if !used[root] {
			continue
		}
		used[root] = false
		if _, err := e.Search(context.Background(), graph.Vertex(root), parent); err != nil {
			b.Fatal(err)
		}
		c := component{}
		for _, p := range parent {
			if p >= 0 {
				c.reached++
			}
		}
		if i := slices.IndexFunc(known, func(k component) bool { return k.reached == c.reached }); i >= 0 {
			c = known[i]
		} else {
			for _, t := range tuples {
				if u, v := t.Ends(); u != v && parent[u] >= 0 {
					c.tuples++
				}
			}
			known = append(known, c)
		}
		roots, counts = append(roots, graph.Vertex(root)), append(counts, c.tuples)
	}
	return roots, counts
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
