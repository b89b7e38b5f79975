//go:build mpi

package distributed

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// beRank tests the calls of MPI as one of so many ranks.
func beRank(ranks int) int {
	world, finish, err := StartMPI(ranks)
	if err == nil {
		err = checkComm(world)
	}
	g := SquareGrid(ranks)
	i, j := 0, 0
	if err == nil {
		i, j = g.Place(world.Rank())
		err = errors.Join(checkComm(world.Split(j, i)), checkComm(world.Split(i, j)))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	finish()
	return 0
}

func TestMPIRanksExchangeMessages(t *testing.T) {
	mpirun, found := launcher()
	if !found {
		t.Skip(launcherMissing)
	}
	for _, ranks := range []int{1, 2, 5} {
		args := []string{"-np", strconv.Itoa(ranks), "--oversubscribe", os.Args[0], "-distributed.rank", strconv.Itoa(ranks)}
		if os.Geteuid() == 0 {
			args = append([]string{"--allow-run-as-root"}, args...)
		}
		if out, err := exec.Command(mpirun, args...).CombinedOutput(); err != nil {
			t.Errorf("%d ranks: %v\n%s", ranks, err, out)
		}
	}
}

var flagProgram = flag.String("distributed.teps-rank", "", "folder with a teps-rank that is built already (needs no Go)")

// withRank builds teps-rank and puts it into PATH.
func withRank(t *testing.T) {
	t.Helper()
	if _, found := launcher(); !found {
		t.Skip(launcherMissing)
	}
	if *flagProgram != "" {
		t.Setenv("PATH", *flagProgram+string(os.PathListSeparator)+os.Getenv("PATH"))
		return
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-tags", "mpi", "-o", filepath.Join(bin, "teps-rank"), "github.com/tepsbench/teps/cmd/teps-rank")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build teps-rank: %v\n%s", err, out)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// With -distributed.product the suite runs over every cut of 1 to 16 ranks; forms of messages and predecessors take turns.
func TestMPIConformance(t *testing.T) {
	withRank(t)
	sets := []map[string]string{
		{},
		{optionRanks: "4", optionRows: "2", optionOwner: "modulo", optionPredecessors: "early"},
		{optionRanks: "3", optionPartition: "1d", optionMessages: "bitmaps", optionBeta: "64"},
	}
	if *flagProduct {
		sets = everyCut()
	}
	for _, set := range sets {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return &fixed{NewMPI(), set}, nil })
		})
	}
}

// everyCut returns a set for every cut of 1 to 16 ranks.
func everyCut() (sets []map[string]string) {
	all := combinations() // six for every cut
	for k := 0; k < len(all); k += 6 {
		sets = append(sets, all[k+k/6%6])
	}
	return sets
}

// Every cut of 1 to 16 ranks under MPI gives the oracle's levels; forms of messages and predecessors take turns. Tuples
// come from the host and from the recipe in turn.
func TestEveryGridUnderMPIFindsTheLevelsOfTheOracle(t *testing.T) {
	withRank(t)
	const scale = 9
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := kronecker(t, scale, 16)
	csr, err := graph.NewCSR(tuples, 1<<scale)
	if err != nil {
		t.Fatal(err)
	}
	e := NewMPI()
	defer e.Close()
	for k, set := range everyCut() {
		g := plugins.Graph{Tuples: tuples, Options: set}
		if k%2 == 0 {
			g.Recipe = &recipe
		}
		if _, err := e.Construct(t.Context(), g); err != nil {
			t.Fatalf("%v: %v", set, err)
		}
		for _, root := range []graph.Vertex{0, 77} {
			_, level, err := csr.Search(root)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSearchFrom(t, e, csr, tuples, root, level); err != nil {
				t.Errorf("%v, root %d: %v", set, root, err)
			}
		}
	}
}

// ranksOf are the processes that mpirun has started.
func ranksOf(parent int) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range entries {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(stat[slices.Index(stat, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(rest) > 1 && rest[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// A rank that is killed in the middle of a search is an error of that search; nothing is left of the others, and the
// engine builds and searches again.
func TestKilledRankIsAnErrorAndLeavesNothing(t *testing.T) {
	withRank(t)
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("ranks are found in /proc")
	}
	const labels = 1 << 20 // levels too, so that the search is not over before a rank is killed
	var path []graph.Edge
	for v := graph.Vertex(1); v < labels; v++ {
		path = append(path, graph.MakeEdge(v-1, v))
	}
	e := NewMPI().(*mpiEngine)
	defer e.Close()
	parent := make([]graph.Vertex, labels)
	if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: path, Options: map[string]string{optionRanks: "3"}}); err != nil {
		t.Fatal(err)
	}
	pids := ranksOf(e.job.pid)
	if len(pids) != 3 {
		t.Fatalf("mpirun has the processes %v, want 3", pids)
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = syscall.Kill(pids[2], syscall.SIGKILL) })
	start := time.Now()
	_, err := e.Search(t.Context(), 0, parent)
	if err == nil || !strings.Contains(err.Error(), "mpirun ended") {
		t.Fatalf("want an error that tells of mpirun, got: %v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the error took %v", took)
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(5 * time.Second); !gone(pid) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	if _, err := e.Search(t.Context(), 0, parent); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("a search without ranks returns: %v", err)
	}
	if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: path[:10]}); err != nil {
		t.Fatalf("building again: %v", err)
	}
	if _, err := e.Search(t.Context(), 0, parent); err != nil {
		t.Errorf("searching again: %v", err)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	withRank(t)
	e := NewMPI()
	defer e.Close()
	_, err := e.Construct(t.Context(), plugins.Graph{Options: map[string]string{optionHosts: "no-such-host.invalid:2"}})
	if !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), "mpirun ended") {
		t.Errorf("an unknown host: %v", err)
	}
	if _, err := e.Construct(t.Context(), plugins.Graph{Options: map[string]string{optionHosts: "a", optionHostFile: "b"}}); !errors.Is(err, plugins.ErrOption) {
		t.Errorf("hosts given twice: %v", err)
	}
	program, _ := rankProgram()
	out, err := exec.Command(program, "--ranks", "2").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "put the right mpirun first in PATH") {
		t.Errorf("a rank without its launcher: %v, %s", err, out)
	}
	mpirun, _ := launcher()
	folder := t.TempDir()
	if err := os.Symlink(mpirun, filepath.Join(folder, "mpirun")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{folder: "teps-rank was found neither", t.TempDir(): "mpirun was not found"} {
		t.Setenv("PATH", path)
		d, err := e.Describe(t.Context())
		if err != nil || !strings.Contains(d.Unavailable, want) {
			t.Errorf("want %q, got %q, %v", want, d.Unavailable, err)
		}
	}
}
