// SPDX-License-Identifier: Apache-2.0

package child

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// freezeTime is how long Freeze waits for the program to stop. A thread inside a driver may stop later; it cannot write
// to memory there.
const freezeTime = 100 * time.Millisecond

// Freeze stops the program's process group until Thaw, and returns when the program has stopped.
func (p *Process) Freeze() {
	if p.Signal(syscall.SIGSTOP) != nil {
		return
	}
	for start := time.Now(); time.Since(start) < freezeTime; time.Sleep(20 * time.Microsecond) {
		if p.cmd == nil { // not a child
			if p.IsStopped() {
				return
			}
			continue
		}
		var info unix.Siginfo
		if unix.Waitid(unix.P_PID, p.PID(), &info, unix.WSTOPPED|unix.WNOHANG, nil) != nil || info.Signo != 0 {
			return
		}
	}
}
