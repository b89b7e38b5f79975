// SPDX-License-Identifier: Apache-2.0

// Package checks has what the tests of ranks in one process and of ranks under MPI share.
package checks

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tepsbench/teps/internal/team"
)

// OnAll calls f for all ranks of a group at once.
func OnAll[G any](ranks []G, f func(G) error) error {
	errs := make([]error, len(ranks))
	var all sync.WaitGroup
	for k, c := range ranks {
		all.Go(func() { errs[k] = f(c) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// counter is idle work that ends after some calls.
type counter struct{ left *int }

func (c counter) Idle(int) (did, more bool) {
	*c.left--
	return true, *c.left > 0
}

// Group makes every call of a comm.Group except Split and checks what it receives. All ranks of the group call it.
func Group[T any, G interface {
	Rank() int
	Size() int
	Alltoallv(send, receive [][]uint32, sums, minima []int64) T
	Allgather(message []uint32, receive [][]uint32, sums, minima []int64) T
	Shift(message []uint32, by int) ([]uint32, T)
	WhileIdle(work team.Idler)
}](c G) error {
	size, self := c.Size(), c.Rank()
	receive := make([][]uint32, size)
	lengths := []int{0, 1, 26, 27, 46, 47, 5000, 900_000, 1 << 20} // for each way of MPI ranks to send a message
	if size > 5 || testing.Short() {
		lengths = lengths[:7]
	}
	for round := range 5 {
		left := 100 * (1 + self) // ranks end their tasks at different times
		if round&1 == 0 {
			c.WhileIdle(counter{&left})
		} else {
			c.WhileIdle(nil)
		}
		toAll := func(rank int) []uint32 {
			return slices.Repeat([]uint32{uint32(rank), uint32(round)}, lengths[(rank+round)%len(lengths)])
		}
		sums, minima := []int64{1}, []int64{int64(self), -int64(self)}
		c.Allgather(toAll(self), receive, sums[:round%2], minima)
		if int(sums[0]) != 1+round%2*(size-1) || minima[0] != 0 || minima[1] != int64(1-size) {
			return fmt.Errorf("rank %d: Allgather: got sums %v, minima %v", self, sums, minima)
		}
		for k, message := range receive {
			if !slices.Equal(message, toAll(k)) {
				return fmt.Errorf("rank %d: message to all in round %d from %d: %d words, want %d", self, round, k, len(message),
					len(toAll(k)))
			}
		}
		for by := 1; by < size+2; by *= 2 {
			var want []uint32
			if self >= by {
				want = toAll(self - by)
			}
			if got, _ := c.Shift(toAll(self), by); !slices.Equal(got, want) {
				return fmt.Errorf("rank %d: Shift by %d: got %d words, want %d", self, by, len(got), len(want))
			}
		}
		send := make([][]uint32, size)
		for k := range send {
			send[k] = slices.Repeat([]uint32{uint32(100*self + k)}, lengths[(self+k+round)%len(lengths)])
		}
		sums, minima = []int64{int64(round), int64(self), -1}, []int64{int64(3 - self)}
		c.Alltoallv(send, receive, sums, minima)
		want := []int64{int64(round * size), int64(size * (size - 1) / 2), int64(-size)}
		if !slices.Equal(sums, want) || minima[0] != int64(4-size) {
			return fmt.Errorf("rank %d: sums of Alltoallv: got %v, want %v; minima: got %v", self, sums, want, minima)
		}
		for k, message := range receive {
			want := slices.Repeat([]uint32{uint32(100*k + self)}, lengths[(self+k+round)%len(lengths)])
			if !slices.Equal(message, want) {
				return fmt.Errorf("rank %d: Alltoallv in round %d from %d: got %d words %v, want %d words %v", self, round, k,
					len(message), message[:min(len(message), 4)], len(want), want[:min(len(want), 4)])
			}
		}
		sums = []int64{1, int64(self)}
		c.Alltoallv(nil, nil, sums, nil)
		if want := []int64{int64(size), int64(size * (size - 1) / 2)}; !slices.Equal(sums, want) {
			return fmt.Errorf("rank %d: sums: got %v, want %v", self, sums, want)
		}
		if left < 0 {
			return fmt.Errorf("rank %d: Idle was called after there was no more", self)
		}
	}
	return nil
}
