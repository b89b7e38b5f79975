// SPDX-License-Identifier: Apache-2.0

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
	"strings"
	"testing"
)

// compileLibrary makes a library of C.
func compileLibrary(t *testing.T, code string, flags ...string) string {
	t.Helper()
	needs(t, "gcc --version")
	library := filepath.Join(t.TempDir(), "libmine.so")
	compile := exec.Command("gcc", append(flags, "-std=gnu99", "-O1", "-shared", "-fPIC", "-I", "../../native",
		"-o", library, "-x", "c", "-")...)
	compile.Stdin = strings.NewReader(code)
	succeed(t, compile)
	return library
}

// needs skips a test where a shell command fails that looks for its tools.
func needs(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Skipf("needs more than there is here (%s): %v\n%s", command, err, out)
	}
}

const (
	openMP = "make --version && echo '#include <omp.h>' | cc -fopenmp -E -" // finds out whether OpenMP is here
	steady = `while :; do echo ",120.0"; sleep 0.025; done`                 // a wall meter that shows 120 W
)

// faultyLibrary is the example in C whose option "fault" chooses what goes wrong.
const faultyLibrary = `#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#define teps_describe mine_describe
#define teps_construct mine_construct
#define teps_search mine_search
#include "../../examples/c/mine.c"
#undef teps_describe
#undef teps_construct
#undef teps_search
#define WRITE(p) ((volatile int64_t *)parent)[p] = 1
#define IS(name) strcmp(fault, name) == 0
static char fault[64];
int teps_describe(teps_description *description) {
	mine_describe(description);
	description->options[0] = (teps_option){.name = "fault", .kind = TEPS_TEXT, .value = "none"};
	return TEPS_OK;
}
int teps_construct(teps_call *call, const teps_tuple *tuples, int64_t count, teps_graph *graph) {
	snprintf(fault, sizeof fault, "%s", teps_set(call, "fault"));
	if (IS("tuples")) ((teps_tuple *)tuples)[3].low_u = 7;
	if (IS("behind")) return (int)((const volatile teps_tuple *)tuples)[count + 400].low_u;
	return mine_construct(call, tuples, count, graph);
}
static int64_t deep(volatile int64_t *n) {
	volatile int64_t here[512];
	here[*n & 511] = ++*n;
	return *n < 0 ? 0 : deep(n) + here[*n & 511];
}
static void *scribble(void *parent) {
	for (;;) ((volatile int64_t *)parent)[0] = -77;
	return NULL;
}
int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
	static int64_t depth;
	static pthread_t writer;
	if (IS("after")) WRITE(graph->vertices);
	if (IS("before")) WRITE(-1);
	if (IS("abort")) abort();
	if (IS("divide")) raise(SIGFPE);
	if (IS("stack")) return (int)deep(&depth);
	if (IS("fork") && fork() == 0) {
		setsid();
		execl("/bin/sleep", getenv("TMPDIR"), "600", NULL); /* the test finds it by its name */
	}
	int code = mine_search(call, graph, root, parent);
	if (IS("late") && writer == 0) pthread_create(&writer, NULL, scribble, parent);
	while (IS("late") && ((volatile int64_t *)parent)[0] != -77); /* the writer goes on after the call */
	return code;
}`

// Each fault of a library is reported in one line, the other engines are measured, and no process remains.
func TestFaultsOfLibrariesAreReportedInALine(t *testing.T) {
	t.Parallel()
	faults := map[string]string{
		"tuples": `it wrote to tuple 3, and tuples can`, "behind": `it used memory behind the end of the 16384`,
		"after":  `it used parent\[1024\], behind the end of the 1024 parents`,
		"before": `it used memory before parent\[0\]`, "abort": `crashed in teps_search: aborted`,
		"divide": `arithmetic error`, "stack": `the stack is full`, "late": `is invalid: .*its parent is -77`,
		"fork": "", "none": "",
	}
	library, engines := compileLibrary(t, faultyLibrary, "-pthread"), "cpu"
	for name := range faults {
		engines += "," + name + "=" + library + ":fault=" + name
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd, temp := teps(t, "run", "--engine", engines, "--scale", "10", "--roots", "10", "--out", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), &stderr)
	}
	nothingLeft(t, temp)
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, process := range processes {
		if line, _ := os.ReadFile(process); bytes.HasPrefix(line, []byte(temp+"\x00")) {
			t.Errorf("%s is left: %q", process, line)
		}
	}
	for _, run := range loaded(dir).Runs {
		want := faults[run.Engine.Name]
		lines := regexp.MustCompile(`(?m)^teps: scale 10: `+run.Engine.Name+`: .*`).FindAllString(stderr.String(), -1)
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, " is repeated, because ") })
		switch {
		case want == "" && (!run.Valid || len(run.Roots) != 10):
			t.Errorf("%s: want all roots of an engine that does no harm:\n%s", run.Engine.Name, &stderr)
		case want != "" && (len(lines) == 0 || len(lines) > 3 || !regexp.MustCompile(want).MatchString(lines[0])):
			t.Errorf("%s: want a line that matches %q, got %q", run.Engine.Name, want, lines)
		}
	}
}

