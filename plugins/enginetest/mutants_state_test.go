// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// wrongState are mutants that keep or change what they must not.
func wrongState() map[string]wrong {
	last, length, built, closed, calls := vertex(-1), 0, false, false, 0
	var given plugins.Input
	return map[string]wrong{
		"keeps the former search's parents": {searching(func(c call) (traversal, error) {
			kept := slices.Clone(c.Parent)
			t, err := c.search()
			for v := range c.Parent {
				if err == nil && c.Parent[v] == graph.Unreached && kept[v] >= 0 {
					c.Parent[v] = kept[v]
				}
			}
			return t, err
		}), words{"search/other-component": "is its own parent", "graph/two-components": "pre-filled with"}},
		"finds nothing for the root it just had": {after(func(root vertex, parent []vertex, _ *traversal) {
			if root == last {
				fillWith(parent, graph.Unreached)
			}
			last = root
		}), words{"search/any-order": "marked unreached"}},
		"takes the parent array's first length for ever": {searching(func(c call) (traversal, error) {
			if length = cmp.Or(length, len(c.Parent)); len(c.Parent) != length {
				return traversal{}, fmt.Errorf("%d entries: %w", len(c.Parent), plugins.ErrParent)
			}
			return c.search()
		}), words{"search/parent-length": "got the error: 40 entries"}},
		"keeps its first graph": {constructing(func(b build) (construction, error) {
			if built {
				return construction{Elapsed: 1, Bytes: 1}, nil
			}
			built = true
			return b.construct()
		}), words{"construct/again": "after other graphs in the same engine"}},
		"reverses the tuples in place": {onInput(func(b *build) { slices.Reverse(b.in.Tuples) }),
			words{"construct/tuples-kept": "want the tuples unchanged by Construct, but tuple"}},
		"reads the tuples again at each search": {func() *mutant {
			return &mutant{
				construct: func(b build) (construction, error) {
					given = b.in
					return b.construct()
				},
				search: func(c call) (traversal, error) {
					_, err := c.right.Construct(c.ctx, given)
					t, searchErr := c.search()
					return t, cmp.Or(err, searchErr)
				},
			}
		}, words{"construct/tuples-let-go": "after the host has overwritten the tuples"}},
		"ignores its context in searches": {searching(func(c call) (traversal, error) {
			return c.right.Search(context.WithoutCancel(c.ctx), c.root, c.Output)
		}), words{
			"cancel/before": "context ended before the call: want an error that wraps [\"context canceled\"], got: none",
		}},
		"takes its time after a canceled search": {searching(func(c call) (traversal, error) {
			return c.right.Search(slow(c.ctx, patience+time.Second/5), c.root, c.Output)
		}), words{"cancel/during-search": "want an end within 2s of the cancel"}},
		"takes its time after a canceled Construct": {onInput(func(b *build) {
			b.ctx = slow(b.ctx, patience+time.Second/5)
		}), words{"cancel/during-construct": "want an end within 2s of the cancel"}},
		"says failure instead of the context's error": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			if c.ctx.Err() != nil {
				err = errMutant
			}
			return t, err
		}), words{"cancel/before": "got: no reason", "cancel/during-search": "no reason"}},
		"keeps the graph when Construct fails": {constructing(func(b build) (construction, error) {
			d, _ := b.right.Describe(b.ctx)
			if _, err := plugins.Resolve(d.Options, b.in.Options); err != nil {
				return construction{}, err
			}
			if err := b.ctx.Err(); err != nil {
				return construction{}, err
			}
			return b.construct()
		}), words{
			"options/refused": "got: none",
			"cancel/before":   "Search after a canceled Construct",
		}},
		"complains about a second Close": {closing(func(right correct) error {
			if closed {
				return errMutant
			}
			closed = true
			return right.Close()
		}), words{"close/ends": "a second Close: no reason"}},
		"goes on after Close": {closing(func(correct) error { return nil }),
			words{"close/ends": "Search after Close: want an error that wraps [\"engine is closed\"], got: none"}},
		"says its description in another way each time": {said(func(d *description) {
			calls++
			d.Version = fmt.Sprint(calls)
		}), words{"describe/stable": "want the same description again, but Version was \"1\" and is \"2\""}},
	}
}

