// SPDX-License-Identifier: Apache-2.0

package team

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestRunCallsEveryWorkerOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, size := range []int{1, 2, 3, 8} {
		team := New(size)
		done := make([]int, size) // without atomics: Run orders the turns
		for turn := range 2000 {
			if turn%500 == 0 {
				time.Sleep(2 * time.Millisecond) // long enough to park
			}
			team.Run(func(worker int) { done[worker]++ })
		}
		team.Stop()
		for worker, n := range done {
			if n != 2000 {
				t.Errorf("size %d: worker %d ran %d times, want 2000", size, worker, n)
			}
		}
	}
}

func TestIdleWorkersPark(t *testing.T) {
	team := New(4)
	defer team.Stop()
	team.Wake()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		parked := 0
		for i := range team.members {
			if team.members[i].parked.Load() {
				parked++
			}
		}
		if parked == 3 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of 3 members are parked 5 s after their last task", parked)
		}
	}
}

func TestWorkersThatDoNotRunDelayNothing(t *testing.T) {
	team := NewTeams(3).prepare(3) // two members that never run
	for range 10 {
		pieces := 0
		team.Pieces(100, 7, func(worker, from, to int) { pieces++ })
		if pieces != 15 {
			t.Fatalf("%d pieces of 100 items were worked on, want 15", pieces)
		}
	}
}

func TestSplitAndPiecesCoverEverythingOnce(t *testing.T) {
	team := New(min(4, 2*runtime.GOMAXPROCS(0)))
	defer team.Stop()
	for _, n := range []int{0, 1, 7, 64, 1000} {
		for name, spread := range map[string]func(func(worker, from, to int)){
			"Split":  func(task func(worker, from, to int)) { team.Split(n, 7, task) },
			"Pieces": func(task func(worker, from, to int)) { team.Pieces(n, 7, task) },
		} {
			seen := make([]atomic.Int32, n)
			var large atomic.Bool
			spread(func(_, from, to int) {
				for i := from; i < to; i++ {
					seen[i].Add(1)
				}
				if from%7 != 0 && from != n || to-from > 7 && name == "Pieces" {
					large.Store(true)
				}
			})
			if large.Load() {
				t.Errorf("%s(%d): a part does not begin at a multiple of 7, or a piece has more than 7 items", name, n)
			}
			for i := range seen {
				if got := seen[i].Load(); got != 1 {
					t.Errorf("%s(%d): item %d was handed out %d times, want once", name, n, i, got)
				}
			}
		}
	}
}

func TestPiecesDoesNotAllocate(t *testing.T) {
	team := New(2)
	defer team.Stop()
	task := func(worker, from, to int) {}
	if n := testing.AllocsPerRun(20, func() { team.Pieces(100, 7, task) }); n != 0 {
		t.Errorf("Pieces allocates %v times, want 0", n)
	}
}

func BenchmarkRun(b *testing.B) {
	team := New(2)
	defer team.Stop()
	nothing := func(int) {}
	for b.Loop() {
		team.Run(nothing)
	}
}
