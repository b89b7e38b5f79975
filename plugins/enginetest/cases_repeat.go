// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// repeater returns the engine's Repeater, for a graph that was loaded, or skips the case.
func (l *loaded) repeater(roots ...graph.Vertex) plugins.Repeater {
	engine, ok := l.engine.(plugins.Repeater)
	err := errors.ErrUnsupported
	if ok {
		_, err = engine.Repeat(l.ctx, roots, time.Nanosecond, l.parent)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		l.skip("the engine does not repeat searches by itself")
	}
	l.must(err, "Repeat from roots %v for a nanosecond", roots)
	return engine
}

// repeat calls Repeat and checks the number of searches, the time, and the parents of the last search.
func (l *loaded) repeat(engine plugins.Repeater, duration time.Duration, roots ...graph.Vertex) (
	n int64, took time.Duration) {
	l.persistently(func(int) {
		l.fill(0)
		start := time.Now()
		searches, err := engine.Repeat(l.ctx, roots, duration, l.parent)
		n, took = searches, time.Since(start)
		l.must(err, "%v, Repeat from roots %v", l.input, roots)
		// The last search may begin just before the end.
		if took < duration || searches < 1 || took > duration+patience+2*took/time.Duration(searches) {
			l.fail("%v: want Repeat to search for %v, got %d searches in %v", l.input, duration, searches, took)
		}
	})
	last := roots[(n-1)%int64(len(roots))]
	l.must(l.truth.Check(l.ctx, last, l.parent), "%v, the parents of the last of %d searches by Repeat, from root %d",
		l.input, n, last)
	return n, took
}

func repeatDuration(s *subject) {
	for _, in := range []input{s.kronecker(10, 16, 2, 3), shuffled(grid(20, 30), 33)} {
		l, roots := s.load(in), in.sample()[:5]
		engine := l.repeater(roots[:2]...)
		for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 150 * time.Millisecond} {
			l.repeat(engine, d, roots[1:4]...)
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
	engine := l.repeater(root)
	fastest := time.Hour
	s.persistently(func(int) {
		for range 10 {
			t, _ := l.run(root)
			fastest = min(fastest, t.Elapsed)
		}
		searches, took := l.repeat(engine, 100*time.Millisecond, root)
		if each := took / time.Duration(searches); each < fastest/maxSpeedup {
			s.fail("%v, root %d: want no more searches than there is time for, got %d in %v, %v each; "+
				"the fastest Search took %v", in, root, searches, took, each, fastest)
		}
	})
}

func repeatCancel(s *subject) {
	in := random(2000, 6000, 31)
	l, roots := s.load(in), in.sample()[:3]
	engine := l.repeater(roots...)
	what := in.String() + ", Repeat for an hour"
	for _, delay := range delays {
		err := s.canceled(delay, func(ctx context.Context) error {
			_, err := engine.Repeat(ctx, roots, time.Hour, l.parent)
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
	engine := l.repeater(1)
	parent := l.parent
	refuse := func(roots []graph.Vertex, duration time.Duration, sentinels ...error) { // none: any error
		what := fmt.Sprintf("%v, Repeat from roots %v for %v", in, roots, duration)
		_, err := engine.Repeat(s.ctx, roots, duration, parent)
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
	parent = l.parent[:99:99]
	refuse([]graph.Vertex{1}, duration, plugins.ErrParent)
	parent = l.parent
	s.when = "after a refused Repeat"
	l.searchAll(in.sample()[:3]...)
	s.must(s.engine.Close(), "Close")
	refuse([]graph.Vertex{1}, duration, plugins.ErrClosed)
}
