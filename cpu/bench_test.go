// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// The benchmarks of the engine, without the protocol around it:
//
//	go test -c -o cpu.test ./cpu
//	./cpu.test -test.run '^$' -test.bench Search -test.benchtime 1x -cpu.scale 22 -cpu.passes 5 \
//		-cpu.set threads=2/threads=2,adjacency=packed
//
// ShortestPaths in place of Search is kernel 3, with the engine serial as the first, and Ablation and PathAblation say
// what each technique is worth. All take turns, so that a noisy machine is noisy for all: a pass searches from every
// root once. Minimum, median and maximum of the passes' harmonic means of tuples per second are printed, and the median
// of the ratios to the first's passes. Before the first pass every root is searched once by all and validated.
var (
	flagScale  = flag.Int("cpu.scale", 16, "scale of the benchmark's Kronecker graph")
	flagGraph  = flag.String("cpu.graph", "", "search this graph instead: a generator such as grid2d:2000, or a file")
	flagPasses = flag.Int("cpu.passes", 3, "passes over the roots")
	flagRoots  = flag.Int("cpu.roots", 64, "roots")
	flagSet    = flag.String("cpu.set", "", "engine options, name=value,...; sets separated by slashes take turns")
)

func BenchmarkSearch(b *testing.B)        { benchmarkGraph(b, false).engines().run(b) }
func BenchmarkShortestPaths(b *testing.B) { benchmarkGraph(b, true).engines().run(b) }
func BenchmarkAblation(b *testing.B)      { benchmarkGraph(b, false).ablations("0").run(b) }
func BenchmarkPathAblation(b *testing.B)  { benchmarkGraph(b, true).ablations("0").run(b) }

