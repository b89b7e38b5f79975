// SPDX-License-Identifier: Apache-2.0

//go:build mpi && linux

// Command teps-rank is one rank of the engine mpi, which starts as many of them as it needs with mpirun. Build it with
// the tag mpi.
package main

import (
	"flag"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/distributed/mpi"
)

func main() {
	ranks := flag.Int("ranks", 0, "number of ranks that were started")
	threads := flag.Int("threads", 0, "threads of a rank")
	socket := flag.String("socket", "", "socket of the engine, if it is on the same host as rank 0")
	version := flag.Bool("version", false, "print the version of the protocol")
	flag.Parse()
	if *version {
		fmt.Println(mpi.Version)
		return
	}
	if *ranks < 1 || *threads < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "teps-rank: this program is started by the engine mpi; run teps run --engine mpi instead")
		os.Exit(2)
	}
	dieWithParent()
	stdout := takeStdout()
	world, finish, err := mpi.Start(*ranks, *threads)
	if err == nil {
		err = mpi.Serve(world, *socket, os.Stdin, stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "teps-rank: %v\n", err)
		os.Exit(1)
	}
	finish()
}

// dieWithParent makes the kernel kill this rank when mpirun, or its daemon on this host, dies.
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
