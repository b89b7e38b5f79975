//go:build mpi

// Command teps-rank is one rank of the engine mpi, which starts as many of it as it needs with mpirun. It is built with
// MPI: go build -tags mpi ./cmd/teps-rank.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tepsbench/teps/distributed"
)

func main() {
	ranks := flag.Int("ranks", 0, "number of ranks that were started")
	socket := flag.String("socket", "", "where rank 0 finds the engine if it is on the same host")
	flag.Parse()
	if *ranks < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "teps-rank: want --ranks N; teps starts this program itself: teps run --engine mpi")
		os.Exit(2)
	}
	dieWithParent()
	stdout := ownStdout()
	world, finish, err := distributed.StartMPI(*ranks)
	if err == nil {
		err = serve(world, *socket, stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "teps-rank: %v\n", err)
		os.Exit(1)
	}
	finish()
}

func serve(world distributed.Comm, socket string, stdout *os.File) error {
	if world.Rank() != 0 {
		return distributed.ServeRank(world, nil, nil)
	}
	in, out, err := distributed.ConnectRank(socket, os.Stdin, stdout)
	if err != nil {
		return err
	}
	return distributed.ServeRank(world, in, out)
}
