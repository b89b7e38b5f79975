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

func anyOrder(s *subject) {
	in := random(400, 500, 5)
	order := slices.Concat(in.sample(), in.sample(), in.sample())
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	s.load(in).searchAll(append(order, 0, 0, 0, 0, 58, 58, 58, 58)...)
}

func otherComponent(s *subject) {
	in := input{name: "of two stars", vertices: 300} // the even vertices around 0, the odd ones around 1
	for v := graph.Vertex(2); v < 300; v++ {
		in.tuples = append(in.tuples, graph.MakeEdge(v%2, v))
	}
	l := s.load(in)
	for _, root := range []graph.Vertex{0, 1, 298, 299, 1, 0} {
		l.searchOver(root, previous)
	}
}

func parentLength(s *subject) {
	in := path(40)
	in.vertices = 200
	l := s.load(in)
	for _, n := range []int64{200, 40, 41, 128, 64, 200} {
		// With another number of vertices the same graph needs another truth, but not another Construct.
		l.input.vertices = n
		l.prepare()
		l.searchAll(0, graph.Vertex(n-1), 20)
	}
}

func searchRefused(s *subject) {
	l := s.load(path(100))
	refuse := func(root graph.Vertex, n int, sentinels ...error) {
		what := fmt.Sprintf("%v, root %d with %d parents", l.input, root, n)
		l.refuses(what, root, n, sentinels...)
		s.when = "after a refused search"
		l.searchAll(17, 99)
	}
	for _, root := range []graph.Vertex{-1, 100, 101, 1 << 40, graph.Unwritten, math.MaxInt64} {
		refuse(root, 100, plugins.ErrRoot)
	}
	for _, n := range []int{99, 50, 1} {
		refuse(0, n, plugins.ErrParent)
	}
	refuse(0, 0, plugins.ErrParent, plugins.ErrRoot) // both are true
}

func beforeConstruct(s *subject) {
	s.refusesSearch("Search before any Construct", 3, s.vertices(10), plugins.ErrNotConstructed)
	s.when = "after a Search without a graph"
	s.load(path(10)).searchAll(3)
}

func fromRecipe(s *subject) {
	if !s.description.MakesTuples {
		s.skip("the engine does not make tuples from a recipe")
	}
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	in := s.kronecker(recipe.Scale, recipe.EdgeFactor, recipe.Seed1, recipe.Seed2)
	l := s.load(in)
	_, err := s.engine.Construct(s.ctx, plugins.Input{Recipe: &recipe, Options: s.options})
	if errors.Is(err, plugins.ErrOption) {
		s.skip(err.Error())
	}
	s.must(err, "Construct of the recipe of %v: want a graph, got the error", in)
	s.when = "from the recipe"
	l.searchAll(in.sample()...)
}

func constructAgain(s *subject) {
	first := random(200, 300, 9)
	for _, in := range []input{
		first, shuffled(path(30), 1), random(1500, 3000, 10), star(1500, 3),
		{name: "without tuples", vertices: 3}, first, first,
	} {
		s.load(in).searchAll(in.sample()...)
		s.when = "after other graphs in the same engine"
	}
}

func tuplesKept(s *subject) {
	in := random(64, 1000, 11) // mostly duplicates, to detect engines that sort or remove them in place
	l := s.load(in)
	compare := func(when string) {
		for i, e := range l.given {
			if e != in.tuples[i] {
				s.fail("%v: want the tuples unchanged %s, but tuple %d was %v and is %v", in, when, i, in.tuples[i], e)
			}
		}
	}
	compare("by Construct")
	for _, root := range in.sample() {
		l.searchAll(root)
		compare(fmt.Sprintf("by the search from root %d", root))
	}
}

func tuplesLetGo(s *subject) {
	in := random(500, 700, 12)
	l := s.load(in)
	l.searchAll(in.sample()[:2]...)
	if !slices.Equal(l.lent, l.weights) {
		s.fail("%v: want the weights unchanged", in)
	}
	copy(l.given, random(500, 700, 13).tuples) // another graph with the same labels, for engines that read them again
	s.when = "after the host has overwritten the tuples"
	l.searchAll(in.sample()...)
	clear(l.given)
	clear(l.lent)
	s.when = "after the host has cleared the tuples and the weights"
	l.searchAll(in.sample()...)
}

func hugeLabel(s *subject) {
	for _, list := range [][]graph.Edge{edges(0, graph.MaxVertex), edges(0, 1, 1, 2, graph.MaxVertex-5, 2)} {
		err := s.construct(s.ctx, s.tuples(list))
		if err != nil {
			s.wantError("Construct with labels up to 2^48-1", err, plugins.ErrTuples, plugins.ErrMemory)
			continue
		}
		// An engine without such a limit must still notice that this array is too short.
		const what = "Search with 10 parents in a graph of labels up to 2^48-1"
		s.refusesSearch(what, 0, make([]graph.Vertex, 10), plugins.ErrParent)
	}
	s.when = "after a refused graph"
	s.load(path(20)).searchAll(0, 19)
}

