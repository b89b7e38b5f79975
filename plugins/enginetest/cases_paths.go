// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Cases of kernel 3, for engines that have it.

func pathCases() []Case {
	return []Case{
		{"paths/exact", paths(exactPaths), always, "Distances are right to the bit; parents form a tree of tight tuples."},
		{"paths/kronecker", paths(kroneckerPaths), always, "The same for graphs and weights of the benchmark."},
		{"paths/far", paths(farPaths), long, "The same for many levels and for weights of any size."},
		{"paths/any-order", paths(mixedSearches), always, "Kernels 2 and 3 are correct in any order, in longer arrays."},
		{"paths/again", paths(pathsAgain), always, "Each Construct replaces the weights; without them, no kernel 3."},
		{"paths/weights-let-go", paths(tuplesLetGo), always, "The engine does not change the weights or read them later."},
		{"paths/refused", paths(pathsRefused), always, "ErrRoot, ErrParent and ErrNotConstructed, as for Search."},
		{"paths/report", paths(pathsReport), always, "The time of kernel 3 is within its call and covers most of it."},
		{"paths/repeat", paths(pathsRepeat), always, "The loop of kernel 3 is that of kernel 2 for its results."},
		{"paths/cancel", paths(cancelDuringSearch), long, "A canceled kernel 3 returns in two seconds; the next is correct."},
	}
}

// paths makes a check of kernel 3 of one whose searches are those of the kernel of the case.
func paths(check func(*subject)) func(*subject) {
	return func(s *subject) {
		if !s.description.ShortestPaths {
			s.skip("the engine has no kernel 3")
		}
		s.kernel3 = true
		check(s)
	}
}

// floats allocates weights or distances.
func (s *subject) floats(n int, allocate func(plugins.Lender, int64) ([]float32, func() error, error)) []float32 {
	if host, ok := s.engine.(plugins.Lender); ok && s.kernel3 && n > 0 {
		return allocated(s, func(n int64) ([]float32, func() error, error) { return allocate(host, n) }, n)
	}
	return make([]float32, n)
}

// law makes the weight of a tuple.
type law struct {
	name string
	of   func(r *rand.Rand) float32
}

// laws are weights that show different faults: sums that are equal or lost in rounding, bounds that hold for uniform
// weights only, arithmetic without denormals, signs of zero.
func laws() []law {
	oneOf := func(weights ...float32) func(*rand.Rand) float32 {
		return func(r *rand.Rand) float32 { return weights[r.IntN(len(weights))] }
	}
	return []law{
		{"uniform", func(r *rand.Rand) float32 { return r.Float32() }},
		{"from 0.9 to 1", func(r *rand.Rand) float32 { return 0.9 + 0.1*r.Float32() }},
		{"all 1", oneOf(1)},
		{"all 0", oneOf(0)},
		{"quarters", oneOf(0, 0.25, 0.5, 0.75)},
		{"half of them 0", func(r *rand.Rand) float32 { return r.Float32() * float32(r.IntN(2)) }},
		{"mostly lost in rounding", oneOf(0x1p-27, 0x1p-27, 0x1p-26, 0x1p-25, 0.5, 0.7)},
		{"some -0", oneOf(float32(math.Copysign(0, -1)), 0.1, 0.3, 0.9)},
		{"denormal", oneOf(1e-42, 3e-42, 1e-38, 0)},
		{"up to 2^64", func(r *rand.Rand) float32 { return float32(math.Exp2(64 * r.Float64())) }},
	}
}

func weightsBy(in input, l law) []float32 {
	r, weights := rand.New(rand.NewPCG(3, uint64(len(in.tuples)))), make([]float32, len(in.tuples))
	for i := range weights {
		weights[i] = l.of(r)
	}
	return weights
}

// searchPaths searches a graph with weights of a law.
func (s *subject) searchPaths(in input, l law, roots ...graph.Vertex) {
	named := in
	named.name += ", weights " + l.name
	s.loadWith(named, weightsBy(in, l), s.options).searchAll(roots...)
}

