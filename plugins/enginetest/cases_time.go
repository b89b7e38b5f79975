// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

func (s *subject) loadEach(check func(l *loaded)) {
	for _, in := range []input{
		s.kronecker(10, 16, 2, 3), path(300).from(0, 150, 299), star(70, 0), {name: "without tuples", vertices: 3},
	} {
		s.when = ""
		check(s.load(in))
	}
}

func searchReport(s *subject) {
	s.loadEach(func(l *loaded) {
		for _, root := range l.input.sample() {
			t, wall := l.run(root)
			s.when = fmt.Sprintf("%v, root %d", l.input, root)
			s.must(t.Check(l.parent), "Traversal")
			s.must(checkClock(t.Elapsed, wall, wall), "Traversal.Elapsed")
			s.checkTimes(t)
			sizes, err := l.truth.Levels(root)
			s.must(err, "preparing the truth")
			if err := checkLevels(t.Levels, sizes); err != nil {
				s.fail("%w", err)
			}
		}
	})
}

// checkClock checks the time that an engine reports for a call. outside may lie outside the engine's clock.
func checkClock(elapsed, call, outside time.Duration) error {
	switch {
	case elapsed <= 0:
		return fmt.Errorf("reported time %v is not positive: %w", elapsed, plugins.ErrClock)
	case elapsed > call:
		return fmt.Errorf("reported time %v exceeds the %v that the call took: %w", elapsed, call, plugins.ErrClock)
	case elapsed < (call-outside)/2:
		return fmt.Errorf("reported time %v is less than half of the call, which took %v "+
			"(%v of that may lie outside the clock): %w", elapsed, call, outside, plugins.ErrClock)
	}
	return nil
}

// checkTimes fails if parts of a search took longer than the whole.
func (s *subject) checkTimes(t plugins.Traversal) {
	var sum time.Duration
	for _, level := range t.Levels {
		sum += level.Elapsed
		s.checkPhases(level.Phases, level.Elapsed)
	}
	if sum > t.Elapsed {
		s.fail("want the %d levels' times within Traversal.Elapsed, which is %v, got %v", len(t.Levels), t.Elapsed, sum)
	}
}

func (s *subject) checkPhases(phases []plugins.Phase, whole time.Duration) {
	var sum time.Duration
	for i, p := range phases {
		if p.Name == "" {
			s.fail("want a name for each phase, got none for phase %d", i)
		}
		sum += p.Elapsed
	}
	if sum > whole {
		s.fail("want the %d phases' times within %v, got %v", len(phases), whole, sum)
	}
}

func constructReport(s *subject) {
	s.loadEach(func(l *loaded) {
		s.when = l.input.String()
		built, claims, tuples := l.built, l.built.Claims, len(l.input.tuples)
		s.must(built.Check(), "Construction")
		s.must(checkClock(built.Elapsed, l.wall, l.wall), "Construction.Elapsed")
		s.checkPhases(built.Phases, built.Elapsed)
		if n, known := built.Entries.Get(); known && n > 2*int64(tuples) {
			s.fail("want Construction.Entries of at most twice the %d tuples, or none, got %d", tuples, n)
		}
		if built.Bytes == 0 && tuples > 0 {
			s.fail("want Construction.Bytes to be what the engine keeps in memory, got %d", built.Bytes)
		}
		if min(claims.ParentBits, claims.VertexBits) < 10 {
			s.fail("want Claims.ParentBits and VertexBits of at least 10, which labels of this size need, got %d and %d",
				claims.ParentBits, claims.VertexBits)
		}
		if claims.Tuning == "" {
			s.fail("want Claims.Tuning to be the origin of thresholds (\"none\" if there are none), got nothing")
		}
		s.checkFacts("Construction", built.Details)
	})
}

func clockCoversCall(s *subject) {
	engine, host := s.load(path(2)).clocks(0, 21) // not one vertex: without tuples no engine is called
	overhead := 4*min(host-engine, 2*time.Millisecond) + 200*time.Microsecond
	in := s.kronecker(15, 16, 2, 3)
	l := s.load(in)
	overhead += time.Duration(8 * in.vertices) // to move the parents: a byte in a nanosecond
	s.persistently(func(int) {
		engine, host := l.clocks(1, 15)
		s.must(checkClock(engine, host, overhead), "%v, root 1, best of 15", in)
	})
}

func nothingAfterReturn(s *subject) {
	in := s.kronecker(14, 16, 2, 3)
	l := s.load(in)
	for _, root := range in.sample()[:4] {
		l.fill(unwritten)
		l.run(root)
		kept := slices.Clone(l.parent)
		time.Sleep(30 * time.Millisecond)
		for v, p := range l.parent {
			if p != kept[v] {
				s.fail("%v, root %d: want parents that do not change after Search has returned, parent[%d] was %d and "+
					"30 ms later %d", in, root, v, kept[v], p)
			}
		}
		l.verify(root, unwritten)
	}
}

