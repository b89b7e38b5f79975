// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// repeater returns the engine's Repeater, for a graph that was loaded, or skips the case.
func (s *subject) repeater(roots ...graph.Vertex) plugins.Repeater {
	engine, ok := s.engine.(plugins.Repeater)
	err := errors.ErrUnsupported
	if ok {
		_, err = engine.Repeat(s.ctx, roots, time.Nanosecond)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		s.skip("the engine does not repeat searches by itself")
	}
	s.must(err, "Repeat from roots %v for a nanosecond", roots)
	return engine
}

// repeat calls Repeat and checks the number of searches and the time.
func (l *loaded) repeat(engine plugins.Repeater, duration time.Duration, roots ...graph.Vertex) (
	n int64, took time.Duration) {
	l.persistently(func(int) {
		start := time.Now()
		searches, err := engine.Repeat(l.ctx, roots, duration)
		n, took = searches, time.Since(start)
		l.must(err, "%v, Repeat from roots %v", l.input, roots)
		// The last search may begin just before the end.
		if took < duration || searches < 1 || took > duration+patience+2*took/time.Duration(searches) {
			l.fail("%v: want Repeat to search for %v, got %d searches in %v", l.input, duration, searches, took)
		}
	})
	return n, took
}

func repeatDuration(s *subject) {
	for _, in := range []input{s.kronecker(10, 16, 2, 3), shuffled(grid(20, 30), 33)} {
		l, roots := s.load(in), in.sample()[:5]
		engine := s.repeater(roots[:2]...)
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
	engine := s.repeater(root)
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

// repeatAround distinguishes roots by time, and passes unless a search of a long path takes longer than one of a pair.
func repeatAround(s *subject) {
	in := path(4000)
	in.name += " and a pair"
	in.tuples = append(in.tuples, graph.MakeEdge(4000, 4001))
	in.vertices = 4002
	const short, long = 4000, 0
	l := s.load(in)
	engine := s.repeater(short, long)
	each := func(roots ...graph.Vertex) (seconds float64) {
		searches, took := l.repeat(engine, 60*time.Millisecond, roots...)
		return took.Seconds() / float64(searches)
	}
	// A busy machine makes any of these times too long, but none too short.
	quick, other, both := math.Inf(1), math.Inf(1), 0.0
	for range 3 {
		quick = min(quick, each(short))
	}
	s.persistently(func(int) {
		other, both = min(other, each(long)), max(both, each(short, long, short, long))
		if other >= 5*quick && both < other/4 { // half of other would be exact
			s.fail("%v: want roots %d and %d in turn, but %.3g ms for each search are too short: "+
				"a search from %d takes %.3g ms, from %d %.3g ms", in, short, long, both*1e3, short, quick*1e3, long, other*1e3)
		}
	})
}

func repeatCancel(s *subject) {
	in := random(2000, 6000, 31)
	l, roots := s.load(in), in.sample()[:3]
	engine := s.repeater(roots...)
	what := in.String() + ", Repeat for an hour"
	for _, delay := range delays {
		err := s.canceled(delay, func(ctx context.Context) error {
			_, err := engine.Repeat(ctx, roots, time.Hour)
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
	engine := s.repeater(1)
	refuse := func(roots []graph.Vertex, duration time.Duration, sentinels ...error) { // none: any error
		what := fmt.Sprintf("%v, Repeat from roots %v for %v", in, roots, duration)
		_, err := engine.Repeat(s.ctx, roots, duration)
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
	s.when = "after a refused Repeat"
	l.searchAll(in.sample()[:3]...)
	s.must(s.engine.Close(), "Close")
	refuse([]graph.Vertex{1}, duration, plugins.ErrClosed)
}
