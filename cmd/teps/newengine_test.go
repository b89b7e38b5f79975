//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needs are what it takes to build and run a new engine of each language, as shell commands that succeed.
func needs() map[string]string {
	return map[string]string{
		"go":     "go version",
		"c":      "make --version && cc --version",
		"openmp": "make --version && echo '#include <omp.h>' | cc -fopenmp -E -",
		"python": "make --version && protoc --version && openssl version && " +
			"/usr/bin/python3 -c 'import numpy, grpc, google.protobuf'",
	}
}

// TestANewEngineWithOpenMPConformsAndRuns does what `teps new-engine` says to do next. The other languages are in
// docs/writing-an-engine.md, which TestWritingAnEngineWordByWord follows.
func TestANewEngineWithOpenMPConformsAndRuns(t *testing.T) {
	if !*long {
		t.Skip("builds an engine and runs the conformance suite, as the documents' test does for other languages")
	}
	if out, err := exec.Command("sh", "-c", needs()["openmp"]).CombinedOutput(); err != nil {
		t.Skipf("needs more than there is here (%s): %v\n%s", needs()["openmp"], err, out)
	}
	dir := filepath.Join(t.TempDir(), "teps-engine-fresh")
	cmd, _ := teps(t, "new-engine", "fresh", "--language", "openmp", "--dir", dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("new-engine: %v", err)
	}
	_, next, ok := strings.Cut(string(out), "Next:\n\n  cd "+dir+"\n")
	if !ok {
		t.Fatalf("new-engine does not say what to do next:\n%s", out)
	}
	program := cmd.Path
	for line := range strings.Lines(next) {
		step := exec.Command("sh", "-c", strings.TrimSpace(line))
		step.Dir = dir
		step.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := step.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		if strings.Contains(line, "conform") && !strings.Contains(string(out), " 0 failed, 1 skipped") {
			t.Errorf("%s\n%s", line, out)
		}
		if strings.Contains(line, "teps run") && strings.Count(string(out), " 64/64 ") != 2 {
			t.Errorf("%s\n%s", line, out)
		}
	}
}
