//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/harness"
)

// teps makes a process of the command, with a temp folder of its own so that leftovers can be seen.
func teps(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// testscript.Main runs the command that the binary is called by. A copy, because an engine is started by the
	// resolved name of the binary.
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "teps")
	if err := os.WriteFile(named, program, 0o777); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	cmd := exec.Command(named, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	return cmd, temp
}

// children lists the processes that say teps' hidden command or were started by pid.
func children(t *testing.T, pid int) []int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	var list []int
	if err == nil {
		for _, field := range strings.Fields(string(data)) {
			n, _ := strconv.Atoi(field)
			list = append(list, n)
		}
	}
	// Children belong to the thread that forked them.
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(data)) {
			n, _ := strconv.Atoi(field)
			list = append(list, n)
		}
	}
	return list
}

func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(data, []byte(") Z "))
}

// waitFor polls until f holds.
func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 30 s for %s", what)
		}
	}
}

func rootsIn(dir string) int {
	data, _ := os.ReadFile(filepath.Join(dir, harness.JournalFile))
	return bytes.Count(data, []byte(`"root":{`))
}

func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, _ := os.ReadDir(temp)
	for _, f := range left {
		t.Errorf("left in the temp folder: %s", f.Name())
	}
	shared, _ := filepath.Glob("/dev/shm/*teps*")
	for _, f := range shared {
		t.Errorf("left in shared memory: %s", f)
	}
}

func TestAKilledRunLeavesNothingAndResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--scale", "12", "--roots", "2000", "--out", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
	engines := children(t, cmd.Process.Pid)
	if len(engines) == 0 {
		t.Fatal("the run has no engine process")
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, pid := range engines {
		waitFor(t, "the engine to end with its host", func() bool { return !alive(pid) })
	}
	nothingLeft(t, temp)

	before, err := harness.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, temp := teps(t, "run", "--resume", dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("resume: %v\n%s", err, out)
	}
	nothingLeft(t, temp)
	after, err := harness.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run := after.Runs[0]; !run.Valid || len(run.Roots) != 2000 {
		t.Errorf("after the resume: %s, %d roots", run.State, len(run.Roots))
	}
	for i, root := range before.Runs[0].Roots {
		if after.Runs[0].Roots[i].Time != root.Time {
			t.Fatalf("root %d was measured again", i)
		}
	}
}

func TestCtrlCStopsInOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--scale", "12", "--roots", "4000", "--out", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
	engines := children(t, cmd.Process.Pid)
	cmd.Process.Signal(os.Interrupt)
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d (%v), want %d", code, err, exitFailed)
	}
	if want := "continue with: teps run --resume " + dir; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error has no %q:\n%s", want, &stderr)
	}
	for _, pid := range engines {
		if alive(pid) {
			t.Errorf("engine process %d is still there", pid)
		}
	}
	nothingLeft(t, temp)
	r, err := harness.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if run := r.Runs[0]; run.State != harness.Interrupted || len(run.Roots) < 20 || run.Statistics == nil {
		t.Errorf("state %s, %d roots", run.State, len(run.Roots))
	}
	for _, f := range []string{"result.json", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Errorf("what was measured so far is not reported: %v", err)
		}
	}
}

func TestGenerateStreamsTheGoldenTuples(t *testing.T) {
	cmd, _ := teps(t, "generate", "--scale", "16", "--out", "-")
	sum := fnv.New64a()
	cmd.Stdout = sum
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	// Of the tuples that the reference program itself writes.
	if got := sum.Sum64(); got != 0x2a13816fcf9b4c5b {
		t.Errorf("FNV-1a of scale 16 is %016x", got)
	}
}

func TestFullDisk(t *testing.T) {
	for _, args := range [][]string{
		{"generate", "--scale", "10", "--out", "-"}, {"machine"}, {"machine", "--json"}, {"engines"}, {"engines", "--json"}, {"conform", "cpu"},
		{"version"}, {"new-engine", "mine", "--language", "c", "--dir", filepath.Join(t.TempDir(), "mine")},
	} {
		t.Run(args[0], func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip("no /dev/full here")
			}
			defer full.Close()
			cmd, _ := teps(t, args...)
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &stderr
			cmd.Run()
			if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(stderr.String(), "no space left") {
				t.Errorf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), &stderr)
			}
		})
	}
	t.Run("run", func(t *testing.T) {
		disk := t.TempDir()
		if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
			t.Skipf("a small disk takes root: %v", err)
		}
		defer syscall.Unmount(disk, 0)
		dir := filepath.Join(disk, "run")
		cmd, temp := teps(t, "run", "--scale", "8", "--roots", "4000", "--out", dir)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || !bytes.Contains(out, []byte("no space left")) || !bytes.Contains(out, []byte("--resume")) {
			t.Errorf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), out)
		}
		nothingLeft(t, temp)
		r, err := harness.Load(dir)
		if err != nil {
			t.Fatalf("what was measured before cannot be read: %v", err)
		}
		if n := len(r.Runs[0].Roots); n == 0 || n == 4000 {
			t.Errorf("%d roots kept", n)
		}
	})
}

func TestClosedStandardOutputIsAnError(t *testing.T) {
	cmd, _ := teps(t, "generate", "--scale", "18", "--quiet", "--out", "-")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.CopyN(io.Discard, pipe, 1000)
	pipe.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-ctx.Done():
		cmd.Process.Kill()
		t.Fatal("generate goes on after its reader has left")
	}
}
