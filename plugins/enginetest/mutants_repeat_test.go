package enginetest

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// wrongInTheLoop are mutants with correct searches and a wrong Repeat.
func wrongInTheLoop() map[string]wrong {
	repeated := func(repeat repetition) func() *mutant { return func() *mutant { return &mutant{repeat: repeat} } }
	return map[string]wrong{
		"repeats nothing": {repeated(func(context.Context, plugins.Repeater, []vertex, time.Duration) (int64, error) {
			return 1000, nil
		}), words{"repeat/duration": "got 1000 searches"}},
		"repeats for too long": {repeated(
			func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				return right.Repeat(ctx, roots, duration+3*time.Second)
			}), words{"repeat/duration": "want Repeat to search for 1ms"}},
		"skips roots that it has searched from": {repeated(
			func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				n, err := right.Repeat(ctx, roots, duration)
				return 100_000 * n, err
			}), words{"repeat/count": "want no more searches than there is time for"}},
		// Its times are made up, because a busy machine may make real ones of the two roots equally long.
		"repeats the first root alone": {repeated(
			func(_ context.Context, _ repeater, roots []vertex, duration time.Duration) (int64, error) {
				start, each := time.Now(), time.Microsecond
				if roots[0] == 0 { // the end of the path
					each = time.Millisecond
				}
				time.Sleep(duration)
				return int64(time.Since(start) / each), nil
			}), words{"repeat/around": "in turn, but"}},
		"repeats to the end": {repeated(
			func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				return right.Repeat(context.WithoutCancel(ctx), roots, min(duration, 4*time.Second))
			}), words{"repeat/cancel": "want an end within 2s of the cancel"}},
		"ends quietly when it is canceled": {repeated(
			func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				n, err := right.Repeat(ctx, roots, duration)
				if ctx.Err() != nil {
					return n, nil
				}
				return n, err
			}), words{"repeat/cancel": "want an error that wraps"}},
		"repeats from whatever comes": {repeated(
			func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				for i := range roots {
					roots[i] = max(roots[i], 0) % 100
				}
				return right.Repeat(ctx, roots, duration)
			}), words{"repeat/refuses": "Repeat from roots [1 -1] for 10ms: want an error"}},
		"is changed by a loop": {func() *mutant {
			m := &mutant{}
			looped := false
			m.repeat = func(ctx context.Context, right repeater, roots []vertex, duration time.Duration) (int64, error) {
				looped = looped || duration > time.Millisecond
				return right.Repeat(ctx, roots, duration)
			}
			m.search = func(c call) (traversal, error) {
				t, err := c.search()
				if looped && err == nil {
					c.parent[c.root] = graph.Unreached
				}
				return t, err
			}
			return m
		}, words{"repeat/duration": "after a Repeat: "}},
	}
}
