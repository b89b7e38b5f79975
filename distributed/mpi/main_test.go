// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/plugins"
)

var (
	flagRank    = flag.Int("mpi.rank", 0, "be one of this number of ranks and test the calls of MPI (used by a test)")
	flagHosts   = flag.Int("mpi.hosts", 1, "let ranks share memory as if they were on several hosts (used by a test)")
	flagHost    = flag.String("mpi.host", "", "build a graph with ranks of a launcher and wait (used by a test)")
	flagStandIn = flag.Int("mpi.standin", 0, "be this number of ranks behind standard input and output (used by a test)")
)

// Tests and the engine start this program as ranks.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == RankCommand {
		flag.Usage = func() {}
		ranks := flag.Int("ranks", 0, "")
		threads := flag.Int("threads", 0, "")
		socket := flag.String("socket", "", "")
		_ = flag.CommandLine.Parse(os.Args[2:])
		exit(Rank(*ranks, *threads, *socket))
	}
	flag.Parse()
	switch {
	case *flagRank > 0:
		exit(runRank(*flagRank))
	case *flagHost != "":
		in := plugins.Input{Options: map[string]string{"launcher": *flagHost}}
		if _, err := New().Construct(context.Background(), in); err != nil {
			exit(err)
		}
		fmt.Println("constructed")
		time.Sleep(time.Hour)
	case *flagStandIn > 0:
		exit(standIn(*flagStandIn))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "teps: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// standIn replaces mpirun and its ranks for an engine that is not on the host of rank 0. Its ranks are goroutines.
func standIn(ranks int) error {
	groups := comm.NewLocal(ranks, 1)
	for _, group := range groups[1:] {
		go Serve(localWorld{group}, "", nil, nil)
	}
	return Serve(localWorld{groups[0]}, "no such socket", os.Stdin, os.Stdout)
}

// localWorld is a world of goroutines, which sleep while they wait, on a host of its own.
type localWorld struct{ comm.Group }

func (localWorld) Await()         {}
func (localWorld) System() string { return "another host" }
