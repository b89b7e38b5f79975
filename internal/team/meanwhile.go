package team

// Meanwhile gives workers something to do while they wait: for the next turn, or for others at the end of one. They
// call task again and again until EndMeanwhile, or until it says that there will not be more for this worker. It also
// says whether it did anything. A worker may be late for the next turn by the time of a call, which should be less than
// a microsecond. A worker that never waits calls nothing.
func (t *Team) Meanwhile(task func(worker int) (did, more bool)) {
	if t.crowded {
		return // a worker that waits leaves its processor to one that does not
	}
	t.aside = task
	t.offers++
	t.offer.Store(t.offers)
}

// EndMeanwhile ends the calls of the task of Meanwhile: it waits for those that have not returned, and none follow.
func (t *Team) EndMeanwhile() {
	t.offer.Store(0)
	for i := range t.members {
		t.waitFor(&t.members[i].aside)
	}
}

// tryMeanwhile lets a worker call the task of Meanwhile once, and reports whether that did anything. It first says that
// it is about to and then checks that it still may; EndMeanwhile does both in the other order.
func (t *Team) tryMeanwhile(worker int) (did bool) {
	m := &t.members[worker]
	offer := t.offer.Load()
	if offer == 0 || offer == m.finished {
		return false
	}
	m.aside.Store(true)
	if t.offer.Load() == offer {
		var more bool
		if did, more = t.aside(worker); !more {
			m.finished = offer
		}
	}
	m.aside.Store(false)
	return did
}
