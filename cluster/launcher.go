// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
)

// Launcher starts the same program several times on each host.
type Launcher struct {
	Name      string
	programs  []string // that it may be called, the most exact name first
	install   string   // how to get it
	reasons   []string // beginnings of lines in which it says why it ended
	arguments func(task) []string
}

// task is what a launcher starts.
type task struct {
	hosts     []string // empty: those of the allocation
	nodes     int      // number of hosts
	perNode   int      // processes on each host
	variables []string // names of environment variables that the processes need
	extra     []string // arguments of the user for the launcher
	command   []string // program and arguments
}

// launchers leave the binding to processors to the programs. Ranks go around the nodes: rank r is on node r mod nodes.
func launchers() []Launcher {
	return []Launcher{
		// Without --overlap a second step waits for the first to end. Without --kill-on-bad-exit a job whose process was
		// killed may run until its time limit.
		{"srun", []string{"srun"}, "run inside an allocation of Slurm", []string{
			"The application appears to have been direct launched", "srun: error: ",
		}, func(t task) []string {
			args := []string{
				"--overlap", "--kill-on-bad-exit=1", "--cpu-bind=none", "--distribution=cyclic",
				"--nodes=" + strconv.Itoa(t.nodes), "--ntasks=" + strconv.Itoa(t.nodes*t.perNode),
				"--ntasks-per-node=" + strconv.Itoa(t.perNode),
			}
			return slices.Concat(args, named("--nodelist", t.hosts, ""), t.extra, t.command)
		}},
		// Open MPI, which passes on only the variables that it is given. Where several MPIs are installed, Debian calls it
		// mpirun.openmpi.
		{"mpirun", []string{"mpirun.openmpi", "mpirun"}, "install Open MPI", []string{
			"There are not enough slots", "ssh: ", "Host key verification failed", "mpirun noticed", "mpirun.openmpi noticed",
			"Exit code:",
		}, func(t task) []string {
			args := []string{
				"-np", strconv.Itoa(t.nodes * t.perNode), "--map-by", fmt.Sprintf("ppr:%d:node:OVERSUBSCRIBE", t.perNode),
				"--rank-by", "node", "--bind-to", "none",
			}
			if os.Geteuid() == 0 {
				args = append(args, "--allow-run-as-root")
			}
			for _, name := range t.variables {
				args = append(args, "-x", name)
			}
			return slices.Concat(args, named("--host", t.hosts, ":"+strconv.Itoa(t.perNode)), t.extra, t.command)
		}},
		// MPICH and its relatives. One process a host, and around again. It fails on a host that does not have its
		// working directory.
		{"hydra", []string{"mpiexec.hydra", "mpiexec"}, "install MPICH", []string{
			"ssh: ", "Host key verification failed", "=   BAD TERMINATION",
		}, func(t task) []string {
			return slices.Concat([]string{"-n", strconv.Itoa(t.nodes * t.perNode), "-ppn", "1", "-wdir", "/"},
				named("-hosts", t.hosts, ""), t.extra, t.command)
		}},
	}
}

// named returns a flag with a list of hosts, each with a suffix, or nothing without hosts.
func named(flag string, hosts []string, suffix string) []string {
	if len(hosts) == 0 {
		return nil
	}
	return []string{flag, strings.Join(hosts, suffix+",") + suffix}
}

// nodeKey is the environment variable that tells nodes on one host apart, in tests.
const nodeKey = "TEPS_NODE"

// FindLauncher returns the launcher of a name. Without a name it is srun inside an allocation of Slurm.
func FindLauncher(name string) (Launcher, error) {
	var names []string
	for _, l := range launchers() {
		if names = append(names, l.Name); l.Name == name || name == "" && l.Name == "srun" && slurmNodes() > 0 {
			return l, nil
		}
	}
	if name == "" {
		return Launcher{}, fmt.Errorf("this is not an allocation of Slurm; name a launcher: %s", strings.Join(names, ", "))
	}
	return Launcher{}, record.Usage("unknown launcher %q; want %s", name, strings.Join(names, ", "))
}

