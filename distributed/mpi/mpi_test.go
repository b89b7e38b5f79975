// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// runRank tests the calls of MPI as one rank.
func runRank(ranks int) error {
	host := system()
	if *flagHosts > 1 {
		rank, _ := strconv.Atoi(cmp.Or(os.Getenv("OMPI_COMM_WORLD_RANK"), os.Getenv("PMI_RANK")))
		host = strconv.Itoa(rank % *flagHosts)
	}
	world, finish, err := start(ranks, 1, host)
	if err != nil {
		return err
	}
	alone := slices.IndexFunc(world.(*group).shared.peers, func(m []uint32) bool { return m == nil })
	if alone >= 0 != (*flagHosts > 1) {
		return fmt.Errorf("%d hosts: memory of rank %d is not shared", *flagHosts, alone)
	}
	i, j := distributed.SquareGrid(ranks).Place(world.Rank())
	for _, g := range []comm.Group{world, world.Split(j, i), world.Split(i, j)} {
		if err := checks.Group(g); err != nil {
			return err
		}
	}
	if world.Rank() == 0 { // comes late
		time.Sleep(10 * time.Millisecond)
	}
	world.Await()
	return errors.Join(checks.Group(world), finish())
}

// launchersHere returns the names of the launchers of this machine, Open MPI's first, or skips the test.
func launchersHere(t *testing.T) (names []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts MPI many times")
	}
	var missing []error
	for _, name := range []string{"mpirun", "hydra"} {
		if _, _, err := findLauncher(name); err != nil {
			missing = append(missing, err)
		} else {
			names = append(names, name)
		}
	}
	if names == nil {
		t.Skip(errors.Join(missing...))
	}
	return names
}

func TestMPIRanksExchangeMessages(t *testing.T) {
	for _, name := range launchersHere(t) {
		for _, c := range []struct{ ranks, hosts int }{{1, 1}, {2, 1}, {5, 1}, {5, 2}, {3, 3}} {
			l, path, err := findLauncher(name)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, l.commandLine(c.ranks, plugins.Settings{}, os.Args[0], "-mpi.rank", strconv.Itoa(c.ranks),
				"-mpi.hosts", strconv.Itoa(c.hosts))...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s, %d ranks on %d hosts: %v\n%s", name, c.ranks, c.hosts, err, out)
			}
		}
	}
}

// The cases that depend on processes, messages and memory of ranks; package distributed has the others. Each case
// starts mpirun anew. MPICH takes part in one of them.
func TestMPIConformance(t *testing.T) {
	here := launchersHere(t)
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	for set, cases := range map[string][]string{
		"": { // as many ranks as the smallest machine has cores
			"describe/stable", "graph/empty", "graph/kronecker-12", "graph/high-labels", "graph/path-deeper",
			"search/any-order", "search/other-component", "search/parent-length", "search/refused", "repeat/", "construct/",
			"cancel/", "close/", "report/search",
		},
		"ranks=6 partition=2d rows=3 fold=prefix messages=bitmaps": {"graph/kronecker-10"},
		"ranks=3 partition=1d-source owner=modulo messages=lists launcher=" + here[len(here)-1]: {
			"graph/kronecker-10", "repeat/", "close/",
		},
	} {
		options := map[string]string{}
		for _, pair := range strings.Fields(set) {
			name, value, _ := strings.Cut(pair, "=")
			options[name] = value
		}
		for _, c := range enginetest.Cases() {
			if !slices.ContainsFunc(cases, func(wanted string) bool { return strings.HasPrefix(c.Name, wanted) }) {
				continue
			}
			if o := c.Run(t.Context(), open, options, enginetest.Limit); o.Err != nil {
				t.Errorf("%s, %v: %v", c.Name, set, o.Err)
			}
		}
	}
}

// childrenOf returns the running processes whose parent is a process.
func childrenOf(parent int) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range entries {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if stat := statOf(pid); len(stat) > 1 && stat[0] != "Z" && stat[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statOf returns what /proc says about a process after its name, beginning with its state; nothing if there is none.
func statOf(pid int) []string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(stat[slices.Index(stat, ')')+1:]))
}

