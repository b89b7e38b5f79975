package enginetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// loadEach loads several graphs, one after the other.
func (s *subject) loadEach(check func(l *loaded)) {
	for _, in := range []input{
		s.kronecker(10, 16, 2, 3), withRoots(path(300), 0, 150, 299), star(70, 0), {name: "without tuples", vertices: 3},
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
			s.must(plugins.CheckClock("Search", t.Elapsed, wall, wall), "Traversal.Elapsed")
			var sum time.Duration
			for _, level := range t.Levels {
				sum += level.Elapsed
				s.checkPhases(level.Phases, level.Elapsed)
			}
			if sum > t.Elapsed {
				s.fail("want the %d levels' times within Traversal.Elapsed, which is %v, got %v", len(t.Levels), t.Elapsed, sum)
			}
			sizes, err := l.truth.Levels(root)
			s.must(err, "preparing the truth")
			if err := checkLevels(t.Levels, sizes); err != nil {
				s.fail("%w", err)
			}
		}
	})
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
		s.must(plugins.CheckClock("Construct", built.Elapsed, l.wall, l.wall), "Construction.Elapsed")
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
	overhead += plugins.MoveTime(8 * in.vertices)
	s.persistently(func(int) {
		engine, host := l.clocks(1, 15)
		s.must(plugins.CheckClock("Search", engine, host, overhead), "%v, root 1, best of 15", in)
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
				s.fail("%v, root %d: want parents that do not change after Search has returned, parent[%d] was %s and "+
					"30 ms later %s", in, root, v, named(kept[v]), named(p))
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
