// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package child

import "syscall"

// Freeze stops the program's process group until Thaw.
func (p *Process) Freeze() { _ = p.Signal(syscall.SIGSTOP) }

// IsStopped needs Linux.
func (p *Process) IsStopped() bool { return false }
