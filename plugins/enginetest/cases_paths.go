// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Cases of kernel 3, for engines that have it (plugins.PathFinder).

func pathCases() []Case {
	return []Case{
		{"paths/exact", exactPaths, always, "Distances are the oracle's bits; parents form a tree of tight tuples."},
		{"paths/kronecker", kroneckerPaths, always, "The same for graphs and weights of the benchmark."},
		{"paths/far", farPaths, long, "The same for many levels and for weights of any size."},
		{"paths/any-order", mixedSearches, always, "Kernels 2 and 3 are correct in any order, in longer arrays, too."},
		{"paths/again", pathsAgain, always, "Each Construct replaces the weights; without weights there is no kernel 3."},
		{"paths/weights-let-go", weightsLetGo, always, "The engine does not change the weights or read them later."},
		{"paths/refused", pathsRefused, always, "ErrRoot, ErrParent and ErrNotConstructed, as for Search."},
		{"paths/report", pathsReport, always, "The time of kernel 3 is within its call and covers most of it."},
		{"paths/repeat", pathsRepeat, always, "The loop of kernel 3 leaves the result of its last search."},
		{"paths/cancel", pathsCancel, long, "A canceled kernel 3 returns in two seconds; the next one is correct."},
	}
}

// PathAllocator is implemented by engines that share memory with the suite and have kernel 3.
type PathAllocator interface {
	Weights(n int64) (weights []float32, release func() error, err error)
	Distances(n int64) (distances []float32, release func() error, err error)
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

// routed is a graph that the engine has constructed for kernel 3, with the result arrays between guards.
type routed struct {
	*loaded
	weights  []float32
	oracle   *graph.CSR
	finder   plugins.PathFinder
	given    []float32 // the engine's weights
	beyond   []float32
	distance []float32 // beyond without its guards
}

func (s *subject) hasPaths() plugins.PathFinder {
	finder, ok := s.engine.(plugins.PathFinder)
	if s.description.ShortestPaths && !ok {
		s.fail("Description.ShortestPaths: want a plugins.PathFinder, got none")
	}
	if !s.description.ShortestPaths {
		s.skip("the engine has no kernel 3")
	}
	return finder
}

func weightsBy(in input, l law) []float32 {
	r, weights := rand.New(rand.NewPCG(3, uint64(len(in.tuples)))), make([]float32, len(in.tuples))
	for i := range weights {
		weights[i] = l.of(r)
	}
	return weights
}

type allocator func(n int64) (shared []float32, release func() error, err error)

func (s *subject) floats(n int, allocate func(PathAllocator) allocator) []float32 {
	if host, ok := s.engine.(PathAllocator); ok && n > 0 {
		return allocated(s, allocate(host), n)
	}
	return make([]float32, n)
}

func (s *subject) route(in input, weights []float32) *routed {
	r := &routed{weights: weights, finder: s.hasPaths()}
	truth, err := NewTruth(in.tuples, in.vertices)
	s.must(err, "preparing %v", in)
	s.must(truth.host.SetWeights(weights), "preparing %v", in)
	r.oracle, err = graph.NewWeightedCSR(in.tuples, weights, in.vertices)
	s.must(err, "preparing %v", in)
	r.given = s.floats(len(weights), func(a PathAllocator) allocator { return a.Weights })
	copy(r.given, weights)
	r.loaded = s.loadInput(in, truth, plugins.Input{ShortestPaths: true, Weights: r.given, Options: s.options})
	r.beyond = s.floats(int(guard+in.vertices+guard), func(a PathAllocator) allocator { return a.Distances })
	for i := range r.beyond {
		r.beyond[i] = -7
	}
	r.distance = r.beyond[guard : guard+in.vertices]
	return r
}

// paths calls ShortestPaths and checks its result.
func (r *routed) paths(roots ...graph.Vertex) {
	for i, root := range roots {
		r.fill(filling(i) % fillings)
		if i%2 == 0 { // else those of the search before
			for v := range r.distance {
				r.distance[v] = graph.UnwrittenDistance()
			}
		}
		_, err := r.finder.ShortestPaths(r.ctx, root, r.parent, r.distance)
		r.must(err, "%v, root %d: want shortest paths, got the error", r.input, root)
		r.verifyPaths(root)
	}
}

func (r *routed) verifyPaths(root graph.Vertex) {
	_, want, err := r.oracle.ShortestPaths(root)
	r.must(err, "preparing the truth")
	for v, d := range r.distance {
		if math.Float32bits(d) != math.Float32bits(want[v]) {
			r.fail("%v, root %d: distance[%d]: want %v (bits %08x), got %v (bits %08x)", r.input, root, v, want[v],
				math.Float32bits(want[v]), d, math.Float32bits(d))
		}
	}
	_, err = r.truth.host.ShortestPaths(r.ctx, root, r.parent, r.distance)
	r.must(err, "%v, root %d", r.input, root)
	for i, mark := range r.around {
		if at := int64(i) - guard; (at < 0 || at >= r.input.vertices) && (mark != guardMark || r.beyond[i] != -7) {
			r.fail("%v, root %d: want nothing written outside of the arrays, found %d at parent[%d] and %v at distance[%d]",
				r.input, root, mark, at, r.beyond[i], at)
		}
	}
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
			named := in
			named.name += ", weights " + l.name
			s.route(named, weightsBy(in, l)).paths(in.sample()...)
		}
	}
}

