// SPDX-License-Identifier: Apache-2.0

// Package team runs one function on several goroutines at the same time, repeatedly.
//
// A search has phases of 20 microseconds, too short for starting goroutines and waiting for them with a WaitGroup. A
// team starts its workers once. They spin on a counter and pick up the next task within some 50 nanoseconds. A worker
// that has waited for a few milliseconds parks.
//
// A task is a number of pieces, and is complete when every piece is. Nothing waits for a worker that the system does
// not run: a worker that comes late finds the turn closed, and one that is taken off its processor delays only the
// piece that it is at.
package team

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Team is a fixed number of workers, numbered from 0. The caller of Pieces is worker 0. All spinning is bounded, so a
// crowded machine makes a team slow but never blocks it. Calls come one at a time.
type Team struct {
	size    int
	teams   *Teams
	crowded bool // more workers in the process than processors
	members []member
	shares  []share
	stopped sync.WaitGroup

	work
	_      [64]byte
	turn   atomic.Uint64 // number of the turn << turnBits | workers that may join; no workers: closed
	_      [56]byte
	parked atomic.Int32 // members that are parked
	_      [60]byte
	left   []atomic.Uint64 // bitmap of the shares with pieces that nobody has taken
	_      [40]byte
	offer  atomic.Uint64 // number of the call of WhileIdle; 0: none is in effect
	offers uint64        // calls of WhileIdle
	idle   Idler
}

// work is that of one turn: written before it is opened, and read by members that have joined it.
type work struct {
	items, pieceSize, pieces int
	task                     Task // nil: stop
	wanted                   int  // workers with a share
}

const turnBits = 16

// member is one goroutine of a team. The padding keeps two members off one cache line.
type member struct {
	joined   atomic.Bool // works on the turn, or is about to look whether it is still open
	parked   atomic.Bool
	idle     atomic.Bool // calls the Idler, or is about to look whether it still may
	wake     chan struct{}
	place    int    // of spread
	finished uint64 // the offer that has nothing left for this worker
	_        [24]byte
}

// Teams are teams of one process that work at the same time, and share its processors.
type Teams struct {
	workers int // of all teams
	places
}

// NewTeams returns the common state of teams that together have the given number of workers.
func NewTeams(workers int) *Teams { return &Teams{workers: workers} }

// New starts a team of size workers, the only team at work in the process.
func New(size int) *Team { return NewTeams(size).New(size) }

// New starts a team of size workers.
func (ts *Teams) New(size int) *Team {
	t := ts.prepare(size)
	t.stopped.Add(size - 1)
	for i := 1; i < size; i++ { // worker 0 is the caller
		go t.serve(i)
	}
	return t
}

// prepare returns a team whose members do not run.
func (ts *Teams) prepare(size int) *Team {
	const line = 8 // words in a cache line
	words := (size + 63) / 64
	t := &Team{
		size: size, teams: ts, crowded: ts.workers > runtime.GOMAXPROCS(0),
		members: make([]member, size), shares: make([]share, size),
		left: make([]atomic.Uint64, words+2*line)[line : line+words],
	}
	for i := range t.members {
		t.members[i].wake = make(chan struct{}, 1)
	}
	return t
}

// Size returns the number of workers.
func (t *Team) Size() int { return t.size }

// Run calls task(0) ... task(size-1) at the same time, as far as the system runs the workers, and waits for all.
func (t *Team) Run(task func(worker int)) {
	t.Pieces(t.size, 1, func(_, i, _ int) { task(i) })
}

// Stop ends the workers and waits for them. The team cannot be used afterwards.
func (t *Team) Stop() {
	t.task = nil
	t.open(t.size)
	t.stopped.Wait()
	t.leave(0)
}

// open lets workers 0..wanted-1 join a turn.
func (t *Team) open(wanted int) {
	t.turn.Store((t.turn.Load()>>turnBits+1)<<turnBits | uint64(wanted))
	t.wake(wanted)
}

// close lets no worker join the turn any more, and waits for those that have. A member first says that it has joined
// and then checks that the turn is open; close does both in the other order, so one of the two sees the other.
func (t *Team) close() {
	t.turn.Store(t.turn.Load() >> turnBits << turnBits)
	for i := 1; i < t.wanted; i++ {
		t.waitFor(&t.members[i].joined)
	}
}

func (t *Team) waitFor(flag *atomic.Bool) {
	for look := 0; flag.Load(); look++ {
		if !t.tryIdle(0) && !t.Pause(look) {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func (t *Team) serve(i int) {
	defer t.stopped.Done()
	m := &t.members[i]
	defer t.leave(i)
	for turn := uint64(0); ; {
		turn = t.await(i, turn)
		m.joined.Store(true)
		if t.turn.Load() == turn {
			if t.task == nil {
				return
			}
			t.takeAll(i, turn)
		}
		m.joined.Store(false)
	}
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

// Task is a step that the workers of a team share.
type Task interface {
	// Piece works on items from..to-1. worker is the worker that makes the call.
	Piece(worker, from, to int)
}

// Func is a function as a Task.
type Func func(worker, from, to int)

// Piece is Task.Piece.
func (f Func) Piece(worker, from, to int) { f(worker, from, to) }

// Pieces is Do for a function.
func (t *Team) Pieces(n, size int, task func(worker, from, to int)) { t.Do(n, size, Func(task)) }

// Do lets the workers share a task of n items in pieces of the given size (the last one may have fewer), and returns
// when all calls of Piece have returned. Every worker first takes the pieces of its own share, the same one in every
// call, so that the data is still in its cache, and then helps the others with theirs. If there are fewer pieces than
// workers, only that many workers take part. Do does not allocate.
func (t *Team) Do(n, size int, task Task) {
	pieces := (n + size - 1) / size
	wanted := min(pieces, t.size)
	if wanted <= 1 || t.size == 1 {
		for from := 0; from < n; from += size {
			task.Piece(0, from, min(from+size, n))
		}
		return
	}
	if pieces > maxPieces {
		panic("team: too many pieces")
	}
	for w := range t.left {
		t.left[w].Store(1<<min(max(wanted-w<<6, 0), 64) - 1)
	}
	t.work = work{n, size, pieces, task, wanted}
	t.open(wanted)
	t.takeAll(0, t.turn.Load())
	t.close()
}
