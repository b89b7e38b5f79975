package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A team runs one function on several workers at the same time, again and again. It exists because a search has phases
// of 20 microseconds, which a goroutine and a WaitGroup cannot overlap: workers are started once, watch a counter for
// the next piece of work, and hand over in some 50 nanoseconds while they spin. A worker that has nothing to do for a
// while parks, so an engine that waits for its next search costs nothing.
//
// The caller of run is worker 0. Spinning is bounded everywhere, so more workers than processors, or other programs on
// them, make a search slow but never stuck.
type team struct {
	size    int
	crowded bool // more workers than processors
	members []member

	_       [64]byte
	turn    atomic.Uint32 // incremented to start the workers
	_       [60]byte
	working atomic.Int32 // members that have not finished this turn
	_       [60]byte
	task    func(worker int) // written before turn, read after it; nil: stop
	stopped sync.WaitGroup
}

// member is one goroutine of a team. The padding keeps two members off one cache line.
type member struct {
	parked atomic.Bool
	wake   chan struct{}
	_      [48]byte
}

// Bounds of waiting, in looks. A worker first spins (lowest latency), then lets others have the processor between
// looks, then parks.
const (
	spins        = 10_000 // some 20 us: workers fit on the processors
	spinsCrowded = 100    // they do not: someone else needs this one
	yields       = 4_000  // some 2 ms where nobody else wants the processor
)

func newTeam(size int) *team {
	t := &team{size: size, crowded: size > runtime.GOMAXPROCS(0), members: make([]member, size)}
	t.stopped.Add(size - 1)
	for i := 1; i < size; i++ {
		t.members[i].wake = make(chan struct{}, 1)
		go t.serve(i)
	}
	return t
}

// run calls task(0) ... task(size-1) at the same time and returns when all have returned. What the caller wrote before
// is visible to every worker, and what they wrote is visible to the caller afterwards. It does not allocate.
func (t *team) run(task func(worker int)) {
	if t.size == 1 {
		task(0)
		return
	}
	t.start(task)
	task(0)
	for look := 0; t.working.Load() != 0; look++ {
		if !t.linger(look) {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func (t *team) start(task func(worker int)) {
	t.task = task
	t.working.Store(int32(t.size - 1))
	t.turn.Add(1)
	t.rouse()
}

// rouse makes parked members watch for work again, without waiting for them. Waking takes a member up to 100
// microseconds, which pass unnoticed while the caller does something that needs no team.
func (t *team) rouse() {
	for i := 1; i < t.size; i++ {
		if t.members[i].parked.CompareAndSwap(true, false) {
			t.members[i].wake <- struct{}{}
		}
	}
}

// serve is the life of member i.
func (t *team) serve(i int) {
	defer t.stopped.Done()
	for done := uint32(0); ; {
		done = t.await(&t.members[i], done)
		if t.task == nil {
			return
		}
		t.task(i)
		t.working.Add(-1)
	}
}

// await returns the turn that follows done as soon as it has begun.
func (t *team) await(m *member, done uint32) uint32 {
	for look := 0; ; look++ {
		if turn := t.turn.Load(); turn != done {
			return turn
		}
		if t.linger(look) {
			continue
		}
		m.parked.Store(true)
		// The turn may have begun before start could see the flag: then whoever takes the flag back wins.
		if t.turn.Load() == done || !m.parked.CompareAndSwap(true, false) {
			<-m.wake
		}
		look = 0
	}
}

// linger is what a worker does after so many looks in vain; false when it has lingered long enough.
//
// A worker that fits on the processors yields to other threads of the system and keeps its place in the Go scheduler:
// workers that go through the scheduler's queue end up behind each other on one processor, and that costs the next phase some 20
// microseconds, and now and then half a millisecond.
func (t *team) linger(look int) bool {
	switch {
	case look >= spins+yields:
		return false
	case t.crowded && look >= spinsCrowded:
		runtime.Gosched()
		return look < spinsCrowded+yields/8
	case look >= spins:
		yieldProcessor()
	}
	return true
}

// ready returns when all workers are awake and watch for work.
func (t *team) ready() { t.run(func(int) {}) }

// stop ends the workers and waits for them. The team cannot be used afterwards.
func (t *team) stop() {
	if t.size > 1 {
		t.start(nil)
	}
	t.stopped.Wait()
}

// share returns worker's part [from, to) of n things split evenly over the team, with borders at multiples of grain.
func (t *team) share(worker, n, grain int) (from, to int) {
	grains := (n + grain - 1) / grain
	from = grains * worker / t.size * grain
	to = grains * (worker + 1) / t.size * grain
	return min(from, n), min(to, n)
}

// chunks hands out pieces of n things for work that cannot be split evenly beforehand. Every worker has a share of its
// own, the same one in every round, so that what it wrote in one level is still in its cache in the next; a worker that
// is through with its share helps the others with theirs.
type chunks struct {
	shares []chunkShare
}

// chunkShare is what is left of a worker's share.
type chunkShare struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// deal gives out n things anew, in pieces of size that begin at its multiples. Nobody may be taking.
func (c *chunks) deal(t *team, n, size int) {
	if c.shares == nil {
		c.shares = make([]chunkShare, t.size)
	}
	for worker := range c.shares {
		from, to := t.share(worker, n, size)
		c.shares[worker].next.Store(int64(from))
		c.shares[worker].end = int64(to)
	}
}

// take returns the next piece for worker of at most size things, as deal was told, and false when there is none.
func (c *chunks) take(worker, size int) (from, to int, ok bool) {
	for i := range c.shares {
		s := &c.shares[(worker+i)%len(c.shares)]
		if s.next.Load() >= s.end {
			continue
		}
		if from := s.next.Add(int64(size)) - int64(size); from < s.end {
			return int(from), int(min(from+int64(size), s.end)), true
		}
	}
	return 0, 0, false
}
