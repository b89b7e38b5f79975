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