// AnyLauncher returns a launcher that is installed: that of the allocation, or one of the MPI libraries.
func AnyLauncher() (Launcher, error) {
	if slurmNodes() > 0 {
		return FindLauncher("srun")
	}
	var missing []error
	for _, l := range launchers()[1:] {
		_, err := l.program()
		if err == nil {
			return l, nil
		}
		missing = append(missing, err)
	}
	return Launcher{}, errors.Join(missing...)
}

// slurmNodes returns the number of nodes of the allocation, or 0 outside.
func slurmNodes() int {
	n, _ := strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES"))
	return n
}

// program returns the path of the launcher.
func (l Launcher) program() (string, error) {
	for _, name := range l.programs {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s was not found in PATH; %s, or choose another launcher", strings.Join(l.programs, " or "),
		l.install)
}

// command returns the command of a task, whose processes get the variables (NAME=VALUE).
func (l Launcher) command(t task, variables ...string) (*exec.Cmd, error) {
	path, err := l.program()
	if err != nil {
		return nil, err
	}
	if library, set := os.LookupEnv("TEPS_MPI"); set {
		variables = append(variables, "TEPS_MPI="+library)
	}
	for _, v := range variables {
		name, _, _ := strings.Cut(v, "=")
		t.variables = append(t.variables, name)
	}
	cmd := exec.Command(path, l.arguments(t)...)
	// This program may itself be a process of a launcher.
	outer := []string{"OMPI_COMM_WORLD_", "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMIX_", nodeKey}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return slices.ContainsFunc(outer, func(prefix string) bool { return strings.HasPrefix(v, prefix) })
	})
	cmd.Env = append(cmd.Env, variables...)
	for _, v := range []string{
		"SLURM_OVERLAP=1",                // for launchers that use srun themselves
		"OMPI_MCA_mpi_yield_when_idle=1", // processes may outnumber processors
		// Slurm has two kinds of fences, and mixes them by default. With a tree, processes have left MPI_Init of Open MPI
		// while others, which then crashed, had just begun it (Slurm 22.05, Open MPI 4.1).
		"SLURM_PMIX_FENCE=ring",
	} {
		name, _, _ := strings.Cut(v, "=")
		if _, set := os.LookupEnv(name); !set {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd, nil
}

// launchedRank returns the number of this process in its job, or -1. The variables of Slurm come last because inside an
// allocation processes of other launchers have them, too.
func launchedRank() int {
	rank, err := strconv.Atoi(cmp.Or(os.Getenv("OMPI_COMM_WORLD_RANK"), os.Getenv("PMI_RANK"),
		os.Getenv("SLURM_PROCID")))
	if err != nil {
		return -1
	}
	return rank
}

// Job is a running launcher with its processes.
type Job struct {
	Name string // of a job of places: the node waits for it (Places.Wait)

	cluster  *Cluster
	launcher string
	process  *child.Process
	output   *child.Tail
}

// StartPlaces starts perNode places on each node, for one engine. Each node takes them with Places.Wait and opens
// them. The place with local index k on node h of H is rank k*H + h of P = perNode*H.
func (c *Cluster) StartPlaces(perNode int) (*Job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive.Err() != nil {
		return nil, context.Cause(c.alive)
	}
	name := strconv.Itoa(len(c.jobs))
	j, err := c.launch(perNode, "place", slotKey+"="+c.invitation.Socket+"/"+name)
	if err != nil {
		return nil, err
	}
	j.Name, c.jobs = name, append(c.jobs, j)
	return j, nil
}

// launch starts this program on all nodes.
func (c *Cluster) launch(perNode int, command string, variables ...string) (*Job, error) {
	l := c.config.Launcher
	cmd, err := l.command(task{
		hosts: c.config.Hosts, nodes: c.config.Nodes, perNode: perNode, extra: c.config.Arguments,
		command: []string{c.config.Program, command},
	}, variables...)
	if err != nil {
		return nil, err
	}
	j := &Job{cluster: c, launcher: l.Name, output: child.NewTail(append(l.reasons, "teps: ")...)}
	cmd.Stdout, cmd.Stderr = j.output, j.output
	atEnd := func() {}
	if l.Name == "mpirun" { // when killed, it leaves its temporary files behind
		dir, err := child.NewDir("teps-mpi-")
		if err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+dir.Path())
		atEnd = func() { _ = dir.Remove() }
	}
	orphaned := syscall.SIGTERM // when this process dies; launchers then end their processes
	if l.Name == "hydra" {
		orphaned = syscall.SIGKILL // otherwise it waits for processes that are stopped; its helpers kill them
	}
	if j.process, err = child.Start(cmd, orphaned, atEnd); err != nil {
		atEnd()
		return nil, err
	}
	return j, nil
}

