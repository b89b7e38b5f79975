package cpu

import "golang.org/x/sys/unix"

// yieldProcessor lets another thread of the system run on this processor if one waits for it. The Go scheduler is not told, so the
// goroutine stays where it is.
func yieldProcessor() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
