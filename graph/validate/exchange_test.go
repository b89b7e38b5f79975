// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// meeting is an exchange between goroutines, one for each part.
type meeting struct {
	size      int
	mu        sync.Mutex
	all       *sync.Cond
	arrived   int
	turn      int
	sent      [][][]byte
	values    [][]int64
	calls     int // of all parts
	failAfter int // calls until one fails; 0: never
	err       error
}

var errLine = errors.New("the line is cut")

func newMeeting(size int) *meeting {
	m := &meeting{size: size, sent: make([][][]byte, size), values: make([][]int64, size)}
	m.all = sync.NewCond(&m.mu)
	return m
}

// wait returns when all parts have called it, or with the error of one.
func (m *meeting) wait() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls++; m.failAfter > 0 && m.calls > m.failAfter && m.err == nil {
		m.err = errLine
		m.all.Broadcast()
	}
	turn := m.turn
	if m.arrived++; m.arrived == m.size {
		m.arrived, m.turn = 0, m.turn+1
		m.all.Broadcast()
	}
	for m.turn == turn && m.err == nil {
		m.all.Wait()
	}
	return m.err
}

// seat is the place of a part.
type seat struct {
	*meeting
	rank int
}

func (s seat) Rank() int { return s.rank }
func (s seat) Size() int { return s.size }

func (s seat) All(send [][]byte) ([][]byte, error) {
	s.sent[s.rank] = send
	if err := s.wait(); err != nil {
		return nil, err
	}
	received := make([][]byte, s.size)
	for q := range received {
		received[q] = slices.Clone(s.sent[q][s.rank])
	}
	return received, s.wait()
}

func (s seat) Sum(values []int64) error {
	return s.reduce(values, func(a, b int64) int64 { return a + b })
}
func (s seat) Min(values []int64) error {
	return s.reduce(values, func(a, b int64) int64 { return min(a, b) })
}

func (s seat) reduce(values []int64, operation func(a, b int64) int64) error {
	s.values[s.rank] = slices.Clone(values)
	if err := s.wait(); err != nil {
		return err
	}
	for i := range values {
		values[i] = s.values[0][i]
		for _, other := range s.values[1:] {
			values[i] = operation(values[i], other[i])
		}
	}
	return s.wait()
}

// sliceOf returns the slice of a list for a part: consecutive tuples, of unequal numbers.
func sliceOf(edges []graph.Edge, rank, size int) (slice []graph.Edge, first int64) {
	border := func(rank int) int { return len(edges) * rank * (rank + size) / (2 * size * size) }
	return edges[border(rank):border(rank+1)], int64(border(rank))
}

// parts are all parts of a validator.
type parts []*Part

// together calls a function for each of size parts at the same time, and returns the errors.
func together(size int, call func(rank int) error) []error {
	errs := make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() { errs[rank] = call(rank) })
	}
	all.Wait()
	return errs
}

// newParts makes parts with little work for a thread and in a round, so that threads share it and rounds repeat.
func newParts(t failer, edges []graph.Edge, vertices int64, size, threads int) (parts, *meeting) {
	t.Helper()
	m, all := newMeeting(size), make(parts, size)
	for _, err := range together(size, func(rank int) error {
		slice, first := sliceOf(edges, rank, size)
		all[rank] = &Part{scanners: make([]scanner, threads), grain: 64, roundTuples: int64(len(edges)/size/2 + 100),
			roundWords: max(1, vertices/2)}
		return all[rank].prepare(context.Background(), seat{m, rank}, slice, first, vertices)
	}) {
		must.Do(err)
	}
	return all, m
}

// divide returns the parents or distances of the vertices of each part, which may have none.
func divide[E any](result []E, size int) [][]E {
	all := slices.Repeat([][]E{{}}, size)
	for v, p := range result {
		all[v%size] = append(all[v%size], p)
	}
	return all
}
