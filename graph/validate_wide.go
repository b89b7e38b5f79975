package graph

import (
	"context"
	"fmt"
)

// The pass over the tuples without tricks: full levels, full labels, one tuple after the other. It does what scanBlock
// does, for trees of more levels and graphs of more vertices than fit there.

// scanWide works on any number of tuples. It returns false when one breaks rule 3 or 4, or has a label that is no vertex.
func (s *scanner) scanWide(edges []Edge, levels []int32, parent []Vertex, pending []uint64) bool {
	good := true
	for i := range edges {
		u, v := edges[i].Ends()
		if uint64(u) >= uint64(len(levels)) || uint64(v) >= uint64(len(levels)) {
			return false
		}
		levelU, levelV := levels[u], levels[v]
		if orderOf(levelU, levelV) != inOrder {
			good = false
		}
		if levelU < 0 {
			s.missed++
			continue
		}
		switch {
		case u == v:
			s.selfLoops++
		case levelU > levelV && parent[u] == v:
			clearBit(pending, uint64(u))
		case levelV > levelU && parent[v] == u:
			clearBit(pending, uint64(v))
		}
	}
	return good
}

// order is what rules 3 and 4 say of the levels of a tuple.
type order int

const (
	inOrder    order = iota
	tooFar           // both reached, on levels that differ by more than one: rule 3
	notSpanned       // one reached, the other not: rule 4
)

func orderOf(levelU, levelV int32) order {
	switch {
	case (levelU < 0) != (levelV < 0):
		return notSpanned
	case levelU-levelV > 1 || levelV-levelU > 1:
		return tooFar
	}
	return inOrder
}

// searchBroken searches first..last-1, where a scan found something wrong, for the first tuple that breaks rule 3, which
// goes into far, and the first that breaks rule 4, which goes into unspanned. A label that is no vertex, or nothing at
// all, means that the tuples are changing; that goes into changed.
func (v *Validator) searchBroken(first, last int64, far, unspanned, changed *lowest) {
	found := false
	for i := first; i < last; i++ {
		a, b := v.edges[i].Ends()
		if int64(max(a, b)) >= v.vertices {
			changed.put(i)
			return
		}
		switch orderOf(v.levels[a], v.levels[b]) {
		case tooFar:
			far.put(i)
			return
		case notSpanned:
			if !found {
				unspanned.put(i)
			}
			found = true
		}
	}
	if !found {
		changed.put(first)
	}
}

// checkLabels fails for the first tuple with a label that is no vertex.
func (v *Validator) checkLabels() error {
	bad := newLowest()
	good, _ := v.parallel(context.Background(), int64(len(v.edges)), v.tupleGrain, func(_ *scanner, first, last int64) bool {
		for i := first; i < last; i++ {
			if a, b := v.edges[i].Ends(); int64(max(a, b)) >= v.vertices {
				bad.put(i)
				return false
			}
		}
		return true
	})
	if good {
		return nil
	}
	return fmt.Errorf("graph: making a validator: tuple %d is %v, but labels end at %d: pass a number of vertices above every label",
		bad.get(), v.edges[bad.get()], v.vertices-1)
}
