package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
)

// Footprint is what an engine may have beside plugins.Engine: the memory that its process shares with nobody, in bytes.
// Known is false where the system does not tell.
type Footprint interface {
	PrivateMemory() (bytes int64, known bool)
}

// stressing are the cases that go on for longer than a person would: what goes wrong once in many times.
func stressing() []Case {
	return []Case{
		{Name: "stress/many-roots", About: "A thousand searches of one graph are all right.", check: manyRoots, long: true},
		{Name: "stress/cancel-at-random", About: "Searches that are cancelled at random moments leave nothing behind.",
			check: cancelAtRandom, long: true},
		{Name: "stress/restart", About: "An engine can be opened, used and closed again and again.", check: restart, long: true},
		{Name: "stress/memory", About: "Searches keep no memory: a process that has searched often has not grown.",
			check: memoryKept, long: true},
	}
}

func manyRoots(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1000, 1))
	for i := range 1000 {
		root := graph.Vertex(random.Int64N(in.vertices))
		if _, err := l.search(ctx, root, filling(i)%fillings); err != nil {
			return fmt.Errorf("search %d: %w", i+1, err)
		}
	}
	return nil
}

// cancelAtRandom cancels at moments from before the call to after its end. The window of these moments follows the
// engine: it shrinks with every search that came to its end and grows with every one that was stopped, so about half of
// them are stopped, however slow the first one was. After each that was stopped comes one that has to be right.
func cancelAtRandom(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 14, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := s.engine.Search(ctx, 1, l.parent); err != nil {
		return fmt.Errorf("%v, root 1: %w", in, err)
	}
	window := time.Since(start) + 50*time.Microsecond
	random := rand.New(rand.NewPCG(60, 2))
	for i := range 60 {
		root := graph.Vertex(random.Int64N(in.vertices))
		after := time.Duration(random.Int64N(int64(window)))
		if i == 0 {
			after = 0
		}
		for v := range l.parent {
			l.parent[v] = graph.Unwritten
		}
		err := cancelled(ctx, after, func(ctx context.Context) error {
			_, err := s.engine.Search(ctx, root, l.parent)
			return err
		})
		switch {
		case errors.Is(err, context.Canceled):
			window += window / 8
			_, err = l.search(ctx, root, former)
		case err == nil:
			window = max(window-window/8, 10*time.Microsecond)
			err = l.verify(ctx, root, unwritten)
		}
		if err != nil {
			return fmt.Errorf("%v, root %d, cancelled after %v: %w", in, root, after, err)
		}
	}
	return nil
}

func restart(ctx context.Context, s *subject) error {
	in := random(300, 500, 40)
	for i := range 8 {
		err := func() (err error) {
			e, err := s.open(ctx)
			if err != nil {
				return fmt.Errorf("opening it: %w", err)
			}
			other := &subject{engine: e, open: s.open, options: s.options}
			defer func() { err = errors.Join(err, other.release()) }()
			l, err := other.load(ctx, in)
			if err != nil {
				return err
			}
			return l.searchAll(ctx, in.sample()[:4])
		}()
		if err != nil {
			return fmt.Errorf("engine %d of 8, one after the other: %w", i+1, err)
		}
	}
	return nil
}

const (
	memorySearches = 60
	// memorySlack is what a process may grow by in so many searches, whatever they do: garbage, buffers.
	memorySlack = 2 << 20
)

// memoryKept searches often, and then looks at the process several times: garbage comes and goes, a leak goes on.
func memoryKept(ctx context.Context, s *subject) error {
	process, ok := s.engine.(Footprint)
	if !ok {
		return skip("the engine runs inside of this process")
	}
	in, err := kronecker(ctx, 15, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	stretch := func() error {
		for root := range graph.Vertex(memorySearches) {
			if _, err := s.engine.Search(ctx, root, l.parent); err != nil {
				return fmt.Errorf("%v, root %d: %w", in, root, err)
			}
		}
		return nil
	}
	if err := stretch(); err != nil {
		return err
	}
	return suspicious(func(int) error {
		before, known := process.PrivateMemory()
		if !known {
			return skip("this system does not tell the memory of a process")
		}
		if err := stretch(); err != nil {
			return err
		}
		after, _ := process.PrivateMemory()
		if grown := after - before; grown > memorySlack {
			return fmt.Errorf("%v: want a process that does not grow, it grew by %.1f MiB during %d searches, %.0f KiB each",
				in, float64(grown)/(1<<20), memorySearches, float64(grown)/memorySearches/(1<<10))
		}
		return nil
	})
}
