//go:build linux && cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/record"
)

// script writes a program of a few shell lines.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meter")
	writeProgram(t, path, "#!/bin/sh\n"+lines)
	return path
}

// steady is a wall meter that says 120 W, forty times a second.
const steady = `while :; do echo ",120.0"; sleep 0.025; done`

// energyEngines are kinds of engines, as --engine takes them. A function builds its engine, or skips the test if tools
// are missing. One engine needs a directory in PATH, which follows " with ".
func energyEngines() map[string]func(t *testing.T) string {
	tools := func(t *testing.T, command string) {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Skipf("needs more than there is here (%s): %v\n%s", command, err, out)
		}
	}
	return map[string]func(t *testing.T) string{
		"cpu":  func(*testing.T) string { return "cpu" },
		"file": func(*testing.T) string { return "cpu" }, // which has the graph
		"mpi": func(t *testing.T) string {
			tools(t, "mpirun --version && mpicc --version")
			bin := t.TempDir()
			succeed(t, exec.Command("go", "build", "-tags", "mpi", "-o", filepath.Join(bin, "teps-rank"), "../teps-rank"))
			return "mpi with " + bin
		},
		"OpenMP": func(t *testing.T) string {
			tools(t, needs()["openmp"])
			return compileLibrary(t, "libmine.so", filepath.Join(repository(t), "examples", "openmp", "mine.c"), "-fopenmp")
		},
	}
}

// TestEnergyWorksWithEveryKindOfEngine meters each of them with a meter outside of teps.
func TestEnergyWorksWithEveryKindOfEngine(t *testing.T) {
	t.Parallel()
	meter := script(t, steady)
	for kind, engine := range energyEngines() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && kind != "cpu" {
				t.Skip("builds engines")
			}
			dir := filepath.Join(t.TempDir(), "run")
			name, bin, _ := strings.Cut(engine(t), " with ")
			source, figure := []string{"--scale", "10"}, "mteps-per-watt.svg"
			if kind == "file" {
				figure = "mteps-per-watt-over-graphs.svg"
				source = []string{"--graph", filepath.Join(t.TempDir(), "grid.el")}
				generate, _ := teps(t, "generate", "--graph", "grid2d:50", "--out", source[1])
				succeed(t, generate)
			}
			cmd, temp := teps(t, append([]string{"run", "--engine", name, "--energy", "1s",
				"--meter", "command:wall=" + meter, "--out", dir}, source...)...)
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			out := succeed(t, cmd)
			nothingLeft(t, temp)
			r := loaded(t, dir)
			e := r.Runs[0].Energy
			if e == nil || e.Failed() || e.Loop == nil || e.Loop.Kind != record.LoopByRepeat || e.After.Valid != 4 {
				t.Fatalf("energy %+v\n%s", e, out)
			}
			f, found := e.Headline()
			if !found || !f.System || f.Watts < 119.9 || f.Watts > 120.1 || f.MTEPSPerWatt <= 0 {
				t.Errorf("figure %+v", f)
			}
			if want := e.Loop.TEPS / 1e6 / f.Watts; f.MTEPSPerWatt != want {
				t.Errorf("%g MTEPS/W, want %g", f.MTEPSPerWatt, want)
			}
			if !regexp.MustCompile(`64/64 .* VALID +[\d.]+ wall`).Match(out) {
				t.Errorf("the table has no figure:\n%s", out)
			}
			for _, name := range []string{"greengraph500.txt", figure} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// waitForLoop waits until the built-in engine of a run is in its energy loop.
func waitForLoop(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	waitFor(t, "the roots", func() bool { return rootsIn(dir) == 64 })
	engine := 0
	for _, pid := range children(cmd.Process.Pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(line, []byte("serve-engine")) {
			engine = pid
		}
	}
	if engine == 0 {
		t.Fatal("the run has no engine process")
	}
	rested := hundredths(engine)
	waitFor(t, "the energy loop", func() bool { return hundredths(engine) >= rested+10 })
}

// hundredths is the processor time that a process has taken, in hundredths of a second (proc_pid_stat(5)).
func hundredths(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, fields, _ := bytes.Cut(stat, []byte(") "))
	var user, system int
	if f := strings.Fields(string(fields)); len(f) > 12 {
		user, _ = strconv.Atoi(f[11])
		system, _ = strconv.Atoi(f[12])
	}
	return user + system
}

// Ctrl-C in the loop ends it at once; a resume repeats the loop and searches from no root again.
func TestCtrlCInTheLoopStopsInOrderAndResumes(t *testing.T) {
	t.Parallel()
	for _, long := range []string{"1h", "6s"} { // one that would not end by itself, and one that a resume can repeat
		t.Run(long, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			cmd, temp := teps(t, "run", "--engine", "cpu", "--scale", "10", "--energy", long,
				"--meter", "command:wall="+script(t, steady), "--out", dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForLoop(t, cmd, dir)
			processes := children(cmd.Process.Pid)
			cmd.Process.Signal(os.Interrupt)
			err := cmd.Wait()
			if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "--resume "+dir) {
				t.Errorf("exit code %d (%v):\n%s", cmd.ProcessState.ExitCode(), err, &stderr)
			}
			haveEnded(t, processes)
			nothingLeft(t, temp)
			before := loaded(t, dir)
			if run := before.Runs[0]; run.State != record.Interrupted || run.Energy != nil || len(run.Roots) != 64 {
				t.Fatalf("state %s, %d roots, energy %+v", run.State, len(run.Roots), run.Energy)
			}
			if long == "6s" {
				repeatsTheLoop(t, dir, before)
			}
		})
	}
}

// repeatsTheLoop resumes a run that was stopped in its energy loop.
func repeatsTheLoop(t *testing.T, dir string, before record.Result) {
	t.Helper()
	cmd, temp := teps(t, "run", "--resume", dir)
	succeed(t, cmd)
	nothingLeft(t, temp)
	after := loaded(t, dir)
	if run := after.Runs[0]; run.State != record.Complete || len(run.Energy.Figures) != 1 ||
		run.Roots[63].Time != before.Runs[0].Roots[63].Time {
		t.Errorf("after the resume: %s, %+v", run.State, run.Energy)
	}
}

// Nobody has checked the input of a run that was killed after its last search.
func TestSearchesBeforeAKillAreNotCompliant(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cmd, _ := teps(t, "run", "--engine", "cpu", "--scale", "10", "--energy", "2s", "--out", dir,
		"--meter", "command:wall="+script(t, steady))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the roots", func() bool { return rootsIn(dir) == 64 }) // the energy loop follows
	cmd.Process.Kill()
	cmd.Wait()
	again, _ := teps(t, "run", "--resume", dir)
	succeed(t, again)
	r := loaded(t, dir)
	run := r.Runs[0]
	if !run.Valid || run.Compliance.Compliant || run.Unchecked != 64 || run.Sessions != 1 {
		t.Errorf("valid %v, compliant %v, %d unchecked, %d constructions", run.Valid, run.Compliance.Compliant,
			run.Unchecked, run.Sessions)
	}
	const reason = "; after 64 of them teps was killed before it could check that the tuples were unchanged"
	if !slices.ContainsFunc(run.Compliance.Rules, func(c record.Check) bool {
		return !c.Holds && strings.HasSuffix(c.Detail, reason)
	}) {
		t.Errorf("no rule says why: %+v", run.Compliance.Rules)
	}
}
