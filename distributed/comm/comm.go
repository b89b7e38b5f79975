// SPDX-License-Identifier: Apache-2.0

// Package comm lets ranks exchange messages: goroutines of one process (NewLocal) or processes under MPI (package mpi).
package comm

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/team"
)

// Group is a rank's end of a group of ranks, which all make the same calls in the same order.
//
// A message is a slice of 32-bit words; an empty one is not sent. A rank may change a message that it has sent only
// after a later call in which the whole group took part. A received message is valid until then; its receiver may
// change it if it was sent to no other rank. Calls return what the rank has sent.
type Group interface {
	// Rank returns the caller's rank in the group, Size the number of ranks.
	Rank() int
	Size() int

	// Shares reports whether the ranks are in one process, so that a received message is memory of its sender.
	Shares() bool
	// Split divides the group into one group for each color, ordered by key.
	Split(color, key int) Group

	// Alltoallv sends send[k] to rank k for all k except the caller, and stores what rank k sent in receive[k]. The
	// caller's own message is passed through. All ranks may pass nil twice: then no messages are exchanged. It also
	// replaces sums and minima, at most MaxReduce numbers, by those of all ranks.
	Alltoallv(send, receive [][]uint32, sums, minima []int64) Traffic

	// Allgather sends a message to all ranks, which pass it on, and stores that of rank k in receive[k]. It also replaces
	// sums and minima as Alltoallv does.
	Allgather(message []uint32, receive [][]uint32, sums, minima []int64) Traffic

	// Shift sends a message to the rank that comes by places after the caller, and returns that of the rank as many
	// places before it. Ranks without such a neighbor send or receive nothing.
	Shift(message []uint32, by int) ([]uint32, Traffic)

	// WhileIdle lets calls that wait for other ranks call work.Idle(0), again and again until there is no more. nil: only
	// wait. All ranks pass work or all pass nil.
	WhileIdle(work team.Idler)
}

// MaxReduce is the largest number of values that are combined in one call.
const MaxReduce = 4

// Allreduce replaces values, at most MaxReduce of them, by their sums over all ranks of a group.
func Allreduce(g Group, values []int64) { g.Alltoallv(nil, nil, values, nil) }

// Any waits for all ranks, and reports whether it is true for one of them.
func Any(g Group, own bool) bool {
	some := []int64{0}
	if own {
		some[0] = 1
	}
	Allreduce(g, some)
	return some[0] != 0
}

// Combine combines values, sums and behind them minima, with those of rank k; it is called for all ranks in turn.
func Combine(all, values []int64, sums, k int) {
	for i, v := range values {
		switch {
		case k == 0:
			all[i] = v
		case i < sums:
			all[i] += v
		default:
			all[i] = min(all[i], v)
		}
	}
}

// Allgather sends one message to all ranks of a group and returns the messages of all.
func Allgather(g Group, message []uint32) (received [][]uint32) {
	received = make([][]uint32, g.Size())
	g.Allgather(message, received, nil, nil)
	return received
}

// Traffic is what a rank sends to others through a network. Ranks that share memory send less, and count the same.
type Traffic struct{ Messages, Bytes int64 }

const (
	wordBytes   = 4
	lengthBytes = 4 // of a message that others pass on
)

// Steps returns the number of steps in which something reaches all ranks of a group, if the ranks that have it double
// in each.
func Steps(ranks int) int { return bits.Len(uint(ranks - 1)) }

func (t *Traffic) add(messages int, bytes int64) {
	t.Messages += int64(messages)
	t.Bytes += int64(messages) * bytes
}

// reduced is the traffic of combining values: in each step a rank sends its values to one other. Sums and minima take
// turns. Without values ranks only learn that all have made the call.
func reduced(ranks int, sums, minima []int64) (t Traffic) {
	const valueBytes = 8
	for _, values := range [][]int64{sums, minima} {
		if len(values) > 0 {
			t.add(Steps(ranks), int64(len(values))*valueBytes)
		}
	}
	return t
}

