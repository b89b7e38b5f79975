package distributed

import "syscall"

// jobAttributes puts mpirun into a process group of its own, so that whoever kills the engine's group does not kill
// mpirun before it has ended its ranks, here and on other hosts; and lets the kernel tell mpirun when the engine dies.
func jobAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
