// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/record"
)

// teps returns a process of the command, and its own temp folder, which shows what a process leaves behind. The program
// is this test binary under the name that testscript.Main has given it.
func teps(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	program, err := exec.LookPath("teps")
	if err != nil {
		t.Fatal(err)
	}
	temp := shortTemp(t)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	return cmd, temp
}

// shortTemp is a temp folder whose name is short enough for the sockets of engines; that of T.TempDir is not.
func shortTemp(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("/tmp", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	return temp
}

// writeProgram writes a script that can be started at once. No other process may be started meanwhile: until it becomes
// its own program it would keep the script open for writing, and the kernel does not start such a file (ETXTBSY,
// https://go.dev/issue/22315).
func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o777)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}

// children lists the processes that were started by pid.
func children(pid int) (list []int) {
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

// haveEnded fails if one of the processes is running.
func haveEnded(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// succeed runs a command that must succeed, and returns its output.
func succeed(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return out
}

// loaded returns the record in a folder.
func loaded(t *testing.T, dir string) record.Result {
	t.Helper()
	r, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// waitFor polls until f holds.
func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	const limit = 3 * time.Minute // reached only by failures and very slow machines
	for deadline := time.Now().Add(limit); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", limit, what)
		}
	}
}

func rootsIn(dir string) int {
	data, _ := os.ReadFile(filepath.Join(dir, record.JournalFile))
	return bytes.Count(data, []byte(`"root":{`))
}

func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, _ := os.ReadDir(temp)
	for _, f := range left {
		t.Errorf("left in the temp folder: %s", f.Name())
	}
}

func TestKilledRunLeavesNothingAndResumes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "12", "--roots", "1000", "--out", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
	engines := children(cmd.Process.Pid)
	if len(engines) == 0 {
		t.Fatal("the run has no engine process")
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, pid := range engines {
		waitFor(t, "the engine to end with its host", func() bool { return !alive(pid) })
	}
	nothingLeft(t, temp)

	before := loaded(t, dir)
	again, temp := teps(t, "run", "--resume", dir)
	succeed(t, again)
	nothingLeft(t, temp)
	after := loaded(t, dir)
	run, unchecked := after.Runs[0], len(before.Runs[0].Roots)
	if !run.Valid || len(run.Roots) != 1000 || run.Unchecked != unchecked || run.Compliance.Compliant {
		t.Errorf("after the resume: %s, %d roots, %d unchecked", run.State, len(run.Roots), run.Unchecked)
	}
	reason := fmt.Sprintf("; after %d of them teps was killed before it could check that the tuples were unchanged",
		unchecked)
	if !slices.ContainsFunc(run.Compliance.Rules, func(c record.Check) bool {
		return !c.Holds && strings.HasSuffix(c.Detail, reason)
	}) {
		t.Errorf("no rule says why: %+v", run.Compliance.Rules)
	}
	for i, root := range before.Runs[0].Roots {
		if after.Runs[0].Roots[i].Time != root.Time {
			t.Fatalf("root %d was measured again", i)
		}
	}
}

func TestCtrlCEndsARunInAnOrderlyWay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--scale", "12", "--roots", "4000", "--out", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
	engines := children(cmd.Process.Pid)
	cmd.Process.Signal(os.Interrupt)
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d (%v), want %d", code, err, exitInterrupted)
	}
	if want := "continue with: teps run --resume " + dir; !strings.Contains(stderr.String(), want) {
		t.Errorf("standard error has no %q:\n%s", want, &stderr)
	}
	haveEnded(t, engines)
	nothingLeft(t, temp)
	r := loaded(t, dir)
	if run := r.Runs[0]; run.State != record.Interrupted || len(run.Roots) < 20 || run.Statistics == nil {
		t.Errorf("state %s, %d roots", run.State, len(run.Roots))
	}
	for _, f := range []string{"result.json", "report.html"} {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			t.Errorf("what was measured so far is not reported: %v", err)
		}
	}
}

// teps may be started with signals ignored (nohup, a background job of a script); the others stop it.
func TestIgnoredSignalsDoNotStopARun(t *testing.T) {
	for ignored, code := range map[string]int{"HUP INT": exitValid, "HUP": exitInterrupted} {
		dir := filepath.Join(t.TempDir(), "run")
		roots := map[int]string{exitValid: "1000", exitInterrupted: "20000"}[code] // the second takes longer than a signal
		cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "16", "--roots", roots, "--out", dir)
		cmd.Args = append([]string{"sh", "-c", `trap "" ` + ignored + `; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s ignored: exit code %d, want %d", ignored, got, code)
		}
		nothingLeft(t, temp)
	}
}

func TestFullDisk(t *testing.T) {
	for _, args := range [][]string{
		{"generate", "--scale", "10"}, {"machine"}, {"engines"}, {"conform", "cpu"}, {"help", "run"},
		{"list", "../../docs/results"}, {"--version"},
		{"new-engine", "mine", "--language", "c", "--dir", filepath.Join(t.TempDir(), "mine")},
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
		if cmd.ProcessState.ExitCode() != exitFailed || !bytes.Contains(out, []byte("no space left")) ||
			!bytes.Contains(out, []byte("--resume")) {
			t.Errorf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), out)
		}
		nothingLeft(t, temp)
		r, err := record.Load(dir)
		if err != nil {
			t.Fatalf("what was measured before cannot be read: %v", err)
		}
		if n := len(r.Runs[0].Roots); n == 0 || n == 4000 {
			t.Errorf("%d roots kept", n)
		}
	})
}

// A closed pipe, as by head, is not reported.
func TestClosedStandardOutputEndsQuietly(t *testing.T) {
	cmd, _ := teps(t, "generate", "--scale", "18")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.CopyN(io.Discard, pipe, 1000)
	pipe.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || strings.Contains(stderr.String(), "teps:") {
		t.Errorf("exit code %d, want %d:\n%s", code, exitFailed, &stderr)
	}
}
