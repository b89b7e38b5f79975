// SPDX-License-Identifier: Apache-2.0

package team

import (
	"sync/atomic"
	"time"
)

// patience is how long Absent waits in a turn. A member that the system runs comes within a few microseconds, and one
// that it does not run comes some milliseconds later.
const patience = 50 * time.Microsecond

// Absent opens turns with empty pieces until duration has passed, and returns the average number of members that did
// not join within 50 microseconds: members that the system was not running. The first turns, until all members have
// been started, do not count, unless they last as long again. Call it between Wake and Rest.
func (t *Team) Absent(duration time.Duration) float64 {
	if t.size == 1 {
		return 0
	}
	t.wakeAll()
	var present atomic.Int32
	var over atomic.Bool
	absent := 0
	show := func(worker, _, _ int) {
		if over.Load() {
			return // the piece of a member that did not join
		}
		present.Add(1)
		if worker != 0 {
			for look := 0; !over.Load() && t.Pause(look); look++ { // takes no second piece before that
			}
			return
		}
		for start := time.Now(); int(present.Load()) < t.size && time.Since(start) < patience; {
		}
		absent += t.size - int(present.Load())
		over.Store(true)
	}
	turn := func() (complete bool) {
		present.Store(0)
		over.Store(false)
		t.Pieces(t.size, 1, show)
		return int(present.Load()) == t.size
	}
	for start := time.Now(); time.Since(start) < duration && !turn(); {
	}
	absent = 0
	turns := 0
	for start := time.Now(); turns == 0 || time.Since(start) < duration; turns++ {
		turn()
	}
	return float64(absent) / float64(turns)
}
