//go:build cuda

package cuda

import (
	"context"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

var _ plugins.Repeater = (*engine)(nil)

// Repeat implements plugins.Repeater. Every search is the timed one: its parents lie in device memory when it ends, 64 bits
// each, in original labels, and stay there until the next search overwrites them. The copy to the host, which the clock of a
// timed search leaves out, is not made.
func (e *engine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	switch {
	case e.closed:
		return 0, fmt.Errorf("cuda: repeat: %w", plugins.ErrClosed)
	case e.search == nil:
		return 0, fmt.Errorf("cuda: repeat: %w; call Construct first", plugins.ErrNotConstructed)
	}
	if err := checkRepeat(roots, duration, int64(e.search.graph.Labels)); err != nil {
		return 0, err
	}
	release, err := e.device.use()
	if err != nil {
		return 0, err
	}
	defer release()
	return e.search.repeat(ctx, roots, duration)
}

// repeat searches around the roots until duration has passed. The parents have the length that they had in the last search, which is
// the host's, or an entry for each label.
func (s *search) repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	if err := s.size(max(s.length, int64(s.graph.Labels))); err != nil { // a search that had no room for its parents leaves none
		return 0, err
	}
	if err := s.wake(); err != nil {
		return 0, err
	}
	for start := time.Now(); time.Since(start) < duration; searches++ {
		if err := ctx.Err(); err != nil {
			return searches, err
		}
		s.levels = s.levels[:0]
		if err := s.traverse(ctx, uint64(roots[searches%int64(len(roots))])); err != nil {
			_ = cu.Synchronize() // as in run
			return searches, err
		}
	}
	return searches, nil
}
