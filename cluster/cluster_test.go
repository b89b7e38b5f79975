// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
)

func TestErrorsOfCallsKeepTheirIdentity(t *testing.T) {
	c, _ := start(t, config(2))
	must.Is(t, c.Nodes[1].Call(t.Context(), "fail", "memory", nil), plugins.ErrMemory, "node ", ": a graph too large: ")
	var violation *validate.Violation
	err := c.Nodes[0].Call(t.Context(), "fail", "violation", nil)
	want := &validate.Violation{Rule: validate.RuleSpan, Root: 7, Vertices: []graph.Vertex{1, 2}, Text: "why"}
	if !errors.As(err, &violation) || !reflect.DeepEqual(violation, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	must.Fail(t, c.Nodes[0].Call(t.Context(), "fail", 3, nil), "cannot unmarshal number")
}

func TestCanceledCallReturnsAfterItsHandlers(t *testing.T) {
	c, _ := start(t, config(2))
	note := filepath.Join(t.TempDir(), "note")
	notes := func() string { return strings.Join(must.Get(filepath.Glob(note+"*")), " ") }

	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error)
	go func() { returned <- must.Err(All[int](ctx, c, "wait", note)) }()
	for len(strings.Fields(notes())) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	must.Is(t, <-returned, context.Canceled)
	if left := notes(); left != "" {
		t.Errorf("these handlers still run: %s", left)
	}
	// An error of one node cancels the others.
	must.Is(t, c.Each(t.Context(), func(ctx context.Context, n *Node) error {
		if n.Index == 0 {
			for notes() == "" {
				time.Sleep(time.Millisecond)
			}
			return n.Call(ctx, "fail", "memory", nil)
		}
		return n.Call(ctx, "wait", note, nil)
	}), plugins.ErrMemory)
	if left := notes(); left != "" {
		t.Errorf("this handler still runs: %s", left)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	must.Is(t, c.Nodes[0].Call(ctx, "wait", note, nil), context.DeadlineExceeded)
}

func TestNodeThatDiesIsReportedOnce(t *testing.T) {
	c, pids := start(t, config(3))
	note := filepath.Join(t.TempDir(), "note")
	returned := make(chan error)
	go func() { returned <- must.Err(All[int](t.Context(), c, "wait", note)) }()
	for len(must.Get(filepath.Glob(note+"*"))) < 3 {
		time.Sleep(time.Millisecond)
	}
	kill(t, pids[1], syscall.SIGKILL)
	must.Fail(t, <-returned, "node ", " is gone", "fork ended", "Killed")
	<-c.alive.Done()
	must.Fail(t, must.Err(All[int](t.Context(), c, "wait", note)), " is gone")
}

// The others may hear of it first.
func TestNodeThatDiesIsNamedByTheOthers(t *testing.T) {
	c, pids := start(t, config(2))
	returned := make(chan error)
	go func() { returned <- c.Nodes[0].Call(t.Context(), "fail", "with another part", nil) }()
	kill(t, pids[1], syscall.SIGKILL)
	must.Fail(t, <-returned, " is gone", "Killed")
}

func TestPanicOfANodeIsReported(t *testing.T) {
	c, _ := start(t, config(2))
	must.Fail(t, c.Nodes[1].Call(t.Context(), "fail", "the node", nil), " is gone", "panic: boom in the node")
}

func TestNodeThatHangsIsReported(t *testing.T) {
	config := config(2)
	config.times.beat, config.times.answer = 10*time.Millisecond, 500*time.Millisecond
	c, pids := start(t, config)
	kill(t, pids[0], syscall.SIGSTOP)
	<-c.alive.Done()
	must.Fail(t, c.Nodes[0].Call(t.Context(), "at", nil, nil), "has not answered for 500ms")
}

func TestNodeEndsWhenTheHeadIsSilent(t *testing.T) {
	config := config(1)
	config.times.beat, config.times.silence = time.Hour, 2*time.Second
	_, pids := start(t, config)
	dies(t, pids[0])
}

func TestStartFails(t *testing.T) {
	missing, other, slow, broken, network := config(2), config(2), config(2), config(2), config(2)
	missing.Program = "/nowhere/teps"
	other.Version = "another"
	slow.Program, slow.times.start = "/bin/yes", 100*time.Millisecond
	broken.Program = filepath.Join(t.TempDir(), "broken")
	broken.times.start, broken.times.late = time.Hour, time.Millisecond
	must.Do(os.WriteFile(broken.Program, []byte("#!/bin/sh\necho 'teps: no host'; exec sleep 1000"), 0o700))
	network.Network = "198.51.100.0/24"
	for words, config := range map[string]Config{
		"fork ended":                        missing,
		"runs another teps, of the test":    other,
		"0 of 2 nodes have connected":       slow,
		"teps: no host":                     broken,
		"no address in the network 198.51.": network,
	} {
		_, err := Start(t.Context(), config)
		must.Fail(t, err, words)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, must.Err(Start(ctx, config(1))), context.Canceled)
	some := &Cluster{config: config(3), Nodes: []*Node{{Host: "a"}, {Host: "b"}}}
	if text := some.connected(); text != "2 of 3 nodes have connected: a, b" {
		t.Error(text)
	}
}

// open starts two places on each node and returns their process IDs by rank.
func open(t *testing.T, c *Cluster) (job *Job, pids []int) {
	t.Helper()
	job = must.Get(c.StartPlaces(2))
	byNode := must.Get(All[[]int](t.Context(), job, "open", job.Name))
	for k := range 2 {
		for h := range byNode {
			pids = append(pids, byNode[h][k])
		}
	}
	t.Cleanup(func() {
		c.Close()
		dies(t, pids...)
	})
	return job, pids
}

func TestPlacesAreEngines(t *testing.T) {
	c, _ := start(t, config(2))
	job, pids := open(t, c)
	for h, node := range must.Get(All[[][]graph.Vertex](t.Context(), job, "search", 0)) {
		for k, got := range node {
			rank := graph.Vertex(2*k + h)
			if want := []graph.Vertex{rank, 4, rank, rank}; !slices.Equal(got, want) {
				t.Errorf("place %d of node %d: got rank, size, first and rank of the launcher %v, want %v", k, h, got, want)
			}
		}
	}
	must.Get(All[int](t.Context(), c, "close", nil))
	dies(t, pids...)
	must.Fail(t, job.Stop(), "exit status 0")
}

func TestLaunchersOnThisHost(t *testing.T) {
	for _, name := range []string{"mpirun", "hydra"} {
		t.Run(name, func(t *testing.T) {
			config := config(1)
			config.Launcher = must.Get(FindLauncher(name))
			if _, err := config.Launcher.command(task{}); err != nil {
				t.Skip(err)
			}
			c, _ := start(t, config)
			job, _ := open(t, c)
			got := must.Get(All[[][]graph.Vertex](t.Context(), job, "search", 0))[0]
			if want := [][]graph.Vertex{{0, 2, 0, 0}, {1, 2, 1, 1}}; !reflect.DeepEqual(got, want) {
				t.Errorf("got rank, size, first and rank of the launcher %v, want %v", got, want)
			}
		})
	}
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "0")
	if env := must.Get(fork().command(task{})).Env; slices.Contains(env, "OMPI_MCA_mpi_yield_when_idle=1") {
		t.Error("the launcher replaces the user's choice for waiting ranks")
	}
	t.Setenv("TEPS_MPI", "/opt/libmpi.so")
	openMPI := must.Get(FindLauncher("mpirun"))
	openMPI.programs = []string{"sh"}
	if args := strings.Join(must.Get(openMPI.command(task{})).Args, " "); !strings.Contains(args, "-x TEPS_MPI") {
		t.Errorf("processes on other hosts do not know the library: %s", args)
	}
	t.Setenv("PATH", "")
	for _, l := range launchers() {
		_, err := Start(t.Context(), Config{Launcher: l, Nodes: 1})
		must.Fail(t, err, l.programs[0], "was not found in PATH")
	}
	t.Setenv("SLURM_JOB_NUM_NODES", "3")
	if l := must.Get(FindLauncher("")); l.Name != "srun" {
		t.Errorf("got %s in an allocation of Slurm, want srun", l.Name)
	}
	must.Fail(t, must.Err(FindLauncher("ssh")), "want srun, mpirun, hydra")
}

