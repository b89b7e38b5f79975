package enginetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// repeats looks at plugins.Repeater, which an engine need not be.
func repeats(ctx context.Context, s *subject) error {
	engine, ok := s.engine.(plugins.Repeater)
	if !ok {
		return nil
	}
	in, err := kronecker(ctx, 10, 16, 2, 3)
	if err != nil {
		return err
	}
	l, err := s.load(ctx, in)
	if err != nil {
		return err
	}
	const wanted = 50 * time.Millisecond
	roots := in.sample()[:3]
	start := time.Now()
	searches, err := engine.Repeat(ctx, roots, wanted)
	took := time.Since(start)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return fmt.Errorf("%v: Repeat from roots %v: %w", in, roots, err)
	case took < wanted || took > wanted+patience || searches < 1:
		return fmt.Errorf("%v: want Repeat to search for %v, got %d searches in %v", in, wanted, searches, took)
	}
	err = cancelled(ctx, 10*time.Millisecond, func(ctx context.Context) error {
		_, err := engine.Repeat(ctx, roots, time.Hour)
		return err
	})
	if err := wantError(in.String()+", Repeat for an hour, cancelled", err, context.Canceled); err != nil {
		return err
	}
	for _, bad := range []graph.Vertex{-1, 1 << 40} {
		_, err := engine.Repeat(ctx, []graph.Vertex{roots[0], bad}, wanted)
		if err := wantError(fmt.Sprintf("%v, Repeat from root %d", in, bad), err, plugins.ErrRoot); err != nil {
			return err
		}
	}
	return l.searchAll(ctx, roots)
}
