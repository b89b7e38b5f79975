package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// How the validator's threads share work: ranges of a fixed length, given out in ascending order, one at a time. A
// range is a fraction of a millisecond of work, so that threads end together and a cancelled context is noticed soon.

// parallel calls work for the ranges of 0..items-1, each once, on all threads, until one returns false or ctx ends.
// Every range below one that was given out has been given out, and has been worked on when parallel returns. It returns
// whether every range returned true, and ctx.Err() if that stopped it.
func (v *Validator) parallel(ctx context.Context, items, grain int64, work func(s *scanner, first, last int64) bool) (bool, error) {
	var next atomic.Int64
	var stop atomic.Bool
	loop := func(s *scanner) {
		for !stop.Load() && ctx.Err() == nil {
			first := next.Add(grain) - grain
			if first >= items {
				return
			}
			if !work(s, first, min(first+grain, items)) {
				stop.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for i := 1; i < len(v.scanners) && int64(i)*grain < items; i++ {
		others.Go(func() { loop(&v.scanners[i]) })
	}
	loop(&v.scanners[0])
	others.Wait()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return !stop.Load(), nil
}

// lowest is the smallest number that any thread has put into it.
type lowest struct{ v atomic.Int64 }

const none int64 = 1<<63 - 1

func newLowest() *lowest {
	l := new(lowest)
	l.v.Store(none)
	return l
}

func (l *lowest) put(n int64) {
	for old := l.v.Load(); n < old && !l.v.CompareAndSwap(old, n); old = l.v.Load() {
	}
}

func (l *lowest) get() int64 { return l.v.Load() }