func TestSpreadHasNoProcessesIfOneDoesNotStart(t *testing.T) {
	host := rpc.NewHost(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { must.Do(host.Close()) })
	single := must.Get(host.Open(t.Context(), rpc.Program{Path: os.Args[0], Args: []string{"engine"}}))
	s := NewSpread(host, single, 1, func(context.Context, int) ([]*rpc.Client, func(), error) {
		return []*rpc.Client{nil}, nil, errors.New("why")
	})
	for range 2 {
		must.Fail(t, must.Err(s.Construct(t.Context(), plugins.Input{})), "why")
	}
	if pids := s.PIDs(); len(pids) > 0 {
		t.Errorf("got the processes %v, want none", pids)
	}
	must.Do(s.Close())
}

func TestAllProcessesAreCalledEvenIfTheirContextHasEnded(t *testing.T) {
	host := rpc.NewHost(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { must.Do(host.Close()) })
	options := map[string]string{"meet": t.TempDir()}
	start := func(cmd *exec.Cmd, atEnd func()) (*child.Process, error) {
		return child.Start(cmd, syscall.SIGKILL, atEnd)
	}
	var all []*rpc.Client
	for range 3 {
		program := rpc.Program{Path: os.Args[0], Args: []string{"engine"}, Start: start}
		all = append(all, must.Get(host.Open(t.Context(), program)))
	}
	tuples, _ := must.Get2(host.Tuples(1))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := each(ended, len(all), func(ctx context.Context, k int) error {
		at := plugins.Place{Rank: k, Size: len(all)}
		return must.Err(all[k].Construct(ctx, plugins.Input{Tuples: tuples, Place: at, Options: options}))
	})
	must.Is(t, err, context.Canceled)
	if called := must.Get(os.ReadDir(options["meet"])); errors.Is(err, rpc.ErrHung) || len(called) != len(all) {
		t.Errorf("%d processes were called, want %d: %v", len(called), len(all), err)
	}
}

