// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/lookup"
)

// Rules of kernel 3, single-source shortest paths. Rules 3 and 4 make each distance at most the right one, because they
// hold for every tuple; rules 1, 2 and 5 make it the sum along a path of tuples, so that it is at least the right one.
// So the distances of a valid result are the unique ones, bit for bit. The reference has no rule 1, and accepts cycles
// of parents where weights are 0 or too small to change a sum.
const (
	RulePathTree Rule = 11 + iota
	RulePathDistance
	RulePathLength
	RulePathSpan
	RulePathTuple
)

func (r Rule) ofKernel3() string {
	return fmt.Sprintf("rule %d of kernel 3 (%s)", int(r-RulePathTree)+1, [...]string{
		"the parents form a tree",
		"distances are 0 at the root, numbers at reached vertices, and +Inf at the others",
		"no tuple leads to a shorter distance",
		"the tree spans the root's component",
		"each tree edge is a tuple, and its weight the difference of the distances",
	}[r-RulePathTree])
}

// SetWeights gives the validator the weights of its list of tuples, for results of kernel 3. It keeps them. The error
// names the first one that is not from 0 to graph.MaxWeight.
func (v *Validator) SetWeights(weights []float32) error {
	if v.source != nil || v.parent32 == nil || len(weights) != len(v.edges) {
		return fmt.Errorf("validating shortest paths with %d weights of %d tuples in memory, and %d vertices: want as many "+
			"weights as tuples, and 2^32 vertices at most", len(weights), len(v.edges), v.vertices)
	}
	err := checkWeights(weights, len(v.scanners), v.tupleGrain, 0)
	if err == nil {
		v.weights = weights
	}
	return err
}

// checkWeights returns an error that names the first weight that is not from 0 to graph.MaxWeight. They are those of
// tuples first, first+1, ...
func checkWeights(weights []float32, threads int, grain, first int64) error {
	bad := noTuple()
	_, _ = graph.Parallel(context.Background(), threads, int64(len(weights)), grain, func(_ int, from, to int64) bool {
		for i, w := range weights[from:to] {
			if !(w >= 0 && w <= graph.MaxWeight) {
				bad.put(from + int64(i))
				return false
			}
		}
		return true
	})
	if i := bad.Load(); i != math.MaxInt64 {
		return fmt.Errorf("the weight of tuple %d is %v; want a number from 0 to 2^64", first+i, weights[i])
	}
	return nil
}

// paths is a result of kernel 3 that is being validated.
type paths struct {
	*search
	distance []float32
}

func (p *paths) checkSizes(context.Context) error {
	switch {
	case p.weights == nil:
		return errors.New("validating shortest paths: the validator has no weights")
	case len(p.distance) != len(p.parent):
		return fmt.Errorf("validating %d distances and %d parents: want as many", len(p.distance), len(p.parent))
	}
	return nil
}

// checkTree checks rule 1.
func (p *paths) checkTree(ctx context.Context) error {
	return ofPathTree(p.deriveLevels(ctx))
}

// ofPathTree makes a violation of a rule of kernel 2 by the parents one of rule 1 of kernel 3.
func ofPathTree(err error) error {
	if broken := new(Violation); errors.As(err, &broken) {
		broken.Rule = RulePathTree
	}
	return err
}

// checkDistances checks rule 2. Later passes may then compare distances: none is NaN, -0 or negative.
func (p *paths) checkDistances(ctx context.Context) error {
	bad := noTuple()
	var farthest atomic.Uint32 // bits, which are in the order of the numbers
	_, err := p.overVertices(ctx, func(first, last int64) bool {
		largest := uint32(0)
		for i, d := range p.distance[first:last] {
			v := first + int64(i)
			if !fits(d, v == int64(p.root), p.parent[v] != graph.Unreached) {
				bad.put(v)
				return false
			}
			if pattern := math.Float32bits(d); pattern < infinity {
				largest = max(largest, pattern)
			}
		}
		for old := farthest.Load(); largest > old && !farthest.CompareAndSwap(old, largest); old = farthest.Load() {
		}
		return true
	})
	p.tree.Farthest = math.Float32frombits(farthest.Load())
	v := bad.Load()
	if err != nil || v == math.MaxInt64 {
		return err
	}
	return brokenDistance(p.root, graph.Vertex(v), p.parent[v], p.distance[v])
}

// brokenDistance is the violation of vertex v with parent p by its distance d.
func brokenDistance(root, v, p graph.Vertex, d float32) *Violation {
	want := "it is reached: want a number of at least 0 that is not -0"
	switch {
	case math.Float32bits(d) == math.Float32bits(graph.UnwrittenDistance()):
		want = "it was never written"
	case v == root:
		want = "it is the root: want 0"
	case p == graph.Unreached:
		want = "it is marked unreached: want +Inf"
	}
	return broken(RulePathDistance, root, []graph.Vertex{v}, "the distance of vertex %d is %v, and %s", v, d, want)
}

const infinity = 0x7f800000 // the bits of +Inf; -0, negative numbers and NaN have greater ones

