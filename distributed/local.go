package distributed

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// In-process ranks: goroutines that meet at barriers. Nothing is copied; a received message is the sender's slice. What
// a search records as transfer is therefore the time that ranks wait for each other.

// localGroup is what the members of a group share. Two sets of boards take turns: who is a call ahead posts on the other
// set, and nobody can be two calls ahead.
type localGroup struct {
	size    int
	barrier barrier
	boards  [2]board
	mail    mail

	mu   sync.Mutex // guards splits
	next map[int]*localGroup
}

// board is where members post what they give to a call.
type board struct {
	single [][]uint32   // [size] of Allgatherv
	pairs  [][][]uint32 // [size][size] of Alltoallv
	values [][maxReduce]int64
	result [maxReduce]int64
	split  [][2]int // color and key
	used   bool     // single or pairs hold messages; written by whoever comes last
}

// local is one member's end.
type local struct {
	group *localGroup
	rank  int
	calls int
}

var _ Comm = (*local)(nil)

// newLocal returns the ends of a group of ranks; each is for one goroutine.
func newLocal(size int) []Comm {
	p := patience{yields: max(yieldsOfAll/size, 8)}
	if size <= runtime.GOMAXPROCS(0) {
		p.spins = spinsAlone
	}
	g := newLocalGroup(size, p)
	all := make([]Comm, size)
	for rank := range all {
		all[rank] = &local{group: g, rank: rank}
	}
	return all
}

func newLocalGroup(size int, p patience) *localGroup {
	g := &localGroup{size: size, next: map[int]*localGroup{}}
	g.barrier.init(size, p)
	g.mail.init()
	for i := range g.boards {
		g.boards[i] = board{
			single: make([][]uint32, size), pairs: make([][][]uint32, size),
			values: make([][maxReduce]int64, size), split: make([][2]int, size),
		}
	}
	return g
}

func (c *local) Rank() int { return c.rank }
func (c *local) Size() int { return c.group.size }

// board returns the boards of this call and of the call before.
func (c *local) board() (now, before *board) {
	c.calls++
	return &c.group.boards[c.calls&1], &c.group.boards[c.calls&1^1]
}

// forget drops the messages on a board, which hold memory. It is for the last to come to the call after: all others have
// read the board.
func (b *board) forget() {
	if b.used {
		clear(b.single)
		clear(b.pairs)
		b.used = false
	}
}

func (c *local) Allgatherv(send []uint32, receive [][]uint32) {
	b, before := c.board()
	b.single[c.rank] = send
	c.group.barrier.wait(func() { before.forget(); b.used = true })
	copy(receive, b.single)
}

func (c *local) Alltoallv(send, receive [][]uint32) {
	b, before := c.board()
	b.pairs[c.rank] = send
	c.group.barrier.wait(func() { before.forget(); b.used = true })
	for k, posted := range b.pairs {
		receive[k] = posted[c.rank]
	}
}

func (c *local) Allreduce(op Op, values []int64) {
	b, before := c.board()
	copy(b.values[c.rank][:], values)
	n := len(values)
	c.group.barrier.wait(func() {
		before.forget()
		copy(b.result[:n], b.values[0][:n])
		for k := range b.values[1:] {
			op.fold(b.result[:n], b.values[k+1][:n])
		}
	})
	copy(values, b.result[:n])
}

func (c *local) Split(color, key int) Comm {
	b, _ := c.board()
	g := c.group
	b.split[c.rank] = [2]int{color, key}
	g.barrier.wait(nil)
	var members [][2]int // key and rank
	for rank, s := range b.split {
		if s[0] == color {
			members = append(members, [2]int{s[1], rank})
		}
	}
	slices.SortFunc(members, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	g.mu.Lock()
	part, made := g.next[color]
	if !made {
		part = newLocalGroup(len(members), g.barrier.patience)
		g.next[color] = part
	}
	g.mu.Unlock()
	g.barrier.wait(func() { clear(g.next) })
	return &local{group: part, rank: slices.Index(members, [2]int{key, c.rank})}
}

func (c *local) Send(to int, message []uint32) {
	c.group.mail.put([2]int{c.rank, to}, message)
}

func (c *local) Receive(from int) []uint32 { return c.group.mail.take([2]int{from, c.rank}) }

// mail holds messages from one member to another until they are taken.
type mail struct {
	mu    sync.Mutex
	came  *sync.Cond
	queue map[[2]int][][]uint32
}

func (m *mail) init() {
	m.came = sync.NewCond(&m.mu)
	m.queue = map[[2]int][][]uint32{}
}

func (m *mail) put(pair [2]int, message []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue[pair] = append(m.queue[pair], slices.Clone(message))
	m.came.Broadcast()
}

func (m *mail) take(pair [2]int) []uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue[pair]) == 0 {
		m.came.Wait()
	}
	message := m.queue[pair][0]
	m.queue[pair] = m.queue[pair][1:]
	return message
}

// barrier lets nobody through before all have come. Who waits first spins, because ranks arrive within microseconds of
// each other; then lets others run; then sleeps.
type barrier struct {
	size int32
	patience
	_       [64]byte
	arrived atomic.Int32
	_       [60]byte
	turn    atomic.Uint32
	_       [60]byte
	mu      sync.Mutex
	passed  *sync.Cond
}

// patience is how often a rank looks before it lets others run between looks, and before it sleeps. A sleeping rank takes
// some 50 us to wake, which is more than most phases of a search.
type patience struct{ spins, yields int }

const (
	spinsAlone  = 5000 // some 3 us, where there is a processor for every rank; else none
	yieldsOfAll = 8000 // of all ranks together
)

func (b *barrier) init(size int, p patience) {
	b.size, b.patience = int32(size), p
	b.passed = sync.NewCond(&b.mu)
}

// wait returns when all have called it. The last to come runs last, if it has one, before anybody is let through.
func (b *barrier) wait(last func()) {
	turn := b.turn.Load()
	if b.arrived.Add(1) == b.size {
		if last != nil {
			last()
		}
		b.arrived.Store(0)
		b.mu.Lock()
		b.turn.Add(1)
		b.mu.Unlock()
		b.passed.Broadcast()
		return
	}
	for look := 0; look < b.spins+b.yields; look++ {
		if b.turn.Load() != turn {
			return
		}
		if look >= b.spins {
			runtime.Gosched()
		}
	}
	b.mu.Lock()
	for b.turn.Load() == turn {
		b.passed.Wait()
	}
	b.mu.Unlock()
}
