//go:build !linux

package power

import "time"

// threadTime says that it is not known how long the calling thread had a processor.
func threadTime() (time.Duration, bool) { return 0, false }
