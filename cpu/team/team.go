// Package team runs one function on several goroutines at the same time, again and again.
//
// A search has phases of 20 microseconds, too short for starting goroutines and waiting for them with a WaitGroup. A
// team starts its workers once. They watch a counter for the next task, and pick it up within some 50 nanoseconds
// while they spin. A worker that has waited in vain for a few milliseconds parks, so an idle team uses no processor.
package team

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Team is a fixed number of workers, numbered from 0. The caller of Run is worker 0. All spinning is bounded, so more
// workers than processors, or other programs on them, make a team slow but never block it. Calls come one at a time.
type Team struct {
	size    int
	crowded bool // more workers than processors
	members []member

	// Of Pieces: what is left of each worker's share, and what takes pieces from it.
	shares     []share
	pieceSize  int
	pieceTask  func(worker, from, to int)
	takePieces func(worker int)

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

// How often a worker looks for its next task before it changes how it waits. It first spins, which has the lowest
// latency, then yields the processor between looks, then parks.
const (
	spins        = 10_000 // some 20 us, when every worker has a processor
	spinsCrowded = 100    // when another worker needs this processor
	yields       = 4_000  // some 2 ms if nothing else wants the processor
)

// New starts a team of size workers.
func New(size int) *Team {
	t := &Team{
		size: size, crowded: size > runtime.GOMAXPROCS(0), members: make([]member, size), shares: make([]share, size),
	}
	t.takePieces = t.takeAll
	t.stopped.Add(size - 1)
	for i := 1; i < size; i++ {
		t.members[i].wake = make(chan struct{}, 1)
		go t.serve(i)
	}
	return t
}

// Size returns the number of workers.
func (t *Team) Size() int { return t.size }

// Run calls task(0) ... task(size-1) at the same time and returns when all have returned. Writes before Run are visible
// to every worker, and the workers' writes are visible after Run. It does not allocate.
func (t *Team) Run(task func(worker int)) {
	if t.size == 1 {
		task(0)
		return
	}
	t.start(task)
	task(0)
	for look := 0; t.working.Load() != 0; look++ {
		if !t.pause(look) {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Wake returns when all workers are awake and watch for the next task.
func (t *Team) Wake() { t.Run(func(int) {}) }

// Stop ends the workers and waits for them. The team cannot be used afterwards.
func (t *Team) Stop() {
	if t.size > 1 {
		t.start(nil)
	}
	t.stopped.Wait()
}

func (t *Team) start(task func(worker int)) {
	t.task = task
	t.working.Store(int32(t.size - 1))
	t.turn.Add(1)
	for i := 1; i < t.size; i++ {
		if t.members[i].parked.CompareAndSwap(true, false) {
			t.members[i].wake <- struct{}{}
		}
	}
}

// serve is the loop of member i.
func (t *Team) serve(i int) {
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
func (t *Team) await(m *member, done uint32) uint32 {
	for look := 0; ; look++ {
		if turn := t.turn.Load(); turn != done {
			return turn
		}
		if t.pause(look) {
			continue
		}
		m.parked.Store(true)
		// The turn may have begun before start could see the flag. Then whoever takes the flag back goes on.
		if t.turn.Load() == done || !m.parked.CompareAndSwap(true, false) {
			<-m.wake
		}
		look = 0
	}
}

// pause spins or yields after a worker has looked in vain the given number of times. It returns false when the worker
// has waited long enough to park.
//
// A worker with a processor of its own yields to other threads of the system and keeps its place in the Go scheduler:
// workers that pass through the scheduler's queue end up behind each other on one processor, which delays the next
// phase by some 20 microseconds, and now and then by half a millisecond.
func (t *Team) pause(look int) bool {
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

// Share returns worker's part [from, to) of n items split evenly over the team, with borders at multiples of grain.
func (t *Team) Share(worker, n, grain int) (from, to int) {
	grains := (n + grain - 1) / grain
	from = grains * worker / t.size * grain
	to = grains * (worker + 1) / t.size * grain
	return min(from, n), min(to, n)
}

// Split calls task once on every worker, with the worker's share of n items.
func (t *Team) Split(n, grain int, task func(worker, from, to int)) {
	t.Run(func(worker int) {
		from, to := t.Share(worker, n, grain)
		task(worker, from, to)
	})
}

// share is what is left of a worker's items in a call of Pieces. The padding keeps two shares off one cache line.
type share struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// Pieces calls task for pieces of n items that cannot be split evenly beforehand. A piece begins at a multiple of size
// and has size items; the last one may have fewer. Every worker first takes the pieces of its own share, the same one
// in every call, so that what it wrote in one level is still in its cache in the next, and then helps the others with
// theirs. Pieces does not allocate.
func (t *Team) Pieces(n, size int, task func(worker, from, to int)) {
	for worker := range t.shares {
		from, to := t.Share(worker, n, size)
		t.shares[worker].next.Store(int64(from))
		t.shares[worker].end = int64(to)
	}
	t.pieceSize, t.pieceTask = size, task
	t.Run(t.takePieces)
}

// takeAll works on pieces until there are none left.
func (t *Team) takeAll(worker int) {
	size := int64(t.pieceSize)
	for i := range t.shares {
		s := &t.shares[(worker+i)%len(t.shares)]
		for s.next.Load() < s.end {
			if from := s.next.Add(size) - size; from < s.end {
				t.pieceTask(worker, int(from), int(min(from+size, s.end)))
			}
		}
	}
}
