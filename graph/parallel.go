// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// Parallel calls work for ranges of at most grain of the items 0..items-1, in ascending order, on the given number of
// threads, until a call returns false or ctx ends. It returns whether all calls returned true, and ctx.Err() if ctx
// ended. Work has then finished for every range that was started and for all ranges below it. A range should take a
// fraction of a millisecond, so that threads finish at about the same time and soon after ctx has ended.
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
