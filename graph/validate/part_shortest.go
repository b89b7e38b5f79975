// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// partPaths is a result of kernel 3 that is being validated, as far as it lies in one part.
type partPaths struct {
	*partSearch
	own []float32 // distance of each slot
}

// SetWeights is Validator.SetWeights with the weights of the slice. It is not collective.
func (p *Part) SetWeights(weights []float32) error {
	if len(weights) != len(p.pairs) {
		return fmt.Errorf("validating shortest paths with %d weights of %d tuples: want as many", len(weights), len(p.pairs))
	}
	err := checkWeights(weights, len(p.scanners), p.grain, p.first)
	if err == nil {
		p.weights, p.distance = weights, hugePages(make([]float32, p.numbers()))
	}
	return err
}

func (s *partPaths) checkTree(ctx context.Context) error {
	switch {
	case s.distance == nil:
		s.fail(errors.New("validating shortest paths: the part has no weights"))
	case len(s.own) != len(s.parent):
		s.fail(fmt.Errorf("validating %d distances and %d parents: want as many", len(s.own), len(s.parent)))
	}
	return ofPathTree(s.deriveLevels(ctx))
}

// checkDistances checks rule 2, and makes the pending bits.
func (s *partPaths) checkDistances(ctx context.Context) error {
	bad := noTuple()
	var farthest atomic.Int64 // bits, which are in the order of the numbers
	s.parallel(ctx, int64(s.labels), s.grain, func(first, last int64) {
		largest := int64(0)
		for base := first; base < last; base += 64 {
			pending := uint64(0)
			for slot := base; slot < min(base+64, last); slot++ {
				d, v := s.own[slot], s.labelOf(uint32(slot))
				if !fits(d, v == s.root, s.parent[slot] != graph.Unreached) {
					bad.put(int64(v))
				}
				if pattern := math.Float32bits(d); pattern < infinity {
					largest = max(largest, int64(pattern))
				}
				if s.parent[slot] != graph.Unreached && v != s.root {
					pending |= 1 << (slot % 64)
				}
			}
			s.pending[base/64] = pending
		}
		for old := farthest.Load(); largest > old && !farthest.CompareAndSwap(old, largest); old = farthest.Load() {
		}
	})
	err := s.lowest(ctx, bad.Load(), func(at int64) *Violation {
		slot := at / int64(s.size)
		return brokenDistance(s.root, graph.Vertex(at), s.parent[slot], s.own[slot])
	})
	largest := farthest.Load()
	if err == nil {
		err = s.max(ctx, &largest)
	}
	s.tree.Farthest = math.Float32frombits(uint32(largest))
	return err
}

// publishDistances makes the distances of all numbers.
func (s *partPaths) publishDistances(ctx context.Context) error {
	copy(s.distance, s.own)
	return publish(ctx, s.Part, s.distance, 4,
		func(to []byte, d float32) { putUint32(to, math.Float32bits(d)) },
		func(from []byte) float32 { return math.Float32frombits(getUint32(from)) })
}

func (s *partPaths) scanWeighted(ctx context.Context) error {
	return s.scanRounds(ctx, s.scan, [2]Rule{RulePathLength, RulePathSpan}, func(rule Rule, i int64, t pair) *Violation {
		return brokenWeighted(rule, s.root, i, s.weights[i-s.first], s.labelOf(t.u), s.labelOf(t.v), s.distance[t.u],
			s.distance[t.v])
	})
}

// scan is that of scanRounds for kernel 3.
func (s *partPaths) scan(scan *scanner, first, last int, broken *breaches) {
	for at := first; at < last; at++ {
		t, w := s.pairs[at], s.weights[at]
		if dU, dV := s.distance[t.u], s.distance[t.v]; t.u != t.v && dU+w > dV && dV+w > dU {
			continue
		}
		if scan.nHits >= poolHits {
			s.markTreeEdges(scan)
		}
		if !scan.checkTight(t, w, s.distance, s.first+int64(at), broken) {
			return
		}
	}
}

// explainTreeEdge returns the violation of rule 5 by the lowest vertex, or nil.
func (s *partPaths) explainTreeEdge(ctx context.Context) error {
	return s.lowestPending(ctx, func(v graph.Vertex, slot int64) *Violation {
		return brokenWeightedEdge(s.root, v, s.parent[slot], s.own[slot])
	})
}
