package power

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the time that the calling thread has had on a processor. False: the system does not tell.
func threadTime() (time.Duration, bool) {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
