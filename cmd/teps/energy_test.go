// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// steady is a wall meter that prints 120 W forty times a second.
const steady = `while :; do echo ",120.0"; sleep 0.025; done`

// energyEngines are kinds of engines, as values of --engine. A function builds its engine, or skips the test if tools
// are missing. After " with " follows a directory that an engine needs in PATH.
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
