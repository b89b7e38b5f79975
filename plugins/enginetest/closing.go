package enginetest

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// closing are the cases about the end of an engine.
func closing() []Case {
	return []Case{
		{Name: "close/twice", About: "A second Close does nothing and is no error.", check: closeTwice, anywhere: true},
		{Name: "close/then-calls", About: "Calls after Close return ErrClosed.", check: closeThenCalls},
		{Name: "close/others", About: "Closing one engine leaves another of its kind working.", check: closeOthers},
	}
}

func closeTwice(_ context.Context, s *subject) error {
	for i := range 2 {
		if err := s.engine.Close(); err != nil {
			return fmt.Errorf("Close number %d: want no error, got: %w", i+1, err)
		}
	}
	return nil
}

func closeThenCalls(ctx context.Context, s *subject) error {
	l, err := s.load(ctx, path(20))
	if err != nil {
		return err
	}
	if err := l.searchAll(ctx, []graph.Vertex{0}); err != nil {
		return err
	}
	if err := s.engine.Close(); err != nil {
		return fmt.Errorf("Close: want no error, got: %w", err)
	}
	_, err = s.engine.Search(ctx, 0, l.parent)
	if err := wantError("Search after Close", err, plugins.ErrClosed); err != nil {
		return err
	}
	_, err = s.engine.Construct(ctx, plugins.Graph{Tuples: l.given, Options: s.options})
	if err := wantError("Construct after Close", err, plugins.ErrClosed); err != nil {
		return err
	}
	_, err = s.engine.Describe(ctx)
	return wantError("Describe after Close", err, plugins.ErrClosed)
}

func closeOthers(ctx context.Context, s *subject) error {
	in := random(300, 400, 30)
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	e, err := s.open(ctx)
	if err != nil {
		return fmt.Errorf("opening a second engine: %w", err)
	}
	other := &subject{engine: e, open: s.open, options: s.options}
	second, err := other.load(ctx, path(20))
	if err == nil {
		err = second.searchAll(ctx, []graph.Vertex{0, 19})
	}
	if err != nil {
		return fmt.Errorf("in a second engine beside the first: %w", err)
	}
	if err := other.release(); err != nil {
		return err
	}
	if err := l.searchAll(ctx, in.sample()); err != nil {
		return fmt.Errorf("after another engine was closed: %w", err)
	}
	return nil
}
