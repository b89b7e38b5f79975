//go:build mpi

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent lets the kernel kill this rank when mpirun, or its daemon on this host, is gone.
func dieWithParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
}

// ownStdout is standard output for the conversation with the engine alone: what libraries print there goes to standard error
// from now on.
func ownStdout() *os.File {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stdout
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		unix.Close(fd)
		return os.Stdout
	}
	return os.NewFile(uintptr(fd), "stdout")
}
