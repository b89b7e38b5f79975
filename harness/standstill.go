package harness

import (
	"context"
	"sync"
	"time"
)

// standstill notices when this process does not run for a while: somebody stops it (Ctrl-Z, a debugger), or the machine
// is suspended or its virtual machine paused. A call of an engine then looks longer than it was, or takes longer.
type standstill struct {
	mu   sync.Mutex
	last time.Time // when the process last ran
	n    int       // standstills so far
}

const (
	standstillLimit = 2 * time.Second // longer than a very busy machine delays a goroutine that has nothing to do
	maxRepeats      = 3               // of one call
)

// watch looks at the time until stop is called.
func (s *standstill) watch() (stop func()) {
	s.mu.Lock()
	s.last = time.Now()
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
	now := time.Now()
	if max(now.Sub(s.last), now.Round(0).Sub(s.last.Round(0))) > standstillLimit {
		s.n++
	}
	s.last = now
	return s.n
}