// fits reports whether d is a possible distance of a vertex.
func fits(d float32, root, reached bool) bool {
	pattern := math.Float32bits(d)
	return pattern < infinity && reached && (pattern == 0 || !root) || pattern == infinity && !reached
}

// scan checks the tuples against rules 3 and 4, and clears the pending bit of each vertex whose tree edge is a tuple of
// the right weight.
func (p *paths) scan(ctx context.Context) error {
	return p.overTuples(ctx, p.explainWeighted, func(scan *scanner, edges []graph.Edge, first int64, broken *breaches) {
		for good := true; good && len(edges) > 0; first += pathTuples {
			block := edges[:min(pathTuples, len(edges))]
			edges = edges[len(block):]
			good = p.scanBlock(scan, block, p.weights[first:][:len(block)], first, broken)
		}
	})
}

// scanBlock checks at most pathTuples tuples from number first on, and adds breaches to broken. It returns false after
// one of rule 3. Nearly all tuples join different vertices and are on no shortest path, so the first loop is without a
// branch that depends on them (package lookup), and the cache misses of many overlap.
func (p *paths) scanBlock(scan *scanner, block []graph.Edge, weights []float32, first int64, broken *breaches) bool {
	if scan.nHits+2*len(block) > len(scan.hits) {
		scan.markTreeEdges(p.parent32, p.pending)
	}
	if !lookup.Tight(block, weights, p.distance, scan.tight[:]) {
		broken.changed.put(first)
		return false
	}
	for k, word := range scan.tight[:(len(block)+63)/64] {
		for ; word != 0; word &= word - 1 {
			i := 64*k + bits.TrailingZeros64(word)
			u, v, _ := block[i].Ends32()
			if !scan.checkTight(pair{u, v}, weights[i], p.distance, first+int64(i), broken) {
				return false
			}
		}
	}
	return true
}

// checkTight checks tuple i, which is tight (lookup.Tight), and adds it to hits if it may be a tree edge. It adds
// breaches to broken, and returns false after one of rule 3. A vertex is reached if its distance is finite.
func (s *scanner) checkTight(t pair, w float32, distance []float32, i int64, broken *breaches) bool {
	unreached, dU, dV := graph.Infinity(), distance[t.u], distance[t.v]
	switch {
	case dU == unreached && dV == unreached:
		s.missed++
	case t.u == t.v:
		s.selfLoops++
	case dU == unreached || dV == unreached:
		broken.unspanned.put(i)
	case dU+w < dV || dV+w < dU:
		broken.far.put(i)
		return false
	default: // one way is exactly as short, or both
		s.hits[s.nHits] = uint64(t.v)<<32 | uint64(t.u)
		s.nHits += equal(dU+w, dV)
		s.hits[s.nHits] = uint64(t.u)<<32 | uint64(t.v)
		s.nHits += equal(dV+w, dU)
	}
	return true
}

// equal is 1 if two distances are equal, else 0.
func equal(a, b float32) int {
	return int((uint64(math.Float32bits(a)^math.Float32bits(b)) - 1) >> 63)
}

// explainWeighted describes a breach of rule 3 or 4, or returns nil.
func (p *paths) explainWeighted(b *breaches) error {
	rule, i, err := b.first(RulePathLength, RulePathSpan)
	if err != nil || rule == 0 {
		return err
	}
	a, z := p.edges[i].Ends()
	return brokenWeighted(rule, p.root, i, p.weights[i], a, z, p.distance[a], p.distance[z])
}

// brokenWeighted is the violation of rule 3 or 4 by tuple i of weight w, which joins a and z.
func brokenWeighted(rule Rule, root graph.Vertex, i int64, w float32, a, z graph.Vertex, dA, dZ float32) *Violation {
	if dA > dZ { // from the nearer end to the farther one
		a, z, dA, dZ = z, a, dZ, dA
	}
	if rule == RulePathSpan {
		return broken(rule, root, []graph.Vertex{a, z},
			"tuple %d joins vertex %d at distance %v to vertex %d, which is unreached", i, a, dA, z)
	}
	return broken(rule, root, []graph.Vertex{a, z}, "tuple %d of weight %v joins vertex %d at distance %v to vertex "+
		"%d at distance %v, which is more than their sum %v", i, w, a, dA, z, dZ, dA+w)
}

// explainTreeEdge describes a breach of rule 5 by the lowest vertex, or returns nil.
func (p *paths) explainTreeEdge(context.Context) error {
	v := lowestBit(p.pending)
	if v == math.MaxInt64 {
		return nil
	}
	return brokenWeightedEdge(p.root, graph.Vertex(v), p.parent[v], p.distance[v])
}

// brokenWeightedEdge is the violation of rule 5 by vertex v at distance d with parent u.
func brokenWeightedEdge(root, v, u graph.Vertex, d float32) *Violation {
	return broken(RulePathTuple, root, []graph.Vertex{v, u},
		"vertex %d at distance %v has parent %d, but no tuple of the two has a weight that gives this distance", v, d, u)
}
