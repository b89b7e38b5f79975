package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// timing are the cases about what an engine says of its own work: times that fit into the call and into each other,
// and levels that agree with the oracle's.
func timing() []Case {
	return []Case{
		{Name: "time/search", About: "A search's time is above zero, within the call, and holds its levels' times.", check: searchTimes},
		{Name: "time/construct", About: "A construction's time is above zero, within the call, and holds its phases.", check: constructTimes},
		{Name: "time/unit", About: "A search's time is not a small fraction of the call's, as in another unit.", check: timeUnit},
		{Name: "levels/frontiers", About: "Where levels are reported, there are as many as the oracle has and of the same sizes.",
			check: frontiers},
	}
}

// timedInputs are the graphs whose reports are looked at.
func timedInputs(ctx context.Context) ([]input, error) {
	kron, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return nil, err
	}
	return []input{
		kron, withRoots(path(300), 0, 150, 299), star(70, 0), withVertices(path(4), 9), {name: "without tuples", vertices: 3},
	}, nil
}

func searchTimes(ctx context.Context, s *subject) error {
	inputs, err := timedInputs(ctx)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		for _, root := range in.sample() {
			start := time.Now()
			t, err := s.engine.Search(ctx, root, l.parent)
			wall := time.Since(start)
			if err == nil {
				err = timesFit(t, wall)
			}
			if err != nil {
				return fmt.Errorf("%v, root %d: %w", in, root, err)
			}
		}
	}
	return nil
}

func timesFit(t plugins.Traversal, wall time.Duration) error {
	if t.Elapsed <= 0 || t.Elapsed > wall {
		return fmt.Errorf("want Traversal.Elapsed above 0 and at most the call's %v, got %v", wall, t.Elapsed)
	}
	var sum time.Duration
	for i, level := range t.Levels {
		if level.Elapsed < 0 {
			return fmt.Errorf("want no negative time, got %v for level %d", level.Elapsed, i)
		}
		sum += level.Elapsed
		if err := phasesFit(level.Phases, level.Elapsed); err != nil {
			return fmt.Errorf("level %d: %w", i, err)
		}
	}
	if sum > t.Elapsed {
		return fmt.Errorf("want the %d levels' times within Traversal.Elapsed, which is %v, got %v", len(t.Levels), t.Elapsed, sum)
	}
	return nil
}

func phasesFit(phases []plugins.Phase, whole time.Duration) error {
	var sum time.Duration
	for i, p := range phases {
		if p.Name == "" || p.Elapsed < 0 {
			return fmt.Errorf("want a name and a time for each phase, got %q and %v for phase %d", p.Name, p.Elapsed, i)
		}
		sum += p.Elapsed
	}
	if sum > whole {
		return fmt.Errorf("want the %d phases' times within %v, got %v", len(phases), whole, sum)
	}
	return nil
}

func constructTimes(ctx context.Context, s *subject) error {
	inputs, err := timedInputs(ctx)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		if l.made.Elapsed <= 0 || l.made.Elapsed > l.wall {
			return fmt.Errorf("%v: want Construction.Elapsed above 0 and at most the call's %v, got %v", in, l.wall, l.made.Elapsed)
		}
		if err := phasesFit(l.made.Phases, l.made.Elapsed); err != nil {
			return fmt.Errorf("Construct of %v: %w", in, err)
		}
	}
	return nil
}

// tiny is how many times shorter than the call an engine's time may be. A call has some 0.2 ms beside the search, and
// microseconds or milliseconds taken for nanoseconds make a factor of a thousand and more.
const tiny = 400

func timeUnit(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, path(1<<13)) // no engine can be quick here: each level waits for the one before
	if err != nil {
		return err
	}
	var best, engine, host time.Duration = -1, 0, 0
	for range 8 {
		start := time.Now()
		t, err := s.engine.Search(ctx, 0, l.parent)
		wall := time.Since(start)
		if err != nil {
			return fmt.Errorf("%v, root 0: %w", l.input, err)
		}
		if beside := wall - t.Elapsed; best < 0 || beside < best {
			best, engine, host = beside, t.Elapsed, wall
		}
	}
	if engine < host/tiny {
		return fmt.Errorf("%v, root 0, best of 8: want Traversal.Elapsed at least 1/%d of the call's %v, got %v: is it in nanoseconds?",
			l.input, tiny, host, engine)
	}
	return nil
}

func frontiers(ctx context.Context, s *subject) error {
	inputs, err := timedInputs(ctx)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		for _, root := range in.sample() {
			t, err := l.search(ctx, root, unwritten)
			if err != nil {
				return err
			}
			level, err := l.truth.levels(root)
			if err != nil {
				return err
			}
			if err := levelsAgree(t.Levels, sizes(level)); err != nil {
				return fmt.Errorf("%v, root %d: %w", in, root, err)
			}
		}
	}
	return nil
}

// levelsAgree compares reported levels with the number of vertices at each of the oracle's. The last frontier finds
// nothing, so an engine that knows this beforehand may leave it out.
func levelsAgree(levels []plugins.Level, want []int64) error {
	if len(levels) == 0 {
		return nil // not given
	}
	if len(levels) != len(want) && len(levels) != len(want)-1 {
		return fmt.Errorf("want %d levels (or one less, without the last frontier), got %d", len(want), len(levels))
	}
	for i, level := range levels {
		if level.Frontier != want[i] {
			return fmt.Errorf("level %d: want a frontier of %d vertices, got %d", i, want[i], level.Frontier)
		}
		if level.Direction != graph.TopDown && level.Direction != graph.BottomUp {
			return fmt.Errorf("level %d: want top-down or bottom-up, got %v", i, level.Direction)
		}
		for what, count := range map[string]plugins.Count{"edges": level.Edges, "bytes": level.Bytes, "messages": level.Messages} {
			if n, known := count.Get(); known && n < 0 {
				return fmt.Errorf("level %d: want a number of %s of at least 0, or none, got %d", i, what, n)
			}
		}
	}
	return nil
}
