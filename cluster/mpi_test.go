// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/plugins/rpc"
)

// openMPI returns a function that opens the engine mpi, with processes that a launcher starts on this host.
func openMPI(t *testing.T, launcher string) func(context.Context) (plugins.Engine, error) {
	t.Helper()
	c := config(1)
	var err error
	if c.Launcher, err = FindLauncher(launcher); err != nil {
		t.Fatal(err)
	}
	here, err := NewHere(c)
	if err != nil {
		t.Fatal(err)
	}
	host := rpc.NewHost(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
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

// The cases that depend on processes, messages and memory of ranks; package distributed has the others. Graphs of many
// levels take minutes where ranks outnumber processors.
func TestMPIConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI many times")
	}
	for _, launcher := range []string{"mpirun", "hydra"} {
		t.Run(launcher, func(t *testing.T) {
			l, err := FindLauncher(launcher)
			if err == nil {
				_, err = l.program()
			}
			if err != nil {
				t.Skip(err)
			}
			open := openMPI(t, launcher)
			for set, cases := range map[string][]string{
				"": {
					"graph/empty", "search/refused", "repeat/refuses", "construct/again", "cancel/before",
					"cancel/during-construct", "close/ends", "paths/weights-let-go", "paths/refused",
				},
				"ranks=6 partition=2d rows=3 fold=prefix messages=bitmaps": {"graph/kronecker-10", "paths/weights-let-go"},
				"ranks=3 partition=1d-source messages=lists":               {"graph/kronecker-10"},
			} {
				options := map[string]string{}
				for _, pair := range strings.Fields(set) {
					name, value, _ := strings.Cut(pair, "=")
					options[name] = value
				}
				for _, c := range enginetest.Cases() {
					if launcher == "hydra" && set == "" {
						continue // MPICH differs in what starts processes and exchanges messages
					}
					if !slices.ContainsFunc(cases, func(wanted string) bool { return strings.HasPrefix(c.Name, wanted) }) {
						continue
					}
					if o := c.Run(t.Context(), open, options, enginetest.Limit); o.Err != nil {
						t.Errorf("%s, %v: %v", c.Name, set, o.Err)
					}
				}
			}
		})
	}
}
