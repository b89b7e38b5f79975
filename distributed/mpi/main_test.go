// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var (
	flagRank  = flag.Int("mpi.rank", 0, "be one of this number of ranks and test the calls of MPI (used by a test)")
	flagHosts = flag.Int("mpi.hosts", 1, "let ranks share memory as if they were on several hosts (used by a test)")
)

// Tests start this program as ranks.
func TestMain(m *testing.M) {
	flag.Parse()
	if *flagRank == 0 {
		os.Exit(m.Run())
	}
	if err := runRank(*flagRank); err != nil {
		fmt.Fprintf(os.Stderr, "teps: %v\n", err)
		os.Exit(1)
	}
}
