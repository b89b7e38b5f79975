package enginetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// constructing are the cases about kernel 1: one graph after the other, and what belongs to whom.
func constructing() []Case {
	return []Case{
		{Name: "construct/again", About: "Each Construct replaces the graph: smaller, larger, empty, the first again.",
			check: constructAgain},
		{Name: "construct/tuples-kept", About: "The engine changes nothing in the tuples.", check: tuplesKept},
		{Name: "construct/tuples-let-go", About: "The host may overwrite the tuples after Construct.", check: tuplesLetGo},
		{Name: "construct/huge-label", About: "A label beyond the engine's limits is refused with ErrTuples or ErrMemory.",
			check: hugeLabel},
		{Name: "construct/report", About: "Construction has its bytes, entries and claims filled in, and they make sense.",
			check: constructReport},
	}
}

func constructAgain(ctx context.Context, s *subject) error {
	first := random(200, 300, 9)
	for _, in := range []input{
		first, shuffled(path(30), 1), random(1500, 3000, 10), star(1500, 3),
		{name: "without tuples", vertices: 3}, first, first,
	} {
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		if err := l.searchAll(ctx, in.sample()); err != nil {
			return fmt.Errorf("after other graphs in the same engine: %w", err)
		}
	}
	return nil
}

func tuplesKept(ctx context.Context, s *subject) error {
	// Labels descend and most tuples are duplicates: whoever sorts or removes in place is seen.
	in := random(64, 1000, 11)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	compare := func(when string) error {
		for i, e := range l.given {
			if e != in.tuples[i] {
				return fmt.Errorf("%v: want the tuples unchanged %s, but tuple %d was %v and is %v", in, when, i, in.tuples[i], e)
			}
		}
		return nil
	}
	if err := compare("by Construct"); err != nil {
		return err
	}
	for _, root := range in.sample() {
		if err := l.searchAll(ctx, []graph.Vertex{root}); err != nil {
			return err
		}
		if err := compare(fmt.Sprintf("by the search from root %d", root)); err != nil {
			return err
		}
	}
	return nil
}

func tuplesLetGo(ctx context.Context, s *subject) error {
	in := random(500, 700, 12)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	if err := l.searchAll(ctx, in.sample()[:2]); err != nil {
		return err
	}
	// Other tuples of the same labels: whoever looks at them again finds another graph.
	source := random(500, 700, 13)
	copy(l.given, source.tuples)
	if err := l.searchAll(ctx, in.sample()); err != nil {
		return fmt.Errorf("after the host has overwritten the tuples: %w", err)
	}
	clear(l.given)
	if err := l.searchAll(ctx, in.sample()); err != nil {
		return fmt.Errorf("after the host has cleared the tuples: %w", err)
	}
	return nil
}

func hugeLabel(ctx context.Context, s *subject) error {
	for _, list := range [][]graph.Edge{edges(0, graph.MaxVertex), edges(0, 1, 1, 2, graph.MaxVertex-5, 2)} {
		given, err := s.tuples(list)
		if err != nil {
			return err
		}
		_, err = s.engine.Construct(ctx, plugins.Graph{Tuples: given, Options: s.options})
		if err == nil {
			// An engine without such a limit must still see that no array of ours is long enough.
			_, err = s.engine.Search(ctx, 0, make([]graph.Vertex, 10))
			err = wantError("Search with 10 parents in a graph of labels up to 2^48-1", err, plugins.ErrParent)
		} else {
			err = wantError("Construct with labels up to 2^48-1", err, plugins.ErrTuples, plugins.ErrMemory)
		}
		if err != nil {
			return err
		}
	}
	l, err := s.load(ctx, path(20))
	if err != nil {
		return fmt.Errorf("after a refused graph: %w", err)
	}
	return l.searchAll(ctx, []graph.Vertex{0, 19})
}

func constructReport(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	made := l.made
	if made.Bytes <= 0 {
		return fmt.Errorf("%v: want Construction.Bytes to be what the engine holds, got %d", in, made.Bytes)
	}
	if n, known := made.Entries.Get(); known && (n <= 0 || n > 2*int64(len(in.tuples))) {
		return fmt.Errorf("%v: want Construction.Entries from 1 to twice the %d tuples, or none, got %d", in, len(in.tuples), n)
	}
	claims := made.Claims
	if claims.ParentBits < 10 || claims.ParentBits > 64 {
		return fmt.Errorf("%v: want Claims.ParentBits from 10, which hold its labels, to 64, got %d", in, claims.ParentBits)
	}
	if claims.VertexBits < 10 || claims.VertexBits > 64 {
		return fmt.Errorf("%v: want Claims.VertexBits from 10, which hold its labels, to 64, got %d", in, claims.VertexBits)
	}
	if claims.Tuning == "" {
		return fmt.Errorf("%v: want Claims.Tuning to say where thresholds come from (\"none\" if there are none), got nothing", in)
	}
	return namedFacts(made.Details)
}

func namedFacts(facts []plugins.Fact) error {
	if i := slices.IndexFunc(facts, func(f plugins.Fact) bool { return f.Name == "" }); i >= 0 {
		return fmt.Errorf("want a name for each detail, got none for %q", facts[i].Value)
	}
	return nil
}
