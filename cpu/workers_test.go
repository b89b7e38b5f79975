package cpu

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestATeamRunsEveryWorkerOnceATurn(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, size := range []int{1, 2, 3, 8} {
		team := newTeam(size)
		done := make([]int, size) // without atomics: run orders the turns
		for turn := range 2000 {
			if turn%500 == 0 {
				time.Sleep(2 * time.Millisecond) // long enough to park
			}
			team.run(func(worker int) { done[worker]++ })
		}
		team.stop()
		for worker, n := range done {
			if n != 2000 {
				t.Errorf("size %d: worker %d ran %d times, want 2000", size, worker, n)
			}
		}
	}
}

func TestAnIdleTeamParks(t *testing.T) {
	team := newTeam(4)
	defer team.stop()
	team.run(func(int) {})
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
			t.Fatalf("%d of 3 members are parked 5 s after their last work", parked)
		}
	}
}

func TestSharesCoverEverythingOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7} {
		team := team{size: size}
		for _, n := range []int{0, 1, 5, 64, 1000} {
			for _, grain := range []int{1, 8, 64} {
				end := 0
				for worker := range size {
					from, to := team.share(worker, n, grain)
					if from != end || to < from || from%grain != 0 && from != n {
						t.Errorf("size %d, n %d, grain %d: worker %d has %d..%d after %d", size, n, grain, worker, from, to, end)
					}
					end = to
				}
				if end != n {
					t.Errorf("size %d, n %d, grain %d: shares end at %d", size, n, grain, end)
				}
			}
		}
	}
}

func TestChunksCoverEverythingOnce(t *testing.T) {
	var taken chunks
	var sum atomic.Int64
	team := newTeam(min(4, 2*runtime.GOMAXPROCS(0)))
	defer team.stop()
	taken.deal(team, 1000, 7)
	team.run(func(worker int) {
		for {
			from, to, ok := taken.take(worker, 7)
			if !ok {
				return
			}
			for i := from; i < to; i++ {
				sum.Add(int64(i))
			}
		}
	})
	if want := int64(999 * 1000 / 2); sum.Load() != want {
		t.Errorf("sum of all things is %d, want %d", sum.Load(), want)
	}
}

func BenchmarkHandOver(b *testing.B) {
	team := newTeam(2)
	defer team.stop()
	nothing := func(int) {}
	for b.Loop() {
		team.run(nothing)
	}
}