// offHeap returns memory that the race detector does not watch, like that written by a device or a library in C.
func offHeap(n int64) []vertex {
	memory := must.Get(syscall.Mmap(-1, 0, int(n)*8, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON))
	return unsafe.Slice((*vertex)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// wrongInTheLongRun are mutants with wrong clocks and mutants that fail after a while.
func wrongInTheLongRun() map[string]wrong {
	searches, opened, broken, answers := 0, 0, false, map[vertex][]vertex{}
	return map[string]wrong{
		"leaves its preparations out of the clock": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			time.Sleep(10*time.Millisecond + 2*t.Elapsed)
			return t, err
		}), words{"honest/clock": "is less than half of the call"}},
		"returns before it has finished": {func() *mutant {
			m := after(func(_ vertex, parent []vertex, _ *traversal) {
				end := &parent[len(parent)-1]
				late := *end
				*end = graph.Unwritten
				time.AfterFunc(5*time.Millisecond, func() { *end = late })
			})()
			m.parents = offHeap
			return m
		}, words{"honest/done": "parent"}},
		"keeps the answer for each root": {searching(func(c call) (traversal, error) {
			start := time.Now()
			if answer, known := answers[c.root]; known && len(answer) == len(c.Parent) {
				copy(c.Parent, answer)
				return traversal{Elapsed: time.Since(start)}, nil
			}
			time.Sleep(2 * time.Millisecond)
			_, err := c.search()
			answers[c.root] = slices.Clone(c.Parent)
			return traversal{Elapsed: time.Since(start)}, err
		}), words{"honest/nothing-learned": "want the same work each time"}},
		"wears out after some hundred searches": {after(func(root vertex, parent []vertex, _ *traversal) {
			if searches++; searches > 700 {
				parent[root] = graph.Unreached
			}
		}), words{"stress/many-roots": "search 701: "}},
		"forgets its root after a canceled search": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			time.Sleep(2 * time.Millisecond) // so that cancels come before the end
			if err == nil && c.ctx.Err() == nil && broken {
				c.Parent[c.root] = graph.Unreached
			}
			broken = c.ctx.Err() != nil
			return t, err
		}), words{"stress/cancel-at-random": "must be its own parent"}},
		"can be opened four times": {func() *mutant {
			opened++
			nth := opened
			return &mutant{construct: func(b build) (construction, error) {
				if nth > 4 {
					return construction{}, fmt.Errorf("the device is in use: %w", plugins.ErrUnavailable)
				}
				return b.construct()
			}}
		}, words{"close/others": "engine 4 of 8"}},
		"keeps what it allocates": {func() *mutant {
			kept := int64(100 << 20)
			m := after(func(_ vertex, parent []vertex, _ *traversal) { kept += 8 * int64(len(parent)) })()
			m.memory = func() int64 { return kept }
			return m
		}, words{"stress/memory": "it grew by 15.0 MiB during 60 searches, 256 KiB each"}},
	}
}

// finding makes a mutant that has only another Search of kernel 3.
func finding(paths func(c call) (traversal, error)) func() *mutant {
	return func() *mutant { return &mutant{paths: paths} }
}

// afterPaths makes a mutant that changes the results of each Search of kernel 3.
func afterPaths(change func(c call, t *traversal)) func() *mutant {
	return finding(func(c call) (traversal, error) {
		t, err := c.search()
		if err == nil {
			change(c, &t)
		}
		return t, err
	})
}

// onWeights makes a mutant whose graph has other weights.
func onWeights(change func(weight float32) float32) func() *mutant {
	return constructing(func(b build) (construction, error) {
		weights := make([]float32, len(b.in.Weights))
		for i, w := range b.in.Weights {
			weights[i] = change(w)
		}
		if b.in.ShortestPaths {
			b.in.Weights = weights
		}
		return b.construct()
	})
}

func wrongPaths() map[string]wrong {
	var kept plugins.Input // of the last Construct with weights
	return map[string]wrong{
		"loses denormal weights": {onWeights(func(w float32) float32 {
			if w < 0x1p-126 {
				return 0
			}
			return w
		}), words{"paths/exact": "weights denormal", "paths/far": "weights denormal"}},
		"adds in float64": {afterPaths(func(c call, _ *traversal) {
			for v, d := range c.Distance {
				if d > 1 && c.Parent[v] != graph.Unreached {
					c.Distance[v] = math.Nextafter32(d, 0)
				}
			}
		}), words{"paths/kronecker": "of kernel 3", "paths/any-order": "of kernel 3"}},
		"takes the nearest neighbor that it knows as the parent": {afterPaths(func(c call, _ *traversal) {
			for v, p := range c.Parent {
				if p != graph.Unreached && p != c.root && c.Distance[v] == c.Distance[p] {
					c.Parent[p] = vertex(v)
				}
			}
		}), words{"paths/exact": "lead to a cycle"}},
		"leaves distances of unreached vertices": {afterPaths(func(c call, _ *traversal) {
			for v, p := range c.Parent {
				if p == graph.Unreached {
					c.Distance[v] = math.MaxFloat32
				}
			}
		}), words{"paths/exact": "want +Inf"}},
		"writes behind the distances": {afterPaths(func(c call, _ *traversal) {
			c.Distance[:len(c.Distance)+1][len(c.Distance)] = 0
		}), words{"paths/exact": "want nothing written outside of distance[0:"}},
		"keeps the weights of the graph before": {constructing(func(b build) (construction, error) {
			if !b.in.ShortestPaths && kept.ShortestPaths {
				b.in = kept
			}
			kept = b.in
			return b.construct()
		}), words{"paths/again": ""}},
		"changes the weights": {constructing(func(b build) (construction, error) {
			c, err := b.construct()
			clear(b.in.Weights)
			return c, err
		}), words{"paths/weights-let-go": "want the weights unchanged"}},
		"accepts any root": {finding(func(c call) (traversal, error) {
			c.root = max(0, min(c.root, vertex(len(c.Parent)-1)))
			return c.search()
		}), words{"paths/refused": "want an error that wraps"}},
		"reports a part of the time of kernel 3": {afterPaths(func(_ call, t *traversal) {
			time.Sleep(4 * time.Millisecond)
			t.Elapsed = 1
		}), words{"paths/report": "less than half"}},
		"leaves another result after the loop": {func() *mutant {
			return &mutant{pathLoop: func(n int64, out plugins.Output) int64 {
				out.Distance[0] += 1
				return n
			}}
		}, words{"paths/repeat": "of kernel 3"}},
		"does not notice a cancel of kernel 3": {finding(func(c call) (traversal, error) {
			c.ctx = slow(c.ctx, 3*time.Second)
			return c.search()
		}), words{"paths/cancel": "want an end within"}},
	}
}
