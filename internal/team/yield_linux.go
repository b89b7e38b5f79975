// SPDX-License-Identifier: Apache-2.0

package team

import "golang.org/x/sys/unix"

// YieldProcessor lets a waiting thread of the system run on this processor. The Go scheduler does not take part, so the
// goroutine stays on its thread.
func YieldProcessor() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
