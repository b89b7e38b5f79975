package enginetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// cancelling are the cases about a context that ends. A call that is through before it notices may succeed, and its
// result must then be right; one whose context had ended before it began may not.
func cancelling() []Case {
	return []Case{
		{Name: "cancel/before-search", About: "A Search whose context has ended returns the context's error.", check: cancelBeforeSearch},
		{Name: "cancel/during-search", About: "A Search whose context ends returns within two seconds, and the next one is right.",
			check: cancelDuringSearch, long: true},
		{Name: "cancel/before-construct", About: "A Construct whose context has ended returns the context's error and leaves no graph.",
			check: cancelBeforeConstruct},
		{Name: "cancel/during-construct", About: "A Construct whose context ends returns within two seconds, and the next one is right.",
			check: cancelDuringConstruct, long: true},
	}
}

// ended are contexts that have ended, with the error that says how.
func ended(ctx context.Context) (list []context.Context, stop func()) {
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	late, stopLate := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	return []context.Context{cancelled, late}, stopLate
}

func cancelBeforeSearch(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, shuffled(path(5000), 20))
	if err != nil {
		return err
	}
	contexts, stop := ended(ctx)
	defer stop()
	for _, over := range contexts {
		_, err := s.engine.Search(over, 1, l.parent)
		if err := wantError(l.input.String()+", root 1, context ended before the call", err, over.Err()); err != nil {
			return err
		}
		if err := l.searchAll(ctx, []graph.Vertex{1, 2}); err != nil {
			return fmt.Errorf("after a cancelled search: %w", err)
		}
	}
	return nil
}

func cancelBeforeConstruct(ctx context.Context, s *subject) error {
	in := random(3000, 9000, 21)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	contexts, stop := ended(ctx)
	defer stop()
	for _, over := range contexts {
		_, err := s.engine.Construct(over, plugins.Graph{Tuples: l.given, Options: s.options})
		if err := wantError("Construct of "+in.String()+", context ended before the call", err, over.Err()); err != nil {
			return err
		}
		_, err = s.engine.Search(ctx, 1, l.parent)
		if err := wantError("Search after a cancelled Construct", err, plugins.ErrNotConstructed); err != nil {
			return err
		}
		if l, err = s.load(ctx, in); err != nil {
			return fmt.Errorf("after a cancelled Construct: %w", err)
		}
		if err := l.searchAll(ctx, in.sample()[:3]); err != nil {
			return fmt.Errorf("after a cancelled Construct: %w", err)
		}
	}
	return nil
}

// delays after which a context is cancelled: at once, while starting, and amid the work of most engines.
var delays = [...]time.Duration{0, 200 * time.Microsecond, 3 * time.Millisecond, 30 * time.Millisecond}

func cancelDuringSearch(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, path(1<<17)) // deep: most engines look at their context between levels
	if err != nil {
		return err
	}
	for _, delay := range delays {
		for v := range l.parent {
			l.parent[v] = graph.Unwritten
		}
		err := cancelled(ctx, delay, func(ctx context.Context) error {
			_, err := s.engine.Search(ctx, 0, l.parent)
			return err
		})
		if err == nil {
			err = l.verify(ctx, 0, unwritten)
		} else if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("%v, root 0, cancelled after %v: %w", l.input, delay, err)
		}
	}
	if _, err := l.search(ctx, 1<<16, former); err != nil {
		return fmt.Errorf("after cancelled searches: %w", err)
	}
	return nil
}

func cancelDuringConstruct(ctx context.Context, s *subject) error {
	in, err := kronecker(ctx, 16, 16, 2, 3)
	if err != nil {
		return err
	}
	given, err := s.tuples(in.tuples)
	if err != nil {
		return err
	}
	small := random(100, 200, 22)
	for _, delay := range delays {
		err := cancelled(ctx, delay, func(ctx context.Context) error {
			_, err := s.engine.Construct(ctx, plugins.Graph{Tuples: given, Options: s.options})
			return err
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("Construct of %v, cancelled after %v: %w", in, delay, err)
		}
		l, err := s.load(ctx, small)
		if err != nil {
			return fmt.Errorf("after a cancelled Construct: %w", err)
		}
		if err := l.searchAll(ctx, small.sample()); err != nil {
			return fmt.Errorf("after a cancelled Construct: %w", err)
		}
	}
	return nil
}

// cancelled makes a call and ends its context after a delay, before the call where that is 0. It returns the call's error, or one of its own when the
// call did not return soon after.
func cancelled(ctx context.Context, delay time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if delay <= 0 {
		cancel()
	}
	defer time.AfterFunc(delay, cancel).Stop()
	begin := time.Now()
	err := call(ctx)
	if late := time.Since(begin) - delay; late > patience {
		return fmt.Errorf("want an end within %v of the cancel, it took %v (and returned %v)", patience, late.Round(time.Millisecond), err)
	}
	return err
}
