package power

import "syscall"

// meterAttributes puts a meter's program into a process group of its own, so that a signal reaches all that it has started, and lets
// the kernel kill it when this process dies, however.
func meterAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
