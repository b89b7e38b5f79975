package distributed_test

import (
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
// means of tuples per second are printed, the median of the ratios to the first engine's passes, and for a search the
// time of each phase (mean over ranks and slowest rank) with the bytes that all ranks have sent, and bytes, messages
// and adjacency entries read. The expand times of single ranks show which of them others wait for: those that wait
// least. Before the first pass every root is searched once with every engine and validated.
var (
	flagScale  = flag.Int("distributed.scale", 16, "scale of the benchmark's Kronecker graph")
	flagPasses = flag.Int("distributed.passes", 3, "passes over the roots")
	flagRoots  = flag.Int("distributed.roots", 64, "roots")
	flagSet    = flag.String("distributed.set", "cpu,ranks=1,ranks=1:threads=2,ranks=2,ranks=2:partition=2d,"+
		"ranks=2:partition=1d-source", "engines that take turns, with commas: options name=value with colons, after cpu or "+
		"mpi if it is that engine")
)

func BenchmarkSearch(b *testing.B) {
	tuples := kronecker(b, *flagScale, 16)
	roots := chooseRoots(tuples)
	validator, err := validate.New(tuples, 1<<*flagScale, 0)
	if err != nil {
		b.Fatal(err)
	}
	parent := make([]graph.Vertex, 1<<*flagScale)
	counts := make([]int64, len(roots)) // tuples of each component
	var all []*series
	for name := range strings.SplitSeq(*flagSet, ",") {
		runtime.GC() // of the tuples as sent
		s := &series{name: name, engine: distributed.New(), phases: map[string]*sum{}}
		switch {
		case strings.HasPrefix(name, "cpu"):
			s.engine = cpu.New()
		case strings.HasPrefix(name, "mpi"):
			s.engine = mpi.New()
		}
		defer s.engine.Close()
		built, err := s.engine.Construct(b.Context(), plugins.Input{Tuples: tuples, Options: optionsOf(name)})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%s kernel 1: %v, holds %d MB\n", name, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for i, root := range roots {
			if _, err := s.engine.Search(b.Context(), root, parent); err != nil {
				b.Fatal(err)
			}
			tree, err := validator.Validate(b.Context(), root, parent)
			if err != nil {
				b.Fatalf("%s, root %d: %v", name, root, err)
			}
			counts[i] = tree.NEdge()
		}
		all = append(all, s)
	}
	for range b.N {
		for range *flagPasses {
			for _, s := range all {
				s.pass(b, roots, counts, parent)
			}
		}
	}
	for _, s := range all {
		fmt.Println(s)
		if s != all[0] {
			ratios := make([]float64, len(s.rates))
			for k := range ratios {
				ratios[k] = s.rates[k] / all[0].rates[k]
			}
			fmt.Printf("\tto the first: %.3f\n", units.Median(ratios))
		}
	}
	b.ReportMetric(units.Median(all[0].rates), "GTEPS")
}

// chooseRoots draws vertices that have a neighbor, always the same ones.
func chooseRoots(tuples []graph.Edge) (roots []graph.Vertex) {
	random := rand.New(rand.NewPCG(1, 2))
	for len(roots) < *flagRoots {
		if u, v := tuples[random.IntN(len(tuples))].Ends(); u != v && !slices.Contains(roots, u) {
			roots = append(roots, u)
		}
	}
	return roots
}

// series is the passes of one engine.
type series struct {
	name     string
	engine   plugins.Engine
	rates    []float64 // GTEPS, harmonic means of passes
	searches int64
	names    []string // of phases, in order
	phases   map[string]*sum
	messages int64
	edges    int64
	expand   []time.Duration // [rank] of all searches
}

// sum adds up a phase over all searches.
type sum struct {
	elapsed, slowest time.Duration
	bytes            int64
}

// pass searches from every root once. An untimed search comes first, after a pause in which the ranks of the series
// before have gone to sleep.
func (s *series) pass(b *testing.B, roots []graph.Vertex, counts []int64, parent []graph.Vertex) {
	time.Sleep(20 * time.Millisecond)
	seconds := 0.0
	for i := -1; i < len(roots); i++ {
		found, err := s.engine.Search(b.Context(), roots[max(i, 0)], parent)
		if err != nil {
			b.Fatal(err)
		}
		if i >= 0 {
			seconds += found.Elapsed.Seconds() / float64(counts[i])
			s.add(found)
		}
	}
	s.rates = append(s.rates, float64(len(roots))/seconds/1e9)
}

// add adds the phases of a search. Those of a level are named by its direction too.
func (s *series) add(found plugins.Traversal) {
	s.searches++
	s.expand = slices.Grow(s.expand, len(found.Ranks))[:len(found.Ranks)]
	for k, rank := range found.Ranks {
		s.expand[k] += rank.Phases[distributed.Expand].Elapsed
	}
	add := func(prefix string, phases []plugins.Phase) {
		for _, p := range phases {
			name := prefix + p.Name
			if s.phases[name] == nil {
				s.phases[name], s.names = &sum{}, append(s.names, name)
			}
			all := s.phases[name]
			all.elapsed, all.slowest, all.bytes = all.elapsed+p.Elapsed, all.slowest+p.Slowest, all.bytes+number(p.Bytes)
			s.messages += number(p.Messages)
		}
	}
	for _, l := range found.Levels {
		add(l.Direction.String()+" ", l.Phases)
		s.edges += number(l.Edges)
	}
	add("", found.Phases)
}

func (s *series) String() string {
	text := fmt.Sprintf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS\n\tmean of a search:",
		s.name, slices.Min(s.rates), units.Median(s.rates), slices.Max(s.rates))
	for _, name := range s.names {
		p, n := s.phases[name], time.Duration(s.searches)
		text += fmt.Sprintf(" %s %v (%v, %d KiB),", name, (p.elapsed / n).Round(time.Microsecond),
			(p.slowest / n).Round(time.Microsecond), p.bytes/s.searches>>10)
	}
	text += fmt.Sprintf(" %d messages, %d entries\n\texpand of each rank in us:",
		s.messages/s.searches, s.edges/s.searches)
	for _, waited := range s.expand {
		text += fmt.Sprintf(" %d", waited.Microseconds()/s.searches)
	}
	return text
}
