// SPDX-License-Identifier: Apache-2.0

package team

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
