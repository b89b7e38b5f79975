package cpu

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

var _ plugins.Repeater = (*engine)(nil)

// Repeat implements plugins.Repeater. Every search is the timed one, parents in original labels and as wide as inside the
// clock; they go to an array of the engine's own, which the next search overwrites. The array has an entry for each label
// of the tuples, so a root beyond them is refused here.
func (e *engine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	switch {
	case e.closed:
		return 0, fmt.Errorf("cpu: repeat: %w", plugins.ErrClosed)
	case e.search == nil:
		return 0, fmt.Errorf("cpu: repeat: %w; call Construct first", plugins.ErrNotConstructed)
	case len(roots) == 0 || duration <= 0:
		return 0, fmt.Errorf("cpu: repeat: %d roots for %v: want at least one root and a time", len(roots), duration)
	}
	for _, root := range roots {
		if root < 0 || int64(root) >= int64(e.layout.labels) {
			return 0, fmt.Errorf("cpu: repeat from %d: %w: want 0 to %d", root, plugins.ErrRoot, e.layout.labels-1)
		}
	}
	once, release, err := e.search.alone(e.memory)
	if err != nil {
		return 0, err
	}
	defer release()
	for start := time.Now(); time.Since(start) < duration; searches++ {
		if err := once(ctx, roots[searches%int64(len(roots))]); err != nil {
			return searches, err
		}
	}
	return searches, nil
}

// alone returns the search into an array of its own, and what gives that back.
func (w *wide) alone(m *memory) (once func(context.Context, graph.Vertex) error, giveBack func(), err error) {
	own, err := allocate[graph.Vertex](m, "parents of repeated searches", w.g.labels)
	once = func(ctx context.Context, root graph.Vertex) error {
		_, err := w.run(ctx, root, own)
		return err
	}
	return once, func() { release(m, &own) }, err
}

// alone returns the search into the array that it has anyway; widening is outside the clock, and so outside of this.
func (n *narrow) alone(*memory) (once func(context.Context, graph.Vertex) error, giveBack func(), err error) {
	once = func(ctx context.Context, root graph.Vertex) error {
		_, err := n.run(ctx, root, n.inside)
		return err
	}
	return once, func() {}, nil
}
