package graph

import (
	"context"
	"fmt"
	"sync/atomic"
)

// The pass over the tuples without tricks: full levels, full labels, one tuple after the other. It is for trees with
// more levels and graphs with more vertices than scanWords can handle.

// breaches are the first tuples that break a rule.
type breaches struct {
	far       lowest // rule 3: both ends are reached, on levels that differ by more than one
	unspanned lowest // rule 4: one end is reached, the other is not
	changed   lowest // the tuple, or one soon after it, is not what it was when the validator was made
}

// scanPlain works on tuples from number first on. At a tuple that breaks a rule it returns false and adds it to broken.
func (v *Validator) scanPlain(s *scanner, parent []Vertex, edges []Edge, first int64, broken *breaches) bool {
	good := true
	for at := range edges {
		i := first + int64(at)
		a, b := edges[at].Ends()
		if int64(max(a, b)) >= v.vertices {
			broken.changed.put(i)
			return false
		}
		levelA, levelB := v.levels[a], v.levels[b]
		switch {
		case (levelA < 0) != (levelB < 0):
			broken.unspanned.put(i)
			good = false // a later tuple may break rule 3
		case levelA-levelB > 1 || levelB-levelA > 1:
			broken.far.put(i)
			return false
		case levelA < 0:
			s.missed++
		case a == b:
			s.selfLoops++
		case levelA > levelB && parent[a] == b:
			clearBit(v.pending, uint64(a))
		case levelB > levelA && parent[b] == a:
			clearBit(v.pending, uint64(b))
		}
	}
	return good
}

// checkLabels fills joined, with room for the tuples of a source, or returns an error for the first
// tuple with a label that is not a vertex.
func (v *Validator) checkLabels(ctx context.Context, room []Edge) error {
	var bad lowest
	good, err := v.overParts(ctx, room, func(_ int, edges []Edge, first int64) bool {
		for i := range edges {
			a, b := edges[i].Ends()
			if int64(max(a, b)) >= v.vertices {
				bad.put(first + int64(i))
				return false
			}
			if a != b {
				setBit(v.joined, uint64(a))
				setBit(v.joined, uint64(b))
			}
		}
		return true
	})
	if good || err != nil {
		return err
	}
	return fmt.Errorf("graph: making a validator for %d vertices: tuple %d is %v: "+
		"pass a number of vertices larger than every label", v.vertices, bad.get(), v.tuple(bad.get()))
}

// Count counts what a search from root reached without deriving levels: the vertices that have a parent, and the
// tuples that join two of them. Root and Depth of the Tree stay 0. The error is a *Violation if a tuple joins a reached
// vertex to an unreached one (rule 4), ctx.Err() if ctx ended, and another one if root or the length of parent does
// not fit the graph.
func (v *Validator) Count(ctx context.Context, root Vertex, parent []Vertex) (t Tree, err error) {
	if err := v.checkSearch(root, parent); err != nil {
		return Tree{}, err
	}
	var reached atomic.Int64
	_, err = v.overVertices(ctx, func(first, last int64) bool {
		var n int64
		for u := first; u < last; u++ {
			v.levels[u], v.words[u] = -1, 0
			if parent[u] >= 0 { // all reached vertices count as one level
				v.levels[u], v.words[u] = 0, packWord(0, parent[u])
				n++
			}
		}
		reached.Add(n)
		return true
	})
	if err == nil {
		err = v.scanTuples(ctx, root, parent, &t)
	}
	if err != nil {
		return Tree{}, err
	}
	t.Reached = reached.Load()
	return t, nil
}
