// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// TestMain makes this test binary the command teps, and the programs that it starts, by the name of the process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"serve-engine", "node", "place"}, os.Args[1]) {
		os.Exit(execute(context.Background(), withMore(), os.Args[1:], os.Stdout, os.Stderr))
	}
	_ = flag.Set("test.parallel", "6") // many tests mostly wait
	testscript.Main(stoppable{m}, map[string]func(){"teps": main, "teps-host-test": serveHostDevice,
		"teps-engine-maker": serveMaker})
}

// stoppable makes the processes of tests receive signals even if the tests run with signals ignored (nohup, a
// background job of a script): processes inherit ignored signals, not caught ones.
type stoppable struct{ *testing.M }

func (m stoppable) Run() int {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return m.M.Run()
}

// TestScripts runs the command as a user would; each script is one file of testdata/script.
func TestScripts(t *testing.T) {
	device := must.Get(exec.LookPath("teps-host-test"))
	maker := must.Get(exec.LookPath("teps-engine-maker"))
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOSTDEVICE", device)
			env.Setenv("MAKER", maker)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"edit": editFile, "cut": cutFile, "slower": slowDown},
	})
}

// editFile is the command "edit FILE OLD NEW" of scripts; OLD must be there.
func editFile(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args[0], args[0], func(text string) string {
		if !strings.Contains(text, args[1]) {
			ts.Fatalf("%s holds no %s", args[0], args[1])
		}
		return strings.Replace(text, args[1], args[2], 1)
	})
}

// cutFile is "cut FILE": it removes the last two lines and half of the one before, as if the writer had been killed.
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args[0], args[0], func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		last := lines[len(lines)-4]
		return strings.Join(lines[:len(lines)-4], "") + last[:len(last)/2]
	})
}

// slowDown is "slower FROM TO": it writes a journal, without digests, in which every search took a tenth longer.
func slowDown(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args[0], args[1], func(text string) string {
		text = digest.ReplaceAllString(text, "")
		return regexp.MustCompile(`"(time|wall)":[0-9.e-]+`).ReplaceAllStringFunc(text, func(member string) string {
			name, value, _ := strings.Cut(member, ":")
			seconds, err := strconv.ParseFloat(value, 64)
			ts.Check(err)
			return name + ":" + strconv.FormatFloat(seconds*1.1, 'g', -1, 64)
		})
	})
}

// digest is that of a line of a journal.
var digest = regexp.MustCompile(`,"digest":"[0-9a-f]+"`)

func rewrite(ts *testscript.TestScript, from, to string, change func(string) string) {
	ts.Check(os.WriteFile(ts.MkAbs(to), []byte(change(ts.ReadFile(from))), 0o666))
}

// execution is what a command line prints and returns in this process.
type execution struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, args ...string) execution {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), builtins(), args, &stdout, &stderr)
	return execution{stdout.String(), stderr.String(), code}
}

func TestWrongFlagValuesAreExplained(t *testing.T) {
	long := strings.Repeat("a", 5000)
	for line, want := range map[string]string{
		"run --roots many":              `--roots "many": want a whole number; see teps run --help`,
		"run --seed1 -1":                `--seed1 "-1": want a whole number from 0 to 2^64-1; see teps run --help`,
		"run --energy Inf":              `--energy "Inf": want a number and a unit, such as 60s; see teps run --help`,
		"run --quiet=maybe":             `--quiet "maybe": want true or false; see teps run --help`,
		"run -scale 16":                 `unknown shorthand flag: 's' in -scale (did you mean --scale?); see teps run --help`,
		"run --engine v1.2=cpu":         "--engine v1.2=cpu: want a label of 1 to 64 letters, digits, - and _",
		"run --engine " + long + "=cpu": "--engine " + long[:80] + ": want a label of 1 to 64 letters, digits, - and _",
		"help rnu":                      `unknown command "rnu" (did you mean run?); see teps --help`,
		"conform cpu --timeout 0":       "the timeout must be a positive duration such as 2m, not 0s",
		"report x --out x/run.json":     "--out x/run.json would replace part of a record; choose another name",
		"run --engine cpu --hosts a":    "--hosts, --nodes and --network require --cluster, such as --cluster=mpirun",
		"run --cluster=ssh":             `unknown launcher "ssh"; want srun, mpirun, hydra`,
		"search path:9 --root 1 --engine nine": "unknown engine nine; teps has cpu, distributed, mpi, opencl, serial; " +
			"name another by its path, such as ./nine",
		"run --out -":              "--out -: want a directory; the official text is in its graph500.txt",
		"report x --out rates.pdf": "--out rates.pdf: only a figure goes into such a file; name it with --picture",
		"run --meter auto":         "--meter requires --energy, such as --energy 60s",
		"run --out a --store b":    "--out is the directory of the run, --store the one around it; give one of them",
		"report x --picture roots --out x.gif": "--out x.gif: a figure is written to an .svg, a .png or a " +
			".pdf file",
		"report x --format csv --reference all": "the format csv shows no published results; " +
			"leave out --reference, or use html or markdown",
	} {
		want = "teps: " + want + "\n"
		if got := run(t, strings.Fields(line)...); got.code != exitUsage || got.stderr != want {
			t.Errorf("teps %s: exit code %d, %q, want %q", line, got.code, got.stderr, want)
		}
	}
}

func TestRunsThatBeginInAMillisecondHaveDirectories(t *testing.T) {
	store, made := filepath.Join(t.TempDir(), "new"), map[string]bool{}
	for range 20 {
		made[newDirectory("", store)] = true
	}
	if len(made) != 20 {
		t.Errorf("20 runs have %d directories", len(made))
	}
}

// Help fits a terminal of 80 columns.
func TestHelpFitsATerminal(t *testing.T) {
	for _, command := range rootCommand(builtins()).Commands() {
		got := run(t, "help", command.Name())
		for line := range strings.Lines(got.stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !command.Hidden {
				t.Errorf("teps help %s has a line of %d columns: %s", command.Name(), n, line)
			}
		}
	}
}

// Distances are printed so that they read back as the same number.
func TestSearchWritesShortestPaths(t *testing.T) {
	e := run(t, "search", "kron:10", "--root", "458", "--kernel", "sssp", "--engine", "serial")
	lines := strings.Split(strings.TrimSpace(e.stdout), "\n")
	if e.code != exitValid || len(lines) != 897 {
		t.Fatalf("exit code %d, %d lines: %s", e.code, len(lines), e.stderr)
	}
	k := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges, weights := make([]graph.Edge, k.Tuples()), make([]float32, k.Tuples())
	must.Do(k.Generate(t.Context(), edges, 0, 1))
	must.Do(graph.Weights(t.Context(), k, 0, 0, weights, 0, 1))
	rows, _ := graph.NewWeightedCSR(edges, weights, k.Vertices())
	_, distance, _ := rows.ShortestPaths(458)
	for _, line := range lines {
		fields := strings.Fields(line)
		v, _ := strconv.Atoi(fields[0])
		if d, err := strconv.ParseFloat(fields[2], 32); err != nil || float32(d) != distance[v] {
			t.Errorf("line %q: want the distance %v", line, distance[v])
		}
	}
}
