package enginetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// searching are the cases about one search beside others: reuse, order, and what a search must refuse.
func searching() []Case {
	return []Case{
		{Name: "search/any-order", About: "Searches are right in any order of roots, and as right the second and third time.",
			check: anyOrder},
		{Name: "search/same-root-again", About: "The same root twice in a row gives a valid result both times.",
			check: sameRootAgain},
		{Name: "search/other-component", About: "A search of another component leaves nothing of the search before.",
			check: otherComponent},
		{Name: "search/parent-length", About: "The parent array may have another length at each search.",
			check: parentLength},
		{Name: "search/bad-root", About: "A root outside of parent is refused with ErrRoot, and the engine is as before.",
			check: badRoot},
		{Name: "search/short-parent", About: "A parent array shorter than the graph is refused with ErrParent, and the engine is as before.",
			check: shortParent},
		{Name: "search/before-construct", About: "Without a graph a search is refused with ErrNotConstructed.",
			check: beforeConstruct},
	}
}

func anyOrder(ctx context.Context, s *subject) error {
	in := random(400, 500, 5)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	order := slices.Concat(in.sample(), in.sample(), in.sample())
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return l.searchAll(ctx, order)
}

func sameRootAgain(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, shuffled(grid(9, 13), 4))
	if err != nil {
		return err
	}
	for _, root := range []graph.Vertex{0, 58, 116} {
		if err := l.searchAll(ctx, []graph.Vertex{root, root, root, root}); err != nil {
			return err
		}
	}
	return nil
}

func otherComponent(ctx context.Context, s *subject) error {
	// Two stars: the even vertices around 0 and the odd ones around 1.
	in := input{name: "of two stars", vertices: 300}
	for v := graph.Vertex(2); v < 300; v++ {
		in.tuples = append(in.tuples, graph.MakeEdge(v%2, v))
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	for _, root := range []graph.Vertex{0, 1, 298, 299, 1, 0} {
		if _, err := l.search(ctx, root, former); err != nil {
			return err
		}
	}
	return nil
}

func parentLength(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, withVertices(path(40), 200))
	if err != nil {
		return err
	}
	whole := l.parent
	for _, n := range []int64{200, 40, 41, 128, 64, 200} {
		// The same graph seen with another number of vertices needs its own truth, but no other Construct.
		l.input, l.parent = withVertices(l.input, n), whole[:n]
		if l.truth, err = newTruth(l.input); err != nil {
			return err
		}
		for i := range l.around {
			l.around[i] = guardMark
		}
		if err := l.searchAll(ctx, []graph.Vertex{0, graph.Vertex(n - 1), 20}); err != nil {
			return err
		}
	}
	return nil
}

func withVertices(in input, n int64) input {
	in.vertices = n
	return in
}

func badRoot(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, random(100, 200, 6))
	if err != nil {
		return err
	}
	for _, root := range []graph.Vertex{-1, 100, 101, 1 << 40, graph.Unwritten, math.MaxInt64} {
		_, err := s.engine.Search(ctx, root, l.parent)
		what := fmt.Sprintf("%v, root %d with 100 parents", l.input, root)
		if err := wantError(what, err, plugins.ErrRoot); err != nil {
			return err
		}
		if err := l.searchAll(ctx, []graph.Vertex{17, 99}); err != nil {
			return fmt.Errorf("after a refused root: %w", err)
		}
	}
	return nil
}

func shortParent(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, path(100))
	if err != nil {
		return err
	}
	for _, n := range []int{99, 50, 1, 0} {
		_, err := s.engine.Search(ctx, 0, l.parent[:n:n])
		what := fmt.Sprintf("%v, root 0 with %d parents", l.input, n)
		sentinels := []error{plugins.ErrParent}
		if n == 0 {
			sentinels = append(sentinels, plugins.ErrRoot) // both are true
		}
		if err := wantError(what, err, sentinels...); err != nil {
			return err
		}
		if err := l.searchAll(ctx, []graph.Vertex{17, 99}); err != nil {
			return fmt.Errorf("after a refused parent array: %w", err)
		}
	}
	return nil
}

func beforeConstruct(ctx context.Context, s *subject) error {
	parent, err := s.vertices(10)
	if err != nil {
		return err
	}
	_, err = s.engine.Search(ctx, 3, parent)
	if err := wantError("Search before any Construct", err, plugins.ErrNotConstructed); err != nil {
		return err
	}
	l, err := s.load(ctx, path(10))
	if err != nil {
		return fmt.Errorf("after a Search without a graph: %w", err)
	}
	return l.searchAll(ctx, []graph.Vertex{3})
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