// BenchmarkConstruct is kernel 1, with its peak of memory above the tuples.
func BenchmarkConstruct(b *testing.B) {
	tuples := benchmarkGraph(b, false).tuples
	for text := range strings.SplitSeq(*flagSet, "/") {
		b.Run(text, func(b *testing.B) {
			peak := int64(0)
			for b.Loop() {
				e := construction(b, tuples, optionsOf(text, ","))
				peak = e.memory.Peak()
				must.Do(e.free())
			}
			b.ReportMetric(float64(peak)/1e6, "peakMB")
		})
	}
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

// turns are searches of one graph that take turns.
type turns struct {
	testing.TB
	tuples  []graph.Edge
	weights []float32 // nil: kernel 2
	roots   []graph.Vertex
	counts  []int64 // tuples of each root's component, without self-loops
	host    *validate.Validator
	out     plugins.Output // of the last search
	all     []*series
}

// series is one of them.
type series struct {
	name      string
	search    func(root graph.Vertex) (plugins.Traversal, error)
	rates     []float64 // GTEPS, harmonic means of passes
	breakdown           // of all passes
}

// benchmarkGraph makes the graph that the flags ask for, and draws its roots as a whole run does.
func benchmarkGraph(t testing.TB, paths bool) *turns {
	spec := cmp.Or(*flagGraph, fmt.Sprintf("kron:%d", *flagScale))
	if !graph.IsGenerator(spec) {
		return newTurns(t, must.Get(files.Load(t.Context(), spec, files.Options{})), paths, *flagRoots)
	}
	return newTurns(t, must.Get(graph.ParseSource(spec, 2, 3)), paths, *flagRoots)
}

func newTurns(t testing.TB, source graph.Source, paths bool, roots int) *turns {
	a := &turns{TB: t, tuples: make([]graph.Edge, source.Tuples())}
	must.Do(source.Generate(t.Context(), a.tuples, 0, 0))
	n := source.Vertices()
	arena := memory.New()
	t.Cleanup(arena.ReleaseAll)
	a.host, a.out.Parent = must.Get(validate.New(a.tuples, n, 0)), memory.Allocate[graph.Vertex](arena, "parents", int(n))
	if paths {
		a.weights, a.out.Distance = make([]float32, len(a.tuples)), memory.Allocate[float32](arena, "distances", int(n))
		must.Do(errors.Join(graph.Weights(t.Context(), source, 2, 3, a.weights, 0, 0), a.host.SetWeights(a.weights)))
	}
	must.Do(arena.Err())
	joined := func(some []graph.Vertex) ([]bool, error) { return a.host.Joined(t.Context(), some) }
	a.roots, _ = must.Get2(harness.DrawRoots(n, 2, 3, joined, roots))
	runtime.GC()
	return a
}

// engines adds the engine with every set of options.
func (a *turns) engines() *turns {
	add := func(name string, e plugins.Engine, set map[string]string) {
		a.Cleanup(func() { e.Close() })
		built := must.Get(e.Construct(a.Context(), plugins.Input{
			Tuples: a.tuples, Weights: a.weights, ShortestPaths: a.weights != nil, Options: set,
		}))
		fmt.Printf("%s kernel 1: %v, holds %d MB", name, built.Elapsed.Round(time.Millisecond), built.Bytes>>20)
		for _, p := range built.Phases {
			fmt.Printf(", %s %v", p.Name, p.Elapsed.Round(time.Millisecond))
		}
		fmt.Println()
		a.add(name, func(root graph.Vertex) (plugins.Traversal, error) { return e.Search(a.Context(), root, a.out) })
	}
	if a.weights != nil {
		add("serial", serial.New(), nil)
	}
	for text := range strings.SplitSeq(*flagSet, "/") {
		add("cpu "+text, New(), optionsOf(text, ","))
	}
	return a
}

// add adds a search, after it has searched from every root and every result was valid.
func (a *turns) add(name string, search func(root graph.Vertex) (plugins.Traversal, error)) {
	a.counts = nil
	for _, root := range a.roots {
		a.host.Overwrite(a.out.Parent, a.out.Distance)
		must.Get(search(root))
		tree, err := a.host.Validate(a.Context(), root, a.out.Parent, a.out.Distance)
		if err != nil {
			a.Fatalf("%s, root %d: %v", name, root, err)
		}
		a.counts = append(a.counts, tree.NEdge())
	}
	a.all = append(a.all, &series{name: name, search: search})
}

func (a *turns) run(b *testing.B) {
	for range b.N * *flagPasses {
		for _, s := range a.all {
			time.Sleep(20 * time.Millisecond) // until the workers before have parked
			must.Get(s.search(a.roots[0]))    // wakes the workers
			seconds := 0.0
			for i, root := range a.roots {
				t := must.Get(s.search(root))
				seconds += t.Elapsed.Seconds() / float64(a.counts[i])
				s.breakdown.add(t)
			}
			s.rates = append(s.rates, float64(len(a.roots))/seconds/1e9)
		}
	}
	for _, s := range a.all {
		ratios := make([]float64, len(s.rates)) // of passes that were neighbors in time
		for i := range ratios {
			ratios[i] = s.rates[i] / a.all[0].rates[i]
		}
		fmt.Printf("%s: hmean of a pass: minimum %.3f median %.3f maximum %.3f GTEPS, to the first %.3f\n\t"+
			"mean of a search: %v\n", s.name, slices.Min(s.rates), units.Median(s.rates), slices.Max(s.rates),
			units.Median(ratios), &s.breakdown)
	}
	b.ReportMetric(units.Median(a.all[0].rates), "GTEPS")
}

// breakdown adds up where searches spend their time: in levels of either direction, by the size of the frontier that
// they expand, and in phases outside levels.
type breakdown struct {
	searches int
	entries  int64 // looked at
	elapsed  time.Duration
	phases   map[string]time.Duration
	levels   [2][10]struct { // top-down, bottom-up; frontiers of 10^k vertices and more
		times   int
		elapsed time.Duration
	}
}

func (d *breakdown) add(t plugins.Traversal) {
	d.searches++
	d.elapsed += t.Elapsed
	if d.phases == nil {
		d.phases = map[string]time.Duration{}
	}
	for _, p := range t.Phases {
		d.phases[p.Name] += p.Elapsed
	}
	for _, l := range t.Levels {
		size := 0
		for n := l.Frontier; n >= 10; n /= 10 {
			size++
		}
		sum := &d.levels[l.Direction][size]
		sum.times++
		sum.elapsed += l.Elapsed
		looked, _ := l.Edges.Get()
		d.entries += looked
	}
}

func (d *breakdown) String() string {
	var text strings.Builder
	n := time.Duration(max(d.searches, 1))
	fmt.Fprintf(&text, "%v, %d entries;", d.elapsed/n, d.entries/int64(n))
	for i, direction := range []graph.Direction{graph.TopDown, graph.BottomUp} {
		fmt.Fprintf(&text, " %v", direction)
		for k, sum := range d.levels[i] {
			if sum.times > 0 {
				mean := (sum.elapsed / time.Duration(sum.times)).Round(time.Microsecond)
				fmt.Fprintf(&text, " 10^%d: %v (%.2f x %v)", k, sum.elapsed/n, float64(sum.times)/float64(n), mean)
			}
		}
		fmt.Fprint(&text, ";")
	}
	for _, name := range slices.Sorted(maps.Keys(d.phases)) {
		fmt.Fprintf(&text, " %s %v;", name, d.phases[name]/n)
	}
	return text.String()
}

// ablation is the full engine, or the engine without one technique.
type ablation struct {
	name    string
	options string
	lists   layout.Options
	remove  func(t testing.TB, e *instance)
}

var ablations = []ablation{
	{name: "nothing"},
	{name: "numbering by degree", lists: layout.Options{ByLabel: true}},
	{name: "groups", options: "hubs=64"},
	{name: "leaves", lists: layout.Options{NoLeaves: true}},
	{name: "output template", remove: func(_ testing.TB, e *instance) { // parents are written vertex by vertex
		e.search.templateShare = math.MaxInt64
	}},
	{name: "bottom-up steps, and their bitmaps", options: "direction=topdown"},
	{name: "plain lists (packed instead)", options: "adjacency=packed"},
}

// pathAblations are those of kernel 3.
var pathAblations = []ablation{
	{name: "nothing"},
	{name: "push between hubs", remove: func(_ testing.TB, e *instance) { e.paths.core = nil }},
	{name: "relay weights in bounds", remove: func(t testing.TB, e *instance) {
		g := e.paths.g
		for v := range g.Relays {
			g.Relays[v] = layout.Relay{Via: layout.None}
		}
		for v := range uint32(g.Vertices) {
			list := g.List(v)
			slices.Sort(list) // by weight
			for i, h := range []*layout.Head{&g.Heads[v], &g.Seconds[v][0], &g.Seconds[v][1]} {
				if i+1 < len(list) {
					_, next := layout.Split(list[i+1])
					h.Next = next * layout.Slack
				}
				if i < len(list) {
					h.Neighbor, h.Weight = layout.Split(list[i])
					h.Label = g.Label[h.Neighbor]
				}
			}
		}
		e.paths = must.Get(newPaths(t.Context(), g, e.team, e.memory))
	}},
	{name: "classes of degrees", remove: func(_ testing.TB, e *instance) {
		c := &e.paths.g.Classes
		c[1], c[2], c[3] = c[0], c[0], c[0] // all vertices that pull are in the last one
	}},
	{name: "room for open entries", remove: func(_ testing.TB, e *instance) { e.paths.pull.open.list = nil }},
}

// ablations adds the searches of every ablation.
func (a *turns) ablations(threads string) *turns {
	all := ablations
	if a.weights != nil {
		all = pathAblations
	}
	for _, without := range all {
		settings := must.Get(plugins.Resolve(options(), optionsOf("threads="+threads+" "+without.options, " ")))
		without.lists.Weighted = a.weights != nil
		e := must.Get(construct(a.Context(), a.tuples, settings, without.lists))
		a.Cleanup(func() { _ = e.free() })
		if a.weights != nil {
			must.Do(e.constructPaths(a.Context(), a.tuples, a.weights))
		}
		if without.remove != nil {
			without.remove(a, e)
		}
		n := e.graph.Labels
		a.add("without "+without.name, func(root graph.Vertex) (plugins.Traversal, error) {
			for v := n; v < len(a.out.Parent); v++ {
				a.out.Parent[v] = graph.Unreached
			}
			own := plugins.Output{Parent: a.out.Parent[:n]}
			if a.weights != nil {
				own.Distance = a.out.Distance[:n]
			}
			for v := n; v < len(a.out.Distance); v++ {
				a.out.Distance[v] = graph.Infinity()
			}
			return e.traverse(a.Context(), root, own)
		})
	}
	return a
}

func TestEveryAblationSearchesRight(t *testing.T) {
	for scale, paths := range map[int]bool{10: false, 12: true} {
		source := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		newTurns(t, source, paths, 20).ablations("3")
	}
}
