//go:build unix && !linux

package power

import "syscall"

// meterAttributes puts a meter's program into a process group of its own, so that a signal reaches all that it has started. When
// this process is killed, the program finds its output closed at its next line.
func meterAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