// graphCases search one named graph each: from every vertex of a small graph and from many of a larger one, over arrays
// that hold unwritten marks, plausible parents and old results.
func graphCases() []Case {
	deep, deeper := path(1<<12+5).from(0, 1<<12+4, 1<<11), shuffled(path(70_000), 7).from(0, 69_999)
	return []Case{
		graphCase("empty", "Without tuples each vertex reaches only itself.", input{name: "without tuples", vertices: 5}),
		graphCase("one-vertex", "One vertex without tuples is a tree.", input{name: "of one vertex", vertices: 1}),
		graphCase("one-edge", "The two ends of one edge reach each other.",
			input{name: "of one edge", tuples: edges(1, 0), vertices: 2}),
		graphCase("path", "A path has one vertex on each level, in both directions.", path(10)),
		graphCase("path-64", "A path may end with a bitmap's word.", shuffled(path(64), 3)),
		graphCase("path-65", "A path may end one vertex after a bitmap's word.", shuffled(path(65), 3)),
		graphCase("star", "A star has two levels from its hub and three from other vertices.", star(9, 0)),
		graphCase("star-65-last", "The hub may be the last vertex.", star(65, 64)),
		graphCase("star-wide", "A hub may have more neighbors than 16 bits count.",
			star(70_000, 35_000).from(35_000, 0, 69_999)),
		graphCase("two-components", "Vertices of another component are unreached.",
			input{name: "of two components", tuples: edges(0, 2, 2, 4, 4, 0, 1, 3, 3, 5), vertices: 6}),
		graphCase("self-loops", "Self-loops lead nowhere.",
			input{name: "of self-loops", tuples: edges(0, 0, 1, 1, 2, 2, 2, 2, 4, 4), vertices: 5}),
		graphCase("duplicates", "Duplicate tuples, in both orientations, change nothing.",
			input{name: "path with duplicates", tuples: edges(0, 1, 1, 0, 0, 1, 1, 2, 1, 2, 3, 2, 2, 3, 3, 2), vertices: 4}),
		graphCase("clique", "A clique has 2 levels.", joined("clique", 20, 20, func(u, v graph.Vertex) bool { return true })),
		graphCase("bipartite", "In a complete bipartite graph the root's own side is on level 2.",
			joined("complete bipartite 7+12", 19, 19, func(u, v graph.Vertex) bool { return u < 7 && v >= 7 })),
		graphCase("tree", "A binary tree is searched down and up.",
			joined("binary tree of 63", 63, 63, func(u, v graph.Vertex) bool { return u == (v-1)/2 })),
		graphCase("cycle", "On a cycle both directions meet, at one vertex or at two.",
			input{name: "cycles of 6 and 7", vertices: 13, tuples: edges(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0,
				6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 6)}),
		graphCase("grid", "In a grid most vertices have several correct parents.", shuffled(grid(8, 8), 8)),
		graphCase("isolated-end", "parent may be longer than the labels; the vertices beyond are unreached or a root.",
			input{name: "path of 4 with 9 vertices beyond", tuples: edges(0, 1, 1, 2, 2, 3), vertices: 13}),
		takesLong(graphCase("high-labels", "Labels may be high and far apart.",
			input{name: "of labels up to 2^20", vertices: 1<<20 + 3,
				tuples: edges(1<<20, 7, 7, 1<<16, 1<<16, 1<<19, 1<<19+1, 1<<19, 65_535, 1<<20),
				roots:  []graph.Vertex{1 << 20, 7, 65_535, 1<<20 + 2, 0}})),
		graphCase("random-deep", "Many components, deep trees, self-loops and duplicates.", random(3000, 2000, 1)),
		takesLong(graphCase("path-deep", "There may be thousands of levels.", deep)),
		takesLong(graphCase("path-deeper", "There may be more levels than 16 bits count.", deeper)),
		kroneckerCase("kronecker-10", 10, 16, 2, 3),
		kroneckerCase("kronecker-10-sparse", 10, 1, 2, 3),
		kroneckerCase("kronecker-10-dense", 10, 64, 2, 3),
		kroneckerCase("kronecker-10-seeds", 10, 16, 4711, 1<<40),
		kroneckerCase("kronecker-12", 12, 16, 2, 3),
		takesLong(kroneckerCase("kronecker-15", 15, 16, 2, 3)),
	}
}

// GraphCase searches a graph of the caller: exact levels and valid parents, from every vertex of a small graph and from
// 32 of a larger one. It needs about 100 bytes for each tuple and vertex.
func GraphCase(name string, vertices int64, tuples []graph.Edge) Case {
	c := graphCase(name, "Every search of this graph is exact.", input{name: name, tuples: tuples, vertices: vertices})
	c.Name = "given/" + name
	return c
}

func graphCase(name, about string, in input) Case {
	return Case{Name: "graph/" + name, About: about, check: func(s *subject) { s.load(in).searchAll(in.sample()...) }}
}

func kroneckerCase(name string, scale, edgeFactor int, seed1, seed2 uint64) Case {
	return Case{Name: "graph/" + name, About: "A graph of the benchmark.", check: func(s *subject) {
		in := s.kronecker(scale, edgeFactor, seed1, seed2)
		roots := in.sample()
		if scale > 12 {
			roots = roots[:6] // graph.CSR is slow
		}
		s.load(in).searchAll(roots...)
	}}
}

