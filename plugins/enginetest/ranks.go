// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Goroutine is one of several goroutines that stand for processes, with a channel for the messages of each to each.
type Goroutine struct {
	rank     int
	messages [][]chan []byte
}

// Goroutines returns n of them.
func Goroutines(n int) (all []Goroutine) {
	messages := make([][]chan []byte, n)
	for from := range messages {
		for range n {
			messages[from] = append(messages[from], make(chan []byte, 1))
		}
		all = append(all, Goroutine{from, messages})
	}
	return all
}

func (g Goroutine) Rank() int { return g.rank }
func (g Goroutine) Size() int { return len(g.messages) }

// Sendrecv is that of package mpi.
func (g Goroutine) Sendrecv(message []byte, to int, receive [][]byte, from int) error {
	g.messages[g.rank][to] <- slices.Clone(message)
	receive[from] = append(receive[from][:0], <-g.messages[from][g.rank]...)
	return nil
}

// Ranks are the graphs of several processes, which are goroutines here.
type Ranks []plugins.Built

// Build calls build for each of n processes at the same time, with its slice of the tuples.
func Build(n int, in plugins.Input, build func(k int, slice plugins.Input) (plugins.Built, error)) (Ranks, error) {
	r := make(Ranks, n)
	all := len(in.Tuples)
	return r, first(r.Do(func(k int) (err error) {
		slice := in
		slice.Tuples, slice.Place = in.Tuples[all*k/n:all*(k+1)/n], plugins.Place{Rank: k, Size: n}
		r[k], err = build(k, slice)
		return err
	}))
}

// Do calls f for each process at the same time.
func (r Ranks) Do(f func(k int) error) []error {
	errs := make([]error, len(r))
	var all sync.WaitGroup
	for k := range r {
		all.Go(func() { errs[k] = f(k) })
	}
	all.Wait()
	return errs
}

// first returns the error of a process that does not stop because of another one.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// Parents calls search for each process with room for the parents of its labels, and puts them into parent.
func (r Ranks) Parents(parent []graph.Vertex, search func(k int, out plugins.Output) error) []error {
	n := len(r)
	own := make([][]graph.Vertex, n)
	errs := r.Do(func(k int) error {
		own[k] = make([]graph.Vertex, plugins.Place{Rank: k, Size: n}.Owned(int64(len(parent))))
		return search(k, plugins.Output{Parent: own[k]})
	})
	for l := range parent {
		parent[l] = own[l%n][l/n]
	}
	return errs
}

// Free frees all graphs.
func (r Ranks) Free() error { return first(r.Do(func(k int) error { return r[k].Free() })) }

// Built is the graphs as that of one process.
func (r Ranks) Built() plugins.Built {
	all := r[0]
	entries := int64(0)
	for _, b := range r {
		n, _ := b.Entries.Get()
		entries += n
		all.Elapsed = max(all.Elapsed, b.Elapsed)
	}
	all.Entries = plugins.Counted(entries)
	all.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
		each := make([]plugins.Traversal, len(r))
		if err := first(r.Parents(out.Parent, func(k int, own plugins.Output) (err error) {
			each[k], err = r[k].Search(ctx, root, own)
			return err
		})); err != nil {
			return plugins.Traversal{}, err
		}
		return plugins.CombineTraversals(each), nil
	}
	all.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		each := make([]int64, len(r))
		err = first(r.Parents(out.Parent, func(k int, own plugins.Output) (err error) {
			each[k], err = r[k].Repeat(ctx, roots, duration, own)
			return err
		}))
		return each[0], err
	}
	all.Free, all.Agree = r.Free, nil
	return all
}
