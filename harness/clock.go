// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// timed makes a call that returns its time on the engine's clock, which must be positive, and on the host's clock,
// which must not be shorter. The call is repeated, at most maxRepeats times, if this process was suspended.
func (e *engineRun) timed(ctx context.Context, what string,
	call func(context.Context) (elapsed, wall time.Duration, err error)) error {
	for repeats := 0; ; repeats++ {
		before := e.suspensions.count()
		limited, cancel := context.WithTimeout(ctx, e.plan.Timeout)
		elapsed, wall, err := call(limited)
		late := limited.Err() != nil
		cancel()
		suspended := e.suspensions.count() > before && ctx.Err() == nil && (err == nil || late)
		switch {
		case suspended && repeats < maxRepeats:
			continue
		case err != nil:
			return callError(ctx, late, what, e.plan.Timeout, err)
		case elapsed <= 0 || elapsed > wall:
			return fmt.Errorf("%s: %w: it reports %v for a call that took %v", what, plugins.ErrClock, elapsed, wall)
		}
		return nil
	}
}

// callError describes the error of a call with a time limit: the end of ctx, a timeout, or an error of the engine.
func callError(ctx context.Context, late bool, what string, timeout time.Duration, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late && endsWithContext(err):
		return fmt.Errorf("%s exceeded the timeout of %v", what, timeout)
	case late: // and the engine, which did not return, is gone
		return fmt.Errorf("%s exceeded the timeout of %v: %w", what, timeout, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// endsWithContext reports whether an error says only that a context has ended.
func endsWithContext(err error) bool {
	return strings.HasSuffix(err.Error(), context.Canceled.Error()) ||
		strings.HasSuffix(err.Error(), context.DeadlineExceeded.Error())
}

const (
	suspensionLimit = 2 * time.Second // a very busy machine delays an idle goroutine by less
	maxRepeats      = 3               // of one call
)

// suspensions counts the times that this process did not run for a while: a user stopped it (Ctrl-Z, a debugger), or
// the machine was suspended or its virtual machine paused. A call of an engine then takes longer or seems to take
// longer. The clock is that of the wall, because a monotonic one does not advance while a machine is suspended.
type suspensions struct {
	now  func() time.Time
	mu   sync.Mutex
	last time.Time // when the process last ran
	n    int       // so far
}

// watch looks at the time until stop is called.
func (s *suspensions) watch() (stop func()) {
	s.mu.Lock()
	s.last = s.now()
	s.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			s.count()
		}
	}()
	return stop
}

// count returns the number of suspensions so far.
func (s *suspensions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.last) > suspensionLimit {
		s.n++
	}
	s.last = now
	return s.n
}
