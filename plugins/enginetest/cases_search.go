package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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
		l.search(root, previous)
	}
}

func parentLength(s *subject) {
	in := path(40)
	in.vertices = 200
	l := s.load(in)
	whole := l.parent
	for _, n := range []int64{200, 40, 41, 128, 64, 200} {
		// With another number of vertices the same graph needs another truth, but no other Construct.
		l.input.vertices, l.parent = n, whole[:n]
		var err error
		l.truth, err = NewTruth(l.input.tuples, l.input.vertices)
		s.must(err, "preparing %v", l.input)
		for i := range l.around {
			l.around[i] = guardMark
		}
		l.searchAll(0, graph.Vertex(n-1), 20)
	}
}

func searchRefused(s *subject) {
	l := s.load(path(100))
	refuse := func(root graph.Vertex, n int, sentinels ...error) {
		what := fmt.Sprintf("%v, root %d with %d parents", l.input, root, n)
		s.refusesSearch(what, root, l.parent[:n:n], sentinels...)
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
		s.skip("the engine takes tuples alone")
	}
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	in := s.kronecker(recipe.Scale, recipe.EdgeFactor, recipe.Seed1, recipe.Seed2)
	l := s.load(in)
	_, err := s.engine.Construct(s.ctx, plugins.Input{Recipe: &recipe, Options: s.options})
	if errors.Is(err, plugins.ErrOption) {
		s.skip(err.Error())
	}
	s.must(err, "Construct of the recipe of %v: want a graph, got the error", in)
	s.when = "from the recipe alone"
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
	copy(l.given, random(500, 700, 13).tuples) // another graph with the same labels, for engines that read them again
	s.when = "after the host has overwritten the tuples"
	l.searchAll(in.sample()...)
	clear(l.given)
	s.when = "after the host has cleared the tuples"
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
