package distributed

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// run calls f for every rank of a group and returns what they complain of.
func run(ranks []Comm, f func(c Comm) error) []error {
	errs := make([]error, len(ranks))
	each(ranks, func(c Comm) { errs[c.Rank()] = f(c) })
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// checkComm makes every call of a group and looks at what comes.
func checkComm(c Comm) error {
	size, me := c.Size(), c.Rank()
	receive := make([][]uint32, size)
	for round := range 5 {
		c.Allgatherv([]uint32{uint32(me), uint32(round)}, receive)
		for k, message := range receive {
			if !slices.Equal(message, []uint32{uint32(k), uint32(round)}) {
				return fmt.Errorf("rank %d: allgatherv round %d from %d: %v", me, round, k, message)
			}
		}
		send := make([][]uint32, size)
		for k := range send {
			send[k] = slices.Repeat([]uint32{uint32(100*me + k)}, (me+k+round)%4) // some are empty
		}
		c.Alltoallv(send, receive)
		for k, message := range receive {
			if want := slices.Repeat([]uint32{uint32(100*k + me)}, (me+k+round)%4); !slices.Equal(message, want) {
				return fmt.Errorf("rank %d: alltoallv round %d from %d: %v, want %v", me, round, k, message, want)
			}
		}
		sums, largest := []int64{1, int64(me)}, []int64{int64(me * round), -int64(me)}
		c.Allreduce(Sum, sums)
		c.Allreduce(Max, largest)
		if !slices.Equal(sums, []int64{int64(size), int64(size * (size - 1) / 2)}) || !slices.Equal(largest, []int64{int64((size - 1) * round), 0}) {
			return fmt.Errorf("rank %d: sums %v, largest %v", me, sums, largest)
		}
	}
	// Everybody sends two messages to the next one; they come in order.
	next, before := (me+1)%size, (me+size-1)%size
	if size > 1 {
		for round := range 2 {
			if me%2 == 0 || size%2 == 1 && me == size-1 {
				c.Send(next, []uint32{uint32(me), uint32(round)})
			}
			if before%2 == 0 || size%2 == 1 && before == size-1 {
				if got := c.Receive(before); !slices.Equal(got, []uint32{uint32(before), uint32(round)}) {
					return fmt.Errorf("rank %d: received %v in round %d", me, got, round)
				}
			}
		}
	}
	return nil
}

func TestLocalRanksExchangeMessages(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 7, 16} {
		for _, err := range run(newLocal(size), checkComm) {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}

func TestSplitGroupsWork(t *testing.T) {
	for _, g := range []Grid{{1, 1}, {2, 3}, {3, 2}, {1, 5}, {4, 4}} {
		for _, err := range run(newLocal(g.Ranks()), func(c Comm) error {
			i, j := g.Place(c.Rank())
			column, row := c.Split(j, i), c.Split(i, j)
			if column.Size() != g.R || column.Rank() != i || row.Size() != g.C || row.Rank() != j {
				return fmt.Errorf("rank %d: column %d of %d, row %d of %d", c.Rank(), column.Rank(), column.Size(), row.Rank(), row.Size())
			}
			if err := checkComm(column); err != nil {
				return err
			}
			return checkComm(row)
		}) {
			t.Errorf("grid %v: %v", g, err)
		}
	}
}

// watched is a group that notes with whom its member has exchanged messages since the last reduction of all ranks, which
// ends a level.
type watched struct {
	Comm
	world []int // ranks of the members among all
	notes *notes
}

type notes struct {
	mu    sync.Mutex
	talks map[int]map[int]bool // rank to those it has sent to in this level
	most  int
}

func watch(c Comm, n *notes) *watched {
	world := make([]int, c.Size())
	for k := range world {
		world[k] = k
	}
	return &watched{c, world, n}
}

func (w *watched) Split(color, key int) Comm {
	part := w.Comm.Split(color, key)
	world := make([][]uint32, part.Size())
	part.Allgatherv([]uint32{uint32(w.world[w.Rank()])}, world)
	members := make([]int, part.Size())
	for k, message := range world {
		members[k] = int(message[0])
	}
	return &watched{part, members, w.notes}
}

func (w *watched) talk() {
	w.notes.mu.Lock()
	defer w.notes.mu.Unlock()
	me := w.world[w.Rank()]
	if w.notes.talks[me] == nil {
		w.notes.talks[me] = map[int]bool{}
	}
	for k, other := range w.world {
		if k != w.Rank() {
			w.notes.talks[me][other] = true
		}
	}
	w.notes.most = max(w.notes.most, len(w.notes.talks[me]))
}

func (w *watched) Allgatherv(send []uint32, receive [][]uint32) {
	w.talk()
	w.Comm.Allgatherv(send, receive)
}

func (w *watched) Alltoallv(send, receive [][]uint32) {
	w.talk()
	w.Comm.Alltoallv(send, receive)
}

func (w *watched) Allreduce(op Op, values []int64) {
	w.Comm.Allreduce(op, values)
	w.notes.mu.Lock()
	defer w.notes.mu.Unlock()
	delete(w.notes.talks, w.world[w.Rank()])
}