// ToEach is the traffic of Alltoallv: the messages and the reduction, by which ranks also learn that they have received
// everything.
func ToEach(g Group, send [][]uint32, sums, minima []int64) Traffic {
	t := reduced(g.Size(), sums, minima)
	if t.Messages == 0 {
		t.add(Steps(g.Size()), 0)
	}
	for k, message := range send {
		if k != g.Rank() && len(message) > 0 {
			t.add(1, wordBytes*int64(len(message)))
		}
	}
	return t
}

// ToAll is the traffic of Allgather: in each step a rank sends all messages that it has, with their lengths, to a rank
// that has none of them. Only the next rank's own message need not pass through it.
func ToAll(g Group, received [][]uint32, sums, minima []int64) Traffic {
	t := reduced(g.Size(), sums, minima)
	t.add(Steps(g.Size()), 0)
	for k, message := range received {
		if k != (g.Rank()+1)%g.Size() {
			t.Bytes += lengthBytes + wordBytes*int64(len(message))
		}
	}
	return t
}

// ToNext is the traffic of Shift. An empty message is sent, too, because the other rank waits for one.
func ToNext(g Group, message []uint32, by int) (t Traffic) {
	if g.Rank()+by < g.Size() {
		t.add(1, wordBytes*int64(len(message)))
	}
	return t
}

// localGroup is a group of goroutines. They exchange messages by posting slices on boards. Nothing is copied: a
// received message is the sender's slice. Two boards alternate: a rank that is one call ahead posts on the other board,
// and no rank can be two calls ahead.
type localGroup struct {
	size    int
	barrier barrier
	boards  [2][]post              // [size] by sender
	parts   map[uint32]*localGroup // of the last Split, by color
}

// post is the arguments of one rank in a call. The padding keeps ranks off each other's cache lines.
type post struct {
	send   [][]uint32 // to each rank
	all    []uint32   // to all ranks, or to one
	values [MaxReduce]int64
	_      [48]byte
}

// local is a rank's end of a group.
type local struct {
	group *localGroup
	rank  int
	calls int
	idle  team.Idler // of WhileIdle, until it has no more to do
}

// NewLocal returns the ends of a group of in-process ranks, each for use by one goroutine. The ranks have the given
// number of workers each.
func NewLocal(ranks, threads int) []Group {
	w := waiting{yields: max(totalYields/ranks, 8)}
	if ranks*threads <= runtime.GOMAXPROCS(0) {
		w = waiting{spins, yields}
	}
	g := newLocalGroup(ranks, w)
	all := make([]Group, ranks)
	for rank := range all {
		all[rank] = &local{group: g, rank: rank}
	}
	return all
}

func newLocalGroup(size int, w waiting) *localGroup {
	g := &localGroup{size: size}
	g.barrier.size, g.barrier.waiting = int32(size), w
	g.barrier.passed = sync.NewCond(&g.barrier.mu)
	for i := range g.boards {
		g.boards[i] = make([]post, size)
	}
	return g
}

func (c *local) Rank() int    { return c.rank }
func (c *local) Size() int    { return c.group.size }
func (c *local) Shares() bool { return true }

// meet posts a rank's messages and values, and returns the board when all ranks have posted theirs. The last rank
// combines the values and drops the messages of the previous call, which all ranks have read.
func (c *local) meet(send [][]uint32, all []uint32, sums, minima []int64) (board []post) {
	c.calls++
	board, previous := c.group.boards[c.calls&1], c.group.boards[c.calls&1^1]
	own := &board[c.rank]
	own.send, own.all = send, all
	copy(own.values[copy(own.values[:], sums):], minima)
	barrier := &c.group.barrier
	barrier.pass(&c.idle, func() {
		for k := range board {
			Combine(barrier.values[:], board[k].values[:len(sums)+len(minima)], len(sums), k)
			previous[k].send, previous[k].all = nil, nil
		}
	})
	copy(minima, barrier.values[copy(sums, barrier.values[:]):])
	return board
}

