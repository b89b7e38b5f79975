// SPDX-License-Identifier: Apache-2.0

package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes(orphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
}

// adoptOrphans makes this process the parent of every descendant that loses its parent. It does not fail on Linux 3.4
// and later.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
