// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
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

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
)

// teps returns a process of the command, and its own temp directory, which shows what a process leaves behind. The
// program is this test binary under the name that testscript.Main has given it.
func teps(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	program := must.Get(exec.LookPath("teps"))
	temp := shortTemp(t)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	return cmd, temp
}

// shortTemp is a temp directory whose name is short enough for the sockets of engines; that of T.TempDir is not.
func shortTemp(t *testing.T) string {
	t.Helper()
	temp := must.Get(os.MkdirTemp("/tmp", "t"))
	t.Cleanup(func() { os.RemoveAll(temp) })
	return temp
}

// writeProgram writes a script that can be started at once. No other process is started at the same time: until it
// runs its own program, it would keep the script open for writing, and the kernel does not start such a file (ETXTBSY,
// https://go.dev/issue/22315).
func writeProgram(path, text string) {
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o777)
	syscall.ForkLock.RUnlock()
	must.Do(err)
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

// waitForEnd waits until the processes have ended.
func waitForEnd(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !must.Ends(pid) {
			t.Errorf("process %d goes on", pid)
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

// loaded returns the record in a directory.
func loaded(dir string) record.Result {
	return must.Get(record.Load(dir))
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

// startRun starts a run and waits for some searches. It returns the processes of its engines.
func startRun(t *testing.T, cmd *exec.Cmd, dir string) []int {
	t.Helper()
	must.Do(cmd.Start())
	waitFor(t, "some roots", func() bool { return rootsIn(dir) >= 20 })
	waitFor(t, "the engine", func() bool { return len(children(cmd.Process.Pid)) > 0 })
	return children(cmd.Process.Pid)
}

func rootsIn(dir string) int {
	data, _ := os.ReadFile(filepath.Join(dir, record.JournalFile))
	return bytes.Count(data, []byte(`"root":{`))
}

func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, _ := os.ReadDir(temp)
	for _, f := range left {
		t.Errorf("left in the temp directory: %s", f.Name())
	}
}

func TestKilledRunLeavesNothingAndResumes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "12", "--roots", "600", "--out", dir)
	engines := startRun(t, cmd, dir)
	cmd.Process.Kill()
	cmd.Wait()
	waitForEnd(t, engines)
	nothingLeft(t, temp)

	before := loaded(dir)
	again, temp := teps(t, "run", "--resume", dir)
	succeed(t, again)
	nothingLeft(t, temp)
	after := loaded(dir)
	run, unchecked := after.Runs[0], len(before.Runs[0].Roots)
	if !run.Valid || len(run.Roots) != 600 || run.Unchecked != unchecked || run.Compliance.Compliant {
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

// A signal ends a run in order, except if it was ignored when teps started (nohup, a background job of a script).
func TestSignalsEndARunInOrderUnlessIgnored(t *testing.T) {
	t.Parallel()
	for ignored, code := range map[string]int{"": exitInterrupted, "HUP": exitInterrupted, "HUP INT": exitValid} {
		dir := filepath.Join(t.TempDir(), "run")
		roots := map[int]string{exitValid: "400", exitInterrupted: "20000"}[code] // the second takes longer than a signal
		cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "12", "--roots", roots, "--out", dir)
		if ignored != "" {
			cmd.Args = append([]string{"sh", "-c", `trap "" ` + ignored + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		engines := startRun(t, cmd, dir)
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
			if ignored != "" || s == syscall.SIGINT {
				cmd.Process.Signal(s)
			}
		}
		err := cmd.Wait()
		must.Equal(t, cmd.ProcessState.ExitCode(), code, ignored, err)
		waitForEnd(t, engines)
		nothingLeft(t, temp)
		run, hint := loaded(dir).Runs[0], "continue with: teps run --resume "+dir
		if (run.State == record.Interrupted) != (code == exitInterrupted) || len(run.Roots) < 20 || run.Statistics == nil ||
			strings.Contains(stderr.String(), hint) != (code == exitInterrupted) {
			t.Errorf("%q ignored: state %s, %d roots:\n%s", ignored, run.State, len(run.Roots), &stderr)
		}
		for _, f := range []string{"result.json", "report.html"} {
			if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
				t.Errorf("what was measured so far is not reported: %v", err)
			}
		}
	}
}

// A command that waits for an engine or for the reader of its output ends with a signal.
func TestSignalsEndCommandsThatWait(t *testing.T) {
	t.Parallel()
	asleep := filepath.Join(t.TempDir(), "teps-engine-asleep")
	writeProgram(asleep, "exec sleep 1000\n")
	for s, args := range map[syscall.Signal][][]string{
		syscall.SIGTERM: {{"engines", asleep}, {"generate", "--scale", "30"}},
		syscall.SIGINT:  {{"conform", asleep}, {"report", "../../docs/results/runs/s16-22", "--format", "csv"}},
		syscall.SIGHUP:  {{"run", "--engine", asleep, "--scale", "8"}},
	} {
		for _, args := range args {
			cmd, temp := teps(t, args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			unread := must.Get(cmd.StdoutPipe())
			defer unread.Close()
			must.Do(cmd.Start())
			waits := slices.Contains(args, asleep)
			if waits {
				waitFor(t, "the engine", func() bool { return len(children(cmd.Process.Pid)) > 0 })
			} else if _, err := unread.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			cmd.Process.Signal(s)
			cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if stopped := waits && status.ExitStatus() == exitInterrupted; !stopped && status.Signal() != s {
				t.Errorf("%s: %v:\n%s", args[0], cmd.ProcessState, &stderr)
			}
			nothingLeft(t, temp)
		}
	}
}

// What a run has measured can be read after its disk was full.
func TestFullDisk(t *testing.T) {
	t.Parallel()
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
	if n := len(loaded(dir).Runs[0].Roots); n == 0 || n == 4000 {
		t.Errorf("%d roots kept", n)
	}
}
