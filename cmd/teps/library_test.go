//go:build linux && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
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

// What the library prints before the handshake is not taken for one.
func TestLibraryThatPrintsAndCrashesInAThreadOfItsOwn(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("sh", "-c", needs()["openmp"]).CombinedOutput(); err != nil {
		t.Skipf("OpenMP is not here: %v\n%s", err, out)
	}
	source := filepath.Join(t.TempDir(), "loud.c")
	code := `#include <omp.h>
		#define teps_search mine_search
		#include "` + repository(t) + `/examples/c/mine.c"
		#undef teps_search
		__attribute__((constructor)) static void hello(void) { printf("Welcome to my library!\n"); fflush(stdout); }
		int teps_search(teps_call *call, const teps_graph *graph, int64_t root, int64_t *parent) {
			#pragma omp parallel num_threads(4)
			if (omp_get_thread_num() == 3) ((volatile int64_t *)parent)[graph->vertices + 5] = 1;
			return mine_search(call, graph, root, parent);
		}`
	if err := os.WriteFile(source, []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	library := compileLibrary(t, "libloud.so", source, "-fopenmp")
	cmd, temp := teps(t, "run", "--engine", library, "--scale", "16", "--out", filepath.Join(t.TempDir(), "run"))
	out, _ := cmd.CombinedOutput()
	if !strings.Contains(string(out), "libloud.so crashed in teps_search: segmentation fault: "+
		"it used parent[65541], behind the end of the 65536 parents") {
		t.Errorf("got:\n%s", out)
	}
	nothingLeft(t, temp)
}

func TestAScriptAroundALibraryIsAnEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	library := compileLibrary(t, "libmine.so", "../../examples/c/mine.c")
	script := filepath.Join(dir, "teps-engine-wrapped")
	cmd, temp := teps(t, "run", "--engine", script, "--scale", "10", "--out", filepath.Join(dir, "run"))
	writeProgram(t, script, "#!/bin/sh\nexec "+cmd.Path+" serve-engine "+library+"\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), " 64/64 ") {
		t.Errorf("%v\n%s", err, out)
	}
	nothingLeft(t, temp)
}

func repository(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLibraryThatIsNotAnEngineIsRefusedBeforeARun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, want string }{
		{`int main;`, `has no function teps_describe: is it an engine`},
		{`#include "teps_engine.h"
		int missing(void);
		int teps_describe(teps_description *d) { d->abi = missing(); return 0; }`,
			`undefined symbol: missing; link the library`},
		{`#include "teps_engine.h"
		int teps_describe(teps_description *d) { d->abi = 2; return 0; }
		int teps_construct(teps_call *c, const teps_tuple *t, int64_t n, teps_graph *g) { return c && t && n && g; }
		int teps_search(teps_call *c, const teps_graph *g, int64_t r, int64_t *p) { return c && g && r && p; }
		void teps_free(teps_graph *g) { (void)g; }`, `compiled for version 2 of teps_engine.h`},
		{`#include <stdlib.h>
		__attribute__((constructor)) static void early(void) { abort(); }`,
			`libodd.so crashed in its own code while it was loaded: aborted`},
	} {
		dir := t.TempDir()
		source := filepath.Join(dir, "odd.c")
		if err := os.WriteFile(source, []byte(c.code), 0o666); err != nil {
			t.Fatal(err)
		}
		library := compileLibrary(t, "libodd.so", source)
		cmd, temp := teps(t, "run", "--engine", library, "--scale", "8", "--out", filepath.Join(dir, "run"))
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(string(out), c.want) {
			t.Errorf("exit code %d, want %q:\n%s", cmd.ProcessState.ExitCode(), c.want, out)
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
	build := exec.Command("make", "-C", filepath.Join(repository(t), "examples", "peers"), "graphblas", "OUT="+dir)
	succeed(t, build)
	cmd, temp := teps(t, "conform", filepath.Join(dir, "libgraphblas.so"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	nothingLeft(t, temp)
}