func takesLong(c Case) Case {
	c.runs = long
	return c
}

// needsLoop skips the case if the engine has no loop of searches.
func (l *loaded) needsLoop(roots ...graph.Vertex) {
	_, err := l.loop(l.ctx, roots, time.Nanosecond, l.parent, l.distance)
	if errors.Is(err, errors.ErrUnsupported) {
		l.skip("the engine does not repeat searches by itself")
	}
	l.must(err, "Repeat from roots %v for a nanosecond", roots)
}

// repeat makes a loop and checks the number of searches, the time, and the result of the last search.
func (l *loaded) repeat(duration time.Duration, roots ...graph.Vertex) (n int64, took time.Duration) {
	l.persistently(func(int) {
		l.fill(0)
		start := time.Now()
		searches, err := l.loop(l.ctx, roots, duration, l.parent, l.distance)
		n, took = searches, time.Since(start)
		l.must(err, "%v, Repeat from roots %v", l.input, roots)
		// The last search may begin just before the end.
		if took < duration || searches < 1 || took > duration+patience+2*took/time.Duration(searches) {
			l.fail("%v: want Repeat to search for %v, got %d searches in %v", l.input, duration, searches, took)
		}
	})
	before := l.when
	l.when = fmt.Sprintf("the result of the last of %d searches by Repeat", n)
	l.verify(roots[(n-1)%int64(len(roots))], unwritten)
	l.when = before
	return n, took
}

// loop makes a loop of searches by the kernel of the case. An engine has one if the error is not errors.ErrUnsupported.
func (s *subject) loop(ctx context.Context, roots []graph.Vertex, duration time.Duration, parent []graph.Vertex,
	distance []float32) (int64, error) {
	if engine, ok := s.engine.(plugins.Repeater); ok {
		return engine.Repeat(ctx, roots, duration, s.output(parent, distance))
	}
	return 0, errors.ErrUnsupported
}

func repeatDuration(s *subject) {
	for _, in := range []input{s.kronecker(10, 16, 2, 3), shuffled(grid(20, 30), 33)} {
		l, roots := s.load(in), in.sample()[:5]
		l.needsLoop(roots[:2]...)
		for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 150 * time.Millisecond} {
			l.repeat(d, roots[1:4]...)
			s.when = "after a Repeat"
			l.searchAll(roots...)
		}
	}
}

// repeatCount allows for warmer caches in a loop, and compares the mean of many searches with the minimum of a few.
func repeatCount(s *subject) {
	const maxSpeedup = 3
	in := s.kronecker(14, 16, 2, 3)
	l := s.load(in)
	root, _ := in.tuples[0].Ends()
	l.needsLoop(root)
	fastest := time.Hour
	s.persistently(func(int) {
		for range 10 {
			t, _ := l.run(root)
			fastest = min(fastest, t.Elapsed)
		}
		searches, took := l.repeat(100*time.Millisecond, root)
		if each := took / time.Duration(searches); each < fastest/maxSpeedup {
			s.fail("%v, root %d: want no more searches than there is time for, got %d in %v, %v each; "+
				"the fastest Search took %v", in, root, searches, took, each, fastest)
		}
	})
}

func repeatCancel(s *subject) {
	in := random(2000, 6000, 31)
	l, roots := s.load(in), in.sample()[:3]
	l.needsLoop(roots...)
	what := in.String() + ", Repeat for an hour"
	for _, delay := range delays {
		err := s.canceled(delay, func(ctx context.Context) error {
			_, err := l.loop(ctx, roots, time.Hour, l.parent, l.distance)
			return err
		})
		s.wantError(fmt.Sprintf("%s, canceled after %v", what, delay), err, context.Canceled)
		s.when = "after a canceled Repeat"
		l.searchAll(roots...)
	}
}

func repeatRefuses(s *subject) {
	in := random(100, 200, 32)
	l := s.load(in)
	l.needsLoop(1)
	n := 100
	refuse := func(roots []graph.Vertex, duration time.Duration, sentinels ...error) { // none: any error
		what := fmt.Sprintf("%v, Repeat from roots %v for %v", in, roots, duration)
		_, err := l.loop(s.ctx, roots, duration, l.parent[:n:n], l.distance[:n:n])
		if err == nil || sentinels != nil {
			s.wantError(what, err, sentinels...)
		}
	}
	const duration = 10 * time.Millisecond
	for _, bad := range []graph.Vertex{-1, 1 << 40, graph.Unwritten} {
		refuse([]graph.Vertex{1, bad}, duration, plugins.ErrRoot)
	}
	refuse(nil, duration)
	refuse([]graph.Vertex{1}, 0)
	refuse([]graph.Vertex{1}, -time.Second)
	n = 99
	refuse([]graph.Vertex{1}, duration, plugins.ErrParent)
	n = 100
	s.when = "after a refused Repeat"
	l.searchAll(in.sample()[:3]...)
	s.must(s.engine.Close(), "Close")
	refuse([]graph.Vertex{1}, duration, plugins.ErrClosed)
}
