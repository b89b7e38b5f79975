// SPDX-License-Identifier: Apache-2.0

package cluster

// The tests start this test binary as nodes, places, engines and heads: its first argument says which.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed/mpi"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/serial"
)

const version = "of the test"

func TestMain(m *testing.M) {
	var err error
	switch os.Args[len(os.Args)-1] {
	case "node":
		err = Serve(context.Background(), version, handlers)
	case "place":
		err = ServePlace()
	case "engine":
		rpc.Serve(&spread{Engine: serial.New()})
	case "mpi":
		rpc.Serve(mpi.New())
	case "head":
		err = head()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "teps:", err)
		os.Exit(1)
	}
}

// spread is an engine of several processes. Its search fails as its options say.
type spread struct {
	plugins.Engine
	in plugins.Input
}

// Construct with the option meet waits for the other processes, which all make a file in that directory, and for ctx.
func (s *spread) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	s.in = in
	dir := in.Options["meet"]
	if dir == "" {
		return s.Engine.Construct(ctx, in)
	}
	err := os.WriteFile(filepath.Join(dir, fmt.Sprint(in.Place.Rank)), nil, 0o600)
	for err == nil {
		var all []os.DirEntry
		if all, err = os.ReadDir(dir); len(all) == in.Place.Size {
			<-ctx.Done()
			err = ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	return plugins.Construction{}, err
}

// Search writes rank, size and first to parent, and then does what the root says.
func (s *spread) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	parent := out.Parent
	parent[0], parent[1] = graph.Vertex(s.in.Place.Rank), graph.Vertex(s.in.Place.Size)
	parent[2], parent[3] = graph.Vertex(s.in.First), graph.Vertex(launchedRank())
	if int(root) == s.in.Place.Rank+1 {
		panic("boom")
	} else if root > 0 {
		<-ctx.Done()
		return plugins.Traversal{}, ctx.Err()
	}
	return plugins.Traversal{Elapsed: 1}, nil
}

// handlers are those of a node that opens places.
func handlers(self *Self) []Handler {
	host := rpc.NewHost(slog.Default())
	var engines []*rpc.Client
	var parents [][]graph.Vertex
	return append(meterHandlers(),
		Handle("at", func(context.Context, struct{}) ([3]int, error) {
			return [3]int{self.Index, self.Nodes, os.Getpid()}, nil
		}),
		Handle("fail", func(_ context.Context, kind string) (int, error) {
			switch kind {
			case "memory":
				return 0, fmt.Errorf("a graph too large: %w", plugins.ErrMemory)
			case "with another part":
				return 0, validate.ErrOtherPart
			case "violation":
				return 0, fmt.Errorf("wrapped: %w", &validate.Violation{
					Rule: validate.RuleSpan, Root: 7, Vertices: []graph.Vertex{1, 2}, Text: "why",
				})
			}
			panic("boom in " + kind)
		}),
		Handle("wait", func(ctx context.Context, note string) (int, error) {
			if err := os.WriteFile(fmt.Sprint(note, self.Index), []byte("waits"), 0o600); err != nil {
				return 0, err
			}
			<-ctx.Done()
			return 0, errors.Join(ctx.Err(), os.Remove(fmt.Sprint(note, self.Index)))
		}),
		Handle("open", func(ctx context.Context, job string) (pids []int, err error) {
			places, err := self.Places.Wait(ctx, job, 2)
			if err != nil {
				return nil, err
			}
			engines, parents = nil, nil // those of the last job have ended
			for k, place := range places {
				client, err := host.Open(ctx, rpc.Program{Path: os.Args[0], Args: []string{"engine"}, Start: place.Start})
				if err != nil {
					return nil, err
				}
				engines, pids = append(engines, client), append(pids, client.PID())
				tuples, _, err := host.Tuples(1)
				if err != nil {
					return nil, err
				}
				parent, _, err := host.Parents(4)
				if err != nil {
					return nil, err
				}
				parents = append(parents, parent)
				at := plugins.Place{Rank: k*self.Nodes + self.Index, Size: 2 * self.Nodes}
				if _, err := client.Construct(ctx, plugins.Input{Tuples: tuples, Place: at, First: int64(at.Rank)}); err != nil {
					return nil, err
				}
				client.Freeze()
			}
			return pids, nil
		}),
		Handle("search", func(ctx context.Context, root graph.Vertex) ([][]graph.Vertex, error) {
			for k, client := range engines {
				if _, err := client.Search(ctx, root, plugins.Output{Parent: parents[k]}); err != nil {
					return nil, err
				}
			}
			return parents, nil
		}),
		Handle("close", func(context.Context, struct{}) (int, error) {
			return 0, host.Close()
		}),
	)
}

var defaults = times{
	start: time.Minute, late: time.Minute, beat: time.Second, answer: time.Minute, silence: 90 * time.Second,
}

// fork starts children of this process, which learn their rank and node from variables. If one fails, all are
// ended a little later, so that even a busy machine notices first which one it was.
func fork() Launcher {
	return Launcher{"fork", []string{"sh"}, "install a shell", nil, func(t task) []string {
		const script = `n=$1; h=$2; shift 2; i=0
while [ $i -lt $n ]; do
	{ PMI_RANK=$i ` + nodeKey + `=$((i % h)) "$@" || { sleep 0.3 ${TEPS_PLACE:+3}; kill -TERM 0; }; } &
	i=$((i + 1))
done
wait`
		n, hosts := strconv.Itoa(t.nodes*t.perNode), strconv.Itoa(t.nodes)
		return slices.Concat([]string{"-c", script, "fork", n, hosts}, t.command)
	}}
}

// config starts n nodes on this host.
func config(n int) Config {
	return Config{Launcher: fork(), Nodes: n, Program: os.Args[0], Version: version, times: defaults}
}

// head is a head that prints the process IDs of its nodes and places, and waits.
func head() error {
	c, err := Start(context.Background(), config(2))
	if err != nil {
		return err
	}
	job, err := c.StartPlaces(2)
	if err != nil {
		return err
	}
	places, err := All[[]int](context.Background(), job, "open", job.Name)
	nodes, nodesErr := All[[3]int](context.Background(), c, "at", nil)
	if err = errors.Join(err, nodesErr); err != nil {
		return err
	}
	fmt.Println(nodes[0][2], nodes[1][2], places[0][0], places[0][1], places[1][0], places[1][1])
	select {}
}

// start starts a cluster, whose nodes must have ended after the test.
func start(t *testing.T, config Config) (c *Cluster, pids []int) {
	t.Helper()
	c = must.Get(Start(t.Context(), config))
	t.Cleanup(func() {
		c.Close()
		dies(t, pids...)
	})
	replies := must.Get(All[[3]int](t.Context(), c, "at", nil))
	for i, r := range replies {
		if pids = append(pids, r[2]); r[0] != i || r[1] != len(replies) {
			t.Errorf("node %d says that it is %d of %d", i, r[0], r[1])
		}
	}
	return c, pids
}

// dies reports processes that do not end.
func dies(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if !must.Ends(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}
