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
	flagHost    = flag.Bool("mpi.host", false, "build a graph with two ranks and wait to be killed (used by a test)")
	flagStandIn = flag.Int("mpi.standin", 0, "be this number of ranks behind standard input and output (used by a test)")
)

// Tests start this program as ranks.
func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *flagRank > 0:
		os.Exit(runRank(*flagRank))
	case *flagHost:
		if _, err := New().Construct(context.Background(), plugins.Input{}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("constructed")
		time.Sleep(time.Hour)
	case *flagStandIn > 0:
		if err := standIn(*flagStandIn); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
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
