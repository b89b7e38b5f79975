package team

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestPinnedWorkersStayOnOneProcessor(t *testing.T) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	team, err := NewPinned(3)
	if err != nil {
		t.Fatal(err)
	}
	defer team.Stop()
	team.Wake()
	team.Run(func(worker int) {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 {
			t.Errorf("worker %d may use %d processors, want 1 (%v)", worker, set.Count(), err)
		}
	})
	team.Rest()
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("after Rest the caller may use %d processors, want %d as before (%v)", after.Count(), before.Count(), err)
	}
}
