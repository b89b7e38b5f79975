package graph

import (
	"context"
	"sync/atomic"
)

// countTuples is the pass of Count.
func (v *Validator) countTuples(ctx context.Context, parent []Vertex) (Tree, error) {
	var reached, tuples, selfLoops atomic.Int64
	_, err := v.parallel(ctx, v.vertices, v.vertexGrain, func(_ *scanner, first, last int64) bool {
		var n int64
		for i, p := range parent[first:last] {
			v.words[first+int64(i)] = 0
			if p >= 0 {
				v.words[first+int64(i)] = 1
				n++
			}
		}
		reached.Add(n)
		return true
	})
	if err != nil {
		return Tree{}, err
	}
	changed := newLowest()
	_, err = v.parallel(ctx, int64(len(v.edges)), v.tupleGrain, func(_ *scanner, first, last int64) bool {
		var both, loops int64
		for i := range v.edges[first:last] {
			a, b := v.edges[first+int64(i)].Ends()
			if uint64(a) >= uint64(len(v.words)) || uint64(b) >= uint64(len(v.words)) {
				changed.put(first + int64(i))
				return false
			}
			joins := int64(v.words[a] & v.words[b])
			both += joins
			if a == b {
				loops += joins
			}
		}
		v.scanned.Add(last - first)
		tuples.Add(both)
		selfLoops.Add(loops)
		return true
	})
	if err != nil {
		return Tree{}, err
	}
	if err := v.explainTuple(0, none, none, changed.get()); err != nil {
		return Tree{}, err
	}
	return Tree{Reached: reached.Load(), Tuples: tuples.Load(), SelfLoops: selfLoops.Load()}, nil
}
