package enginetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
)

// honesty are the cases about clocks that leave work out: work that goes on after the call, answers that are kept from
// one search for another, times that are a part of what the host sees. Times are compared with wide bounds, and several
// times before they are a fault, because the machine may be busy with other things.
func honesty() []Case {
	return []Case{
		{Name: "honest/clock", About: "A search's time holds most of its call's, beside what any call costs.", check: clockHoldsTheCall},
		{Name: "honest/done", About: "When Search has returned, nothing writes to parent any more.", check: nothingAfterReturn},
		{Name: "honest/nothing-learned", About: "Searching a root a second time is not much faster than the first time.",
			check: nothingLearned, long: true},
	}
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// clocks searches often from root and returns the engine's time and the host's of that search in which they are closest
// to each other. What a busy machine puts between them it does not put into every call.
func (l *loaded) clocks(ctx context.Context, root graph.Vertex, often int) (engine, host time.Duration, err error) {
	for i := range often {
		start := time.Now()
		t, err := l.subject.engine.Search(ctx, root, l.parent)
		wall := time.Since(start)
		if err != nil {
			return 0, 0, fmt.Errorf("%v, root %d: %w", l.input, root, err)
		}
		if i == 0 || wall-t.Elapsed < host-engine {
			engine, host = t.Elapsed, wall
		}
	}
	return engine, host, nil
}

func clockHoldsTheCall(ctx context.Context, s *subject) error {
	empty, err := s.load(ctx, input{name: "of one vertex", vertices: 1})
	if err != nil {
		return err
	}
	engine, host, err := empty.clocks(ctx, 0, 21)
	if err != nil {
		return err
	}
	call := min(host-engine, 2*time.Millisecond)
	in, err := kronecker(ctx, 15, 16, 2, 3) // few levels: what is reported of each has to be sent
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	return suspicious(func(int) error {
		engine, host, err := l.clocks(ctx, 1, 15)
		if err != nil {
			return err
		}
		if beside := host - engine; beside > host/2 && beside > 4*call+200*time.Microsecond {
			return fmt.Errorf("%v, root 1, best of 15: want most of the call's %v in Traversal.Elapsed, got %v; beside that lie %v, and a call costs %v",
				l.input, host, engine, beside, call)
		}
		return nil
	})
}

func nothingAfterReturn(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 14, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	kept := make([]graph.Vertex, len(l.parent))
	for _, root := range in.sample()[:4] {
		for v := range l.parent {
			l.parent[v] = graph.Unwritten
		}
		if _, err := s.engine.Search(ctx, root, l.parent); err != nil {
			return fmt.Errorf("%v, root %d: %w", in, root, err)
		}
		copy(kept, l.parent)
		time.Sleep(30 * time.Millisecond)
		for v, p := range l.parent {
			if p != kept[v] {
				return fmt.Errorf("%v, root %d: want parents that stay as they are when Search returns, parent[%d] was %s then and %s 30 ms later",
					in, root, v, named(kept[v]), named(p))
			}
		}
		if err := l.verify(ctx, root, unwritten); err != nil {
			return err
		}
	}
	return nil
}

func nothingLearned(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 15, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	level, err := l.truth.levels(0)
	if err != nil {
		return err
	}
	var roots []graph.Vertex // of one component, the others being next to nothing to search
	for v := range level {
		if level[v] > 0 {
			roots = append(roots, graph.Vertex(v))
		}
	}
	if _, _, err := l.clocks(ctx, roots[0], 5); err != nil {
		return err
	}
	const sample = 32
	return suspicious(func(attempt int) error {
		return l.sameWorkTwice(ctx, roots[1+attempt*sample:][:sample])
	})
}

// sameWorkTwice searches from each of roots, and then from each again.
func (l *loaded) sameWorkTwice(ctx context.Context, roots []graph.Vertex) error {
	var first, second []time.Duration
	for _, times := range []*[]time.Duration{&first, &second} {
		for _, root := range roots {
			engine, _, err := l.clocks(ctx, root, 1)
			if err != nil {
				return err
			}
			*times = append(*times, engine)
		}
	}
	once, again := median(first), median(second)
	if again < once/4 && once-again > 200*time.Microsecond {
		return fmt.Errorf("%v, medians of %d roots: want the same work each time, the first search of a root took %v, the second %v",
			l.input, len(roots), once, again)
	}
	return nil
}

// suspicious makes several attempts to see an engine that is beyond suspicion, and returns the last error: a busy
// machine looks like a wrong clock once, a wrong clock does each time.
func suspicious(look func(attempt int) error) (err error) {
	for attempt := range 3 {
		if err = look(attempt); err == nil {
			return nil
		}
	}
	return err
}
