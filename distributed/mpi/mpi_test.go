// SPDX-License-Identifier: Apache-2.0

package mpi

// Package cluster has the conformance suite of this engine, whose processes a launcher starts.

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// runRank tests the calls of MPI as one rank.
func runRank(ranks int) error {
	host := system()
	if *flagHosts > 1 {
		rank, _ := strconv.Atoi(cmp.Or(os.Getenv("OMPI_COMM_WORLD_RANK"), os.Getenv("PMI_RANK")))
		host = strconv.Itoa(rank % *flagHosts)
	}
	thread, err := mpi.Begin(ranks)
	if err == nil {
		thread.Do(func() { err = checkRank(newGroup(thread.World, host, &time.Time{})) })
		err = errors.Join(err, thread.End())
	}
	return err
}

func checkRank(world *group) error {
	ranks := world.Size()
	if world.shared.all != (*flagHosts == 1) {
		return fmt.Errorf("%d hosts: shared memory is %t", *flagHosts, world.shared.all)
	}
	i, j := distributed.SquareGrid(ranks).Place(world.Rank())
	for _, g := range []comm.Group{world, world.Split(j, i), world.Split(i, j)} {
		if err := checks.Group[comm.Traffic](g); err != nil {
			return err
		}
	}
	return checks.Group[comm.Traffic](world)
}

func TestMPIRanksExchangeMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI many times")
	}
	found := false
	for launcher, args := range map[string][]string{
		"mpirun.openmpi": {"--oversubscribe", "--allow-run-as-root"}, "mpiexec.hydra": nil,
	} {
		if _, err := exec.LookPath(launcher); err != nil {
			continue
		}
		found = true
		for _, c := range []struct{ ranks, hosts int }{{2, 1}, {4, 2}} {
			ranks := strconv.Itoa(c.ranks)
			cmd := exec.Command(launcher, append(slices.Clone(args), "-n", ranks, os.Args[0], "-mpi.rank", ranks,
				"-mpi.hosts", strconv.Itoa(c.hosts))...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s, %d ranks on %d hosts: %v\n%s", launcher, c.ranks, c.hosts, err, out)
			}
		}
	}
	if !found {
		t.Skip("neither mpirun.openmpi nor mpiexec.hydra is in PATH; install Open MPI or MPICH")
	}
}

// An engine that cannot run says so when it is described, not after the graph has been generated.
func TestWithoutMPITheEngineIsUnavailable(t *testing.T) {
	for file, want := range map[string]string{
		"/no/such/libmpi.so": "no MPI library opens: /no/such/libmpi.so: ", "libc.so.6": "is not a library of MPI",
	} {
		t.Setenv("TEPS_MPI", file)
		e := New()
		d, err := e.Describe(t.Context())
		if err != nil || !strings.Contains(d.Unavailable, want) {
			t.Errorf("%s: got %q, %v, want %q", file, d.Unavailable, err, want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("TEPS_MPI", "")
	e := New()
	defer e.Close()
	if d, err := e.Describe(t.Context()); err != nil || d.Unavailable != "" {
		t.Skip(d.Unavailable, err)
	}
	_, err := e.Construct(t.Context(), plugins.Input{})
	if !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), "that teps run starts") {
		t.Errorf("by itself: %v", err)
	}
}

func TestARankThatStopsForAnotherIsCanceled(t *testing.T) {
	must.Is(t, canceled(fmt.Errorf("rank 1: %w", distributed.ErrOtherRank)), context.Canceled, "rank 1")
	must.Equal(t, errors.Is(canceled(errors.New("no memory")), context.Canceled), false)
}

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
