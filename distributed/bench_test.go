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
	flagPause  = flag.Duration("distributed.pause", 0, "pause before every search, as validation is one in whole runs")
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
		s := &series{name: name, engine: distributed.New(), phases: map[string]*plugins.Phase{},
			bytes: map[string]int64{}}
		switch {
		case strings.HasPrefix(name, "cpu"):
			s.engine = cpu.New()
		case strings.HasPrefix(name, "mpi"):
			s.engine = mpi.New()
		}
		defer s.engine.Close()
		options := map[string]string{}
		for pair := range strings.SplitSeq(name, ":") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				options[name] = value
			}
		}
		built, err := s.engine.Construct(b.Context(), plugins.Input{Tuples: tuples, Options: options})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%s kernel 1: %v, holds %d MB", name, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
		}
		fmt.Println()
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
	searches int
	names    []string // of phases, in order
	phases   map[string]*plugins.Phase
	bytes    map[string]int64 // of phases
	messages int64
	edges    int64
	times    []time.Duration // of searches
	expand   []time.Duration // [rank] of all searches
}

// pass searches from every root once. An untimed search comes first, after a pause in which the ranks of the series
// before have gone to sleep.
func (s *series) pass(b *testing.B, roots []graph.Vertex, counts []int64, parent []graph.Vertex) {
	time.Sleep(20 * time.Millisecond)
	if _, err := s.engine.Search(b.Context(), roots[0], parent); err != nil {
		b.Fatal(err)
	}
	seconds := 0.0
	for i, root := range roots {
		time.Sleep(*flagPause)
		t, err := s.engine.Search(b.Context(), root, parent)
		if err != nil {
			b.Fatal(err)
		}
		seconds += t.Elapsed.Seconds() / float64(counts[i])
		s.add(t)
	}
	s.rates = append(s.rates, float64(len(roots))/seconds/1e9)
}

// add adds the phases of a search. Those of a level are named by its direction too.
func (s *series) add(t plugins.Traversal) {
	s.searches++
	s.times = append(s.times, t.Elapsed)
	s.expand = slices.Grow(s.expand, len(t.Ranks))[:len(t.Ranks)]
	for k, rank := range t.Ranks {
		s.expand[k] += rank.Phases[distributed.Expand].Elapsed
	}
	add := func(prefix string, phases []plugins.Phase) {
		for _, p := range phases {
			name := prefix + p.Name
			sum := s.phases[name]
			if sum == nil {
				sum = &plugins.Phase{}
				s.phases[name], s.names = sum, append(s.names, name)
			}
			sum.Elapsed += p.Elapsed
			sum.Slowest += p.Slowest
			if n, ok := p.Bytes.Get(); ok {
				s.bytes[name] += n
			}
			if n, ok := p.Messages.Get(); ok {
				s.messages += n
			}
		}
	}
	for _, l := range t.Levels {
		add(l.Direction.String()+" ", l.Phases)
		edges, _ := l.Edges.Get()
		s.edges += edges
	}
	add("", t.Phases)
}

func (s *series) String() string {
	slices.Sort(s.times)
	text := fmt.Sprintf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS\n"+
		"\tsearches: minimum %v median %v maximum %v\n\tmean of a search:", s.name,
		slices.Min(s.rates), units.Median(s.rates), slices.Max(s.rates),
		s.times[0], s.times[len(s.times)/2], s.times[len(s.times)-1])
	n, total := time.Duration(s.searches), int64(0)
	for _, name := range s.names {
		p := s.phases[name]
		text += fmt.Sprintf(" %s %v (%v", name, (p.Elapsed / n).Round(time.Microsecond),
			(p.Slowest / n).Round(time.Microsecond))
		if bytes := s.bytes[name]; bytes > 0 {
			total += bytes
			text += fmt.Sprintf(", %d KiB", bytes/int64(n)>>10)
		}
		text += "),"
	}
	text += fmt.Sprintf(" %d bytes, %d messages, %d entries\n\texpand of each rank in us:", total/int64(n),
		s.messages/int64(n), s.edges/int64(n))
	for _, waited := range s.expand {
		text += fmt.Sprintf(" %d", (waited / n).Microseconds())
	}
	return text
}
