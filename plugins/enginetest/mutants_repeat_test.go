package enginetest

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
)

// wrongInTheLoop are mutants with correct searches and a wrong Repeat.
func wrongInTheLoop() map[string]wrong {
	repeated := func(repeat func(l loop) (int64, error)) func() *mutant {
		return func() *mutant { return &mutant{repeat: repeat} }
	}
	return map[string]wrong{
		"repeats nothing": {repeated(func(loop) (int64, error) { return 1000, nil }),
			words{"repeat/duration": "got 1000 searches"}},
		"repeats for too long": {repeated(func(l loop) (int64, error) {
			l.duration += 3 * time.Second
			return l.repeat()
		}), words{"repeat/duration": "want Repeat to search for 1ms"}},
		"skips roots that it has searched from": {repeated(func(l loop) (int64, error) {
			n, err := l.repeat()
			return 100_000 * n, err
		}), words{"repeat/count": "want no more searches than there is time for"}},
		// Its times are made up, because a busy machine may make real ones of the two roots equally long.
		"repeats the first root only": {repeated(func(l loop) (int64, error) {
			start, each := time.Now(), time.Microsecond
			if l.roots[0] == 0 { // the end of the path
				each = time.Millisecond
			}
			time.Sleep(l.duration)
			return int64(time.Since(start) / each), nil
		}), words{"repeat/around": "in turn, but"}},
		"repeats to the end": {repeated(func(l loop) (int64, error) {
			l.ctx, l.duration = context.WithoutCancel(l.ctx), min(l.duration, 4*time.Second)
			return l.repeat()
		}), words{"repeat/cancel": "want an end within 2s of the cancel"}},
		"ends quietly when it is canceled": {repeated(func(l loop) (int64, error) {
			n, err := l.repeat()
			if l.ctx.Err() != nil {
				return n, nil
			}
			return n, err
		}), words{"repeat/cancel": "want an error that wraps"}},
		"repeats from whatever comes": {repeated(func(l loop) (int64, error) {
			for i := range l.roots {
				l.roots[i] = max(l.roots[i], 0) % 100
			}
			return l.repeat()
		}), words{"repeat/refuses": "Repeat from roots [1 -1] for 10ms: want an error"}},
		"is changed by a loop": {func() *mutant {
			m, looped := &mutant{}, false
			m.repeat = func(l loop) (int64, error) {
				looped = looped || l.duration > time.Millisecond
				return l.repeat()
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
