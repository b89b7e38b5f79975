//go:build unix

package power

import "syscall"

// endGroup asks a process group to end.
func endGroup(leader int) error { return syscall.Kill(-leader, syscall.SIGTERM) }

// killGroup ends a process group.
func killGroup(leader int) error { return syscall.Kill(-leader, syscall.SIGKILL) }