func exactPaths(s *subject) {
	for _, in := range []input{
		{name: "without tuples", vertices: 3},
		{name: "of one edge", tuples: edges(1, 0), vertices: 2},
		shuffled(path(65), 3), star(65, 64), shuffled(grid(8, 8), 8),
		{name: "of two components", tuples: edges(0, 2, 2, 4, 4, 0, 1, 3, 3, 5), vertices: 6},
		{name: "of self-loops", tuples: edges(0, 0, 1, 1, 2, 2, 2, 2, 4, 4, 4, 3), vertices: 6},
		{name: "path with duplicates", tuples: edges(0, 1, 1, 0, 0, 1, 1, 2, 1, 2, 3, 2, 2, 3, 3, 2), vertices: 4},
		joined("clique", 20, 20, func(u, v graph.Vertex) bool { return true }),
		random(60, 60, 1), random(40, 400, 2),
	} {
		for _, l := range laws() {
			s.searchPaths(in, l, in.sample()...)
		}
	}
}

func kroneckerPaths(s *subject) {
	for _, scale := range []int{7, 10, 13} {
		in := s.kronecker(scale, 16, 2, 3)
		roots, weights := in.sample()[:16-scale], make([]float32, len(in.tuples))
		recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		s.must(graph.Weights(s.ctx, recipe, 0, 0, weights, 0, 1), "generating weights of %v", in)
		s.loadWith(in, weights, s.options).searchAll(roots...)
		for _, l := range laws()[1:] {
			if scale < 13 {
				s.searchPaths(in, l, roots[:3]...)
			}
		}
	}
}

func farPaths(s *subject) {
	for _, in := range []input{path(5000).from(0, 2500), shuffled(grid(70, 70), 4).from(0, 77), random(4000, 5000, 6)} {
		for _, l := range laws() {
			s.searchPaths(in, l, in.sample()[:2]...)
		}
	}
}

func mixedSearches(s *subject) {
	in := random(300, 500, 5)
	in.vertices = 400 // the last 100 are beyond the tuples
	l := s.load(in)
	for i, root := range append(in.sample(), 399, 7, 7, 399) {
		s.kernel3 = i%3 != 1
		l.searchOver(root, filling(i)%fillings)
	}
}

func pathsAgain(s *subject) {
	for _, in := range []input{
		random(200, 300, 9), path(30), random(1500, 3000, 10), {name: "without tuples", vertices: 3},
	} {
		for _, l := range laws()[:3] {
			s.searchPaths(in, l, in.sample()[:2]...)
		}
		s.kernel3 = false
		l := s.load(in)
		l.searchAll(in.sample()[:2]...)
		s.kernel3 = true
		const what = "ShortestPaths after a Construct without weights"
		s.refusesSearch(what, in.sample()[0], l.parent, plugins.ErrNotConstructed)
	}
}

func pathsRefused(s *subject) {
	beforeConstruct(s)
	s.when = ""
	searchRefused(s)
	l := s.load(path(100))
	_, err := s.search(s.ctx, 0, l.parent, l.distance[:99])
	s.wantError("99 distances and 100 parents", err, plugins.ErrParent)
	in := plugins.Input{Tuples: l.given, ShortestPaths: true, Weights: l.lent[:98:98], Options: s.options}
	_, err = s.engine.Construct(s.ctx, in)
	s.wantError("98 weights of 99 tuples", err, plugins.ErrTuples)
	s.must(s.engine.Close(), "Close")
	l.refuses("ShortestPaths after Close", 0, 100, plugins.ErrClosed)
}

func pathsReport(s *subject) {
	in := s.kronecker(14, 16, 2, 3)
	l := s.load(in)
	root, _ := in.tuples[0].Ends()
	s.persistently(func(int) {
		t, wall := l.run(root)
		s.must(t.Check(nil), "Traversal")
		overhead := time.Duration(12*in.vertices) + 2*time.Millisecond
		s.must(checkClock(t.Elapsed, wall, overhead), "Traversal.Elapsed")
		s.checkTimes(t)
	})
}

func pathsRepeat(s *subject) {
	for _, check := range []func(*subject){repeatDuration, repeatCancel, repeatRefuses} {
		s.when = ""
		check(s)
	}
}
