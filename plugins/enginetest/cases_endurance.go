package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func cancelBefore(s *subject) {
	canceled, cancel := context.WithCancel(s.ctx)
	cancel()
	late, stop := context.WithDeadline(s.ctx, time.Now().Add(-time.Second))
	defer stop()
	in := random(3000, 9000, 21)
	l := s.load(in)
	for _, ended := range []context.Context{canceled, late} {
		_, err := s.engine.Search(ended, 1, l.parent)
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
	l := s.load(path(1 << 17)) // deep: most engines check their context between levels
	for _, delay := range delays {
		s.when = ""
		l.canceledSearch(0, delay)
	}
	s.when = "after canceled searches"
	l.search(1<<16, previous)
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
		err := s.withAnother(func(other *subject) { other.load(path(20)).searchAll(0, 19) })
		s.must(err, "engine %d of 8, one after the other", i+1)
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
		l.search(graph.Vertex(random.Int64N(in.vertices)), filling(i)%fillings)
	}
}

// cancelAtRandom cancels from before the call to well after its usual end. After each search comes one that must be
// correct.
func cancelAtRandom(s *subject) {
	in := s.kronecker(14, 16, 2, 3)
	l := s.load(in)
	_, wall := l.clocks(1, 5) // a call that a busy machine delayed would put most moments behind the search
	random := rand.New(rand.NewPCG(60, 2))
	for range 60 {
		root := graph.Vertex(random.Int64N(in.vertices))
		l.canceledSearch(root, time.Duration(random.Int64N(int64(2*wall))))
		l.search(root, previous)
	}
}

// memorySlack is how much a process may grow in some dozen searches, for whatever reason.
const memorySlack = 2 << 20

// memoryKept measures the process several times: garbage comes and goes, a leak goes on.
func memoryKept(s *subject) {
	process, ok := s.engine.(Footprint)
	if !ok {
		s.skip("the engine runs inside this process")
	}
	const searched = 60
	in := s.kronecker(15, 16, 2, 3)
	l := s.load(in)
	searches := func() {
		for root := range graph.Vertex(searched) {
			l.run(root)
		}
	}
	searches()
	s.persistently(func(int) {
		before, known := process.PrivateMemory()
		if !known {
			s.skip("the memory of the process is not known")
		}
		searches()
		after, _ := process.PrivateMemory()
		if grown := after - before; grown > memorySlack {
			s.fail("%v: want a process that does not grow, it grew by %.1f MiB during %d searches, %.0f KiB each",
				in, float64(grown)/(1<<20), searched, float64(grown)/searched/(1<<10))
		}
	})
}