func (c *local) Alltoallv(send, receive [][]uint32, sums, minima []int64) Traffic {
	t := ToEach(c, send, sums, minima)
	board := c.meet(send, nil, sums, minima)
	for k := range receive {
		receive[k] = board[k].send[c.rank]
	}
	return t
}

func (c *local) Allgather(message []uint32, receive [][]uint32, sums, minima []int64) Traffic {
	board := c.meet(nil, message, sums, minima)
	for k := range receive {
		receive[k] = board[k].all
	}
	return ToAll(c, receive, sums, minima)
}

func (c *local) Shift(message []uint32, by int) (received []uint32, t Traffic) {
	if board := c.meet(nil, message, nil, nil); c.rank >= by {
		received = board[c.rank-by].all
	}
	return received, ToNext(c, message, by)
}

func (c *local) WhileIdle(work team.Idler) { c.idle = work }

func (c *local) Split(color, key int) Group {
	g := c.group
	all := Allgather(c, []uint32{uint32(color), uint32(key)})
	before := 0 // members that come before this rank
	for rank, other := range all {
		if other[0] == uint32(color) && (other[1] < uint32(key) || other[1] == uint32(key) && rank < c.rank) {
			before++
		}
	}
	g.barrier.pass(&c.idle, func() {
		sizes := map[uint32]int{}
		for _, other := range all {
			sizes[other[0]]++
		}
		g.parts = map[uint32]*localGroup{}
		for color, size := range sizes {
			g.parts[color] = newLocalGroup(size, g.barrier.waiting)
		}
	})
	return &local{group: g.parts[uint32(color)], rank: before}
}

// barrier blocks ranks until all have arrived. A rank first spins, then yields its processor, then sleeps.
type barrier struct {
	size int32
	waiting
	_        [64]byte
	arrived  atomic.Int32
	_        [60]byte
	turn     atomic.Uint32
	values   [MaxReduce]int64 // on the cache line that waiting ranks watch
	_        [24]byte
	sleepers atomic.Int32
	mu       sync.Mutex
	passed   *sync.Cond
}

// waiting is how often a rank checks the barrier before it yields between checks, and before it sleeps: to wake a rank
// takes about 50 us, longer than most phases of a search. A rank with a processor yields to other threads of the system
// and not to the Go scheduler, in whose queues ranks end up behind each other.
type waiting struct{ spins, yields int }

const (
	spins       = 20_000 // about 10 us; 0 if there are more workers than processors
	yields      = 4000   // about 2 ms if nothing else wants the processor
	totalYields = 8000   // sum over all ranks, if there are more than processors
)

// pass waits until all ranks have called it. The last rank calls last before it releases the others. A rank that goes
// to sleep counts itself and then looks at the turn; the last rank does both in the other order.
func (b *barrier) pass(idle *team.Idler, last func()) {
	turn := b.turn.Load()
	if b.arrived.Add(1) < b.size {
		b.await(turn, idle)
		return
	}
	last()
	b.arrived.Store(0)
	b.turn.Add(1)
	if b.sleepers.Load() > 0 {
		b.mu.Lock()
		b.passed.Broadcast()
		b.mu.Unlock()
	}
}

// await returns when the barrier has opened after the turn. A rank with a processor does idle work until then, which
// becomes nil when there is no more.
func (b *barrier) await(turn uint32, idle *team.Idler) {
	for *idle != nil && b.spins > 0 && b.turn.Load() == turn {
		if _, more := (*idle).Idle(0); !more {
			*idle = nil
		}
	}
	for k := range b.spins + b.yields {
		if b.turn.Load() != turn {
			return
		}
		switch {
		case k < b.spins:
		case b.spins > 0:
			team.YieldProcessor()
		default:
			runtime.Gosched()
		}
	}
	b.mu.Lock()
	b.sleepers.Add(1)
	for b.turn.Load() == turn {
		b.passed.Wait()
	}
	b.sleepers.Add(-1)
	b.mu.Unlock()
}
