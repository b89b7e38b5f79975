package comm

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/team"
)

// Ranks that are goroutines of one process. They exchange messages by posting slices on boards between two barriers.
// Nothing is copied: what is received is the sender's slice. Transfer times of a search are therefore times spent
// waiting.

// localGroup is what the ranks of a group share. Two boards alternate: a rank that is one call ahead posts on the other
// board, and no rank can be two calls ahead.
type localGroup struct {
	size    int
	barrier barrier
	boards  [2]board
	parts   map[uint32]*localGroup // of the last Split, by color
}

// board holds what ranks pass to one call.
type board struct {
	messages [][][]uint32 // [size] by sender: one message, or one for each receiver
	values   [][MaxReduce]int64
	sum      [MaxReduce]int64
}

// local is a rank's end of a group.
type local struct {
	group *localGroup
	rank  int
	calls int
}

// NewLocal returns the ends of a group of in-process ranks, each for use by one goroutine.
func NewLocal(ranks int) []Group {
	w := waiting{yields: max(totalYields/ranks, 8)}
	if ranks <= runtime.GOMAXPROCS(0) {
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
		g.boards[i] = board{messages: make([][][]uint32, size), values: make([][MaxReduce]int64, size)}
	}
	return g
}

func (c *local) Rank() int { return c.rank }
func (c *local) Size() int { return c.group.size }

// post posts messages and returns the board when all ranks have posted theirs. The last rank to arrive drops the
// messages of the previous call, so that they can be collected: by then all ranks have read them.
func (c *local) post(messages [][]uint32) *board {
	c.calls++
	b, previous := &c.group.boards[c.calls&1], &c.group.boards[c.calls&1^1]
	b.messages[c.rank] = messages
	c.group.barrier.wait(func() { clear(previous.messages) })
	return b
}

func (c *local) Allgatherv(send []uint32, receive [][]uint32) {
	for k, posted := range c.post([][]uint32{send}).messages {
		receive[k] = posted[0]
	}
}

func (c *local) Alltoallv(send, receive [][]uint32) {
	for k, posted := range c.post(send).messages {
		receive[k] = posted[c.rank]
	}
}

func (c *local) Allreduce(values []int64) {
	c.calls++
	b := &c.group.boards[c.calls&1]
	copy(b.values[c.rank][:], values)
	c.group.barrier.wait(func() {
		clear(b.sum[:])
		for k := range b.values {
			for i := range values {
				b.sum[i] += b.values[k][i]
			}
		}
	})
	copy(values, b.sum[:])
}

func (c *local) Split(color, key int) Group {
	g := c.group
	all := make([][]uint32, g.size)
	c.Allgatherv([]uint32{uint32(color), uint32(key)}, all)
	before := 0 // members that come before this rank
	for rank, other := range all {
		if other[0] == uint32(color) && (other[1] < uint32(key) || other[1] == uint32(key) && rank < c.rank) {
			before++
		}
	}
	g.barrier.wait(func() {
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

// barrier blocks ranks until all have arrived. A rank first spins, because ranks usually arrive within microseconds of
// each other, then yields its processor, then sleeps.
type barrier struct {
	size int32
	waiting
	_       [64]byte
	arrived atomic.Int32
	_       [60]byte
	turn    atomic.Uint32
	_       [60]byte
	mu      sync.Mutex
	passed  *sync.Cond
}

// waiting is how often a rank checks the barrier before it yields between checks, and before it sleeps. Waking a
// sleeping rank takes about 50 us, longer than most phases of a search. A rank with a processor of its own yields to
// other threads of the system and not to the Go scheduler, in whose queues ranks end up behind each other.
type waiting struct{ spins, yields int }

const (
	spins       = 20_000 // about 10 us; 0 if there are more ranks than processors
	yields      = 4000   // about 2 ms if nothing else wants the processor
	totalYields = 8000   // of all ranks together, if there are more than processors
)

// wait returns when all ranks have called it. The last rank to arrive calls its last before any is released.
func (b *barrier) wait(last func()) {
	turn := b.turn.Load()
	if b.arrived.Add(1) == b.size {
		last()
		b.arrived.Store(0)
		b.mu.Lock()
		b.turn.Add(1)
		b.mu.Unlock()
		b.passed.Broadcast()
		return
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
	for b.turn.Load() == turn {
		b.passed.Wait()
	}
	b.mu.Unlock()
}
