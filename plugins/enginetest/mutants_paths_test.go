// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"math"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

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