func kroneckerPaths(s *subject) {
	for _, scale := range []int{7, 10, 13} {
		in := s.kronecker(scale, 16, 2, 3)
		roots, weights := in.sample()[:16-scale], make([]float32, len(in.tuples))
		recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		s.must(graph.Weights(s.ctx, recipe, 0, 0, weights, 0, 1), "generating weights of %v", in)
		s.route(in, weights).paths(roots...)
		for _, l := range laws()[1:] {
			if scale < 13 {
				named := in
				named.name += ", weights " + l.name
				s.route(named, weightsBy(in, l)).paths(roots[:3]...)
			}
		}
	}
}

func farPaths(s *subject) {
	for _, in := range []input{path(5000).from(0, 2500), shuffled(grid(70, 70), 4).from(0, 77), random(4000, 5000, 6)} {
		for _, l := range laws() {
			named := in
			named.name += ", weights " + l.name
			s.route(named, weightsBy(in, l)).paths(in.sample()[:2]...)
		}
	}
}

func mixedSearches(s *subject) {
	in := random(300, 500, 5)
	in.vertices = 400 // the last 100 are beyond the tuples
	r := s.route(in, weightsBy(in, laws()[0]))
	for i, root := range in.sample() {
		if i%3 == 1 {
			r.search(root, previous)
		}
		r.paths(root)
	}
	r.paths(399, 7, 7, 399)
}

func pathsAgain(s *subject) {
	for _, in := range []input{
		random(200, 300, 9), path(30), random(1500, 3000, 10), {name: "without tuples", vertices: 3},
	} {
		for _, l := range laws()[:3] {
			s.route(in, weightsBy(in, l)).paths(in.sample()[:2]...)
		}
		r := s.route(in, weightsBy(in, laws()[0]))
		r.loaded = s.load(in)
		r.searchAll(in.sample()[:2]...)
		r.refuses("ShortestPaths after a Construct without weights", in.sample()[0], len(r.parent), plugins.ErrNotConstructed)
	}
}

func weightsLetGo(s *subject) {
	in := random(500, 1500, 12)
	r := s.route(in, weightsBy(in, laws()[0]))
	r.paths(in.sample()[:2]...)
	if !slices.Equal(r.given, r.weights) {
		s.fail("%v: want the weights unchanged", in)
	}
	clear(r.given)
	clear(r.loaded.given)
	s.when = "after the host has cleared tuples and weights"
	r.paths(in.sample()...)
}

// refuses calls ShortestPaths with the first n entries of the arrays.
func (r *routed) refuses(what string, root graph.Vertex, n int, sentinels ...error) {
	_, err := r.finder.ShortestPaths(r.ctx, root, r.parent[:n:n], r.distance[:n:n])
	r.wantError(what, err, sentinels...)
}

