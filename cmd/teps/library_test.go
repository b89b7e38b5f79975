// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// compileLibrary makes a library of a C file.
func compileLibrary(t *testing.T, name, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is needed to compile the libraries")
	}
	library := filepath.Join(t.TempDir(), name)
	args := append(flags, "-std=gnu99", "-O1", "-shared", "-fPIC", "-I", "../../native", "-o", library, source)
	succeed(t, exec.Command("gcc", args...))
	return library
}

func repository(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

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
	library := filepath.Join(t.TempDir(), "libfaulty.so")
	compile := exec.Command("gcc", "-std=gnu99", "-O1", "-shared", "-fPIC", "-pthread", "-I", "../../native",
		"-o", library, "-x", "c", "-")
	compile.Stdin = strings.NewReader(faultyLibrary)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Skipf("gcc is needed: %v\n%s", err, out)
	}
	engines := "cpu"
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
	for _, run := range loaded(t, dir).Runs {
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
		source := filepath.Join(t.TempDir(), "odd.c")
		if err := os.WriteFile(source, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		library, dir := compileLibrary(t, "libodd.so", source), filepath.Join(t.TempDir(), "run")
		cmd, temp := teps(t, "run", "--engine", library, "--scale", "8", "--out", dir)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), want) {
			t.Errorf("exit code %d, want %q:\n%s", cmd.ProcessState.ExitCode(), want, out)
		}
		nothingLeft(t, temp)
	}
}

func TestGraphBLASAsAnEngineConforms(t *testing.T) {
	t.Parallel()
	here := exec.Command("sh", "-c", "make --version && echo '#include <GraphBLAS.h>' | cc -fopenmp -E -")
	if out, err := here.CombinedOutput(); err != nil {
		t.Skipf("GraphBLAS is not here (on Debian: apt-get install libgraphblas-dev): %v\n%s", err, out)
	}
	dir := t.TempDir()
	succeed(t, exec.Command("make", "-C", filepath.Join(repository(t), "examples", "peers"), "graphblas", "OUT="+dir))
	cmd, temp := teps(t, "conform", filepath.Join(dir, "libgraphblas.so"))
	succeed(t, cmd)
	nothingLeft(t, temp)
}