// awaitEnd fails if processes do not end soon. One that nobody has waited for has ended, too.
func awaitEnd(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		running := func() bool { stat := statOf(pid); return len(stat) > 0 && stat[0] != "Z" }
		for deadline := time.Now().Add(20 * time.Second); running() && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		if running() {
			t.Errorf("process %d remains", pid)
		}
	}
}

// A host that is killed leaves no process, no shared memory and no temporary file.
func TestKilledHostLeavesNothing(t *testing.T) {
	for _, launcher := range launchersHere(t) {
		t.Run(launcher, func(t *testing.T) { testKilledHost(t, launcher) })
	}
}

func testKilledHost(t *testing.T, launcher string) {
	dir := shortTempDir(t)
	host := exec.Command(os.Args[0], "-mpi.host", launcher)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	pids, ranks := []int{host.Process.Pid}, []int(nil) // with all descendants; ranks have none
	for i := 0; i < len(pids); i++ {
		children := childrenOf(pids[i])
		if pids = append(pids, children...); children == nil {
			ranks = append(ranks, pids[i])
		}
	}
	if pids = pids[1:]; len(ranks) != 2 {
		t.Fatalf("got the line %q and processes %v, want two ranks", line, pids)
	}
	var files []string
	for _, pid := range pids {
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		files = append(files, regexp.MustCompile(`/dev/shm/[^ \n]+`).FindAllString(string(maps), -1)...)
	}
	for _, rank := range ranks { // so that it cannot end in order
		_ = syscall.Kill(rank, syscall.SIGSTOP)
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	if len(files) == 0 {
		t.Error("the ranks share no memory")
	}
	awaitEnd(t, pids)
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range append(files, left...) {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s remains", file)
		}
	}
}

func TestErrorsNameWhatIsMissing(t *testing.T) {
	here := launchersHere(t)
	e := New()
	defer e.Close()
	type faults []struct {
		environment, options map[string]string
		want                 string
	}
	cases := faults{
		{map[string]string{"TEPS_MPI": "/no/such/libmpi.so"}, nil, "no MPI library opens: /no/such/libmpi.so"},
	}
	if here[0] == "mpirun" {
		cases = append(cases, faults{
			{nil, map[string]string{"hosts": "no-such-host.invalid:2"}, "mpirun ended"},
			{nil, map[string]string{"arguments": "--hostfile no-such-file"}, "open the hostfile"},
		}...)
	}
	if len(here) == 2 { // the library of one with the launcher of the other
		cases = append(cases, faults{
			{map[string]string{"TEPS_MPI": "libmpich.so.12"}, map[string]string{"launcher": "mpirun"}, "MPI counts 1"},
			{map[string]string{"TEPS_MPI": "libmpi.so.40"}, map[string]string{"launcher": "hydra"}, "MPI counts 1"},
		}...)
	}
	for _, c := range cases {
		for name, value := range c.environment {
			t.Setenv(name, value)
		}
		_, err := e.Construct(t.Context(), plugins.Input{Options: c.options})
		if !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") && c.environment != nil {
			t.Errorf("%v, %v: got %v, want %q", c.environment, c.options, err, c.want)
		}
		for name := range c.environment {
			os.Unsetenv(name)
		}
	}
}

// An engine that cannot run says so when it is described, not after the graph has been generated.
func TestWithoutMPITheEngineIsUnavailable(t *testing.T) {
	describe := func() string {
		e := New()
		defer e.Close()
		d, err := e.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d.Unavailable
	}
	withLauncher(t, "#!/bin/sh\nexit 1\n")
	for file, want := range map[string]string{
		"/no/such/libmpi.so": "no MPI library opens: /no/such/libmpi.so: ", "libc.so.6": "is not a library of MPI",
	} {
		t.Setenv("TEPS_MPI", file)
		if got := describe(); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	want := "mpirun or mpiexec.hydra or mpirun.mpich or srun was not found in PATH"
	if got := describe(); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