func pathsRefused(s *subject) {
	finder := s.hasPaths()
	ten := s.floats(10, func(a PathAllocator) allocator { return a.Distances })
	_, err := finder.ShortestPaths(s.ctx, 1, s.vertices(10), ten)
	s.wantError("ShortestPaths before any Construct", err, plugins.ErrNotConstructed)
	in := path(100)
	r := s.route(in, weightsBy(in, laws()[0]))
	for _, root := range []graph.Vertex{-1, 100, 1 << 40, graph.Unwritten, math.MaxInt64} {
		r.refuses(fmt.Sprintf("%v, root %d", in, root), root, 100, plugins.ErrRoot)
		r.paths(17)
	}
	for _, n := range []int{99, 1} {
		r.refuses(fmt.Sprintf("%v, %d parents", in, n), 0, n, plugins.ErrParent)
	}
	_, err = finder.ShortestPaths(s.ctx, 0, r.parent, r.distance[:99])
	s.wantError("99 distances and 100 parents", err, plugins.ErrParent)
	s.when = "after refused searches"
	r.paths(17, 99)
	_, err = s.engine.Construct(s.ctx, plugins.Input{
		Tuples: r.loaded.given, ShortestPaths: true, Weights: r.given[:99:99], Options: s.options})
	if err == nil {
		_, err = s.engine.Construct(s.ctx, plugins.Input{
			Tuples: r.loaded.given, ShortestPaths: true, Weights: r.given[:98:98], Options: s.options})
		s.wantError("98 weights of 99 tuples", err, plugins.ErrTuples)
	}
	s.must(s.engine.Close(), "Close")
	r.refuses("ShortestPaths after Close", 0, 100, plugins.ErrClosed)
}

func pathsReport(s *subject) {
	in := s.kronecker(14, 16, 2, 3)
	r := s.route(in, weightsBy(in, laws()[0]))
	root, _ := in.tuples[0].Ends()
	s.persistently(func(int) {
		start := time.Now()
		t, err := r.finder.ShortestPaths(s.ctx, root, r.parent, r.distance)
		wall := time.Since(start)
		s.must(err, "%v, root %d", in, root)
		s.must(t.CheckPaths(), "Traversal")
		overhead := plugins.MoveTime(12*in.vertices) + 500*time.Microsecond
		s.must(plugins.CheckClock("ShortestPaths", t.Elapsed, wall, overhead), "Traversal.Elapsed")
		s.checkTimes(t)
	})
}

func pathsRepeat(s *subject) {
	in := s.kronecker(10, 16, 2, 3)
	r, roots := s.route(in, weightsBy(in, laws()[0])), in.sample()[2:5]
	_, err := r.finder.RepeatShortestPaths(s.ctx, roots, time.Nanosecond, r.parent, r.distance)
	if errors.Is(err, errors.ErrUnsupported) {
		s.skip("the engine does not repeat kernel 3 by itself")
	}
	for _, d := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		r.fill(selves)
		start := time.Now()
		n, err := r.finder.RepeatShortestPaths(s.ctx, roots, d, r.parent, r.distance)
		took := time.Since(start)
		s.must(err, "%v, a loop from roots %v", in, roots)
		if n < 1 || took < d {
			s.fail("%v: want a loop of %v, got %d searches in %v", in, d, n, took)
		}
		r.verifyPaths(roots[(n-1)%int64(len(roots))])
	}
	for what, bad := range map[string][]graph.Vertex{"no roots": nil, "a root that does not exist": {1, 1 << 40}} {
		if _, err := r.finder.RepeatShortestPaths(s.ctx, bad, time.Millisecond, r.parent, r.distance); err == nil {
			s.fail("a loop from %s: want an error", what)
		}
	}
	err = s.canceled(delays[1], func(ctx context.Context) error {
		_, err := r.finder.RepeatShortestPaths(ctx, roots, time.Hour, r.parent, r.distance)
		return err
	})
	s.wantError("a canceled loop of an hour", err, context.Canceled)
	s.when = "after loops"
	r.paths(roots...)
}

func pathsCancel(s *subject) {
	in := path(1 << 16)
	r := s.route(in, weightsBy(in, laws()[0]))
	for _, delay := range delays {
		err := s.canceled(delay, func(ctx context.Context) error {
			_, err := r.finder.ShortestPaths(ctx, 0, r.parent, r.distance)
			return err
		})
		s.when = fmt.Sprintf("root 0, canceled after %v", delay)
		switch {
		case err == nil:
			r.verifyPaths(0)
		case !errors.Is(err, context.Canceled):
			s.must(err, "%v", in)
		}
	}
	r.paths(1 << 15)
}
