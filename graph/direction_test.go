package graph

import "testing"

func TestSwitchFollowsTheFrontier(t *testing.T) {
	s := Switch{Alpha: 15, Beta: 18}
	for _, c := range []struct {
		name string
		p    SwitchState
		want Direction
	}{
		{"a small frontier stays top-down", SwitchState{TopDown, 10, 1, 100, 10_000, 1000}, TopDown},
		{"a frontier with many edges goes bottom-up", SwitchState{TopDown, 10, 1, 1000, 10_000, 1000}, BottomUp},
		{"a shrinking frontier does not go bottom-up", SwitchState{TopDown, 10, 20, 1000, 10_000, 1000}, TopDown},
		{"one that grows slowly does not either", SwitchState{TopDown, 39, 20, 1000, 10_000, 1000}, TopDown},
		{"a growing frontier stays bottom-up", SwitchState{BottomUp, 20, 10, 0, 0, 1000}, BottomUp},
		{"a large shrinking frontier stays bottom-up", SwitchState{BottomUp, 100, 200, 0, 0, 1000}, BottomUp},
		{"a small shrinking frontier comes back top-down", SwitchState{BottomUp, 10, 200, 0, 0, 1000}, TopDown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.Next(c.p); got != c.want {
				t.Errorf("Next(%+v) = %v, want %v", c.p, got, c.want)
			}
		})
	}
}

func TestSwitchWithoutAlphaNeverGoesBottomUp(t *testing.T) {
	state := SwitchState{Direction: TopDown, Frontier: 9, Previous: 1, FrontierEdges: 1 << 40}
	if got := (Switch{}).Next(state); got != TopDown {
		t.Errorf("Next = %v, want %v", got, TopDown)
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

// The cases are the branches of figure 3, with 100 vertices, a factor of 5, alpha 10 and beta 20: 600 is the sum of the
// vertices and the edges of those that are not visited, if none is.
func TestNextKolganov(t *testing.T) {
	for _, c := range []struct {
		old                    Direction
		previous, found, inLvl int64
		want                   Direction
	}{
		{TopDown, 1, 20, 49, TopDown}, // growing; 500/10 = 50
		{TopDown, 1, 20, 50, BottomUp},
		{BottomUp, 1, 20, 0, BottomUp},
		{BottomUp, 20, 5, 0, TopDown},  // shrinking; 575/100 = 5.75
		{BottomUp, 20, 6, 0, BottomUp}, // 570/100
		{TopDown, 6, 6, 0, BottomUp},
	} {
		rule := Switch{Alpha: 10, Beta: 20}
		state := SwitchState{Direction: c.old, Frontier: c.found, Previous: c.previous, Vertices: 100}
		if got := rule.NextKolganov(state, c.inLvl, 1000); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
		rule.Steps = OnlyTopDown
		if got := rule.NextKolganov(state, c.inLvl, 1000); got != TopDown {
			t.Errorf("%+v with only top-down steps: got %v", c, got)
		}
	}
}
