// SPDX-License-Identifier: Apache-2.0

package team

import "runtime"

// The numbers of times that a worker looks for its next task before it waits in another way. It first spins, which has
// the lowest latency, then yields the processor between looks, then parks.
const (
	spins        = 10_000 // some 20 us, when every worker has a processor
	spinsCrowded = 100    // when another worker needs this processor
	yields       = 4_000  // some 2 ms if nothing else wants the processor
	spinsOfPart  = 500    // that take as long as a call of an Idler
)

// Wake makes parked workers watch for the next task, and waits a short time until they do. The caller keeps its place
// until Rest.
func (t *Team) Wake() {
	t.spread(0)
	t.wakeAll()
}

// spread moves worker i, which calls it after sleep, away from the processors of others, until leave.
func (t *Team) spread(i int) {
	t.leave(i)
	if !t.crowded {
		t.members[i].place = t.teams.spread()
	}
}

func (t *Team) leave(i int) {
	t.teams.leave(t.members[i].place)
	t.members[i].place = 0
}

func (t *Team) wakeAll() {
	t.wake(t.size)
	for look := 0; t.parked.Load() != 0 && t.Pause(look); look++ {
	}
}

// Rest undoes Wake.
func (t *Team) Rest() { t.leave(0) }

func (t *Team) wake(wanted int) {
	if t.parked.Load() == 0 {
		return
	}
	for i := 1; i < wanted; i++ {
		if t.members[i].parked.Load() {
			select {
			case t.members[i].wake <- struct{}{}:
			default: // a wake-up is on its way
			}
		}
	}
}

// await returns the next turn after last that member i may join.
func (t *Team) await(i int, last uint64) uint64 {
	m := &t.members[i]
	next := func() (uint64, bool) {
		turn := t.turn.Load()
		return turn, turn != last && turn&(1<<turnBits-1) > uint64(i)
	}
	for look := 0; ; look++ {
		if turn, ok := next(); ok {
			return turn
		}
		if t.tryIdle(i) {
			look = min(look+spinsOfPart, spins) // yields as early as if it only waited, and does not park
		}
		if t.Pause(look) {
			continue
		}
		m.parked.Store(true)
		t.parked.Add(1)
		if _, ok := next(); !ok { // a turn that was opened before the flag could be seen wakes no member
			t.leave(i)
			<-m.wake
			t.spread(i)
		}
		m.parked.Store(false)
		t.parked.Add(-1)
		look = 0
	}
}

// Pause spins or yields after a worker has looked in vain the given number of times. It returns false when the worker
// has waited long enough to park.
//
// A worker with its own processor yields to other threads of the system and keeps its place in the Go scheduler:
// workers that pass through the scheduler's queue end up behind each other on one processor, which delays the next
// phase by some 20 microseconds, sometimes by half a millisecond.
func (t *Team) Pause(look int) bool {
	switch {
	case look >= spins+yields:
		return false
	case t.crowded && look >= spinsCrowded:
		runtime.Gosched()
		return look < spinsCrowded+yields/8
	case look >= spins:
		YieldProcessor()
	}
	return true
}

// Idler is work for workers that wait: for the next task, or for others at the end of one. A call takes less than a
// microsecond, and returns whether it did anything, and whether there may be more for this worker.
type Idler interface {
	Idle(worker int) (did, more bool)
}

// WhileIdle lets workers that wait call work.Idle again and again, until EndIdle, or until there is no more for them.
func (t *Team) WhileIdle(work Idler) {
	if t.crowded {
		return // a worker that waits leaves its processor to others
	}
	t.idle = work
	t.offers++
	t.offer.Store(t.offers)
}

// EndIdle ends the calls of Idle and waits for those that have not returned.
func (t *Team) EndIdle() {
	t.offer.Store(0)
	for i := range t.members {
		t.waitFor(&t.members[i].idle)
	}
}

// tryIdle lets a worker call Idle once, and reports whether that did anything. It first says that it is about to and
// then checks that it still may; EndIdle does both in the other order.
func (t *Team) tryIdle(worker int) (did bool) {
	m := &t.members[worker]
	offer := t.offer.Load()
	if offer == 0 || offer == m.finished {
		return false
	}
	m.idle.Store(true)
	if t.offer.Load() == offer {
		var more bool
		if did, more = t.idle.Idle(worker); !more {
			m.finished = offer
		}
	}
	m.idle.Store(false)
	return did
}