func TestLibraryThatIsNotAnEngineIsRefusedBeforeARun(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`int main;`: `has no function teps_describe: is it an engine`,
		`int missing(void); int teps_describe(void) { return missing(); }`: `undefined symbol: missing; link the library`,
		`#include <stdio.h>
		#include <stdlib.h>
		__attribute__((constructor)) static void early(void) {
			puts("no handshake"); fflush(stdout); abort(); }`: `crashed in its own code while it was loaded: aborted`,
	} {
		library, dir := compileLibrary(t, code), filepath.Join(t.TempDir(), "run")
		cmd, temp := teps(t, "run", "--engine", library, "--scale", "8", "--out", dir)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), want) {
			t.Errorf("exit code %d, want %q:\n%s", cmd.ProcessState.ExitCode(), want, out)
		}
		nothingLeft(t, temp)
	}
}

// The threads of GraphBLAS wait without spinning, because other tests run at the same time.
func TestGraphBLASAsAnEngineConforms(t *testing.T) {
	t.Parallel()
	needs(t, "make --version && echo '#include <GraphBLAS.h>' | cc -fopenmp -E -") // Debian: libgraphblas-dev
	dir := t.TempDir()
	succeed(t, exec.Command("make", "-C", "../../examples/peers", "graphblas", "OUT="+dir))
	cmd, temp := teps(t, append([]string{"conform", filepath.Join(dir, "libgraphblas.so")}, someCases()...)...)
	cmd.Env = append(cmd.Env, "OMP_WAIT_POLICY=passive")
	succeed(t, cmd)
	nothingLeft(t, temp)
}

// TestEnergyWorksWithEveryKindOfEngine meters engines with a meter outside of teps: a graph from a file with a built-in
// engine, ranks, and a library.
func TestEnergyWorksWithEveryKindOfEngine(t *testing.T) {
	t.Parallel()
	meter := filepath.Join(t.TempDir(), "meter")
	writeProgram(meter, steady)
	for kind, args := range map[string]func(t *testing.T) (args []string, path string){
		"file": func(t *testing.T) ([]string, string) {
			graph := filepath.Join(t.TempDir(), "grid.el")
			generate, _ := teps(t, "generate", "--graph", "grid2d:50", "--out", graph)
			succeed(t, generate)
			return []string{"--engine", "cpu", "--graph", graph}, ""
		},
		"mpi": func(t *testing.T) ([]string, string) {
			needs(t, "mpirun --version || mpiexec.hydra --version")
			return []string{"--engine", "mpi", "--scale", "10"}, ""
		},
		"OpenMP": func(t *testing.T) ([]string, string) {
			needs(t, openMP)
			library := compileLibrary(t, `#include "../../examples/openmp/mine.c"`, "-fopenmp")
			return []string{"--engine", library, "--scale", "10"}, ""
		},
	} {
		t.Run(kind, func(t *testing.T) {
			if testing.Short() && kind != "file" {
				t.Skip("builds engines")
			}
			t.Parallel()
			args, path := args(t)
			var dir string
			var out []byte
			for try := 0; ; try++ {
				dir = filepath.Join(t.TempDir(), fmt.Sprint("run", try))
				cmd, temp := teps(t, append([]string{"run", "--roots", "8", "--energy", "500ms", "--meter",
					"command:wall=" + meter, "--out", dir}, args...)...)
				cmd.Env = append(cmd.Env, "PATH="+path+":"+os.Getenv("PATH"))
				var err error
				if out, err = cmd.CombinedOutput(); err == nil {
					nothingLeft(t, temp)
					break
				}
				switch busy := bytes.Contains(out, []byte("too busy for the host to tell")); {
				case !busy:
					t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
				case try == 4:
					t.Skip("other programs kept this machine too busy")
				}
			}
			e := loaded(dir).Runs[0].Energy
			if e == nil || e.Failed() || e.Loop == nil {
				t.Fatalf("energy %+v\n%s", e, out)
			}
			f, found := e.Headline()
			if !found || !f.System || f.Watts < 119.9 || f.Watts > 120.1 || f.MTEPSPerWatt != e.Loop.TEPS/1e6/f.Watts {
				t.Errorf("figure %+v of %g TEPS", f, e.Loop.TEPS)
			}
			if !regexp.MustCompile(`8/8 .* VALID +[\d.]+ wall`).Match(out) {
				t.Errorf("the table has no figure:\n%s", out)
			}
			figure := map[bool]string{true: "mteps-per-watt-over-graphs.svg", false: "mteps-per-watt.svg"}[kind == "file"]
			for _, name := range []string{"submission.txt", figure} {
				if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