func TestPlaceThatDiesEndsItsJobOnly(t *testing.T) {
	c, nodes := start(t, config(2))
	job, pids := open(t, c)
	must.Is(t, must.Err(All[[][]graph.Vertex](t.Context(), job, "search", 2)), rpc.ErrCrashed, "panic: boom", "fork ended")
	dies(t, pids...)
	job, pids = open(t, c)
	kill(t, pids[3], syscall.SIGKILL)
	dies(t, pids[3])
	must.Is(t, must.Err(All[[][]graph.Vertex](t.Context(), job, "search", 0)), rpc.ErrCrashed, "fork ended",
		"node "+c.Nodes[1].Host) // the launcher ended the others
	if got := must.Get(All[[3]int](t.Context(), c, "at", nil)); got[1][2] != nodes[1] {
		t.Errorf("got %v, want the same nodes", got)
	}
}

// The launcher then ends the places of the others.
func TestNodeThatDiesIsNamedByAJob(t *testing.T) {
	c, pids := start(t, config(2))
	job, _ := open(t, c)
	must.Fail(t, job.Each(t.Context(), func(ctx context.Context, n *Node) error {
		if n.Index == 0 {
			kill(t, pids[1], syscall.SIGKILL)
			<-c.alive.Done()
			return fmt.Errorf("node %s: %w", n.Host, rpc.ErrCrashed)
		}
		<-ctx.Done()
		return ctx.Err()
	}), " is gone")
}

func TestLauncherThatDiesEndsItsJob(t *testing.T) {
	c, _ := start(t, config(2))
	job, pids := open(t, c)
	kill(t, job.process.PID(), syscall.SIGKILL)
	must.Fail(t, must.Err(All[[][]graph.Vertex](t.Context(), job, "search", 9)), "fork ended (signal: killed")
	dies(t, pids...)
}

func TestWaitForPlacesEndsWithTheirLauncher(t *testing.T) {
	config := config(1)
	config.Program = "/nowhere/teps"
	here := must.Get(NewHere(config))
	defer here.Close()
	_, _, err := here.Start(t.Context(), 2)
	must.Is(t, err, context.Canceled, "0 of 2 processes", "fork ended")
}

func TestKilledHeadLeavesNothingBehind(t *testing.T) {
	cmd := exec.Command(os.Args[0], "head")
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())
	must.Do(cmd.Start())
	pids := make([]int, 6)
	line := must.Get(bufio.NewReader(out).ReadString('\n'))
	must.Get(fmt.Sscan(line, &pids[0], &pids[1], &pids[2], &pids[3], &pids[4], &pids[5]))
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // "signal: killed"
	dies(t, pids...)
}

func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	must.Do(syscall.Kill(pid, s))
}
