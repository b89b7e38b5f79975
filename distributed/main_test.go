package distributed

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var (
	flagRank    = flag.Int("distributed.rank", 0, "be one of so many ranks and test the calls of MPI (used by a test)")
	flagStandIn = flag.Int("distributed.standin", 0, "be so many ranks behind standard input and output (used by a test)")
)

// Tests start this program in the place of ranks.
func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *flagRank > 0:
		os.Exit(beRank(*flagRank))
	case *flagStandIn > 0:
		os.Exit(standIn(*flagStandIn))
	}
	os.Exit(m.Run())
}

// standIn is what mpirun and its ranks are to an engine that is on another host than rank 0, with goroutines as ranks.
func standIn(ranks int) int {
	in, out, err := ConnectRank("no such socket", os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	failures := run(newLocal(ranks), func(world Comm) error { return ServeRank(world, in, out) })
	if len(failures) > 0 {
		fmt.Fprintln(os.Stderr, failures)
		return 1
	}
	return 0
}
