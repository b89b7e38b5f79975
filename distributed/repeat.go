package distributed

import (
	"context"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// The loop during which energy is measured. Ranks do what they do for a timed search; parents in original labels go to
// arrays of the ranks' own and are overwritten by the next search. The arrays have an entry for each label of the tuples, so
// a root beyond them is refused here.

var (
	_ plugins.Repeater = (*engine)(nil)
	_ plugins.Repeater = (*mpiEngine)(nil)
)

// checkRepeat refuses what cannot be repeated.
func checkRepeat(closed, constructed bool, labels int64, roots []graph.Vertex, duration time.Duration) error {
	switch {
	case closed:
		return fmt.Errorf("distributed: repeat: %w", plugins.ErrClosed)
	case !constructed:
		return fmt.Errorf("distributed: repeat: %w; call Construct first", plugins.ErrNotConstructed)
	case len(roots) == 0 || duration <= 0:
		return fmt.Errorf("distributed: repeat: %d roots for %v: want at least one root and a time", len(roots), duration)
	}
	for _, root := range roots {
		if root < 0 || int64(root) >= labels {
			return fmt.Errorf("distributed: repeat from %d: %w: want 0 to %d", root, plugins.ErrRoot, labels-1)
		}
	}
	return nil
}

// Repeat implements plugins.Repeater.
func (e *engine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	if err := checkRepeat(e.closed, e.searches != nil, e.labels, roots, duration); err != nil {
		return 0, err
	}
	parent := make([]graph.Vertex, e.labels)
	for start := time.Now(); time.Since(start) < duration; searches++ {
		if err := searchLocal(ctx, e.searches, e.records, roots[searches%int64(len(roots))], parent); err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return searches, err
		}
	}
	return searches, nil
}

// Repeat implements plugins.Repeater: the ranks repeat among themselves, and tell how often.
func (e *mpiEngine) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (searches int64, err error) {
	var labels int64
	if e.built != nil {
		labels = e.built.Labels
	}
	if err := checkRepeat(e.closed, e.job != nil, labels, roots, duration); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	q := request{Kind: requestRepeat, Duration: duration, Roots: make([]int64, len(roots))}
	for k, root := range roots {
		q.Roots[k] = int64(root)
	}
	a, err := e.ask(ctx, q)
	if err != nil {
		return 0, e.broken(ctx, fmt.Errorf("mpi: repeat: %w", err))
	}
	return a.Searches, nil
}

// repeat is what a rank does for a request to repeat. Every search begins as a timed one does, with all ranks together;
// there, they also agree on whether rank 0 has seen the time run out.
func (r *rank) repeat(ctx context.Context, q request, w *wire) error {
	if r.search == nil {
		if w == nil {
			return nil
		}
		return w.say(answer{Failure: "no graph"})
	}
	searches := int64(0)
	for start := time.Now(); ; searches++ {
		over := []int64{0}
		if w != nil && time.Since(start) >= q.Duration {
			over[0] = 1
		}
		r.world.Allreduce(Sum, over)
		if over[0] != 0 {
			break
		}
		if _, err := r.search.run(ctx, graph.Vertex(q.Roots[searches%int64(len(q.Roots))]), r.out, 0, 1); err != nil {
			if w == nil {
				return nil
			}
			return w.say(refusal(err, nil))
		}
	}
	if w == nil {
		return nil
	}
	return w.say(answer{Searches: searches})
}
