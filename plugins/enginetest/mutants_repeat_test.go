package enginetest

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// wrongInTheLoop are mutants whose searches are right and whose Repeat is not.
func wrongInTheLoop() map[string]wrong {
	repeated := func(repeat repetition) func() *mutant { return func() *mutant { return &mutant{repeat: repeat} } }
	return map[string]wrong{
		"repeats nothing": {repeated(func(context.Context, plugins.Repeater, []graph.Vertex, time.Duration) (int64, error) {
			return 1000, nil
		}), map[string]string{"repeat/duration": "got 1000 searches"}},
		"repeats for too long": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			return right.Repeat(ctx, roots, duration+3*time.Second)
		}), map[string]string{"repeat/duration": "want Repeat to search for 1ms"}},
		"skips roots that it has searched from": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			n, err := right.Repeat(ctx, roots, duration)
			return 100 * n, err
		}), map[string]string{"repeat/count": "want no more searches than there is time for"}},
		"repeats the first root alone": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			if len(roots) > 0 {
				roots = roots[:1]
			}
			return right.Repeat(ctx, roots, duration)
		}), map[string]string{"repeat/around": "in turn, but"}},
		"repeats to the end": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			return right.Repeat(context.WithoutCancel(ctx), roots, min(duration, 4*time.Second))
		}), map[string]string{"repeat/cancel": "want an end within 2s of the cancel"}},
		"ends quietly when it is cancelled": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			n, err := right.Repeat(ctx, roots, duration)
			if ctx.Err() != nil {
				return n, nil
			}
			return n, err
		}), map[string]string{"repeat/cancel": "want an error that wraps"}},
		"repeats from whatever comes": {repeated(func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
			for i := range roots {
				roots[i] = max(roots[i], 0) % 100
			}
			return right.Repeat(ctx, roots, duration)
		}), map[string]string{"repeat/refuses": "Repeat from root -1: want an error"}},
		"is spoilt by a loop": {func() *mutant {
			m := &mutant{}
			looped := false
			m.repeat = func(ctx context.Context, right plugins.Repeater, roots []graph.Vertex, duration time.Duration) (int64, error) {
				looped = looped || duration > time.Millisecond
				return right.Repeat(ctx, roots, duration)
			}
			m.search = func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if looped && err == nil {
					parent[root] = graph.Unreached
				}
				return t, err
			}
			return m
		}, map[string]string{"repeat/afterwards": "after a Repeat: "}},
	}
}
