// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu"
	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/mpi"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// The benchmark of ranks x threads x partition and of the engine cpu, without the protocol around them:
//
//	go test -c -o distributed.test ./distributed
//	./distributed.test -test.run '^$' -test.bench Search -test.benchtime 1x -distributed.scale 22 -distributed.passes 5 \
//		-distributed.set cpu:threads=16,ranks=4:threads=4,ranks=16:partition=1d-source
//
// The engines take turns: a pass searches from every root once. Minimum, median and maximum of the passes' harmonic
// means of tuples per second are printed, and the median of the ratios to the first engine's passes. Before the first
// pass every root is searched once with every engine and validated. The phases are in the records of teps run. With
// -distributed.kernel sssp it is kernel 3.
var (
	flagScale  = flag.Int("distributed.scale", 16, "scale of the benchmark's Kronecker graph")
	flagPasses = flag.Int("distributed.passes", 3, "passes over the roots")
	flagRoots  = flag.Int("distributed.roots", 64, "roots")
	flagKernel = flag.String("distributed.kernel", "bfs", "bfs or sssp, kernel 2 or 3")
	flagSet    = flag.String("distributed.set", "cpu,ranks=1,ranks=1:threads=2,ranks=2,ranks=2:partition=2d,"+
		"ranks=2:partition=1d-source", "engines that take turns, with commas: options name=value with colons, after cpu or "+
		"mpi if it is that engine")
)

func BenchmarkSearch(b *testing.B) {
	tuples := kronecker(b, *flagScale, 16)
	var roots []graph.Vertex // the same in every run
	for random := rand.New(rand.NewPCG(1, 2)); len(roots) < *flagRoots; {
		if u, v := tuples[random.IntN(len(tuples))].Ends(); u != v && !slices.Contains(roots, u) {
			roots = append(roots, u)
		}
	}
	validator := must.Get(validate.New(tuples, 1<<*flagScale, 0))
	in := plugins.Input{Tuples: tuples, ShortestPaths: *flagKernel == "sssp"}
	out := plugins.Output{Parent: make([]graph.Vertex, 1<<*flagScale)}
	if in.ShortestPaths {
		out.Distance = make([]float32, 1<<*flagScale)
		in.Weights = make([]float32, len(tuples))
		recipe := graph.Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		must.Do(errors.Join(graph.Weights(b.Context(), recipe, 0, 0, in.Weights, 0, 0), validator.SetWeights(in.Weights)))
	}
	entries, levels := int64(0), 0
	search := func(e plugins.Engine, root graph.Vertex) time.Duration {
		found := must.Get(e.Search(b.Context(), root, out))
		for _, l := range found.Levels {
			entries, levels = entries+number(l.Edges), levels+1
		}
		return found.Elapsed
	}
	check := func(root graph.Vertex) (validate.Tree, error) {
		return validator.Validate(b.Context(), root, out.Parent, out.Distance)
	}
	counts := make([]int64, len(roots)) // tuples of each component
	names := strings.Split(*flagSet, ",")
	engines, rates := make([]plugins.Engine, len(names)), make([][]float64, len(names)) // GTEPS of each pass
	for k, name := range names {
		runtime.GC() // of the tuples as sent
		engines[k] = distributed.New()
		switch {
		case strings.HasPrefix(name, "cpu"):
			engines[k] = cpu.New()
		case strings.HasPrefix(name, "mpi"):
			engines[k] = mpi.New()
		}
		defer engines[k].Close()
		in.Options = optionsOf(name)
		built := must.Get(engines[k].Construct(b.Context(), in))
		entries, levels = 0, 0
		for i, root := range roots {
			search(engines[k], root)
			tree, err := check(root)
			if err != nil {
				b.Fatalf("%s, root %d: %v", name, root, err)
			}
			counts[i] = tree.NEdge()
		}
		fmt.Printf("%s kernel 1: %v, holds %d MB; a search has %d levels and reads %.3f m entries\n", name,
			built.Elapsed.Round(time.Millisecond), built.Bytes>>20, levels/len(roots),
			float64(entries)/float64(len(roots))/float64(len(tuples)))
	}
	for range b.N * *flagPasses {
		for k, e := range engines {
			time.Sleep(20 * time.Millisecond) // the ranks of the engine before go to sleep
			search(e, roots[0])
			seconds := 0.0
			for i, root := range roots {
				seconds += search(e, root).Seconds() / float64(counts[i])
			}
			rates[k] = append(rates[k], float64(len(roots))/seconds/1e9)
		}
	}
	for k, name := range names {
		var ratios []float64
		for pass, rate := range rates[k] {
			ratios = append(ratios, rate/rates[0][pass])
		}
		fmt.Printf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS; to the first: %.3f\n", name,
			slices.Min(rates[k]), units.Median(rates[k]), slices.Max(rates[k]), units.Median(ratios))
	}
	b.ReportMetric(units.Median(rates[0]), "GTEPS")
}
