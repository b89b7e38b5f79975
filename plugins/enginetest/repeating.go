package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// repeating are the cases about plugins.Repeater, which an engine need not be: without it the host repeats searches by
// calls, and none of these is run.
func repeating() []Case {
	return []Case{
		{Name: "repeat/duration", About: "Repeat goes on for the time that it was given, and says how many searches that were.", check: repeatDuration},
		{Name: "repeat/count", About: "Repeat does no more searches than the timed ones leave time for: none is skipped because its root comes again.",
			check: repeatCount},
		{Name: "repeat/around", About: "Repeat takes the roots in turn, around and around.", check: repeatAround},
		{Name: "repeat/cancel", About: "A Repeat whose context ends returns within two seconds, and the engine is as before.", check: repeatCancel},
		{Name: "repeat/refuses", About: "Repeat refuses what Search refuses, and a loop of no roots or of no time.", check: repeatRefuses},
		{Name: "repeat/afterwards", About: "Searches after a Repeat are right, and so are those after another Construct and another Repeat.",
			check: repeatAfterwards},
	}
}

// repeater returns the engine's loop over the graph that it has, or a skip.
func (s *subject) repeater(ctx context.Context, roots []graph.Vertex) (plugins.Repeater, error) {
	engine, ok := s.engine.(plugins.Repeater)
	if !ok {
		return nil, skip("the engine does not repeat searches by itself")
	}
	_, err := engine.Repeat(ctx, roots, time.Nanosecond)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, skip("the engine does not repeat searches by itself")
	case err != nil:
		return nil, fmt.Errorf("Repeat from roots %v for a nanosecond: %w", roots, err)
	}
	return engine, nil
}

// timed is a Repeat whose numbers can be. One that takes too long is tried again: a busy machine does not hold up all.
func timed(ctx context.Context, engine plugins.Repeater, roots []graph.Vertex, wanted time.Duration) (searches int64, took time.Duration, err error) {
	late := suspicious(func(int) error {
		start := time.Now()
		searches, err = engine.Repeat(ctx, roots, wanted)
		took = time.Since(start)
		strange := fmt.Errorf("want Repeat to search for %v, got %d searches in %v", wanted, searches, took)
		switch {
		case err != nil:
			err = fmt.Errorf("Repeat from roots %v: %w", roots, err)
		case took < wanted || searches < 1:
			err = strange
		case took > wanted+patience+2*took/time.Duration(searches): // the last may have begun in time
			return strange
		}
		return nil
	})
	return searches, took, cmp.Or(err, late)
}

func repeatDuration(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return err
	}
	if _, err := s.load(ctx, in); err != nil {
		return err
	}
	roots := in.sample()[:3]
	engine, err := s.repeater(ctx, roots)
	if err != nil {
		return err
	}
	for _, wanted := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 150 * time.Millisecond} {
		if _, _, err := timed(ctx, engine, roots, wanted); err != nil {
			return fmt.Errorf("%v: %w", in, err)
		}
	}
	return nil
}

// skipped is how many times faster than a timed search a repeated one may be: caches are warmer in a loop, and the shortest
// of a few timed searches is compared with the mean of many.
const skipped = 3

func repeatCount(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 14, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	root, _ := in.tuples[0].Ends()
	engine, err := s.repeater(ctx, []graph.Vertex{root})
	if err != nil {
		return err
	}
	shortest := time.Hour
	return suspicious(func(int) error {
		for range 10 {
			t, err := s.engine.Search(ctx, root, l.parent)
			if err != nil {
				return fmt.Errorf("%v, root %d: %w", in, root, err)
			}
			shortest = min(shortest, t.Elapsed)
		}
		searches, took, err := timed(ctx, engine, []graph.Vertex{root}, 100*time.Millisecond)
		if err != nil {
			return fmt.Errorf("%v: %w", in, err)
		}
		if each := took / time.Duration(searches); each < shortest/skipped {
			return fmt.Errorf("%v, root %d: want no more searches than there is time for, got %d in %v, %v each, where the shortest of the timed ones took %v",
				in, root, searches, took, each, shortest)
		}
		return nil
	})
}

// attempts is how often repeatAround looks before it says that something is wrong.
const attempts = 5

