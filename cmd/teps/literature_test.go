//go:build linux

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLiteratureSweep measures docs/literature.yaml on a machine without a GPU: engines that are built without CUDA
// describe themselves, so that their options are checked, and are unavailable. All others run.
func TestLiteratureSweep(t *testing.T) {
	cmd, work := teps(t, "sweep", "--quiet")
	out, err := exec.Command("go", "build", "-o", work+"/", "../teps-engine-cuda", "../teps-engine-cuda-literature").
		CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := filepath.Abs("../../docs/literature.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append(cmd.Args, file)
	cmd.Dir = work
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("want exit code 1 because of the GPU, got %v\n%s", err, &stderr)
	}
	states := map[string][]string{}
	for _, line := range strings.Split(string(out), "\n") {
		if words := strings.Fields(line); len(words) > 6 && words[1] == "14" {
			states[words[len(words)-1]] = append(states[words[len(words)-1]], words[0])
		}
	}
	if len(states) != 2 || len(states["done"]) != 19 || len(states["unavailable"]) != 58 {
		t.Errorf("want 19 runs on the CPU and 58 on a GPU, got %v", states)
	}
	if n := strings.Count(stderr.String(), "bisson at scale 14 and 57 more are unavailable: "); n != 1 {
		t.Errorf("want one line for all that have the same reason, got\n%s", &stderr)
	}
}
