package harness

import (
	"context"
	"sync"
	"time"
)

// standstill notices when this process does not run for a while: somebody stops it (Ctrl-Z, a debugger), or the machine
// is suspended or its virtual machine paused. A call of an engine then looks longer than it was, or takes longer.
type standstill struct {
	clocks   func() (monotonic time.Duration, wall time.Time) // since some moment; no monotonic part
	mu       sync.Mutex
	lastMono time.Duration // when the process last ran
	lastWall time.Time
	n        int // standstills so far
}

// systemClocks returns the clocks of this machine.
func systemClocks() func() (time.Duration, time.Time) {
	start := time.Now()
	return func() (time.Duration, time.Time) {
		now := time.Now()
		return now.Sub(start), now.Round(0)
	}
}

const (
	standstillLimit = 2 * time.Second // longer than a very busy machine delays a goroutine that has nothing to do
	maxRepeats      = 3               // of one call
)

// watch looks at the time until stop is called.
func (s *standstill) watch() (stop func()) {
	s.mu.Lock()
	s.lastMono, s.lastWall = s.clocks()
	s.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			s.count()
		}
	}()
	return stop
}

// count returns the number of standstills so far. The monotonic clock does not advance while a machine is suspended,
// so the wall clock counts too.
func (s *standstill) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	mono, wall := s.clocks()
	if max(mono-s.lastMono, wall.Sub(s.lastWall)) > standstillLimit {
		s.n++
	}
	s.lastMono, s.lastWall = mono, wall
	return s.n
}
