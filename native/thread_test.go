package native

import (
	"sync/atomic"
	"testing"
	"time"
)

// Calls that come at once, late, and about when the thread goes to sleep; short ones, and ones that are waited for.
func TestEveryCallIsMadeOnce(t *testing.T) {
	thread := newThread()
	var made atomic.Int64
	pauses := []time.Duration{0, 0, 0, lookForCall - 50*time.Microsecond, lookForCall, lookForCall + 50*time.Microsecond, 2 * time.Millisecond}
	work := []time.Duration{0, 0, lookForEnd, 3 * lookForEnd, time.Millisecond}
	for i := range int64(3000) {
		time.Sleep(pauses[i%7] * time.Duration(i%2))
		thread.do(func() {
			if d := work[i%5]; d > 0 && i%3 == 0 {
				for start := time.Now(); time.Since(start) < d; {
				}
			}
			made.Add(1)
		})
		if made.Load() != i+1 {
			t.Fatalf("after call %d, %d were made", i+1, made.Load())
		}
	}
}