func (j *Job) size() int { return j.cluster.size() }

// state describes the launcher, with its last output.
func (j *Job) state() error {
	state := "runs"
	if j.process.HasExited() {
		state = "ended (" + j.process.State() + ")"
	}
	return fmt.Errorf("%s %s; %v", j.launcher, state, j.output)
}

// Each is Cluster.Each for calls that use the places. When the launcher ends, so do the calls. After an error that
// shows that a place or the launcher has ended, Each ends the job. The error is then that of the node on which the
// first place ended, since launchers end the others, and has the launcher's last output.
func (j *Job) Each(ctx context.Context, do func(ctx context.Context, n *Node) error) error {
	watched, cancel := j.whileItRuns(ctx, noticeTime) // until then the nodes report which place has ended
	defer cancel()
	errs := make([]error, j.size())
	err := j.cluster.Each(watched, func(ctx context.Context, n *Node) error {
		errs[n.Index] = do(ctx, n)
		return errs[n.Index]
	})
	crashed := func(err error) bool { return errors.Is(err, rpc.ErrCrashed) || errors.Is(err, rpc.ErrHung) }
	canceled := errors.Is(err, context.Canceled)
	if err == nil || ctx.Err() != nil || !canceled && !j.process.HasExited() && !crashed(err) {
		return err
	}
	n := j.firstEnded(ctx)
	if gone := context.Cause(j.cluster.alive); gone != nil { // a node that is ended ends its places first
		return gone
	}
	if n != nil {
		first := errs[n.Index]
		if !crashed(first) {
			first = fmt.Errorf("node %s: %w", n.Host, rpc.ErrCrashed)
		}
		if !canceled && !errors.Is(err, first) { // which of two ended first is not certain on busy hosts
			first = fmt.Errorf("%w; then %w", first, err)
		}
		err = first
	} else if canceled {
		return j.Stop()
	}
	return fmt.Errorf("%w; %w", err, j.Stop())
}

// whileItRuns returns a context that ends some time after the launcher.
func (j *Job) whileItRuns(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-j.process.Exited():
			time.AfterFunc(after, cancel)
		}
	}()
	return ctx, cancel
}

// firstEnded returns the node on which the first place of the job ended, or nil.
func (j *Job) firstEnded(ctx context.Context) (first *Node) {
	ends := make([]time.Time, j.size())
	_ = j.cluster.Each(ctx, func(ctx context.Context, n *Node) error { // a node that is gone fails the next call
		since, at, _, err := shortest[time.Duration](ctx, n, endedMethod, j.Name)
		if err == nil && since >= 0 {
			ends[n.Index] = at.Add(-since)
		}
		return err
	})
	for i, n := range j.cluster.Nodes {
		if !ends[i].IsZero() && (first == nil || ends[i].Before(ends[first.Index])) {
			first = n
		}
	}
	return first
}

const (
	leaveTime = 2 * time.Second // for processes whose nodes are closed
	killTime  = 3 * time.Second // for a launcher to end processes that hang
)

// Stop ends the processes of the job, and returns how the launcher ended, with its last output.
func (j *Job) Stop() error {
	j.process.Stop(leaveTime, killTime) // returns at once if it has ended
	return j.state()
}
