// SPDX-License-Identifier: Apache-2.0

//go:build mpi

package mpi

import (
	"bufio"
	"context"
	"errors"
	"flag"
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
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// runRank tests the calls of MPI as one rank.
func runRank(ranks int) int {
	host := system()
	if rank, _ := strconv.Atoi(os.Getenv("OMPI_COMM_WORLD_RANK")); *flagHosts > 1 {
		host = strconv.Itoa(rank % *flagHosts)
	}
	world, finish, err := start(ranks, 1, host)
	if err == nil {
		if alone := slices.IndexFunc(world.(*group).shared.peers, func(m []uint32) bool { return m == nil }); alone >= 0 !=
			(*flagHosts > 1) {
			err = fmt.Errorf("%d hosts: memory of rank %d is not shared", *flagHosts, alone)
		}
	}
	if err == nil {
		err = checks.Group(world)
	}
	if err == nil {
		i, j := distributed.SquareGrid(ranks).Place(world.Rank())
		err = errors.Join(checks.Group(world.Split(j, i)), checks.Group(world.Split(i, j)))
	}
	if err == nil { // rank 0 comes late
		if world.Rank() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		world.Await()
		err = checks.Group(world)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	finish()
	return 0
}

func TestMPIRanksExchangeMessages(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun was not found")
	}
	for _, c := range []struct{ ranks, hosts int }{{1, 1}, {2, 1}, {5, 1}, {5, 2}, {3, 3}} {
		args := []string{"-np", strconv.Itoa(c.ranks), "--oversubscribe", os.Args[0], "-mpi.rank", strconv.Itoa(c.ranks),
			"-mpi.hosts", strconv.Itoa(c.hosts)}
		if os.Geteuid() == 0 {
			args = append([]string{"--allow-run-as-root"}, args...)
		}
		if out, err := exec.Command(mpirun, args...).CombinedOutput(); err != nil {
			t.Errorf("%d ranks on %d hosts: %v\n%s", c.ranks, c.hosts, err, out)
		}
	}
}

var (
	flagProgram = flag.String("mpi.teps-rank", "", "directory with teps-rank (default: the test builds it)")
	flagHosts   = flag.Int("mpi.hosts", 1, "let ranks share memory as if they were on several hosts (used by a test)")
)

// withRank builds teps-rank and puts it into PATH.
func withRank(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun was not found")
	}
	if *flagProgram != "" {
		t.Setenv("PATH", *flagProgram+string(os.PathListSeparator)+os.Getenv("PATH"))
		return
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-tags", "mpi", "-o", bin+"/", "github.com/tepsbench/teps/cmd/teps-rank")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build teps-rank: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// The cases that depend on processes, messages and memory of ranks; package distributed has the others. Each case
// starts mpirun anew.
func TestMPIConformance(t *testing.T) {
	withRank(t)
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	for set, cases := range map[string][]string{
		"": { // as many ranks as the smallest machine has cores
			"describe/stable", "graph/empty", "graph/kronecker-12", "graph/high-labels", "graph/path-deeper",
			"search/any-order", "search/other-component", "search/parent-length", "search/refused", "repeat/", "construct/",
			"cancel/", "close/", "report/search",
		},
		"ranks=6 partition=2d rows=3 fold=prefix messages=bitmaps": {"graph/kronecker-10"},
		"ranks=3 partition=1d-source owner=modulo messages=lists":  {"graph/kronecker-10"},
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
	withRank(t)
	dir := shortTempDir(t)
	host := exec.Command(os.Args[0], "-mpi.host")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	pids := childrenOf(host.Process.Pid) // mpirun
	for _, mpirun := range pids {
		pids = append(pids, childrenOf(mpirun)...)
	}
	if len(pids) != 3 {
		t.Fatalf("got the line %q and processes %v, want mpirun and two ranks", line, pids)
	}
	var files []string
	for _, pid := range pids {
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		files = append(files, regexp.MustCompile(`/dev/shm/[^ \n]+`).FindAllString(string(maps), -1)...)
	}
	for _, rank := range pids[1:] { // so that it cannot end in order
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
	withRank(t)
	e := New()
	defer e.Close()
	for _, c := range []struct {
		options map[string]string
		is      error
		want    string
	}{
		{map[string]string{"hosts": "no-such-host.invalid:2"}, plugins.ErrUnavailable, "mpirun ended"},
		{map[string]string{"mpirun": "--hostfile no-such-file"}, plugins.ErrUnavailable, "open the hostfile"},
	} {
		_, err := e.Construct(t.Context(), plugins.Input{Options: c.options})
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.options, err, c.want)
		}
	}
	mpirun, program, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-ranks", "2", "-threads", "1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "put the right mpirun first in PATH") {
		t.Errorf("rank without its launcher: got %v, %s", err, out)
	}
	folder := t.TempDir()
	if err := os.Symlink(mpirun, filepath.Join(folder, "mpirun")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{folder: "teps-rank was found neither", t.TempDir(): "mpirun was not found"} {
		t.Setenv("PATH", path)
		d, err := e.Describe(t.Context())
		if err != nil || !strings.Contains(d.Unavailable, want) {
			t.Errorf("got %q, %v, want %q", d.Unavailable, err, want)
		}
	}
}
