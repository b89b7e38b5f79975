//go:build mpi && !linux

package main

import "os"

// dieWithParent has no means here; MPI ends its ranks itself when it loses its launcher.
func dieWithParent() {}

// ownStdout is standard output, which libraries may print to as well here.
func ownStdout() *os.File { return os.Stdout }
