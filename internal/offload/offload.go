// SPDX-License-Identifier: Apache-2.0

// Package offload has what the engines for GPUs and for OpenCL devices share: the clocks of both kernels, and copies of
// large arrays.
package offload

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Step is a part of kernel 1 that the record names.
type Step struct {
	Name string
	Do   func() error
}

// RunSteps runs the steps of kernel 1 until one fails.
func RunSteps(ctx context.Context, steps ...Step) (phases []plugins.Phase, err error) {
	for _, s := range steps {
		start := time.Now()
		if err = ctx.Err(); err == nil {
			err = s.Do()
		}
		if err != nil {
			return phases, fmt.Errorf("kernel 1: %s: %w", s.Name, err)
		}
		phases = append(phases, plugins.Phase{Name: s.Name, Elapsed: time.Since(start)})
	}
	return phases, nil
}

// Search is kernel 2 or 3 of a graph.
type Search interface {
	// Do calls a function that calls the other methods but Close, where the device can be used.
	Do(func() error) error
	// Wake runs an empty kernel before the clock. After the host's work between two searches, which can take long, device
	// and driver respond slowly for some tens of microseconds that have nothing to do with the search.
	Wake() error
	// Traverse is the search inside the clock. It leaves the result in device memory.
	Traverse(ctx context.Context, root graph.Vertex) error
	// Report describes the search after the clock, without its time.
	Report(root graph.Vertex) plugins.Traversal
	// CopyTo copies the result of the last search to the host.
	CopyTo(ctx context.Context, out plugins.Output) error
	// Close frees the graph.
	Close() error
}

// Publish completes b with kernel 2 of its graph and, unless paths is nil, kernel 3, which bfs.Close frees too.
func Publish(b *plugins.Built, bfs, paths Search) {
	of := func(out plugins.Output) Search {
		if out.Distance != nil {
			return paths
		}
		return bfs
	}
	b.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
		s := of(out)
		err = Run(ctx, s, out, func() error {
			start := time.Now()
			err := s.Traverse(ctx, root)
			if elapsed := time.Since(start); err == nil {
				t = s.Report(root)
				t.Elapsed = elapsed
			}
			return err
		})
		return t, err
	}
	b.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		s := of(out)
		err = Run(ctx, s, out, func() (err error) {
			searches, err = plugins.InTurn(ctx, roots, duration, func(root graph.Vertex) error { return s.Traverse(ctx, root) })
			return err
		})
		return searches, err
	}
	b.Free = bfs.Close
}

// Run calls search inside the clock, with what comes before and after it.
func Run(ctx context.Context, s Search, out plugins.Output, search func() error) error {
	return s.Do(func() error {
		if err := s.Wake(); err != nil {
			return err
		}
		if err := search(); err != nil {
			return err
		}
		if err := s.CopyTo(ctx, out); err != nil {
			return fmt.Errorf("copy the result to the host: %w", err)
		}
		return nil
	})
}

// Bytes views a slice of values without pointers as bytes.
func Bytes[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// Copy copies with all threads.
func Copy(into, from []byte) {
	var wg sync.WaitGroup
	share := len(from)/runtime.GOMAXPROCS(0) + 1
	for first := 0; first < len(from); first += share {
		wg.Go(func() { copy(into[first:], from[first:min(first+share, len(from))]) })
	}
	wg.Wait()
}

// Span is a range of vertices whose lists are sorted together.
type Span struct {
	From, To int64 // vertices
	Entries  int64 // duplicates included
}

// Ranges are the entries, duplicates included, of consecutive ranges of Width sources.
type Ranges[E uint32 | uint64] struct {
	Entries        []E
	Width, Sources int64
}

// Sum returns the entries of all ranges, and of the largest.
func (r Ranges[E]) Sum() (total, largest int64) {
	for _, n := range r.Entries {
		total += int64(n)
		largest = max(largest, int64(n))
	}
	return total, largest
}

// Span returns the longest span from the beginning of a range on that has at most capacity entries. A single range
// beyond capacity cannot be sorted: ErrMemory.
func (r Ranges[E]) Span(from, capacity int64) (s Span, err error) {
	s = Span{From: from, To: from}
	for i := from / r.Width; i < int64(len(r.Entries)); i++ {
		if n := int64(r.Entries[i]); s.Entries+n <= capacity {
			s.Entries += n
			s.To = min((i+1)*r.Width, r.Sources)
			continue
		}
		if s.To == from {
			err = fmt.Errorf("the lists of vertices %d to %d have %d entries, and device memory has room to sort %d: %w; "+
				"a smaller graph or more device memory is needed", from, min(from+r.Width, r.Sources)-1, r.Entries[i],
				capacity, plugins.ErrMemory)
		}
		break
	}
	return s, err
}
