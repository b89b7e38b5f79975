package comm

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// onAll calls f for all ranks of a group at once.
func onAll(ranks []Group, f func(Group) error) error {
	errs := make([]error, len(ranks))
	var all sync.WaitGroup
	for k, c := range ranks {
		all.Go(func() { errs[k] = f(c) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func TestLocalRanksExchangeMessages(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 7, 16} {
		if err := onAll(NewLocal(size), checkGroup); err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}

func TestSplitGroupsExchangeMessages(t *testing.T) {
	for _, g := range []struct{ rows, columns int }{{1, 1}, {2, 3}, {3, 2}, {1, 5}, {4, 4}} {
		if err := onAll(NewLocal(g.rows*g.columns), func(c Group) error {
			i, j := c.Rank()%g.rows, c.Rank()/g.rows
			column, row := c.Split(j, i), c.Split(i, j)
			if column.Size() != g.rows || column.Rank() != i || row.Size() != g.columns || row.Rank() != j {
				return fmt.Errorf("rank %d is %d of %d in its column and %d of %d in its row, want %d of %d and %d of %d",
					c.Rank(), column.Rank(), column.Size(), row.Rank(), row.Size(), i, g.rows, j, g.columns)
			}
			if err := checkGroup(column); err != nil {
				return err
			}
			return checkGroup(row)
		}); err != nil {
			t.Errorf("grid %+v: %v", g, err)
		}
	}
}

// checkGroup makes every call except Split and checks what it receives. All ranks of the group call it.
func checkGroup(c Group) error {
	size, self := c.Size(), c.Rank()
	receive := make([][]uint32, size)
	for round := range 5 {
		c.Allgatherv([]uint32{uint32(self), uint32(round)}, receive)
		for k, message := range receive {
			if want := []uint32{uint32(k), uint32(round)}; !slices.Equal(message, want) {
				return fmt.Errorf("rank %d: Allgatherv in round %d from %d: got %v, want %v", self, round, k, message, want)
			}
		}
		send := make([][]uint32, size)
		for k := range send {
			send[k] = slices.Repeat([]uint32{uint32(100*self + k)}, (self+k+round)%4) // some are empty
		}
		c.Alltoallv(send, receive)
		for k, message := range receive {
			want := slices.Repeat([]uint32{uint32(100*k + self)}, (self+k+round)%4)
			if !slices.Equal(message, want) {
				return fmt.Errorf("rank %d: Alltoallv in round %d from %d: got %v, want %v", self, round, k, message, want)
			}
		}
		sums := []int64{1, int64(self)}
		c.Allreduce(sums)
		if want := []int64{int64(size), int64(size * (size - 1) / 2)}; !slices.Equal(sums, want) {
			return fmt.Errorf("rank %d: sums: got %v, want %v", self, sums, want)
		}
	}
	return nil
}
