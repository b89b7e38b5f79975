//go:build !mpi

// Command teps-rank is one rank of the engine mpi. This build is without MPI, and can only report that.
package main

import (
	"fmt"
	"os"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	fmt.Fprintf(os.Stderr, "%s was built without MPI; rebuild it with: go build -tags mpi -o %s ./cmd/teps-rank "+
		"(on Debian: apt-get install libopenmpi-dev)\n", self, self)
	os.Exit(2)
}
