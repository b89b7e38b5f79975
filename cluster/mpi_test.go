// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/plugins/rpc"
)

// openMPI returns a function that opens the engine mpi, with processes that a launcher starts on this host.
func openMPI(t *testing.T, launcher Launcher) func(context.Context) (plugins.Engine, error) {
	t.Helper()
	c := config(1)
	c.Launcher = launcher
	here := must.Get(NewHere(c))
	host := rpc.NewHost(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		must.Do(host.Close())
		here.Close()
	})
	program := rpc.Program{Name: "mpi", Path: os.Args[0], Args: []string{"mpi"}}
	return func(ctx context.Context) (plugins.Engine, error) {
		single, err := host.Open(ctx, program)
		if err != nil {
			return nil, err
		}
		return NewSpread(host, single, 1, func(ctx context.Context, n int) (all []*rpc.Client, stop func(), err error) {
			places, stop, err := here.Start(ctx, n)
			if err != nil {
				return nil, nil, err
			}
			all, err = OpenPlaces(ctx, host, program, places)
			return all, stop, err
		}), nil
	}
}

// The cases that depend on processes and messages of ranks; package distributed has the others, and tests under
// distributed/mpi make the calls of MPI with each library.
func TestMPIConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI many times")
	}
	t.Setenv("SLURM_JOB_NUM_NODES", "") // not srun, which depends on the allocation
	launcher, err := AnyLauncher()
	if err != nil {
		t.Skip(err)
	}
	open := openMPI(t, launcher)
	grid := map[string]string{"ranks": "4", "partition": "2d", "rows": "2", "fold": "prefix", "messages": "bitmaps"}
	for name, options := range map[string]map[string]string{
		"search/refused": nil, "repeat/refuses": nil, "construct/again": nil, "cancel/during-construct": nil,
		"close/ends": nil, "graph/kronecker-10": grid, "paths/weights-let-go": nil,
	} {
		t.Run(name, func(t *testing.T) {
			cases := must.Get(enginetest.Select(name))
			if o := cases[0].Run(t.Context(), open, options, enginetest.Limit); o.Err != nil {
				t.Error(o.Err)
			}
		})
	}
}

func TestKeptResultsStayWithTheProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI")
	}
	t.Setenv("SLURM_JOB_NUM_NODES", "")
	launcher, err := AnyLauncher()
	if err != nil {
		t.Skip(err)
	}
	s := must.Get(openMPI(t, launcher)(t.Context())).(*Spread)
	defer s.Close()
	tuples, release, err := s.Lender.(*rpc.Host).Tuples(2)
	must.Do(err)
	defer release()
	tuples[0], tuples[1] = graph.MakeEdge(0, 1), graph.MakeEdge(1, 2)
	must.Get(s.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: map[string]string{"ranks": "2"}}))
	out := plugins.Output{Parent: slices.Repeat([]graph.Vertex{graph.Unwritten}, 3)}
	s.Keep(true)
	must.Get(s.Search(t.Context(), 0, out))
	own := s.parents.own
	if out.Parent[0] != graph.Unwritten || len(own) != 2 || !slices.Equal(own[0], []graph.Vertex{0, 1}) {
		t.Errorf("kept: %v of the host, %v of the processes", out, own)
	}
	s.Keep(false)
	must.Get(s.Search(t.Context(), 2, out))
	if !slices.Equal(out.Parent, []graph.Vertex{1, 2, 2}) || own[0][0] != graph.Unwritten {
		t.Errorf("gathered: %v of the host, %v of the processes", out, own)
	}
}