// repeatAround tells by time which roots came up: a search of a long path takes much longer than one of two vertices. An engine
// for which it does not takes as long for any root; there the case has nothing to see.
func repeatAround(ctx context.Context, s *subject) error {
	in := path(4000)
	in.name += " and a pair"
	in.tuples = append(in.tuples, graph.MakeEdge(4000, 4001))
	in.vertices = 4002
	if _, err := s.load(ctx, in); err != nil {
		return err
	}
	const short, long = 4000, 0
	engine, err := s.repeater(ctx, []graph.Vertex{short, long})
	if err != nil {
		return err
	}
	each := func(roots ...graph.Vertex) (seconds float64) {
		var searches int64
		var took time.Duration
		if err == nil {
			searches, took, err = timed(ctx, engine, roots, 60*time.Millisecond)
		}
		return took.Seconds() / float64(searches)
	}
	// A busy machine makes any of these times too long, and none too short.
	alone, other, both := math.Inf(1), math.Inf(1), 0.0
	for range 3 {
		alone = min(alone, each(short))
	}
	for range attempts {
		other, both = min(other, each(long)), max(both, each(short, long, short, long))
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", in, err)
		case other < 5*alone, both >= other/4: // half would be exact where many searches are done
			return nil
		}
	}
	return fmt.Errorf("%v: want roots %d and %d in turn, but %.3g ms for each search are too short: from %d alone it takes %.3g ms, from %d %.3g ms",
		in, short, long, both*1e3, short, alone*1e3, long, other*1e3)
}

func repeatCancel(ctx context.Context, s *subject) error {
	in := random(2000, 6000, 31)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	roots := in.sample()[:3]
	engine, err := s.repeater(ctx, roots)
	if err != nil {
		return err
	}
	for _, delay := range delays {
		err := cancelled(ctx, delay, func(ctx context.Context) error {
			_, err := engine.Repeat(ctx, roots, time.Hour)
			return err
		})
		if err := wantError(fmt.Sprintf("%v, Repeat for an hour, cancelled after %v", in, delay), err, context.Canceled); err != nil {
			return err
		}
		if err := l.searchAll(ctx, roots); err != nil {
			return fmt.Errorf("after a cancelled Repeat: %w", err)
		}
	}
	late, stop := context.WithTimeout(ctx, 30*time.Millisecond)
	defer stop()
	_, err = engine.Repeat(late, roots, time.Hour)
	if err := wantError(in.String()+", Repeat for an hour, with a deadline", err, context.DeadlineExceeded); err != nil {
		return err
	}
	return l.searchAll(ctx, roots)
}

func repeatRefuses(ctx context.Context, s *subject) error {
	in := random(100, 200, 32)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	engine, err := s.repeater(ctx, []graph.Vertex{1})
	if err != nil {
		return err
	}
	const wanted = 10 * time.Millisecond
	for _, bad := range []graph.Vertex{-1, 1 << 40, graph.Unwritten} {
		_, err := engine.Repeat(ctx, []graph.Vertex{1, bad}, wanted)
		if err := wantError(fmt.Sprintf("%v, Repeat from root %d", in, bad), err, plugins.ErrRoot); err != nil {
			return err
		}
	}
	if _, err := engine.Repeat(ctx, nil, wanted); err == nil {
		return fmt.Errorf("%v, Repeat from no root: want an error, got none", in)
	}
	for _, none := range []time.Duration{0, -time.Second} {
		if _, err := engine.Repeat(ctx, []graph.Vertex{1}, none); err == nil {
			return fmt.Errorf("%v, Repeat for %v: want an error, got none", in, none)
		}
	}
	if err := l.searchAll(ctx, in.sample()[:3]); err != nil {
		return fmt.Errorf("after a refused Repeat: %w", err)
	}
	if err := s.engine.Close(); err != nil {
		return fmt.Errorf("Close: want no error, got: %w", err)
	}
	_, err = engine.Repeat(ctx, []graph.Vertex{1}, wanted)
	return wantError("Repeat after Close", err, plugins.ErrClosed)
}

func repeatAfterwards(ctx context.Context, s *subject) error {
	first, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return err
	}
	for _, in := range []input{first, shuffled(grid(20, 30), 33)} {
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		roots := in.sample()[:5]
		engine, err := s.repeater(ctx, roots[:2])
		if err != nil {
			return err
		}
		for range 2 {
			if _, _, err := timed(ctx, engine, roots[1:4], 20*time.Millisecond); err != nil {
				return fmt.Errorf("%v: %w", in, err)
			}
			if err := l.searchAll(ctx, roots); err != nil {
				return fmt.Errorf("after a Repeat: %w", err)
			}
		}
	}
	return nil
}
