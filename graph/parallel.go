package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// Parallel calls work once for each range of at most grain of the items 0..items-1, in ascending order, on the given
// number of threads, until a call returns false or ctx ends. A range should take a fraction of a millisecond, so that
// threads finish together and soon after ctx has ended.
//
// All ranges below one that was handed out have been worked on when Parallel returns. It returns whether all calls
// returned true, and ctx.Err() if that stopped it.
func Parallel(
	ctx context.Context, threads int, items, grain int64, work func(thread int, first, last int64) bool,
) (bool, error) {
	var next atomic.Int64
	var stop atomic.Bool
	loop := func(thread int) {
		for !stop.Load() && ctx.Err() == nil {
			first := next.Add(grain) - grain
			if first >= items {
				return
			}
			if !work(thread, first, min(first+grain, items)) {
				stop.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for i := 1; i < threads && int64(i)*grain < items; i++ {
		others.Go(func() { loop(i) })
	}
	loop(0)
	others.Wait()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return !stop.Load(), nil
}
