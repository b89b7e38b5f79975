package plugins

import (
	"errors"
	"fmt"
	"time"
)

// ErrClock marks a time reported by an engine that cannot be the time of the work it was reported for.
var ErrClock = errors.New("the engine's clock cannot be trusted")

// CheckClock checks elapsed, the time an engine reports for one call, against call, the wall time of that call. It
// returns an error wrapping ErrClock if elapsed is not positive, if it exceeds call, or if it covers less than half of
// the call. Time that an engine may spend outside its clock, such as the cost of the call itself and of moving data
// (MoveTime), is passed as outside and does not count.
func CheckClock(what string, elapsed, call, outside time.Duration) error {
	switch {
	case elapsed <= 0:
		return fmt.Errorf("%s: reported time %v is not positive: %w", what, elapsed, ErrClock)
	case elapsed > call:
		return fmt.Errorf("%s: reported time %v exceeds the %v that the call took: %w", what, elapsed, call, ErrClock)
	case elapsed < (call-outside)/2:
		return fmt.Errorf("%s: reported time %v is less than half of the call, which took %v "+
			"(%v of that may lie outside the clock): %w", what, elapsed, call, outside, ErrClock)
	}
	return nil
}

// MoveTime returns a generous bound on the time to move n bytes between the host and an engine's device.
func MoveTime(n int64) time.Duration {
	const rate = 1 << 30 // bytes per second
	return time.Duration(float64(n) / rate * float64(time.Second))
}
