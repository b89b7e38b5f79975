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

func TestWorkersHelpTheNextOnesFirst(t *testing.T) {
	team := &Team{left: make([]atomic.Uint64, 1)}
	team.wanted = 6
	for _, c := range []struct {
		left   uint64 // bitmap of shares
		worker int
		want   int
	}{
		{0b111111, 1, 2}, {0b111001, 1, 3}, {0b100000, 1, 5}, {0b000111, 4, 0}, {0b001110, 4, 1}, {0b010000, 3, 4},
		{0, 2, -1},
	} {
		team.left[0].Store(c.left)
		if got := team.unfinished(c.worker); got != c.want {
			t.Errorf("shares %06b have pieces left: worker %d helps %d, want %d", c.left, c.worker, got, c.want)
		}
	}
}