func nothingLearned(s *subject) {
	in := s.kronecker(15, 16, 2, 3)
	l := s.load(in)
	_, level, err := l.truth.graph.Search(0)
	s.must(err, "%v, root 0", in)
	var roots []graph.Vertex // of the large component: searches of others take almost no time
	for v := range level {
		if level[v] > 0 {
			roots = append(roots, graph.Vertex(v))
		}
	}
	l.clocks(roots[0], 5)
	median := func(roots []graph.Vertex) time.Duration {
		var times []time.Duration
		for _, root := range roots {
			t, _ := l.run(root)
			times = append(times, t.Elapsed)
		}
		return units.Median(times)
	}
	const sample = 32
	s.persistently(func(try int) {
		roots := roots[1+try*sample:][:sample]
		first, second := median(roots), median(roots)
		if second < first/4 && first-second > 200*time.Microsecond {
			s.fail("%v, medians of %d roots: want the same work each time, the first search of a root took %v, the second %v",
				in, sample, first, second)
		}
	})
}

func cancelBefore(s *subject) {
	canceled, cancel := context.WithCancel(s.ctx)
	cancel()
	late, stop := context.WithDeadline(s.ctx, time.Now().Add(-time.Second))
	defer stop()
	in := random(3000, 9000, 21)
	l := s.load(in)
	for _, ended := range []context.Context{canceled, late} {
		_, err := s.engine.Search(ended, 1, plugins.Output{Parent: l.parent})
		s.wantError(in.String()+", root 1, context ended before the call", err, ended.Err())
		s.when = "after a canceled search"
		l.searchAll(1, 2)
		err = s.construct(ended, l.given)
		s.wantError("Construct of "+in.String()+", context ended before the call", err, ended.Err())
		s.refusesSearch("Search after a canceled Construct", 1, l.parent, plugins.ErrNotConstructed)
		s.when = "after a canceled Construct"
		l = s.load(in)
		l.searchAll(in.sample()[:3]...)
	}
}

func cancelDuringSearch(s *subject) {
	n := graph.Vertex(1 << 17)
	if s.kernel3 {
		n /= 2
	}
	l := s.load(path(n)) // deep: most engines check their context between levels
	for _, delay := range delays {
		s.when = ""
		l.canceledSearch(0, delay)
	}
	s.when = "after canceled searches"
	l.searchOver(n/2, previous)
}

func cancelDuringConstruct(s *subject) {
	in, small := s.kronecker(16, 16, 2, 3), random(100, 200, 22)
	given := s.tuples(in.tuples)
	for _, delay := range delays {
		err := s.canceled(delay, func(ctx context.Context) error { return s.construct(ctx, given) })
		s.when = fmt.Sprintf("Construct of %v, canceled after %v", in, delay)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.must(err, "Construct")
		}
		s.load(small).searchAll(small.sample()...)
	}
}

func closeEnds(s *subject) {
	l := s.load(path(20))
	l.searchAll(0)
	s.must(s.engine.Close(), "Close")
	s.refusesSearch("Search after Close", 0, l.parent, plugins.ErrClosed)
	s.wantError("Construct after Close", s.construct(s.ctx, l.given), plugins.ErrClosed)
	_, err := s.engine.Describe(s.ctx)
	s.wantError("Describe after Close", err, plugins.ErrClosed)
	s.must(s.engine.Close(), "a second Close")
}

func closeOthers(s *subject) {
	in := random(300, 500, 40)
	l := s.load(in)
	for i := range 8 {
		e, err := s.open(s.ctx)
		s.must(err, "opening engine %d of 8", i+1)
		other := &subject{ctx: s.ctx, engine: e, open: s.open, options: s.options}
		err = attempt(func() { other.load(path(20)).searchAll(0, 19) })
		s.must(errors.Join(err, other.release()), "engine %d of 8, one after the other", i+1)
	}
	s.when = "after other engines were closed"
	l.searchAll(in.sample()...)
}

func manyRoots(s *subject) {
	in := s.kronecker(10, 16, 2, 3)
	l := s.load(in)
	random := rand.New(rand.NewPCG(1000, 1))
	for i := range 1000 {
		s.when = fmt.Sprintf("search %d", i+1)
		l.searchOver(graph.Vertex(random.Int64N(in.vertices)), filling(i)%fillings)
	}
}

func cancelAtRandom(s *subject) {
	in := s.kronecker(14, 16, 2, 3)
	l := s.load(in)
	_, wall := l.clocks(1, 5) // a call that a busy machine delayed would put most moments behind the search
	random := rand.New(rand.NewPCG(60, 2))
	for range 30 {
		root := graph.Vertex(random.Int64N(in.vertices))
		l.canceledSearch(root, time.Duration(random.Int64N(int64(2*wall))))
		l.searchOver(root, previous)
	}
}

// memoryKept measures the process several times: garbage comes and goes, but a leak grows.
func memoryKept(s *subject) {
	process, ok := s.engine.(Footprint)
	if !ok {
		s.skip("the engine runs inside this process")
	}
	const searched, slack = 60, 2 << 20 // bytes
	in := s.kronecker(15, 16, 2, 3)
	l := s.load(in)
	searches := func() (bytes int64) {
		for root := range graph.Vertex(searched) {
			l.run(root)
		}
		bytes, known := process.PrivateMemory()
		if !known {
			s.skip("the memory of the process is not known")
		}
		return bytes
	}
	before := searches()
	s.persistently(func(int) {
		after := searches()
		grown := after - before
		if before = after; grown > slack {
			s.fail("%v: want a process that does not grow, it grew by %.1f MiB during %d searches, %.0f KiB each",
				in, float64(grown)/(1<<20), searched, float64(grown)/searched/(1<<10))
		}
	})
}
