// SPDX-License-Identifier: Apache-2.0

package team

import (
	"runtime"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

type idleFunc func(worker int) (did, more bool)

func (f idleFunc) Idle(worker int) (did, more bool) { return f(worker) }

// idle returns a team of size workers that counts as having a processor for each.
func idle(size int) *Team { return NewTeams(1).New(size) }

func TestWaitingWorkersWorkWhileIdle(t *testing.T) {
	defer goleak.VerifyNone(t)
	const size, parts = 3, 50
	team := idle(size)
	defer team.Stop()
	var left atomic.Int32
	left.Store(size - 1)
	done := make([]int, size) // without atomics: each worker has its own
	team.Wake()
	team.WhileIdle(idleFunc(func(worker int) (did, more bool) {
		done[worker]++
		if done[worker] == parts {
			left.Add(-1)
		}
		return true, done[worker] < parts
	}))
	for left.Load() > 0 { // the caller works on nothing: it does not wait for the team
		runtime.Gosched()
	}
	team.EndIdle()
	if done[0] != 0 || done[1] != parts || done[2] != parts {
		t.Errorf("workers were called %v times, want 0, %d and %d", done, parts, parts)
	}
}

func TestTurnsEndAndNothingRunsAfterTheEnd(t *testing.T) {
	const size, parts = 4, 30
	team := idle(size)
	defer team.Stop()
	for offer := range 300 {
		done := make([]int, size)
		team.WhileIdle(idleFunc(func(worker int) (did, more bool) {
			done[worker]++
			return true, done[worker] < parts
		}))
		var pieces atomic.Int32
		for range offer % 5 {
			team.Pieces(16, 1, func(_, _, _ int) { pieces.Add(1) })
		}
		team.EndIdle()
		for worker, n := range done { // a call that is still running is a data race here
			if n > parts {
				t.Fatalf("worker %d was called %d times, want at most %d", worker, n, parts)
			}
			done[worker] = 0
		}
		team.Run(func(int) {})
		for worker, n := range done {
			if n != 0 {
				t.Fatalf("worker %d was called %d times after EndIdle", worker, n)
			}
		}
		if got, want := int(pieces.Load()), offer%5*16; got != want {
			t.Fatalf("%d pieces were worked on, want %d", got, want)
		}
	}
}

func TestWhileIdleLeavesCrowdedProcessorsAlone(t *testing.T) {
	team := NewTeams(3).prepare(3)
	team.crowded = true
	team.WhileIdle(idleFunc(func(int) (did, more bool) { return true, true }))
	if team.tryIdle(1) {
		t.Error("a worker of a crowded team did not leave its processor to others")
	}
}

func TestTeamsAmongOthersShareProcessors(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	for others, crowded := range []bool{processors < 1, processors < 2, processors < 3} {
		team := NewTeams(others + 1).New(1)
		if team.crowded != crowded {
			t.Errorf("%d processors, 1 worker and %d others: crowded is %t", processors, others, team.crowded)
		}
		team.Stop()
	}
}

func TestFirstIsWhatPiecesHandsOutFirst(t *testing.T) {
	for _, size := range []int{1, 3, 8} {
		team := NewTeams(size).prepare(size)
		for _, n := range []int{0, 1, 63, 64, 1000} {
			end := 0
			for worker := range size {
				from, to := team.First(worker, n, 64)
				if from != end && from != n || to < from || from%64 != 0 && from != n {
					t.Errorf("size %d, n %d: worker %d begins with %d..%d after %d", size, n, worker, from, to, end)
				}
				end = max(end, to)
			}
			if end != n {
				t.Errorf("size %d, n %d: the shares end at %d", size, n, end)
			}
		}
	}
}
