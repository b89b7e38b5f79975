//go:build !mpi

// Command teps-rank is one rank of the engine mpi. This build is without MPI and says so.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "teps-rank: built without MPI; build it with: go build -tags mpi ./cmd/teps-rank (on Debian: apt-get install libopenmpi-dev)")
	os.Exit(2)
}
