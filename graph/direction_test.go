// SPDX-License-Identifier: Apache-2.0

package graph

import "testing"

// The cases are on both sides of every threshold: 4 times the edges of the frontier against those unexplored, twice the
// frontier before, and 5 times the frontier against the vertices.
func TestSwitchHasItsThresholds(t *testing.T) {
	for _, c := range []struct {
		name string
		p    SwitchState
		want Direction
	}{
		{"a quarter of the unexplored edges", SwitchState{TopDown, 10, 5, 100, 400, 1000}, TopDown},
		{"more than a quarter", SwitchState{TopDown, 10, 5, 100, 399, 1000}, BottomUp},
		{"less than a quarter", SwitchState{TopDown, 10, 5, 100, 401, 1000}, TopDown},
		{"twice the frontier before", SwitchState{TopDown, 10, 5, 100, 100, 1000}, BottomUp},
		{"not quite twice", SwitchState{TopDown, 9, 5, 100, 100, 1000}, TopDown},
		{"shrinking", SwitchState{TopDown, 10, 20, 100, 100, 1000}, TopDown},
		{"bottom-up, a fifth of the vertices", SwitchState{BottomUp, 200, 300, 0, 0, 1000}, BottomUp},
		{"bottom-up, less than a fifth", SwitchState{BottomUp, 199, 300, 0, 0, 1000}, TopDown},
		{"bottom-up, as large as before", SwitchState{BottomUp, 10, 10, 0, 0, 1000}, BottomUp},
		{"bottom-up, smaller than before", SwitchState{BottomUp, 9, 10, 0, 0, 1000}, TopDown},
		{"bottom-up, growing", SwitchState{BottomUp, 20, 10, 0, 0, 1000}, BottomUp},
	} {
		if got := (Switch{Alpha: 4, Beta: 5}).Next(c.p); got != c.want {
			t.Errorf("%s: %+v goes on %v, want %v", c.name, c.p, got, c.want)
		}
	}
	all := SwitchState{Direction: TopDown, Frontier: 9, Previous: 1, FrontierEdges: 1 << 40}
	if got := (Switch{}).Next(all); got != TopDown {
		t.Errorf("without alpha: %v, want %v", got, TopDown)
	}
}

func TestSwitchKeepsTheOnlyDirection(t *testing.T) {
	dense := SwitchState{TopDown, 10, 1, 1000, 10_000, 1000} // goes bottom-up if it may
	sparse := SwitchState{BottomUp, 10, 200, 0, 0, 1000}     // goes back top-down if it may
	for _, c := range []struct {
		steps                Steps
		first, dense, sparse Direction
	}{
		{BothDirections, TopDown, BottomUp, TopDown},
		{OnlyTopDown, TopDown, TopDown, TopDown},
		{OnlyBottomUp, BottomUp, BottomUp, BottomUp},
	} {
		s := Switch{Alpha: 15, Beta: 18, Steps: c.steps}
		if s.First() != c.first || s.Next(dense) != c.dense || s.Next(sparse) != c.sparse {
			t.Errorf("steps %d: %v, then %v and %v; want %v, %v, %v",
				c.steps, s.First(), s.Next(dense), s.Next(sparse), c.first, c.dense, c.sparse)
		}
	}
}
