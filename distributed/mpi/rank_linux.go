// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Rank makes this process a rank, one of the given number, and returns when the engine is done with it. Rank 0 connects
// to the socket of the engine if that is on its host.
func Rank(ranks, threads int, socket string) error {
	dieWithParent()
	stdout := takeStdout()
	world, finish, err := Start(ranks, threads)
	if err != nil {
		return err
	}
	if err := Serve(world, socket, os.Stdin, stdout); err != nil {
		return err
	}
	return finish()
}

// dieWithParent makes the kernel kill this rank when its launcher, or that one's daemon on this host, dies.
func dieWithParent() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0)
}

// takeStdout returns standard output for messages to the engine. What libraries print there goes to standard error from
// now on.
func takeStdout() *os.File {
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
